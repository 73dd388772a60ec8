//! Token F1: how many words answer and reference share.

use std::collections::HashMap;

use serde::Deserialize;

use super::registry::Options;
use super::{Attempt, Evaluator, Host, answers, right_answer, text};
use crate::ground::error::{Error, Result};
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    let f1 = options.read::<F1>(&["threshold"])?;
    if !(f1.threshold > 0.0 && f1.threshold <= 1.0) {
        return Err(Error::usage(format!(
            "the evaluator `token_f1`: option `threshold` is {}, not above 0 and at most 1",
            f1.threshold
        )));
    }
    Ok(Box::new(f1))
}

/// Soft: the best F1 over the references; hard: whether it reaches the threshold.
#[derive(Deserialize)]
struct F1 {
    #[serde(default = "all")]
    threshold: f64,
}

fn all() -> f64 {
    1.0
}

impl Evaluator for F1 {
    fn name(&self) -> String {
        "token_f1".into()
    }

    fn identity(&self) -> String {
        format!("token_f1 threshold={}", self.threshold)
    }

    fn check(&self, task: &Task) -> Result<()> {
        answers(task, "token_f1").map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let right = answers(attempt.task, "token_f1")?;
        let soft = right.iter().map(|right| f1(attempt.answer, right)).fold(0.0, f64::max);
        let passed = soft >= self.threshold;
        let feedback = if passed { Vec::new() } else { right_answer(&right) };
        Ok(Score { hard: if passed { 1.0 } else { 0.0 }, soft, feedback })
    }
}

/// The harmonic mean of precision and recall over normalised words, counted with repeats: SQuAD's F1 (Rajpurkar et al.,
/// EMNLP 2016). Two texts without words are equal.
fn f1(answer: &str, right: &str) -> f64 {
    let (answer, right) = (text::tokens(answer), text::tokens(right));
    if answer.is_empty() || right.is_empty() {
        return if answer == right { 1.0 } else { 0.0 };
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    right.iter().for_each(|word| *counts.entry(word).or_default() += 1);
    let mut shared = 0_usize;
    for word in &answer {
        if let Some(left) = counts.get_mut(word.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    2.0 * shared as f64 / (answer.len() + right.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_counted_with_repeats() {
        let close = |one: f64, two: f64| assert!((one - two).abs() < 1e-12, "{one} {two}");
        close(f1("the red door", "a red red gate"), 2.0 * 1.0 / 5.0);
        close(f1("Red, red!", "red red"), 1.0);
        close(f1("", "red"), 0.0);
        close(f1("...", ""), 1.0);
        let keys = json!({"reference": ["north gate door", "x"]});
        let half = score("token_f1", &json!({}), &keys, "north gate window").unwrap();
        close(half.soft, 2.0 / 3.0);
        assert_eq!((half.hard, half.feedback.len()), (0.0, 1));
        assert_eq!(hard("token_f1", &json!({"threshold": 0.6}), &keys, &["north gate window", "gate"]), [1.0, 0.0]);
        assert!(score("token_f1", &json!({"threshold": 0}), &keys, "x").is_err());
    }
}
