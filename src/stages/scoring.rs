//! The score of an attempt: found where it was kept, shared where the same answer has it, or asked for.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::rollout::{Ending, Kept, Rollout};
use crate::evaluator;
use crate::ground::digest;
use crate::ground::error::{Kind, Result};
use crate::score::Score;
use crate::target::Host;
use crate::task::Task;

/// What is known of an answer, for an evaluator that judges by the answer alone: the same answer of another attempt is not
/// paid for again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Its score, when it got one.
    pub score: Option<Score>,
    /// How often it got none.
    pub again: usize,
}

/// The digest that a score is kept under: evaluator and task.
pub(super) fn judged_by(rollout: &Rollout<'_>, task: &Task) -> String {
    let raw = serde_json::Value::Object(task.raw.clone()).to_string();
    digest::of_parts([rollout.evaluator.identity().as_bytes(), raw.as_bytes()])
}

/// The score of an attempt. One without an answer through the target's own fault has done nothing right; what the
/// evaluator misses in an empty answer is told with it, since that is what there is to learn.
pub(super) fn scored(rollout: &Rollout<'_>, task: &Task, kept: &Kept, is_new: bool, desk: &Path) -> Result<Ending> {
    let by = judged_by(rollout, task);
    let known = if is_new { None } else { rollout.shelf.score(kept, &by)? };
    if let Some(score) = known {
        return Ok(Ending::Scored(score));
    }
    // An answer that its target could not give has no verdict to share.
    let end = match rollout.evaluator.judges_answers() && kept.fault.is_none() {
        true => shared(rollout, task, kept, &by, desk)?,
        false => evaluated(rollout, task, kept, 0, desk)?,
    };
    if let Ending::Scored(score) = &end {
        rollout.shelf.keep_score(kept, &by, score)?;
    }
    Ok(end)
}

/// The score that every attempt with this answer has; asked for, and kept for all of them, when there is none yet.
fn shared(rollout: &Rollout<'_>, task: &Task, kept: &Kept, by: &str, desk: &Path) -> Result<Ending> {
    let name = digest::of_parts([by.as_bytes(), kept.answer.as_bytes()]);
    let _turn = rollout.shelf.turns().take(&format!("verdict {name}"));
    let Verdict { score, again } = rollout.shelf.verdict(&name)?;
    if let Some(score) = score {
        return Ok(Ending::Scored(score));
    }
    let end = evaluated(rollout, task, kept, again, desk)?;
    let verdict = match &end {
        Ending::Scored(score) => Verdict { score: Some(score.clone()), again },
        _ => Verdict { score: None, again: again + 1 },
    };
    rollout.shelf.keep_verdict(&name, &verdict)?;
    Ok(end)
}

/// Asks the evaluator; `again` is how often it gave this answer no score before.
fn evaluated(rollout: &Rollout<'_>, task: &Task, kept: &Kept, again: usize, desk: &Path) -> Result<Ending> {
    let Host { env, cancel, sandbox, timeout, .. } = rollout.host;
    let Kept { answer, trajectory, tools, fault, .. } = kept;
    let attempt = evaluator::Attempt { task, answer, trajectory, tools };
    let host = evaluator::Host { env, cancel, sandbox, timeout, desk, again };
    Ok(Ending::Scored(match (rollout.evaluator.evaluate(&attempt, &host), fault) {
        (Ok(score), None) => score,
        (Ok(score), Some(fault)) => at_fault(fault, score.feedback),
        (Err(error), Some(fault)) if error.kind() == Kind::Failed => at_fault(fault, Vec::new()),
        (Err(error), None) if error.kind() == Kind::Failed => return Ok(Ending::Unscored(error.to_string())),
        (Err(error), _) => return Err(error),
    }))
}

fn at_fault(fault: &str, more: Vec<String>) -> Score {
    Score { hard: 0.0, soft: 0.0, feedback: std::iter::once(fault.to_owned()).chain(more).collect() }
}
