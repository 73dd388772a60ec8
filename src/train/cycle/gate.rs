//! The gate at work: what needs no measurement first, then the candidate held against the current pool.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::Run;
use super::step::Step;
use super::update::Proposal;
use super::waves;
use crate::batch::Batch;
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::pool::Oid;
use crate::run::cycle::{Outcome, Rollouts};
use crate::run::folder::Stretch;
use crate::stages::gate::Decision;
use crate::trajectory::Usage;

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
        None => waves::measure(run, case)?,
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
    let leaks = run.leaks_of(case)?;
    Ok(leaks.first().map(|first| {
        let more = if leaks.len() > 1 { format!(", and {} more", leaks.len() - 1) } else { String::new() };
        Judged::without(Outcome::Rejected, format!("it copies from the tasks: {first}{more}"))
    }))
}
