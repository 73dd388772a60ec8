//! The training loop: rollout, reflect, aggregate, select, update, gate, step by step and epoch by epoch.
//!
//! A run is a fold over what is on disk: each stretch (baseline, step, slow update, meta skill, end) leaves a record, its
//! record last, and a call of the same command passes over the stretches that have one. Inside a stretch every answer is
//! in the journal and every rollout on its shelf before anything uses it, so that going through it again pays nothing
//! and comes to the same end.

mod account;
mod begin;
mod budget;
mod candidate;
pub mod dates;
mod epoch;
mod finish;
mod gate;
mod leaks;
mod meta;
mod patch;
mod reflect;
mod rejected;
mod rollouts;
mod slow;
mod standing;
mod state;
mod step;
mod surroundings;
mod update;
mod verdict;
mod waves;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashSet};

use crate::config::Config;
use crate::evaluator::Evaluator;
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::prompts::Prompts;
use crate::ground::signals::Cancel;
use crate::llm::{Journal, Price, Shared};
use crate::optimizer::Optimizer;
use crate::pool::repo::Pool;
use crate::run::cycle::Rollouts;
use crate::run::event::Observer;
use crate::run::folder::RunDir;
use crate::run::lock::PoolLock;
use crate::stages::leak::Leaks;
use crate::stages::split::Split;
use crate::target::Target;
use crate::train::measure::Attempts;
use crate::trajectory::Usage;

pub use account::past;
pub use begin::Begun;
pub use finish::Summary;
pub use standing::Standing;

/// What a run is trained with.
pub struct Setup<'a> {
    /// The configuration, resolved.
    pub config: &'a Config,
    /// The run's folder.
    pub folder: RunDir,
    /// Who attempts.
    pub target: &'a dyn Target,
    /// Who scores.
    pub evaluator: &'a dyn Evaluator,
    /// Who edits.
    pub optimizer: &'a dyn Optimizer,
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The prompts in force.
    pub prompts: &'a Prompts,
    /// Who listens.
    pub observer: Observer<'a>,
    /// What all callers of models share.
    pub shared: &'a Shared,
    /// Where their answers are written.
    pub journal: &'a Journal,
    /// A model's price.
    pub price: &'a dyn Fn(&str) -> Option<Price>,
    /// The dates of commits.
    pub dates: &'a dates::Dates,
    /// Whether nothing of earlier stretches is used again.
    pub fresh: bool,
}

/// A run that is open: its pool locked, its shelf of attempts ours.
struct Run<'a> {
    setup: &'a Setup<'a>,
    begun: Begun,
    split: Split,
    leaks: Leaks,
    attempts: Attempts,
    pool: Pool,
    /// Rollouts of the stretch that is under way.
    rollouts: Cell<Rollouts>,
    /// Attempts that the stretch has counted, by their digests.
    counted: RefCell<HashSet<String>>,
    /// Its attempts whose cost is counted.
    paid: RefCell<BTreeMap<String, Vec<Usage>>>,
    /// Whether the target answered and the evaluator scored at all, in this call or an earlier one.
    proven: Cell<bool>,
    /// Whether it was said in this call that answers are cut off.
    warned: Cell<bool>,
    _lock: PoolLock,
}

/// Trains, or goes on training.
///
/// # Errors
/// Of kind `Usage` for a configuration, tasks or a pool that cannot be trained with, or that differ from what the run was
/// begun with; `Unreachable` when a model or agent cannot be used; `Failed` when a budget is used up or the pool was moved
/// by somebody else; `Interrupted`. The same command goes on from there.
pub fn train(setup: &Setup<'_>) -> Result<Summary> {
    let run = begin::open(setup)?;
    let mut state = state::State::of(&run)?;
    budget::check(&run, &state)?;
    begin::check_update(&run, &state)?;
    run.tell_beginning(&state);
    run.warn_of_leaks()?;
    run.proven.set(state.is_proven());
    state.baseline = rollouts::baseline(&run)?;
    for epoch in 0..run.config().train.num_epochs {
        if state.is_out_of_patience(&run) {
            break;
        }
        epoch::train(&run, &mut state, epoch)?;
    }
    finish::finish(&run, &state)
}

impl Run<'_> {
    fn config(&self) -> &Config {
        self.setup.config
    }

    /// Steps of an epoch.
    fn steps_per_epoch(&self) -> usize {
        let train = &self.config().train;
        crate::stages::scheduler::steps_per_epoch(self.split.train.len(), train.batch_size, train.accumulation)
    }

    /// Steps of the run as configured now.
    fn steps(&self) -> usize {
        self.steps_per_epoch() * self.config().train.num_epochs
    }
}
