//! The built-in optimizer behind the trait: reads the checkout's cards, writes what `plan` decides, commits.

use std::path::Path;

use super::{Change, Plan, operations, plan, reduce};
use crate::edit::Edit;
use crate::ground::error::Result;
use crate::ground::files;
use crate::optimizer::tasks::{AnalyseTask, MergeTask, RankTask, Ranking, RepairTask, RewriteTask, Said, SlowTask};
use crate::optimizer::{BackwardTask, Desk, Host, Optimizer, ReduceTask, Session, Turn};
use crate::pool::card::{self, Card};
use crate::pool::commit::Author;
use crate::pool::folder::StatCache;
use crate::pool::profile::Profile;

/// The card's file with a plan's description and body in it: the plan knows a description's words, not how they are
/// quoted or folded, and what did not change keeps its bytes. Nothing when either text is no card.
fn edited(path: &str, old: &str, new: &str) -> Option<String> {
    let (was, becomes) = (Card::parse(path, old.as_bytes()).ok()?, Card::parse(path, new.as_bytes()).ok()?);
    let text = match was.description == becomes.description {
        true => old.to_owned(),
        false => card::replace_description(path, old, &becomes.description).ok()?,
    };
    card::replace_body(path, &text, &becomes.body).ok()
}

/// The cards that an ordinary edit may touch: all but the slow update's guidance.
pub(super) fn editable(cards: &[Card], profile: &Profile) -> Vec<Card> {
    let guidance = profile.guidance_path();
    cards.iter().filter(|card| card.path != guidance).cloned().collect()
}

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
        let cards = editable(task.cards, task.profile);
        let Plan { changes, report } = plan(task.evidence, given, &cards, task.profile, task.bounds);
        for change in &changes {
            match change {
                Change::Write { path, text } => {
                    let file = task.checkout.folder().join(path);
                    let old = task.cards.iter().any(|card| card.path == *path).then(|| files::read_text(&file));
                    let text =
                        old.transpose()?.and_then(|old| edited(path, &old, text)).unwrap_or_else(|| text.clone());
                    files::write(&file, &text)?;
                }
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
    fn recall(&self, _desk: &Desk, _checkout: &Path, _resumed: Option<&Session>) -> Result<Option<Turn>> {
        Ok(None)
    }

    fn analyse(&self, task: &AnalyseTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Ok(Said::free(operations::analyse(task)))
    }

    fn merge(&self, task: &MergeTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Ok(Said::free(operations::merge(task)))
    }

    fn rank(&self, task: &RankTask<'_>, _host: &Host<'_>) -> Result<Said<Ranking>> {
        Ok(Said::free(operations::rank(task)))
    }

    fn rewrite(&self, task: &RewriteTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let (edits, unread) = operations::rewrite(task);
        Ok(Said { unread, ..Said::free(edits) })
    }

    /// The same inputs would give the same edits again: there is nothing to mend.
    fn repair(&self, _task: &RepairTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Ok(Said::free(Vec::new()))
    }

    fn slow_update(&self, task: &SlowTask<'_>, _host: &Host<'_>) -> Result<Said<Option<String>>> {
        Ok(Said::free(operations::slow_update(task)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_leaves_keeps_its_bytes() {
        let old = "---\ndescription: >-\n  Use when asked\n  for a fee.\n---\n\n## Rules\n- The fee is 4.\n";
        let body = "---\ndescription: Use when asked for a fee.\n---\n\n## Rules\n- The fee is 5.\n";
        assert_eq!(edited("a.md", old, body).unwrap(), old.replace("is 4", "is 5"));
        let both = body.replace("a fee.", "a fee. Not for fines.");
        assert_eq!(edited("a.md", old, &both).unwrap(), both);
        assert_eq!(edited("a.md", "no card", body), None);
    }
}
