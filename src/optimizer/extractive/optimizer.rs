//! The built-in optimizer behind the trait: reads the checkout's cards, writes what `plan` decides, commits.

use std::path::Path;

use super::{Change, Plan, plan, reduce};
use crate::ground::error::Result;
use crate::ground::files;

use crate::agent::Session;
use crate::optimizer::{BackwardTask, Desk, Host, Optimizer, ReduceTask, Turn};
use crate::pool::commit::Author;
use crate::pool::folder::StatCache;

/// The built-in optimizer.
#[derive(Debug)]
pub struct Extractive;

impl Optimizer for Extractive {
    fn name(&self) -> String {
        "extractive".into()
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn reduce(&self, task: &ReduceTask<'_>, _host: &Host<'_>) -> Result<Turn> {
        Ok(Turn::done(reduce(task.evidence)))
    }

    fn backward(&self, task: &BackwardTask<'_>, _host: &Host<'_>) -> Result<Turn> {
        let given = task.summary.filter(|_| task.summary_is_given);
        let Plan { changes, report } = plan(task.evidence, given, task.cards, task.profile, task.bounds);
        for change in &changes {
            match change {
                Change::Write { path, text } => files::write(&task.checkout.folder().join(path), text)?,
                Change::Remove { path } => files::remove(&task.checkout.folder().join(path))?,
            }
        }
        let message = format!("{}\n", task.label);
        task.checkout.commit_all(&message, &Author::fixed(task.seconds), &mut StatCache::default())?;
        let mut turn = Turn::done(report);
        turn.reads = task.cards.iter().map(|card| card.path.clone()).collect();
        Ok(turn)
    }

    /// Running it again costs nothing, so nothing is recalled.
    fn recall(&self, _desk: &Desk, _checkout: &Path, _session: Option<&Session>) -> Result<Option<Turn>> {
        Ok(None)
    }
}
