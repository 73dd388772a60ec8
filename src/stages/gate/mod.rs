//! The gate: whether a candidate takes the current pool's place, decided from both pools' scores on the selection tasks.
//!
//! Pure and in whole steps of [`score::STEPS`]: the same results give the same verdict, in whatever order they came. It can
//! be asked before all tasks are measured, and answers as soon as the rest cannot change its answer.

mod means;
pub mod null;
mod sequential;
mod spending;
#[cfg(test)]
mod tests;
mod wealth;

use serde::{Deserialize, Serialize};

use crate::score::{self, Score};

pub use self::spending::Spending;
pub use self::wealth::{Wealth, wins_needed};

/// The number that the gate compares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The hard score.
    Hard,
    /// The soft score.
    Soft,
    /// (1 − w)·hard + w·soft, with w in [0, 1].
    Mixed(f64),
}

impl Metric {
    /// A score's number, in [0, 1].
    pub fn of(self, score: &Score) -> f64 {
        match self {
            Metric::Hard => score.hard,
            Metric::Soft => score.soft,
            Metric::Mixed(weight) => (1.0 - weight) * score.hard + weight * score.soft,
        }
    }

    /// The number of two means.
    pub fn of_means(self, hard: f64, soft: f64) -> f64 {
        self.of(&Score { hard, soft, feedback: Vec::new() })
    }

    fn steps(self, score: &Score) -> i64 {
        score::steps(self.of(score))
    }
}

/// When a candidate is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Its mean is strictly higher; ties reject.
    Strict,
    /// As strict, and no critical task got worse, and at most `others` of the rest.
    NoRegression {
        /// Tasks not critical that may get worse.
        others: usize,
    },
    /// A betting test on the paired differences reaches this error level ([`Spending`] says which).
    Sequential {
        /// The chance at which a worthless candidate may be accepted in this step, in (0, 1).
        level: f64,
    },
}

/// How the gate decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// The number compared.
    pub metric: Metric,
    /// When a candidate is accepted.
    pub policy: Policy,
    /// The share of tasks that must be measured for a verdict, in [0, 1].
    pub min_coverage: f64,
    /// Without it the verdict is recorded, and the candidate accepted all the same.
    pub use_gate: bool,
}

/// What is known of one pool on one task.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Measured {
    /// Not tried yet.
    #[default]
    Pending,
    /// Tried, and no score came of it: a provider's failure. It stays missing and is no 0.
    Missing,
    /// Scored.
    Is(Score),
}

/// One selection task under both pools.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The task's id.
    pub task: String,
    /// Whether it is marked critical.
    pub critical: bool,
    /// Under the current pool.
    pub current: Measured,
    /// Under the candidate.
    pub candidate: Measured,
}

impl Pair {
    fn both(&self) -> Option<(&Score, &Score)> {
        match (&self.current, &self.candidate) {
            (Measured::Is(current), Measured::Is(candidate)) => Some((current, candidate)),
            _ => None,
        }
    }

    fn is_missing(&self) -> bool {
        matches!(self.current, Measured::Missing) || matches!(self.candidate, Measured::Missing)
    }

    /// Candidate minus current in steps, when both are known.
    fn difference(&self, metric: Metric) -> Option<i64> {
        self.both().map(|(current, candidate)| metric.steps(candidate) - metric.steps(current))
    }

    /// What the difference can still come to: lowest and highest. A task that will be missing counts as no difference,
    /// which lies between.
    fn range(&self, metric: Metric) -> (i64, i64) {
        if let Some(difference) = self.difference(metric) {
            return (difference, difference);
        }
        if self.is_missing() {
            return (0, 0);
        }
        let of = |measured: &Measured| match measured {
            Measured::Is(score) => (metric.steps(score), metric.steps(score)),
            _ => (0, score::STEPS),
        };
        let (current, candidate) = (of(&self.current), of(&self.candidate));
        ((candidate.0 - current.1).min(0), (candidate.1 - current.0).max(0))
    }
}

/// The gate's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate takes the current pool's place.
    Accept,
    /// It does not.
    Reject,
    /// What was measured does not decide it; the current pool stays.
    Undecided,
}

