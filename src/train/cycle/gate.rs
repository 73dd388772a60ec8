//! The gate at work: a candidate held against the current pool on the selection tasks, wave by wave, until the rest cannot
//! change the verdict.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::Run;
use super::rollouts::Samples;
use super::step::Step;
use super::update::Proposal;
use crate::batch::Batch;
use crate::config::{GateMetric, GatePolicy};
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::ground::random::Random;
use crate::pool::Oid;
use crate::run::cycle::{Outcome, Rollouts};
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::stages::gate::{Decision, Gate, Measured, Metric, Pair, Policy, Verdict};
use crate::stages::rollout::{self, Ending};
use crate::target::View;
use crate::task::Task;
use crate::trajectory::Usage;

/// Waves that a split is measured in: after each the gate looks. A fixed number, so that what is measured does not depend on
/// how many workers there are.
const WAVES: usize = 8;

/// Tasks of a wave at least.
const WAVE: usize = 4;

/// What became of a candidate, as `gate.json` holds it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Judged {
    /// The candidate.
    pub(super) commit: Option<String>,
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    /// Gate scores over the tasks that were compared.
    pub(super) current: Option<f64>,
    pub(super) candidate: Option<f64>,
    pub(super) fixed: Vec<String>,
    pub(super) broken: Vec<String>,
    /// Rollouts made for it.
    pub(super) new: usize,
    /// Rollouts that were there, or were not needed any more.
    pub(super) saved: usize,
    /// What it took in rollouts, so that a verdict which is taken from disk counts as it did when it was found.
    #[serde(default)]
    pub(super) rollouts: Rollouts,
    /// The attempts of an agent client that it looked at first in its stretch, and what each took.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) took: BTreeMap<String, Vec<Usage>>,
    /// The gate's own words, when it was asked.
    pub(super) decision: Option<Decision>,
}

impl Judged {
    /// A verdict without a measurement.
    pub(super) fn without(outcome: Outcome, reason: impl Into<String>) -> Judged {
        Judged {
            commit: None,
            outcome,
            reason: reason.into(),
            current: None,
            candidate: None,
            fixed: Vec::new(),
            broken: Vec::new(),
            new: 0,
            saved: 0,
            rollouts: Rollouts::default(),
            took: BTreeMap::new(),
            decision: None,
        }
    }
}

/// A candidate that stands before the gate.
pub(super) struct Case<'a> {
    pub(super) stretch: Stretch,
    pub(super) current: Oid,
    pub(super) candidate: Oid,
    /// The error level of a sequential gate.
    pub(super) level: Option<f64>,
    /// The step within the run, from 0: it names the samples of a sequential gate.
    pub(super) number: usize,
    /// Trees that were judged before, each with the label of its step.
    pub(super) seen: &'a HashMap<Oid, String>,
    /// What the evidence says: its loss reports.
    pub(super) taught: &'a [String],
    /// Whether the verdict is asked for; without it the candidate is accepted, and measured.
    pub(super) use_gate: bool,
}

/// Judges a step's candidate.
pub(super) fn judge(step: &Step<'_>, proposal: &Proposal) -> Result<Judged> {
    let run = step.run;
    let Some(candidate) = proposal.commit()? else {
        let outcome = if proposal.failed { Outcome::Failed } else { Outcome::Unchanged };
        return Ok(Judged::without(outcome, why_unchanged(&proposal.skipped)));
    };
    let mut seen = HashMap::new();
    for report in step.state.reports.iter().filter(|report| report.outcome == Outcome::Rejected) {
        if let Some(commit) = report.candidate.as_deref().and_then(crate::pool::repo::parse_id) {
            seen.insert(run.pool.tree(commit)?, report.label.clone());
        }
    }
    let case = Case {
        stretch: step.stretch(),
        current: step.state.current,
        candidate,
        level: step.level(),
        number: step.number,
        seen: &seen,
        taught: &taught(step)?,
        use_gate: run.config().evaluation.use_gate,
    };
    decide(run, &case)
}

/// Why there is no candidate, one sentence: the first line, with the next one where it only announces a list.
fn why_unchanged(skipped: &[String]) -> String {
    match skipped {
        [] => "nothing was worth changing".into(),
        [first, next, ..] if first.ends_with(':') => format!("{first} {}", next.trim_start_matches("- ")),
        [first, ..] => first.clone(),
    }
}

