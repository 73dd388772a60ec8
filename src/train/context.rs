//! What a backward pass works with, gathered once.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::process::Sandbox;
use crate::ground::prompts::Prompts;
use crate::ground::signals::Cancel;
use crate::optimizer::{Bounds, Host, Memory, Optimizer, Turn};
use crate::pool::folder::StatCache;
use crate::pool::repo::Pool;
use crate::run::event::{Event, Observer};
use crate::train::check::Checker;
use crate::trajectory;

/// What the user asked for, resolved.
#[derive(Debug, Clone)]
pub struct Options {
    /// The batch file.
    pub batch: PathBuf,
    /// The pool's folder.
    pub pool: PathBuf,
    /// Where the micro-steps' folders go.
    pub out: PathBuf,
    /// The step's label; a micro-step's is `<label>-g01`.
    pub label: String,
    /// The run's name, for the commits.
    pub run: String,
    /// A commonality report given by the user: one micro-step with that.
    pub summary: Option<PathBuf>,
    /// Samples a micro-step; 0 means all in one.
    pub group_size: usize,
    /// Wall-clock time of one attempt.
    pub timeout: Duration,
    /// Fresh attempts after the first.
    pub retries: usize,
    /// What a micro-step may change at most.
    pub bounds: Bounds,
    /// Containment wanted.
    pub sandbox: Sandbox,
    /// Whether `memory_before/` and `memory_after/` hold the whole pool.
    pub snapshot_full: bool,
    /// What a training loop remembers of its rejected steps, Markdown; empty outside of one.
    pub rejected: String,
    /// The optimizer's notes from earlier epochs, Markdown; empty outside of a training loop.
    pub meta_skill: String,
    /// The time to put on commits, Unix seconds; none reads the clock.
    pub seconds: Option<i64>,
    /// Reduces that run side by side.
    pub reduce_workers: usize,
}

impl Options {
    /// What training remembers.
    pub fn memory(&self) -> Memory<'_> {
        Memory { rejected: &self.rejected, meta_skill: &self.meta_skill }
    }
}

/// Everything that the steps of one pass share.
pub struct Context<'a> {
    /// What was asked for.
    pub options: &'a Options,
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The prompts in force.
    pub prompts: &'a Prompts,
    /// Who edits.
    pub optimizer: &'a dyn Optimizer,
    /// Who listens.
    pub observer: Observer<'a>,
    /// The pool, locked by us.
    pub pool: Pool,
    /// Its profile and lint.
    pub checker: Checker,
    /// Files whose content is known.
    pub cache: RefCell<StatCache>,
    /// The containment that the user was told of.
    pub told: RefCell<Option<String>>,
}

impl Context<'_> {
    /// Tells everyone who listens.
    pub fn tell(&self, event: &Event) {
        (self.observer)(event);
    }

    /// Says which containment was in force, once, and again when it changes.
    pub fn tell_containment(&self, turn: &Turn) {
        if turn.sandbox.is_empty() || self.told.borrow().as_ref() == Some(&turn.sandbox) {
            return;
        }
        self.tell(&Event::Note { text: format!("agents are contained by: {}", turn.sandbox) });
        if let Some(text) = &turn.warning {
            self.tell(&Event::Warning { text: text.clone() });
        }
        *self.told.borrow_mut() = Some(turn.sandbox.clone());
    }

    /// Runs `job` with the surroundings of a call, its actions told under `label`.
    pub fn with_host<R>(&self, label: &str, job: impl FnOnce(&Host<'_>) -> Result<R>) -> Result<R> {
        self.seams().with_host(label, job)
    }

    /// The parts that other threads may share (git2's repository may not be).
    pub fn seams(&self) -> Seams<'_> {
        Seams {
            env: self.env,
            cancel: self.cancel,
            prompts: self.prompts,
            timeout: self.options.timeout,
            sandbox: self.options.sandbox,
            observer: self.observer,
        }
    }
}

/// The parts of a context that threads may share.
#[derive(Clone, Copy)]
pub struct Seams<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The prompts in force.
    pub prompts: &'a Prompts,
    /// Wall-clock time of one call.
    pub timeout: Duration,
    /// Containment wanted.
    pub sandbox: Sandbox,
    /// Who listens.
    pub observer: Observer<'a>,
}

impl Seams<'_> {
    /// Runs `job` with the surroundings of a call, its actions told under `label`.
    pub fn with_host<R>(&self, label: &str, job: impl FnOnce(&Host<'_>) -> Result<R>) -> Result<R> {
        use std::sync::atomic::{AtomicU64, Ordering};
        let (tokens, actions) = (AtomicU64::new(0), AtomicU64::new(0));
        let watch = |event: &trajectory::Event| {
            if let trajectory::Event::Usage { usage } = event {
                tokens.store(usage.tokens(), Ordering::Relaxed);
            }
            if let Some(text) = event.headline().filter(|_| is_told(actions.fetch_add(1, Ordering::Relaxed) + 1)) {
                let tokens = tokens.load(Ordering::Relaxed);
                (self.observer)(&Event::Action { label: label.to_owned(), text, tokens });
            }
        };
        job(&Host {
            env: self.env,
            cancel: self.cancel,
            prompts: self.prompts,
            timeout: self.timeout,
            sandbox: self.sandbox,
            watch: &watch,
        })
    }
}

/// Whether the nth action of a call is told: the first hundred are, then every tenth, every hundredth and so on, so
/// that a flood stays readable. The record on disk has them all.
fn is_told(n: u64) -> bool {
    n <= 100 || n.is_multiple_of(10_u64.pow(n.ilog10() - 1))
}

#[cfg(test)]
mod tests {
    use super::is_told;

    #[test]
    fn a_flood_of_actions_is_told_thinly() {
        assert!((1..=100).all(is_told) && is_told(110) && !is_told(111) && !is_told(1_110));
        assert_eq!((1..=1_000_000).filter(|n| is_told(*n)).count(), 100 + 4 * 90);
    }
}
