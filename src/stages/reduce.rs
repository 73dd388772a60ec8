//! Reduce: fold each group's loss reports into one commonality report, all groups side by side.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::batch::Evidence;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::process;
use crate::optimizer::{Desk, Host, Optimizer, Outcome, ReduceTask, Turn};

/// How long a reduce waits for an earlier call's processes to be gone.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// One group to reduce.
pub struct Group<'a> {
    /// The group's label, for messages.
    pub label: String,
    /// Its evidence.
    pub evidence: &'a [Evidence],
    /// Where the call leaves its files.
    pub desk: Desk,
}

/// Reduces one group: a call that ended earlier is recalled, a bad one repeated up to `retries` times.
///
/// Errors: kind `Unreachable` when the model could not be used, `Failed` when it gave no report that names every
/// work, `Interrupted`.
pub fn reduce(optimizer: &dyn Optimizer, group: &Group<'_>, retries: usize, host: &Host<'_>) -> Result<Turn> {
    // A killed call's agent may be dying still: what it leaves is read once it is gone.
    process::wait_until_free(&group.desk.hold, PATIENCE)?;
    let mut recalled =
        optimizer.recall(&group.desk, &group.desk.folder, None)?.filter(|turn| turn.outcome == Outcome::Done);
    let mut tries = 0;
    loop {
        host.cancel.check()?;
        let turn = match recalled.take() {
            Some(turn) => turn,
            None => {
                group.desk.put_aside()?;
                let task = ReduceTask { label: &group.label, evidence: group.evidence, desk: group.desk.clone() };
                optimizer.reduce(&task, host)?
            }
        };
        let error = match &turn.outcome {
            Outcome::Done => match missing_works(&turn.report, group.evidence) {
                missing if missing.is_empty() => return Ok(turn),
                missing => refused(format!("the commonality report does not name {}", missing.join(", "))),
            },
            Outcome::Cancelled => return Err(Error::interrupted()),
            Outcome::Unreachable(why) => Error::unreachable(why),
            Outcome::TimedOut => refused("the reduce did not end before its deadline".into()),
            Outcome::Failed(why) => refused(why.clone()),
        };
        tries += 1;
        if tries > retries || optimizer.is_deterministic() {
            return Err(error.context(format!("reduce of {}", group.label)).hint("run the same command to try again"));
        }
    }
}

fn refused(why: String) -> Error {
    Error::new(Kind::Refused, why)
}

/// Works that a report does not name.
fn missing_works(report: &str, evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().filter(|sample| !report.contains(&sample.work)).map(|sample| sample.work.clone()).collect()
}

/// Runs `job` for every item with at most `workers` at once; results come in the items' order.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], workers: usize, job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let work = || {
            let mut mine = Vec::new();
            while let Some((index, item)) =
                Some(next.fetch_add(1, Ordering::SeqCst)).and_then(|i| Some((i, items.get(i)?)))
            {
                mine.push((index, job(item)));
            }
            mine
        };
        let threads: Vec<_> = (0..workers.clamp(1, items.len().max(1))).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The desk of a reduce in `folder`.
pub fn desk(folder: PathBuf) -> Desk {
    let (private, hold) = (folder.join("private_reduce"), folder.join("reduce.lock"));
    Desk { folder, stem: "reduce", private, hold }
}
