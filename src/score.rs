//! Scores: what an evaluator says of one attempt. A number that is none is an error, never a pass and never 0.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Steps in 1: scores are summed as whole numbers, so that a sum depends neither on its order nor on rounding, and a tie
/// is a tie.
pub const STEPS: i64 = 1_000_000_000;

/// What an evaluator says of one attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// How much of the task was done right, as the task counts it, in [0, 1]; below 1 is a failure.
    pub hard: f64,
    /// Partial credit, in [0, 1].
    pub soft: f64,
    /// What was wrong, one piece of advice each: the loss signal. Empty when there is nothing to say.
    pub feedback: Vec<String>,
}

impl Score {
    /// A score.
    ///
    /// # Errors
    /// When a number is NaN or outside [0, 1]; which one.
    pub fn new(hard: f64, soft: f64, feedback: Vec<String>) -> Result<Score, String> {
        for (key, number) in [("hard", hard), ("soft", soft)] {
            if !(0.0..=1.0).contains(&number) {
                return Err(format!("`{key}` is {number}, not a number from 0 to 1"));
            }
        }
        Ok(Score { hard, soft, feedback })
    }

    /// A pass or a failure without partial credit.
    pub fn pass_or(passed: bool, feedback: impl FnOnce() -> Vec<String>) -> Score {
        let points = if passed { 1.0 } else { 0.0 };
        Score { hard: points, soft: points, feedback: if passed { Vec::new() } else { feedback() } }
    }

    /// Reads `{"hard": 0.5, "soft": 0.5, "feedback": "..."}`; the feedback may be a text, a list of texts or absent.
    ///
    /// # Errors
    /// What is wrong with it: a number missing, a text in its place, out of range.
    pub fn read(value: &Value) -> Result<Score, String> {
        let object = value.as_object().ok_or_else(|| format!("an object is wanted, not {value}"))?;
        let number = |key: &str| match object.get(key) {
            None | Some(Value::Null) => Err(format!("`{key}` is missing")),
            Some(value) => value.as_f64().ok_or_else(|| format!("`{key}` is {value}, not a number from 0 to 1")),
        };
        let line = |value: &Value| match value {
            Value::String(text) => Ok(text.trim().to_owned()),
            other => Err(format!("`feedback` holds {other}, not a text")),
        };
        let feedback = match object.get("feedback") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(lines)) => lines.iter().map(line).collect::<Result<_, _>>()?,
            Some(value) => vec![line(value)?],
        };
        let feedback = feedback.into_iter().filter(|line| !line.is_empty()).collect();
        Score::new(number("hard")?, number("soft")?, feedback)
    }

    /// Whether there is something to learn from: anything less than all.
    pub fn is_failure(&self) -> bool {
        self.hard < 1.0
    }

    /// The mean of repeats of one task: numbers averaged, feedback gathered once each. None when there is no repeat.
    pub fn mean(repeats: &[Score]) -> Option<Score> {
        let hard = mean(repeats.iter().map(|score| score.hard))?;
        let soft = mean(repeats.iter().map(|score| score.soft))?;
        let mut feedback: Vec<String> = Vec::new();
        for line in repeats.iter().flat_map(|score| &score.feedback) {
            if !feedback.contains(line) {
                feedback.push(line.clone());
            }
        }
        Some(Score { hard, soft, feedback })
    }
}

/// A number in [-1, 1] as whole steps of one in [`STEPS`].
pub fn steps(number: f64) -> i64 {
    (number * STEPS as f64).round() as i64
}

/// The mean of numbers in [0, 1], whatever their order; none for no numbers.
pub fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0_i64, 0_i64), |(sum, count), number| (sum + steps(number), count + 1));
    (count > 0).then(|| sum as f64 / (STEPS * count) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_that_is_none_is_an_error_never_a_pass_never_0() {
        let rows = [
            (json!({"hard": 7.0, "soft": 0.5}), "`hard` is 7, not a number from 0 to 1"),
            (json!({"hard": "0.9", "soft": 0.5}), "`hard` is \"0.9\", not a number"),
            (json!({"soft": 0.5}), "`hard` is missing"),
            (json!({"hard": 1, "soft": -0.1}), "`soft` is -0.1"),
            (json!({"hard": 1, "soft": null}), "`soft` is missing"),
            (json!({"hard": true, "soft": 1}), "`hard` is true"),
            (json!(0.5), "an object is wanted"),
            (json!({"hard": 1, "soft": 1, "feedback": 3}), "`feedback` holds 3"),
        ];
        for (value, said) in rows {
            let error = Score::read(&value).unwrap_err();
            assert!(error.contains(said), "{value}: {error}");
        }
        assert!(Score::new(f64::NAN, 0.0, vec![]).unwrap_err().contains("`hard` is NaN"));
        assert!(Score::new(0.0, f64::INFINITY, vec![]).is_err());
    }

    #[test]
    fn feedback_is_a_text_or_a_list() {
        let of =
            |feedback: Value| Score::read(&json!({"hard": 0, "soft": 0.5, "feedback": feedback})).unwrap().feedback;
        assert_eq!(of(json!(" Say it. ")), ["Say it."]);
        assert_eq!(of(json!(["a", "", "b"])), ["a", "b"]);
        assert!(of(json!(null)).is_empty());
    }

    #[test]
    fn a_mean_does_not_depend_on_the_order() {
        let numbers = [0.1, 0.7, 0.2, 0.3, 0.9, 1.0 / 3.0];
        let backwards = mean(numbers.iter().rev().copied());
        assert_eq!(mean(numbers.into_iter()), backwards);
        assert_eq!(mean([0.1, 0.2].into_iter()), mean([0.3, 0.0].into_iter()));
        assert_eq!(mean(std::iter::empty()), None);
        let score = |hard, text: &str| Score { hard, soft: hard, feedback: vec![text.into()] };
        let both = Score::mean(&[score(1.0, "a"), score(0.0, "a"), score(0.0, "b")]).unwrap();
        assert_eq!((both.hard, both.feedback), (1.0 / 3.0, vec!["a".to_owned(), "b".to_owned()]));
    }
}
