//! An answer and a reference compared, in both orders: only what a judge says both times counts, so that the place of a
//! text cannot decide.

use serde_json::json;

use super::verdict::{self, Comparison, Side};
use super::{Judge, shown, task_data};
use crate::evaluator::Attempt;
use crate::ground::error::Result;
use crate::score::Score;

impl Judge {
    /// 1 when the answer is found better both times, 0 when the reference is, else a tie: 0.5.
    pub(super) fn compared(&self, attempt: &Attempt<'_>, reference: &str, again: usize) -> Result<Score> {
        let first = self.one(attempt, ("/first", again), attempt.answer, reference)?;
        let second = self.one(attempt, ("/second", again), reference, attempt.answer)?;
        let soft = verdict_of(first.better, second.better);
        let feedback: Vec<String> = match soft {
            // All that was wrong was the reference.
            1.0 => Vec::new(),
            // Only what is said of the answer: of each comparison that it lost.
            _ => {
                let lost =
                    [(first, Side::B), (second, Side::A)].into_iter().filter(|(said, side)| said.better == *side);
                lost.flat_map(|(said, _)| said.feedback).collect()
            }
        };
        self.score(attempt.task, soft, &feedback)
    }

    fn one(&self, attempt: &Attempt<'_>, turn: (&str, usize), a: &str, b: &str) -> Result<Comparison> {
        let data = task_data(attempt.task) + &shown("answer", "A", a) + &shown("answer", "B", b);
        let better = json!({"type": "string", "enum": ["A", "B", "tie"]});
        let schema = verdict::schema(json!({ "better": better }), &["better"]);
        self.ask(attempt.task, turn, &self.comparison(&data)?, schema)
    }

    /// The question with these texts in it.
    pub(super) fn comparison(&self, data: &str) -> Result<String> {
        let rubric = match self.settings.listed() {
            listed if listed.is_empty() => self.settings.rubric(),
            listed => format!("{}\n\n{listed}", self.settings.rubric()),
        };
        self.prompts.render("judge_compare", &[("rubric", rubric), ("data", data.to_owned())])
    }
}

/// What two comparisons come to: the answer was A in the first and B in the second.
fn verdict_of(first: Side, second: Side) -> f64 {
    match (first, second) {
        (Side::A, Side::B) => 1.0,
        (Side::B, Side::A) => 0.0,
        _ => 0.5,
    }
}
