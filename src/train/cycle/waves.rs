//! Both pools measured side by side, wave by wave, until the tasks that are left cannot change the gate's verdict.

use std::collections::BTreeMap;

use super::Run;
use super::gate::{Case, Judged};
use super::rollouts::Samples;
use crate::config::{GateMetric, GatePolicy};
use crate::ground::error::Result;
use crate::ground::random::Random;
use crate::run::cycle::{Outcome, Rollouts};
use crate::stages::gate::{Gate, Measured, Metric, Pair, Policy, Verdict};
use crate::stages::rollout::{self, Ending};
use crate::target::View;
use crate::task::Task;

/// Waves that a split is measured in: after each the gate looks. A fixed number, so that what is measured does not depend on
/// how many workers there are.
const WAVES: usize = 8;

/// Tasks of a wave at least.
const WAVE: usize = 4;

/// Measures both pools side by side until the gate has decided.
pub(super) fn measure(run: &Run<'_>, case: &Case<'_>) -> Result<Judged> {
    let gate = run.gate(case);
    let samples = run.samples(case);
    let tasks = order(run, case);
    let mut pairs: Vec<Pair> = tasks.iter().map(pair).collect();
    let views = [run.view(case.current)?, run.view(case.candidate)?];
    know(run, case, &views, &tasks, samples, &mut pairs)?;
    let (mut new, mut done) = (0, 0);
    let wave = tasks.len().div_ceil(WAVES).max(WAVE);
    let decision = loop {
        let is_due = done == tasks.len() || run.config().evaluation.early_stop;
        if let Some(decision) = is_due.then(|| gate.look(&pairs)).flatten() {
            break decision;
        }
        let end = (done + wave).min(tasks.len());
        let both = views.iter().map(|view| run.measure(case.stretch, "gate", view, &tasks[done..end], samples));
        let [current, candidate] = <[_; 2]>::try_from(both.collect::<Result<Vec<_>>>()?).unwrap_or_default();
        for (place, (current, candidate)) in current.iter().zip(&candidate).enumerate() {
            pairs[done + place].current = side(current);
            pairs[done + place].candidate = side(candidate);
        }
        let made = |measured: &&rollout::Measured| measured.digest.is_some() && !measured.reused;
        new += current.iter().chain(&candidate).filter(made).count() * samples.repeats as usize;
        done = end;
    };
    let repeats = samples.repeats as usize;
    run.count_rollouts(Rollouts { spared: (tasks.len() - done) * 2 * repeats, ..Rollouts::default() });
    let all = tasks.len() * 2 * repeats;
    let outcome = match decision.verdict {
        Verdict::Accept => Outcome::Accepted,
        Verdict::Reject => Outcome::Rejected,
        Verdict::Undecided => Outcome::Undecided,
    };
    Ok(Judged {
        commit: None,
        outcome,
        reason: decision.reason.clone(),
        current: decision.current,
        candidate: decision.candidate,
        fixed: decision.fixed.clone(),
        broken: decision.broken.clone(),
        new,
        saved: all.saturating_sub(new),
        rollouts: Rollouts::default(),
        took: BTreeMap::new(),
        decision: Some(decision),
    })
}

/// Fills in what earlier stretches know of both pools: the current one's scores, and the candidate's on tasks that it shows
/// the same. It costs nothing, and lets the gate decide sooner. A sequential gate looks at its own samples only.
fn know(
    run: &Run<'_>,
    case: &Case<'_>,
    views: &[View; 2],
    tasks: &[Task],
    samples: Samples,
    pairs: &mut [Pair],
) -> Result<()> {
    if case.level.is_some() {
        return Ok(());
    }
    let [current, candidate] = views;
    let current = run.known(case.stretch, current, tasks, samples)?;
    let candidate = run.known(case.stretch, candidate, tasks, samples)?;
    for (pair, (current, candidate)) in pairs.iter_mut().zip(current.iter().zip(&candidate)) {
        pair.current = current.as_ref().map_or(Measured::Pending, side);
        pair.candidate = candidate.as_ref().map_or(Measured::Pending, side);
    }
    Ok(())
}

/// The selection tasks in the order in which they are looked at, fixed before anything is measured.
fn order(run: &Run<'_>, case: &Case<'_>) -> Vec<Task> {
    let mut tasks = run.split.selection.clone();
    Random::of(run.config().train.seed, &format!("gate {}", case.stretch.name())).shuffle(&mut tasks);
    tasks
}

fn pair(task: &Task) -> Pair {
    Pair { task: task.id.clone(), critical: task.critical, current: Measured::Pending, candidate: Measured::Pending }
}

fn side(measured: &rollout::Measured) -> Measured {
    match &measured.end {
        Ending::Scored(score) => Measured::Is(score.clone()),
        Ending::Lost(_) | Ending::Unscored(_) => Measured::Missing,
    }
}

impl Run<'_> {
    /// The number that the gate compares.
    pub(super) fn metric(&self) -> Metric {
        let evaluation = &self.config().evaluation;
        match evaluation.gate_metric {
            GateMetric::Hard => Metric::Hard,
            GateMetric::Soft => Metric::Soft,
            GateMetric::Mixed => Metric::Mixed(evaluation.mixed_weight),
        }
    }

    fn gate(&self, case: &Case<'_>) -> Gate {
        let evaluation = &self.config().evaluation;
        let policy = match (evaluation.gate_policy, case.level) {
            (GatePolicy::NoRegression, _) => Policy::NoRegression { others: evaluation.max_regressions },
            (GatePolicy::Sequential, Some(level)) => Policy::Sequential { level },
            (GatePolicy::Strict | GatePolicy::Sequential, _) => Policy::Strict,
        };
        let min_coverage = evaluation.min_coverage;
        Gate { metric: self.metric(), policy, min_coverage, use_gate: case.use_gate }
    }

    /// The samples that a gate looks at. A sequential one has its own in each step: a score that is kept was lucky or
    /// unlucky once for all the steps after it.
    fn samples(&self, case: &Case<'_>) -> Samples {
        let repeats = self.repeats().repeats;
        let first = match case.level {
            Some(_) => u32::try_from(case.number + 1).unwrap_or(u32::MAX).saturating_mul(repeats),
            None => 0,
        };
        Samples { first, repeats }
    }
}
