//! Contains: the reference somewhere in the answer, as whole words.

use serde::Deserialize;

use super::registry::Options;
use super::{Attempt, Evaluator, Host, answers, right_answer};
use crate::ground::error::Result;
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    Ok(Box::new(options.read::<Contains>(&["ignore_case"])?))
}

#[derive(Deserialize)]
struct Contains {
    #[serde(default = "yes")]
    ignore_case: bool,
}

fn yes() -> bool {
    true
}

impl Evaluator for Contains {
    fn name(&self) -> String {
        "contains".into()
    }

    fn identity(&self) -> String {
        format!("contains ignore_case={}", self.ignore_case)
    }

    fn check(&self, task: &Task) -> Result<()> {
        answers(task, "contains").map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let right = answers(attempt.task, "contains")?;
        let folded = |text: &str| if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let answer = folded(attempt.answer);
        let passed = right.iter().any(|right| holds(&answer, folded(right).trim()));
        Ok(Score::pass_or(passed, || right_answer(&right)))
    }
}

/// Whether a text stands in another with no letter or digit right beside it: 7 is not in 17.
fn holds(text: &str, wanted: &str) -> bool {
    let joined = |one: Option<char>, two: Option<char>| {
        one.is_some_and(char::is_alphanumeric) && two.is_some_and(char::is_alphanumeric)
    };
    !wanted.is_empty()
        && text.match_indices(wanted).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + wanted.len()..].chars().next());
            !joined(before, wanted.chars().next()) && !joined(wanted.chars().next_back(), after)
        })
}

#[cfg(test)]
mod tests {
    use super::super::testing::hard;
    use serde_json::json;

    #[test]
    fn the_reference_is_found_as_words() {
        let keys = json!({"reference": ["K17", "5 degrees"]});
        let answers = ["The key is k17.", "It is 5 degrees, I think", "K175", "15 degrees", ""];
        assert_eq!(hard("contains", &json!({}), &keys, &answers), [1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(hard("contains", &json!({"ignore_case": false}), &keys, &["k17", "K17"]), [0.0, 1.0]);
    }
}