/// A verdict with its reasons, as `gate.json` records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What is done.
    pub verdict: Verdict,
    /// What the policy says; differs from `verdict` only when the gate is off.
    pub judged: Verdict,
    /// Why, one sentence.
    pub reason: String,
    /// The current pool's mean over the tasks measured under both pools; none when there is no such task.
    pub current: Option<f64>,
    /// The candidate's, over the same tasks.
    pub candidate: Option<f64>,
    /// Tasks of the split.
    pub tasks: usize,
    /// Tasks measured under both pools.
    pub measured: usize,
    /// Tasks without a score under one of them.
    pub missing: Vec<String>,
    /// Tasks that fail under the current pool and pass under the candidate.
    pub fixed: Vec<String>,
    /// Tasks that pass under the current pool and fail under the candidate.
    pub broken: Vec<String>,
    /// The sequential test's wealth; it accepts at `wealth_needed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wealth: Option<f64>,
    /// 1 / level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wealth_needed: Option<f64>,
    /// For the policies that compare means: how often an edit without any effect, which moves these tasks by chance in
    /// either direction, would be accepted too. See [`null::symmetric`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_acceptance: Option<f64>,
}

/// What a policy came to.
struct Judged {
    verdict: Verdict,
    reason: String,
    wealth: Option<f64>,
}

impl Judged {
    fn new(verdict: Verdict, reason: String) -> Judged {
        Judged { verdict, reason, wealth: None }
    }
}

impl Gate {
    /// Looks at what was measured so far: the decision, or none while tasks that are pending could change it.
    ///
    /// The order of `pairs` is part of the sequential policy's input: it must be fixed before anything is measured. Results
    /// that are there out of order wait for those before them.
    ///
    /// Stopping early is exact: for any scores of the pending tasks the verdict on all of them is the same. Only scores are
    /// meant: a pending task that would have failed to be measured is not foreseen.
    pub fn look(&self, pairs: &[Pair]) -> Option<Decision> {
        let pending = pairs.iter().any(|pair| !pair.is_missing() && pair.both().is_none());
        let judged = if pairs.iter().filter(|pair| pair.is_missing()).count() > self.spare(pairs.len()) {
            Some(self.too_few(pairs))
        } else {
            match self.policy {
                Policy::Sequential { level } => sequential::judge(pairs, self.metric, level),
                Policy::Strict => means::judge(pairs, self.metric, None),
                Policy::NoRegression { others } => means::judge(pairs, self.metric, Some(others)),
            }
        }?;
        // With the gate off the scores are what is wanted, so nothing is left out.
        (self.use_gate || !pending).then(|| self.decision(pairs, judged))
    }

    /// Tasks that may be missing: the rest is `min_coverage` of all, rounded up.
    fn spare(&self, tasks: usize) -> usize {
        let needed = (tasks as f64 * self.min_coverage - 1e-9).ceil().max(1.0) as usize;
        tasks.saturating_sub(needed)
    }

    fn too_few(&self, pairs: &[Pair]) -> Judged {
        let missing = pairs.iter().filter(|pair| pair.is_missing()).count();
        let reason = format!(
            "{missing} of {} tasks could not be measured, and {:.0} % must be (evaluation.min_coverage)",
            pairs.len(),
            self.min_coverage * 100.0
        );
        Judged::new(Verdict::Undecided, reason)
    }

    fn decision(&self, pairs: &[Pair], judged: Judged) -> Decision {
        let both: Vec<(&Pair, &Score, &Score)> = pairs
            .iter()
            .filter_map(|pair| pair.both().map(|(current, candidate)| (pair, current, candidate)))
            .collect();
        let flips = |from: bool| -> Vec<String> {
            let flipped = both
                .iter()
                .filter(|(_, current, candidate)| current.is_failure() == from && candidate.is_failure() != from);
            flipped.map(|(pair, ..)| pair.task.clone()).collect()
        };
        let differences = || pairs.iter().filter_map(|pair| pair.difference(self.metric));
        let level = match self.policy {
            Policy::Sequential { level } => Some(level),
            _ => None,
        };
        Decision {
            verdict: if self.use_gate { judged.verdict } else { Verdict::Accept },
            judged: judged.verdict,
            reason: judged.reason,
            current: score::mean(both.iter().map(|(_, current, _)| self.metric.of(current))),
            candidate: score::mean(both.iter().map(|(.., candidate)| self.metric.of(candidate))),
            tasks: pairs.len(),
            measured: both.len(),
            missing: pairs.iter().filter(|pair| pair.is_missing()).map(|pair| pair.task.clone()).collect(),
            fixed: flips(true),
            broken: flips(false),
            wealth: judged.wealth,
            wealth_needed: level.map(|level| 1.0 / level),
            null_acceptance: level.is_none().then(|| null::symmetric(differences())),
        }
    }
}

/// Whether training stops: the last `patience` steps were all not accepted. 0 never stops.
pub fn out_of_patience(patience: usize, accepted: &[bool]) -> bool {
    patience > 0 && accepted.len() >= patience && accepted.iter().rev().take(patience).all(|step| !step)
}
