//! Update: a candidate for the pool's place, made by the backward pass or from edits.

use super::patch;
use super::reflect::Sample;
use super::step::Step;
use crate::config::Strategy;
use crate::ground::crash;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::optimizer::Bounds;
use crate::pool::Oid;
use crate::pool::repo::{Pool, parse_id};
use crate::run::event::{Event, StepReport};
use crate::train::backward;
use crate::train::context::Options;

/// What an update came to.
#[derive(Debug, Default)]
pub(super) struct Proposal {
    /// The candidate; none when there is nothing that the gate could judge.
    pub(super) candidate: Option<Oid>,
    /// Edits that were left out, or why there is no candidate; a line each.
    pub(super) skipped: Vec<String>,
    /// The backward pass's micro-steps.
    pub(super) micro_steps: Vec<StepReport>,
}

/// What became of an update whose optimizer's work was refused, so that it is not asked again when the run is taken up.
const REFUSED: &str = "refused.txt";

/// Makes a candidate of the evidence. An optimizer whose work cannot be taken fails its own step, not the run.
pub(super) fn propose(step: &Step<'_>, samples: &[Sample]) -> Result<Proposal> {
    if samples.is_empty() {
        return Ok(Proposal { skipped: vec!["no attempt failed".into()], ..Proposal::default() });
    }
    let note = step.folder().join(REFUSED);
    if let Some(why) = files::read_if_there(&note)? {
        return refused(step, String::from_utf8_lossy(&why).into_owned());
    }
    let proposal = match step.run.config().optimizer.strategy {
        Strategy::Backward => by_backward(step),
        Strategy::Patch => patch::propose(step, samples),
    };
    match proposal {
        Err(error) if error.kind() == Kind::Refused => {
            let why = error.to_string();
            files::write(&note, &why)?;
            crash::point("update-refused");
            step.run.tell(&Event::Warning { text: format!("{}: no candidate: {why}", step.label()) });
            refused(step, why)
        }
        other => other,
    }
}

/// The candidate of an update that was refused on the way: what its earlier micro-steps committed.
fn refused(step: &Step<'_>, why: String) -> Result<Proposal> {
    let tip = step.run.pool.tip()?;
    let candidate = (tip != step.state.current).then_some(tip);
    Ok(Proposal { candidate, skipped: why.lines().map(str::to_owned).collect(), micro_steps: Vec::new() })
}

fn by_backward(step: &Step<'_>) -> Result<Proposal> {
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
    let micro_steps =
        backward::pass(&options, pool, setup.optimizer, setup.env, setup.cancel, setup.prompts, setup.observer)?;
    let candidate = micro_steps.last().and_then(|last| parse_id(&last.after));
    let candidate = candidate.ok_or_else(|| Error::failed("the backward pass left no commit"))?;
    Ok(Proposal { candidate: Some(candidate), skipped: Vec::new(), micro_steps })
}

/// What a step may change at most.
pub(super) fn bounds(step: &Step<'_>) -> Bounds {
    Bounds { learning_rate: step.rate, max_deletions: step.run.config().optimizer.max_deletions }
}
