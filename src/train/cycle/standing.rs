//! Where a run stands, told from its folder alone: nothing is locked, nothing is changed.

use serde::Serialize;

use super::begin::Begun;
use super::state::record;
use crate::config::Config;
use crate::ground::error::Result;
use crate::run::cycle::{CycleReport, Outcome};
use crate::run::folder::{RunDir, Stretch};
use crate::stages::split::Split;
use crate::stages::{gate, scheduler};

/// Where a run stands.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// The run's name.
    pub name: String,
    /// Steps planned.
    pub steps: usize,
    /// Steps with a record, in their order.
    pub done: Vec<CycleReport>,
    /// Whether it came to its end, under the configuration of its last call.
    pub is_finished: bool,
    /// The stretch that is under way or comes next, by its folder; none when it is finished.
    pub at: Option<String>,
    /// What the same command would do next.
    pub next: String,
}

impl Standing {
    /// Looks at a run's folder; none when no run was begun there.
    ///
    /// # Errors
    /// Of kind `Failed` for records that are damaged; as [`Config::load`] and [`Split::read`].
    pub fn of(folder: &RunDir) -> Result<Option<Standing>> {
        let Some(begun) = Begun::read(folder)? else { return Ok(None) };
        let config = Config::load(&folder.config(), &[])?;
        let split = Split::read(&folder.split())?;
        let train = split.train.len();
        let per_epoch = scheduler::steps_per_epoch(train, config.train.batch_size, config.train.accumulation);
        let epochs = config.train.num_epochs;
        let mut done = Vec::new();
        let mut at = None;
        for stretch in stretches(epochs, per_epoch) {
            // Without tasks to select by there is no first measurement, and a run out of patience goes to its end.
            let is_left_out = match stretch {
                Stretch::Baseline => split.selection.is_empty(),
                Stretch::Final => false,
                _ => is_out_of_patience(&config, &done),
            };
            match record::<CycleReport>(folder, stretch) {
                _ if at.is_some() => break,
                _ if is_left_out => {}
                _ if stretch == Stretch::Final => at = (!is_ended(folder, done.len())?).then_some(stretch),
                Ok(Some(report)) if matches!(stretch, Stretch::Step(..)) => done.push(report),
                _ if folder.record(&stretch).is_file() => {}
                _ => at = Some(stretch),
            }
        }
        let next = at.map_or_else(
            || "nothing: it is finished; more epochs go on (--set train.num_epochs)".into(),
            |at| next(folder, at),
        );
        let at = at.map(Stretch::name);
        Ok(Some(Standing { name: begun.name, steps: per_epoch * epochs, is_finished: at.is_none(), done, at, next }))
    }

    /// Steps by what became of their candidates: accepted, rejected, undecided, unchanged, failed.
    pub fn counts(&self) -> [usize; 5] {
        [Outcome::Accepted, Outcome::Rejected, Outcome::Undecided, Outcome::Unchanged, Outcome::Failed]
            .map(|outcome| self.done.iter().filter(|report| report.outcome == outcome).count())
    }
}

fn is_out_of_patience(config: &Config, done: &[CycleReport]) -> bool {
    let accepted: Vec<bool> = done.iter().map(|report| report.outcome == Outcome::Accepted).collect();
    gate::out_of_patience(config.evaluation.patience, &accepted)
}

/// Whether a run was ended after so many steps. One that went on is ended anew.
fn is_ended(folder: &RunDir, steps: usize) -> Result<bool> {
    let end = record::<serde_json::Value>(folder, Stretch::Final)?;
    Ok(end.is_some_and(|end| end["steps"] == steps))
}

/// All stretches of a run, in their order.
fn stretches(epochs: usize, per_epoch: usize) -> impl Iterator<Item = Stretch> {
    let of_epoch = move |epoch| {
        let steps = (0..per_epoch).map(move |step| Stretch::Step(epoch, step));
        steps.chain([Stretch::SlowUpdate(epoch), Stretch::MetaSkill(epoch)])
    };
    [Stretch::Baseline].into_iter().chain((0..epochs).flat_map(of_epoch)).chain([Stretch::Final])
}

/// What comes next in a stretch, by what lies in its folder.
fn next(folder: &RunDir, at: Stretch) -> String {
    let there = |name: &str| folder.stretch(&at).join(name).exists();
    let (what, name) = match at {
        Stretch::Baseline => ("measure the first pool on the selection split", at.name()),
        Stretch::Step(..) if there("gate.json") => ("carry out the gate's verdict", at.name()),
        Stretch::Step(..) if there("batch.json") => ("edit the pool and judge the candidate", at.name()),
        Stretch::Step(..) => ("attempt the step's tasks", at.name()),
        Stretch::SlowUpdate(_) => ("compare this epoch's pool with the last one's", at.name()),
        Stretch::MetaSkill(_) => ("let the optimizer write down what it learnt", at.name()),
        Stretch::Final => ("check the best pool, and open the test split", at.name()),
    };
    format!("{what} ({name}): skilltrain train, as it was started, goes on there")
}
