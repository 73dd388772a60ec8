//! What a training loop writes down of its steps: plain records, from which a run is taken up again and reported.

use serde::{Deserialize, Serialize};

use crate::score::Score;

/// Raised when an older reader would misunderstand a record.
pub const VERSION: u32 = 1;

/// The two means of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Means {
    /// The hard mean, in [0, 1].
    pub hard: f64,
    /// The soft mean, in [0, 1].
    pub soft: f64,
}

/// What a measurement of one pool on some tasks came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The pool's commit.
    pub commit: String,
    /// Its means over the tasks that have a score; none when no task has.
    pub means: Option<Means>,
    /// Tasks.
    pub tasks: usize,
    /// Tasks with a score.
    pub measured: usize,
    /// Rollouts that were made for it.
    pub new: usize,
    /// Rollouts that were taken from an earlier step.
    pub reused: usize,
}

/// Rollouts of a stretch, or of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollouts {
    /// Made.
    pub new: usize,
    /// Taken from an earlier stretch.
    pub reused: usize,
    /// Not needed any more, because the gate had decided.
    pub spared: usize,
}

impl std::ops::AddAssign for Rollouts {
    fn add_assign(&mut self, more: Rollouts) {
        self.new += more.new;
        self.reused += more.reused;
        self.spared += more.spared;
    }
}

impl std::ops::Sub for Rollouts {
    type Output = Rollouts;

    fn sub(self, less: Rollouts) -> Rollouts {
        Rollouts {
            new: self.new.saturating_sub(less.new),
            reused: self.reused.saturating_sub(less.reused),
            spared: self.spared.saturating_sub(less.spared),
        }
    }
}

/// What became of a step's candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It took the current pool's place.
    Accepted,
    /// It did not; its edits are kept under `refs/skilltrain/rejected/`.
    Rejected,
    /// What was measured did not decide it; its edits are kept under `refs/skilltrain/undecided/`.
    Undecided,
    /// There was none: nothing was worth changing, or the pool is frozen.
    Unchanged,
    /// There was none, because nothing of the optimizer's work could be taken.
    Failed,
}

impl Outcome {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Rejected => "rejected",
            Outcome::Undecided => "undecided",
            Outcome::Unchanged => "unchanged",
            Outcome::Failed => "failed",
        }
    }
}

/// Cards that a candidate made, changed and took away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cards {
    /// Made.
    pub created: usize,
    /// Changed.
    pub changed: usize,
    /// Taken away.
    pub deleted: usize,
}

/// One step of a run as `step.json` holds it, written last: it vouches for the step. Nothing in it depends on the number
/// of workers, or on whether the run was interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CycleReport {
    /// The record's version.
    pub version: u32,
    /// The step's label, of commits and references.
    pub label: String,
    /// The epoch, from 0.
    pub epoch: usize,
    /// The step within the epoch, from 0.
    pub step: usize,
    /// The step within the run, from 0.
    pub number: usize,
    /// Steps that the run was planned to have when this one was made.
    pub steps: usize,
    /// The learning rate of the step; none where the optimizer chose it.
    pub learning_rate: Option<usize>,
    /// What the attempts at the batch came to.
    pub batch: Measurement,
    /// The pool's commit before it.
    pub before: String,
    /// The candidate; none when there was none.
    pub candidate: Option<String>,
    /// The pool's commit after it.
    pub after: String,
    /// What became of the candidate.
    pub outcome: Outcome,
    /// Why, one sentence.
    pub reason: String,
    /// The current pool's gate score, over the tasks that the gate compared.
    pub current_score: Option<f64>,
    /// The candidate's.
    pub candidate_score: Option<f64>,
    /// Selection tasks that both pools were measured on: the scores are over these.
    #[serde(default)]
    pub compared: usize,
    /// Tasks that the candidate fixed.
    pub fixed: Vec<String>,
    /// Tasks that it broke.
    pub broken: Vec<String>,
    /// The error level that a sequential gate spent on the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// What the candidate did to cards.
    pub cards: Cards,
    /// Tokens of all cards of the pool after the step, by estimate.
    pub pool_tokens: usize,
    /// Edits that did not fit and were left out, or why no candidate could be made; a line each.
    pub skipped: Vec<String>,
    /// Rollouts that the gate made.
    pub gate_new: usize,
    /// Rollouts that the gate took from earlier steps, or did not need because it had decided.
    pub gate_saved: usize,
    /// Calls of models that were answered, in this step.
    pub calls: u64,
    /// Calls that failed, cut off or lost, those that a retry made good included.
    #[serde(default)]
    pub failed_calls: u64,
    /// Tokens of these calls and of agents, as far as they tell.
    pub tokens: u64,
    /// US dollars; none when a price is unknown.
    pub usd: Option<f64>,
}

impl CycleReport {
    /// The pool's gate score after the step; none when the gate compared nothing.
    pub fn score_after(&self) -> Option<f64> {
        if self.outcome == Outcome::Accepted { self.candidate_score } else { self.current_score }
    }
}

impl Measurement {
    /// The means of scores.
    pub fn means_of<'s>(scores: impl Iterator<Item = &'s Score> + Clone) -> Option<Means> {
        let hard = crate::score::mean(scores.clone().map(|score| score.hard))?;
        let soft = crate::score::mean(scores.map(|score| score.soft))?;
        Some(Means { hard, soft })
    }
}
