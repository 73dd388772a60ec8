//! Numeric: the answer's number, within a tolerance.

use serde::Deserialize;

use super::registry::Options;
use super::{Attempt, Evaluator, Host, answers, right_answer};
use crate::ground::error::{Error, Result};
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    let numeric = options.read::<Numeric>(&["tolerance", "relative", "pick"])?;
    for (key, value) in [("tolerance", numeric.tolerance), ("relative", numeric.relative)] {
        if !(value >= 0.0 && value.is_finite()) {
            return Err(Error::usage(format!(
                "the evaluator `numeric`: option `{key}` is {value}, not a number of 0 or more"
            )));
        }
    }
    Ok(Box::new(numeric))
}

/// Right when |answer − reference| ≤ max(tolerance, relative · |reference|).
#[derive(Debug, Deserialize)]
struct Numeric {
    /// In the reference's unit.
    #[serde(default)]
    tolerance: f64,
    /// As a share of the reference.
    #[serde(default)]
    relative: f64,
    /// Which of the answer's numbers counts.
    #[serde(default)]
    pick: Pick,
}

/// Decimal fractions have no exact binary form: 0.1 + 0.2 is to be 0.3. As a share of the reference, or of 1.
const TINY: f64 = 1e-9;

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Pick {
    #[default]
    Last,
    First,
    Any,
}

impl Evaluator for Numeric {
    fn name(&self) -> String {
        "numeric".into()
    }

    fn identity(&self) -> String {
        format!("{self:?}")
    }

    fn check(&self, task: &Task) -> Result<()> {
        wanted(task).map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let wanted = wanted(attempt.task)?;
        let all = numbers(attempt.answer);
        let picked: &[f64] = match (self.pick, all.as_slice()) {
            (Pick::Last, [.., last]) => std::slice::from_ref(last),
            (Pick::First, [first, ..]) => std::slice::from_ref(first),
            (_, all) => all,
        };
        let bound = |two: f64| self.tolerance.max(self.relative * two.abs()) + TINY * two.abs().max(1.0);
        let close = |one: f64, two: f64| (one - two).abs() <= bound(two);
        let passed = picked.iter().any(|number| wanted.iter().any(|wanted| close(*number, *wanted)));
        Ok(Score::pass_or(passed, || {
            let mut feedback = right_answer(&attempt.task.answers());
            if all.is_empty() {
                feedback.push("Give a number.".into());
            }
            feedback
        }))
    }
}

fn wanted(task: &Task) -> Result<Vec<f64>> {
    let number =
        |text: &String| match numbers(text).as_slice() {
            [number] => Ok(*number),
            _ => Err(task
                .fault(format!("key `reference`: {text:?} is not one number, and the `numeric` evaluator needs one"))),
        };
    answers(task, "numeric")?.iter().map(number).collect()
}

/// The numbers in a text: signs, decimal points, exponents, and commas between groups of three digits are read; a minus
/// behind a letter or digit is a hyphen.
fn numbers(text: &str) -> Vec<f64> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        if !(digit(at) || (bytes[at] == b'.' && digit(at + 1))) {
            at += 1;
            continue;
        }
        let in_word = |at: usize| at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || !bytes[at - 1].is_ascii());
        let minus = at > 0 && bytes[at - 1] == b'-' && !in_word(at - 1);
        let (number, end) = number(bytes, at);
        // A digit behind a letter is part of a name: K17.
        if !(in_word(at) && bytes[at - 1].is_ascii_alphabetic()) {
            found.extend(number.parse().ok().map(|number: f64| if minus { -number } else { number }));
        }
        at = end;
    }
    found
}

/// The number that begins at a byte, without its commas, and the byte behind it.
fn number(bytes: &[u8], start: usize) -> (String, usize) {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let (mut text, mut at, mut point) = (String::new(), start, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'0'..=b'9' => text.push(char::from(*byte)),
            b'.' if !point && digit(at + 1) => {
                point = true;
                text.push('.');
            }
            b',' if !point && (1..=3).all(|next| digit(at + next)) && !digit(at + 4) => {}
            b'e' | b'E' if digit(at + 1) || (matches!(bytes.get(at + 1), Some(b'-' | b'+')) && digit(at + 2)) => {
                text.push('e');
                text.push(char::from(bytes[at + 1]));
                at += 1;
                point = true;
            }
            _ => break,
        }
        at += 1;
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let rows: [(&str, &[f64]); 8] = [
            ("It costs $1,234.50, not 7.", &[1234.5, 7.0]),
            ("-3 to 5; 3-5", &[-3.0, 5.0, 3.0, 5.0]),
            ("1.5e-3 and .5", &[0.0015, 0.5]),
            ("1, 2,3", &[1.0, 2.0, 3.0]),
            ("key K17, version 1.2.3", &[1.2, 0.3]),
            ("12,34", &[12.0, 34.0]),
            ("5e", &[5.0]),
            ("none ½ ٣", &[]),
        ];
        for (text, wanted) in rows {
            assert_eq!(numbers(text), wanted, "{text}");
        }
    }

    #[test]
    fn the_last_number_counts_within_the_tolerance() {
        let keys = json!({"reference": 42});
        assert_eq!(hard("numeric", &json!({}), &keys, &["6 × 7 = 42.0", "42 or 43", "no idea"]), [1.0, 0.0, 0.0]);
        assert_eq!(hard("numeric", &json!({"tolerance": 1}), &keys, &["43", "43.1"]), [1.0, 0.0]);
        assert_eq!(hard("numeric", &json!({"relative": 0.1}), &keys, &["46.2", "47"]), [1.0, 0.0]);
        assert_eq!(hard("numeric", &json!({"pick": "any"}), &keys, &["42 or 43"]), [1.0]);
        assert_eq!(
            hard("numeric", &json!({"pick": "first"}), &json!({"reference": "0.3"}), &["0.30000000001 1"]),
            [1.0]
        );
        let wrong = score("numeric", &json!({}), &keys, "?").unwrap();
        assert_eq!(wrong.feedback, ["The right answer is 42.", "Give a number."]);
        assert!(score("numeric", &json!({}), &json!({"reference": "many"}), "1").is_err());
        assert!(score("numeric", &json!({"tolerance": -1}), &keys, "1").is_err());
    }
}
