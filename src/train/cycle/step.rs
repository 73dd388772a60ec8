//! One step: rollout, reflect, update, gate, verdict, record.

use super::Run;
use super::gate::Judged;
use super::reflect;
use super::rollouts::{Samples, measurement};
use super::state::State;
use super::update::{self, Proposal};
use super::verdict;
use crate::config::{GatePolicy, LrScheduler};
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::ground::random::Random;
use crate::pool::Oid;
use crate::run::cycle::{Cards, CycleReport, Measurement, Outcome, VERSION};
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::stages::gate::Spending;
use crate::stages::rollout::Measured;
use crate::stages::scheduler::{Kind, Schedule};
use crate::target::View;
use crate::task::Task;

/// A step that is under way.
pub(super) struct Step<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) state: &'a State,
    pub(super) epoch: usize,
    pub(super) step: usize,
    /// The step within the run, from 0.
    pub(super) number: usize,
    /// The learning rate; none where the optimizer chooses it.
    pub(super) rate: Option<usize>,
}

impl Step<'_> {
    pub(super) fn stretch(&self) -> Stretch {
        Stretch::Step(self.epoch, self.step)
    }

    /// The step's label, of commits and references.
    pub(super) fn label(&self) -> String {
        self.run.label(self.stretch())
    }

    pub(super) fn folder(&self) -> std::path::PathBuf {
        self.run.setup.folder.stretch(&self.stretch())
    }

    /// The error level of a sequential gate.
    pub(super) fn level(&self) -> Option<f64> {
        let evaluation = &self.run.config().evaluation;
        // A candidate that was never compared has spent nothing.
        let passes_on = |report: &CycleReport| report.outcome == Outcome::Accepted || report.compared == 0;
        let passes: Vec<bool> = self.state.reports.iter().map(passes_on).collect();
        let spending = Spending { alpha: evaluation.alpha, plans: self.run.begun.plans.clone() };
        (evaluation.gate_policy == GatePolicy::Sequential).then(|| spending.level(&passes))
    }

    /// The step's tasks: its share of the epoch's order.
    fn batch(&self) -> Vec<Task> {
        let train = &self.run.config().train;
        let mut order: Vec<usize> = (0..self.run.split.train.len()).collect();
        Random::of(train.seed, &format!("epoch {}", self.epoch)).shuffle(&mut order);
        let size = train.batch_size * train.accumulation;
        let places = order.into_iter().skip(self.step * size).take(size);
        places.map(|place| self.run.split.train[place].clone()).collect()
    }

    /// Attempts the batch: `accumulation` rollouts of `batch_size` tasks, all with the same pool.
    fn rollout(&self, view: &View, tasks: &[Task]) -> Result<Vec<Measured>> {
        let mut measured = Vec::with_capacity(tasks.len());
        for chunk in tasks.chunks(self.run.config().train.batch_size) {
            measured.extend(self.run.measure(self.stretch(), "rollout", view, chunk, Samples::ONE)?);
        }
        Ok(measured)
    }
}

/// Goes through a step that has no record yet.
pub(super) fn train(run: &Run<'_>, state: &State, epoch: usize, step: usize) -> Result<CycleReport> {
    let number = epoch * run.steps_per_epoch() + step;
    let step = Step { run, state, epoch, step, number, rate: schedule(run).budget(number) };
    run.begin_stretch(step.stretch())?;
    let tasks = step.batch();
    run.tell(&Event::CycleStarted { label: step.label(), number, steps: run.steps(), tasks: tasks.len() });
    let view = run.view(state.current)?;
    let measured = step.rollout(&view, &tasks)?;
    crash::point("rolled-out");
    let batch = measurement(&view, &measured, 1);
    let (proposal, judged) = match why_none(&step, &batch) {
        Some((outcome, reason)) => (Proposal::default(), Judged::without(outcome, reason)),
        None => {
            let samples = reflect::reflect(&step, &tasks, &measured)?;
            crash::point("reflected");
            let proposal = update::propose(&step, &samples)?;
            crash::point("proposed");
            let judged = super::gate::judge(&step, &proposal)?;
            (proposal, judged)
        }
    };
    crash::point("judged");
    let after = verdict::carry_out(run, &step.label(), state.current, proposal.commit()?, &judged)?;
    let report = record(&step, batch, &proposal, judged, after)?;
    files::write_json(&run.setup.folder.record(&step.stretch()), &report)?;
    crash::point("stretch-done");
    run.tell(&Event::CycleDone { report: Box::new(report.clone()) });
    Ok(report)
}

