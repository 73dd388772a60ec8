//! Reflect: what each attempt lost, written as the evidence that the update learns from.

use std::collections::HashSet;

use super::step::Step;
use crate::ground::error::Result;
use crate::ground::files;
use crate::score::Score;
use crate::stages::loss;
use crate::stages::rollout::Measured;
use crate::task::Task;

/// The evidence of one attempt, as `batch.json` names it.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Its place in `batch.json`: the JSON object.
    pub(super) json: serde_json::Value,
    /// Whether the attempt failed.
    pub(super) failed: bool,
}

/// Writes loss reports and `batch.json`: every failure, and successes unless only failures are wanted; failures first.
/// An attempt without a score says nothing.
pub(super) fn reflect(step: &Step<'_>, tasks: &[Task], measured: &[Measured]) -> Result<Vec<Sample>> {
    let run = step.run;
    let loss = run.setup.folder.loss(step.epoch, step.step);
    let mut names = HashSet::new();
    let mut samples = Vec::new();
    for (number, (task, measured)) in tasks.iter().zip(measured).enumerate() {
        let (Some(score), Some(digest)) = (measured.score(), measured.digest.as_ref()) else { continue };
        let mut name = file_name(&task.id);
        if !names.insert(name.to_lowercase()) {
            name = format!("{name}-{number:03}");
        }
        if !score.is_failure() && run.config().gradient.failure_only {
            continue;
        }
        let kept = run.attempts.kept(digest)?;
        let report = loss.join(format!("{name}.md"));
        files::write(&report, text(task, &kept.answer, score))?;
        let rollout = run.attempts.folder(digest);
        let json = serde_json::json!({
            "work": task.id, "first": 1, "last": 1,
            "loss_report": below(step, &report), "reads": below(step, &rollout.join("reads.txt")),
            "trajectory": below(step, &rollout.join("trajectory.md")),
        });
        samples.push(Sample { json, failed: score.is_failure() });
    }
    // A stable sort: within both kinds the batch's order stays.
    samples.sort_by_key(|sample| !sample.failed);
    let list: Vec<&serde_json::Value> = samples.iter().map(|sample| &sample.json).collect();
    files::write_json(&step.folder().join("batch.json"), &list)?;
    Ok(samples)
}

/// An id as a file's name that people can read: letters and digits of any script, the rest as dashes.
fn file_name(id: &str) -> String {
    let safe: String =
        id.chars().map(|c| if c.is_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' }).collect();
    let name = safe.trim_matches(['.', '-']);
    if name.is_empty() { "task".into() } else { name.to_owned() }
}

fn text(task: &Task, answer: &str, score: &Score) -> String {
    loss::report(&task.id, &[loss::Attempt { title: None, input: &task.input, answer, score }])
}

/// A path as the step's `batch.json` names it: from there upwards to the run, so that a run can be moved.
fn below(step: &Step<'_>, path: &std::path::Path) -> String {
    let folder = step.run.setup.folder.path();
    let inside = path.strip_prefix(folder).unwrap_or(path);
    format!("../../{}", inside.to_string_lossy())
}
