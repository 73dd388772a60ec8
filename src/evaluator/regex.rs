//! Regex: a pattern that the answer matches somewhere; the task's reference, or one for all tasks.

use regex::Regex;
use serde::Deserialize;

use super::registry::Options;
use super::{Attempt, Evaluator, Host, answers};
use crate::ground::error::{Error, Result};
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    let given = options.read::<Given>(&["pattern", "message"])?;
    let pattern = given.pattern.map(|pattern| {
        let wrong = |error| Error::usage(format!("the evaluator `regex`: option `pattern`: {error}"));
        Regex::new(&pattern).map_err(wrong)
    });
    Ok(Box::new(Pattern { pattern: pattern.transpose()?, message: given.message }))
}

#[derive(Deserialize)]
struct Given {
    pattern: Option<String>,
    message: Option<String>,
}

struct Pattern {
    pattern: Option<Regex>,
    message: Option<String>,
}

impl Pattern {
    fn patterns(&self, task: &Task) -> Result<Vec<Regex>> {
        if let Some(pattern) = &self.pattern {
            return Ok(vec![pattern.clone()]);
        }
        let wrong = |error| task.fault(format!("key `reference`: {error}"));
        answers(task, "regex")?.iter().map(|pattern| Regex::new(pattern).map_err(wrong)).collect()
    }
}

impl Evaluator for Pattern {
    fn name(&self) -> String {
        "regex".into()
    }

    fn identity(&self) -> String {
        format!("regex {:?} {:?}", self.pattern.as_ref().map(Regex::as_str), self.message)
    }

    fn check(&self, task: &Task) -> Result<()> {
        self.patterns(task).map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let patterns = self.patterns(attempt.task)?;
        let passed = patterns.iter().any(|pattern| pattern.is_match(attempt.answer));
        Ok(Score::pass_or(passed, || {
            let shown: Vec<String> = patterns.iter().map(|pattern| format!("`{pattern}`")).collect();
            vec![self.message.clone().unwrap_or_else(|| format!("The answer must match {}.", shown.join(" or ")))]
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use serde_json::json;

    #[test]
    fn the_tasks_pattern_or_one_for_all() {
        let keys = json!({"reference": r"(?i)\bk-?17\b"});
        assert_eq!(hard("regex", &json!({}), &keys, &["key K-17.", "K170"]), [1.0, 0.0]);
        let all = json!({"pattern": "^[A-Z]", "message": "Begin with a capital."});
        assert_eq!(hard("regex", &all, &json!({}), &["Yes", "yes"]), [1.0, 0.0]);
        assert_eq!(score("regex", &all, &json!({}), "x").unwrap().feedback, ["Begin with a capital."]);
        let error = score("regex", &json!({}), &json!({"reference": "("}), "x").unwrap_err();
        assert!(error.to_string().contains("t.jsonl:1: task `a`: key `reference`: regex parse error"), "{error}");
        assert!(score("regex", &json!({"pattern": "("}), &json!({}), "x").is_err());
    }
}