/// The step's loss reports.
fn taught(step: &Step<'_>) -> Result<Vec<String>> {
    let batch = Batch::load(&step.folder().join("batch.json"))?;
    batch.samples.iter().map(|sample| files::read_lossy(&sample.loss_report)).collect()
}

/// Judges a candidate, or takes the verdict that stands in its `gate.json`.
pub(super) fn decide(run: &Run<'_>, case: &Case<'_>) -> Result<Judged> {
    let path = run.setup.folder.stretch(&case.stretch).join("gate.json");
    let candidate = case.candidate.to_string();
    let known = files::read_if_there(&path)?.and_then(|bytes| serde_json::from_slice::<Judged>(&bytes).ok());
    if let Some(known) = known.filter(|known| known.commit.as_ref() == Some(&candidate)) {
        run.count_rollouts(known.rollouts);
        known.took.iter().for_each(|(digest, took)| run.count_attempt(digest, took));
        return Ok(known);
    }
    let (before, paid) = (run.rollouts.get(), run.paid.borrow().clone());
    let mut judged = match without_measuring(run, case)? {
        Some(judged) => judged,
        None => measured(run, case)?,
    };
    judged.commit = Some(candidate);
    judged.rollouts = run.rollouts.get() - before;
    judged.took = run.paid.borrow().clone();
    judged.took.retain(|digest, took| !took.is_empty() && !paid.contains_key(digest));
    // A verdict is not measured again: what it rests on must be there before it.
    run.attempts.flush()?;
    files::write_json(&path, &judged)?;
    crash::point("gate-decided");
    Ok(judged)
}

/// What needs no rollout: the same cards as now or as a rejected step had, or what was copied from the tasks.
fn without_measuring(run: &Run<'_>, case: &Case<'_>) -> Result<Option<Judged>> {
    let tree = run.pool.tree(case.candidate)?;
    if tree == run.pool.tree(case.current)? {
        return Ok(Some(Judged::without(Outcome::Unchanged, "nothing was worth changing")));
    }
    if let Some(label) = case.seen.get(&tree) {
        let reason = format!("the same cards were rejected at {label}");
        return Ok(Some(Judged::without(Outcome::Rejected, reason)));
    }
    let leaks = run.leaks(case)?;
    Ok(leaks.first().map(|first| {
        let more = if leaks.len() > 1 { format!(", and {} more", leaks.len() - 1) } else { String::new() };
        Judged::without(Outcome::Rejected, format!("it copies from the tasks: {first}{more}"))
    }))
}

/// Measures both pools side by side until the gate has decided.
fn measured(run: &Run<'_>, case: &Case<'_>) -> Result<Judged> {
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

    /// What a candidate's new text took over from the tasks, a line each. What the cards said before is not at issue, nor
    /// is what the evidence says in its own voice.
    fn leaks(&self, case: &Case<'_>) -> Result<Vec<String>> {
        let old: Vec<String> = self.texts(case.current)?.into_values().collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let taught: Vec<&str> = case.taught.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        for (path, new) in self.pool.changes(case.current, case.candidate)? {
            let Some(new) = new else { continue };
            let text = String::from_utf8_lossy(&self.pool.blob(new.id)?).into_owned();
            found.extend(self.leaks.find(&path, &text, &old, &taught).iter().map(ToString::to_string));
        }
        Ok(found)
    }

    /// Says what the first pool took over from the tasks: its scores are then no measure of what it teaches.
    pub(super) fn warn_of_leaks(&self) -> Result<()> {
        if self.config().train.init_pool.is_none() {
            return Ok(());
        }
        let mut found = Vec::new();
        for (path, text) in self.texts(self.begun.seed()?)? {
            found.extend(self.leaks.find(&path, &text, &[], &[]).iter().map(ToString::to_string));
        }
        if let Some(first) = found.first() {
            let more = if found.len() > 1 { format!(", and {} more", found.len() - 1) } else { String::new() };
            let text = format!("the first pool copies from the tasks, so its scores say little: {first}{more}");
            self.tell(&Event::Warning { text });
        }
        Ok(())
    }

    /// A pool's files as text, by path.
    pub(super) fn texts(&self, commit: Oid) -> Result<BTreeMap<String, String>> {
        let text = |(path, entry): (&String, &crate::pool::repo::Entry)| {
            let bytes = self.pool.blob(entry.id)?;
            Ok((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        self.pool.files(commit)?.iter().map(text).collect()
    }
}
