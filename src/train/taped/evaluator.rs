//! An evaluator that starts programs, taped: each score is a line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Call, Tape};
use crate::evaluator::{Attempt, Evaluator, Host};
use crate::ground::digest;
use crate::ground::error::{Error, Kind, Result};
use crate::score::Score;
use crate::task::Task;

/// The evaluator, on tape where it starts programs.
pub fn evaluator(inner: Box<dyn Evaluator>, tape: &Arc<Tape>) -> Box<dyn Evaluator> {
    if inner.starts_programs() { Box::new(Taped { inner, tape: Arc::clone(tape) }) } else { inner }
}

struct Taped {
    inner: Box<dyn Evaluator>,
    tape: Arc<Tape>,
}

/// What came of a call; no score is an outcome as well.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Given {
    Score(Score),
    None(String),
}

impl Evaluator for Taped {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn check(&self, task: &Task) -> Result<()> {
        self.inner.check(task)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Score> {
        let raw = serde_json::Value::Object(attempt.task.raw.clone()).to_string();
        // By its name: where it is replayed there may be no program.
        let (name, tools) = (self.inner.name(), attempt.tools.join("\n"));
        let inputs = [&name, &raw, attempt.answer, attempt.trajectory, &tools];
        let digest = digest::of_parts(inputs.iter().map(|text| text.as_bytes()));
        let call = Call { what: "evaluator".into(), place: String::new(), digest };
        let given = self.tape.ask(&call, || match self.inner.evaluate(attempt, host) {
            Ok(score) => Ok(Given::Score(score)),
            Err(error) if error.kind() == Kind::Failed => Ok(Given::None(error.to_string())),
            Err(error) => Err(error),
        });
        match given {
            Ok(Given::Score(score)) => Ok(score),
            Ok(Given::None(why)) => Err(Error::failed(why)),
            // No score is what an error of kind `Failed` means here; that the tape has none ends the run.
            Err(error) if error.kind() == Kind::Failed => Err(error.with_kind(Kind::Refused)),
            Err(error) => Err(error),
        }
    }
}
