//! Update: a candidate for the pool's place, made by the backward pass or from edits.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::patch;
use super::reflect::Sample;
use super::state::id;
use super::step::Step;
use crate::config::Strategy;
use crate::ground::crash;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::optimizer::Bounds;
use crate::pool::Oid;
use crate::pool::repo::Pool;
use crate::run::cycle::Outcome;
use crate::run::event::Event;
use crate::run::layout::StepDir;
use crate::train::context::Options;
use crate::train::{backward, record};
use crate::trajectory::Usage;

/// What an update came to, as `proposal.json` holds it. From there on nobody edits any more: whoever takes the run up again
/// goes on with this candidate, wherever the branch is by then.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Proposal {
    /// The candidate's commit; none when there is nothing that the gate could judge.
    pub(super) candidate: Option<String>,
    /// Edits that were left out, or why there is no candidate; a line each.
    pub(super) skipped: Vec<String>,
    /// What agents took for it.
    pub(super) took: Vec<Took>,
    /// Whether there is no candidate because nothing of the optimizer's work could be taken.
    #[serde(default)]
    pub(super) failed: bool,
}

/// What one call of an agent took; models' calls are in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Took {
    /// What for.
    pub(super) stage: String,
    /// None when the agent does not tell.
    pub(super) usage: Option<Usage>,
}

impl Proposal {
    /// The candidate's commit.
    pub(super) fn commit(&self) -> Result<Option<Oid>> {
        self.candidate.as_deref().map(id).transpose()
    }

    /// What an earlier process came to in a stretch's folder.
    pub(super) fn known(folder: &Path) -> Result<Option<Proposal>> {
        let bytes = files::read_if_there(&folder.join(PROPOSAL))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Writes it down in a stretch's folder.
    pub(super) fn keep(&self, folder: &Path) -> Result<()> {
        files::write_json(&folder.join(PROPOSAL), self)?;
        crash::point("proposal-kept");
        Ok(())
    }
}

const PROPOSAL: &str = "proposal.json";

/// Makes a candidate of the evidence. An optimizer whose work cannot be taken fails its own step, not the run.
pub(super) fn propose(step: &Step<'_>, samples: &[Sample]) -> Result<Proposal> {
    if samples.is_empty() {
        return Ok(Proposal { skipped: vec!["no attempt failed".into()], ..Proposal::default() });
    }
    let folder = step.folder();
    let proposal = match Proposal::known(&folder)? {
        Some(known) => known,
        None => {
            let made = make(step, samples)?;
            if made.failed {
                give_up(step, &made)?;
            }
            made.keep(&folder)?;
            made
        }
    };
    proposal.took.iter().for_each(|took| step.run.count_usage(&took.stage, took.usage));
    Ok(proposal)
}

/// Steps in a row whose optimizer's work cannot be taken, before the run stops: each costs its rollouts.
const ALL_FAILED: usize = 3;

/// Bytes of the reason that are told.
const WHY: usize = 400;

/// How often the run stopped at a step, so that its questions are asked anew afterwards.
const STOPS: &str = "stops.txt";

/// Stops a run whose optimizer fails step after step. The step has no record, so that the same command tries it again.
fn give_up(step: &Step<'_>, made: &Proposal) -> Result<()> {
    let earlier = step.state.reports.iter().rev().take_while(|report| report.outcome == Outcome::Failed).count();
    if earlier + 1 < ALL_FAILED {
        return Ok(());
    }
    files::write(&step.folder().join(STOPS), format!("{}\n", step.stops()? + 1))?;
    let why = crate::ground::text::clip(&made.skipped.join(" "), WHY);
    Err(Error::failed(format!(
        "nothing of the optimizer's work could be taken in {ALL_FAILED} steps in a row, here at {}: {why}",
        step.label()
    ))
    .hint("mend the optimizer (its program, its model's server, its prompts), then run the same command: this step is tried again; another optimizer needs a run of its own (train.out)"))
}

impl Step<'_> {
    /// How often the run stopped at this step because its optimizer failed.
    pub(super) fn stops(&self) -> Result<usize> {
        let text = files::read_if_there(&self.folder().join(STOPS))?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&text).trim().parse().unwrap_or(0))
    }
}

fn make(step: &Step<'_>, samples: &[Sample]) -> Result<Proposal> {
    let mut took = Vec::new();
    let made = match step.run.config().optimizer.strategy {
        Strategy::Backward => by_backward(step, &mut took),
        Strategy::Patch => patch::propose(step, samples, &mut took),
    };
    match made {
        Ok(made) => Ok(Proposal { took, ..made }),
        Err(error) if error.kind() == Kind::Refused => {
            let why = error.to_string();
            step.run.tell(&Event::Warning { text: format!("{}: no candidate: {why}", step.label()) });
            // What its earlier micro-steps committed may be judged.
            let tip = step.run.pool.tip()?;
            let candidate = (tip != step.state.current).then(|| tip.to_string());
            let failed = candidate.is_none();
            Ok(Proposal { candidate, skipped: why.lines().map(str::to_owned).collect(), took, failed })
        }
        Err(error) => Err(error),
    }
}

fn by_backward(step: &Step<'_>, took: &mut Vec<Took>) -> Result<Proposal> {
    let (run, config) = (step.run, step.run.config());
    let setup = run.setup;
    let options = Options {
        batch: step.folder().join("batch.json"),
        pool: setup.folder.memory(),
        out: step.folder().join("backward"),
        label: step.label(),
        run: run.begun.name.clone(),
        summary: None,
        group_size: config.gradient.minibatch_size,
        timeout: std::time::Duration::from_secs_f64(config.optimizer.timeout),
        retries: config.optimizer.retries,
        bounds: bounds(step),
        sandbox: run.sandbox(),
        snapshot_full: false,
        rejected: step.state.rejected(run, step.epoch)?,
        meta_skill: step.state.meta_skill.clone(),
        seconds: Some(setup.dates.at(&step.stretch().name(), setup.env)?),
        reduce_workers: config.gradient.analyst_workers,
    };
    let pool = Pool::open(&options.pool)?;
    let passed =
        backward::pass(&options, pool, setup.optimizer, setup.env, setup.cancel, setup.prompts, setup.observer);
    // Attempts that were refused were paid as well.
    for group in (1..).map(|number| StepDir::of_group(&options.out, number)).take_while(|dir| dir.path().is_dir()) {
        took.push(Took { stage: "backward".into(), usage: record::total_usage(&group)? });
    }
    let last = passed?.pop().ok_or_else(|| Error::failed("the backward pass left no commit"))?;
    Ok(Proposal { candidate: Some(last.after), ..Proposal::default() })
}

/// What a step may change at most.
pub(super) fn bounds(step: &Step<'_>) -> Bounds {
    Bounds { learning_rate: step.rate, max_deletions: step.run.config().optimizer.max_deletions }
}
