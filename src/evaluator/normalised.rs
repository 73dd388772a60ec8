//! Normalised: the reference without case, punctuation and articles.

use super::registry::Options;
use super::{Attempt, Evaluator, Host, answers, right_answer, text};
use crate::ground::error::Result;
use crate::score::Score;
use crate::task::Task;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    Ok(Box::new(Normalised))
}

struct Normalised;

impl Evaluator for Normalised {
    fn name(&self) -> String {
        "normalised".into()
    }

    fn check(&self, task: &Task) -> Result<()> {
        answers(task, "normalised").map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let right = answers(attempt.task, "normalised")?;
        let answer = text::normalised(attempt.answer);
        // A reference of punctuation alone would be equal to an empty answer.
        let same = |right: &String| match text::normalised(right) {
            plain if plain.is_empty() => right.trim() == attempt.answer.trim(),
            plain => plain == answer,
        };
        Ok(Score::pass_or(right.iter().any(same), || right_answer(&right)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use serde_json::json;

    #[test]
    fn case_punctuation_and_articles_do_not_count() {
        let keys = json!({"reference": "the Scrap yard."});
        assert_eq!(hard("normalised", &json!({}), &keys, &["Scrap Yard!", "A scrap yard", "yard"]), [1.0, 1.0, 0.0]);
        assert_eq!(hard("normalised", &json!({}), &json!({"reference": "?!"}), &["", "?!"]), [0.0, 1.0]);
        let wrong = score("normalised", &json!({}), &keys, "x").unwrap();
        assert_eq!(wrong.feedback, ["The right answer is the Scrap yard."]);
        // A passage is quoted: reports may hold it, and no card may take it over.
        let keys = json!({"reference": "old Ada opens the \"outer\" gate by hand at noon"});
        let wrong = score("normalised", &json!({}), &keys, "nobody").unwrap();
        assert_eq!(wrong.feedback, ["The right answer is \"old Ada opens the 'outer' gate by hand at noon\"."]);
    }
}