/// Why a step makes no candidate, before anybody is asked for one.
fn why_none(step: &Step<'_>, batch: &Measurement) -> Option<(Outcome, String)> {
    let config = step.run.config();
    if (batch.measured as f64) < config.evaluation.min_coverage * batch.tasks as f64 || batch.measured == 0 {
        let (measured, tasks) = (batch.measured, batch.tasks);
        let least = config.evaluation.min_coverage * 100.0;
        let reason =
            format!("{measured} of {tasks} attempts have a score, and {least:.0} % must (evaluation.min_coverage)");
        return Some((Outcome::Undecided, reason));
    }
    if config.train.freeze {
        return Some((Outcome::Unchanged, "the pool is frozen (train.freeze)".into()));
    }
    (step.rate == Some(0)).then(|| (Outcome::Unchanged, "a learning rate of 0 applies nothing".into()))
}

/// How the learning rate moves over the run.
fn schedule(run: &Run<'_>) -> Schedule {
    let optimizer = &run.config().optimizer;
    let kind = match optimizer.lr_scheduler {
        LrScheduler::Cosine => Kind::Cosine,
        LrScheduler::Linear => Kind::Linear,
        LrScheduler::Constant => Kind::Constant,
        LrScheduler::Autonomous => Kind::Autonomous,
    };
    let (learning_rate, min_learning_rate) = (optimizer.learning_rate, optimizer.min_learning_rate);
    Schedule { kind, learning_rate, min_learning_rate, steps: run.steps() }
}

/// The step's record.
fn record(step: &Step<'_>, batch: Measurement, proposal: &Proposal, judged: Judged, after: Oid) -> Result<CycleReport> {
    let (run, current) = (step.run, step.state.current);
    let sums = run.end_stretch(step.stretch())?;
    let cards = match proposal.commit()? {
        Some(candidate) => cards(run, current, candidate)?,
        None => Cards::default(),
    };
    Ok(CycleReport {
        version: VERSION,
        label: step.label(),
        epoch: step.epoch,
        step: step.step,
        number: step.number,
        steps: run.steps(),
        learning_rate: step.rate,
        batch,
        before: current.to_string(),
        candidate: proposal.candidate.clone(),
        after: after.to_string(),
        outcome: judged.outcome,
        reason: judged.reason,
        current_score: judged.current,
        candidate_score: judged.candidate,
        compared: judged.decision.as_ref().map_or(0, |decision| decision.measured),
        fixed: judged.fixed,
        broken: judged.broken,
        level: step.level(),
        cards,
        pool_tokens: run.pool_tokens(after)?,
        skipped: proposal.skipped.clone(),
        gate_new: judged.new,
        gate_saved: judged.saved,
        calls: sums.calls,
        failed_calls: sums.failed,
        tokens: sums.tokens(),
        usd: (sums.unpriced == 0).then(|| sums.money.as_usd()),
    })
}

/// What a candidate does to cards.
fn cards(run: &Run<'_>, before: Oid, after: Oid) -> Result<Cards> {
    let old = run.pool.files(before)?;
    let mut cards = Cards::default();
    for (path, new) in run.pool.changes(before, after)? {
        match (old.contains_key(&path), new) {
            (_, None) => cards.deleted += 1,
            (true, Some(_)) => cards.changed += 1,
            (false, Some(_)) => cards.created += 1,
        }
    }
    Ok(cards)
}
