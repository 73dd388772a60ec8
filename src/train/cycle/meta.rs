//! The meta skill: the optimizer's own notes, kept in the run and never in the pool.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Run;
use super::rejected;
use super::state::{State, record};
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::optimizer::{Memory, MetaTask, tasks::Seat};
use crate::run::folder::Stretch;

/// An epoch's notes, as `meta_skill.json` holds them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MetaReport {
    /// The notes in force from here on, Markdown; empty when there are none.
    pub(super) text: String,
    /// What of the reply could not be read.
    pub(super) unread: Vec<String>,
}

/// Asks the optimizer for its notes on an epoch.
pub(super) fn update(run: &Run<'_>, state: &State, epoch: usize) -> Result<MetaReport> {
    let stretch = Stretch::MetaSkill(epoch);
    if let Some(known) = record(&run.setup.folder, stretch)? {
        return Ok(known);
    }
    let mut report = MetaReport { text: state.meta_skill.clone(), unread: Vec::new() };
    let config = run.config();
    run.begin_stretch(stretch)?;
    if config.optimizer.use_meta_skill && !config.train.freeze {
        let folder = run.setup.folder.stretch(&stretch);
        let memory = Memory { rejected: "", meta_skill: &state.meta_skill };
        let seat = Seat { place: stretch.name(), desk: run.desk(&folder, "meta_skill"), memory };
        let story = story(run, state, epoch)?;
        let task = MetaTask { seat, story: &story };
        let label = run.label(stretch);
        let said = run.seams().with_host(&label, |host| run.setup.optimizer.meta_skill(&task, host))?;
        run.count_usage("meta_skill", said.usage);
        report.unread = said.unread;
        if let Some(text) = said.value {
            files::write(&folder.join("meta_skill.md"), &text)?;
            report.text = text;
        }
    }
    run.end_stretch(stretch)?;
    files::write_json(&run.setup.folder.record(&stretch), &report)?;
    crash::point("stretch-done");
    Ok(report)
}

/// An epoch's steps with their edits and scores.
fn story(run: &Run<'_>, state: &State, epoch: usize) -> Result<String> {
    let steps = || state.reports.iter().filter(|report| report.epoch == epoch);
    let mut text = String::new();
    for report in steps() {
        let score = |score: Option<f64>| score.map_or("none".to_owned(), |score| format!("{score:.4}"));
        // Writing to a string cannot fail.
        writeln!(
            text,
            "- {}: {}: {} (score {} before, {} with it; fixed {}, broken {})",
            report.label,
            report.outcome.name(),
            report.reason,
            score(report.current_score),
            score(report.candidate_score),
            report.fixed.len(),
            report.broken.len()
        )
        .ok();
    }
    Ok(format!("{text}\n{}", rejected::told(&run.pool, steps())?))
}
