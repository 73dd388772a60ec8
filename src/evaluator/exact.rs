//! Exact: the reference, character by character; white space around it does not count.

use super::registry::Options;
use super::{Attempt, Evaluator, Host, alternatives, answers};
use crate::ground::error::Result;
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    Ok(Box::new(Exact))
}

struct Exact;

impl Evaluator for Exact {
    fn name(&self) -> String {
        "exact".into()
    }

    fn check(&self, task: &Task) -> Result<()> {
        answers(task, "exact").map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let right = answers(attempt.task, "exact")?;
        let passed = right.iter().any(|right| right.trim() == attempt.answer.trim());
        Ok(Score::pass_or(passed, || vec![format!("Answer with exactly {}, and nothing else.", alternatives(&right))]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use serde_json::json;

    #[test]
    fn one_character_decides() {
        let keys = json!({"reference": ["K17", "k17"]});
        assert_eq!(hard("exact", &json!({}), &keys, &[" K17\n", "k17", "K17.", ""]), [1.0, 1.0, 0.0, 0.0]);
        let wrong = score("exact", &json!({}), &json!({"reference": 7}), "8").unwrap();
        assert_eq!(wrong.feedback, ["Answer with exactly 7, and nothing else."]);
        let error = score("exact", &json!({}), &json!({}), "8").unwrap_err();
        assert!(error.to_string().starts_with("t.jsonl:1: task `a`: key `reference` is missing"), "{error}");
    }
}
