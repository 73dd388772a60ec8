//! The slow update: what two epochs' pools make of the same train tasks, put into the protected card as guidance.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::gate::{self, Case, Judged};
use super::rollouts::Samples;
use super::state::{State, record};
use super::update::{Proposal, Took};
use super::{Run, candidate, verdict};
use crate::config::PairPolicy;
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::ground::random::Random;
use crate::optimizer::tasks::{Change, Pair, Seat, Sight};
use crate::optimizer::{Memory, SlowTask};
use crate::pool::Oid;
use crate::pool::card::Card;
use crate::pool::profile::Profile;
use crate::run::cycle::Outcome;
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::task::Task;

/// An epoch's slow update, as `slow_update.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SlowReport {
    /// The pool's commit after it.
    pub(super) after: String,
    /// The candidate; none when the guidance stays as it is.
    pub(super) candidate: Option<String>,
    /// What became of it.
    pub(super) outcome: Outcome,
    /// Why.
    pub(super) reason: String,
    /// Tasks that were compared, by what became of them.
    pub(super) compared: Vec<(Change, usize)>,
}

/// Makes an epoch's slow update; from the second epoch on, when there is an earlier pool to compare with.
pub(super) fn update(run: &Run<'_>, state: &State, epoch: usize) -> Result<SlowReport> {
    let stretch = Stretch::SlowUpdate(epoch);
    if let Some(known) = record(&run.setup.folder, stretch)? {
        return Ok(known);
    }
    run.begin_stretch(stretch)?;
    let report = match why_none(run, state)? {
        Some(reason) => unchanged(state.current, reason, Vec::new()),
        None => compare(run, state, stretch)?,
    };
    run.end_stretch(stretch)?;
    files::write_json(&run.setup.folder.record(&stretch), &report)?;
    crash::point("stretch-done");
    if report.outcome != Outcome::Unchanged {
        let text = format!("slow update: {}: {}", report.outcome.name(), report.reason);
        run.tell(&Event::Note { text });
    }
    Ok(report)
}

fn why_none(run: &Run<'_>, state: &State) -> Result<Option<&'static str>> {
    let config = run.config();
    if !config.optimizer.use_slow_update {
        return Ok(Some("it is off (optimizer.use_slow_update)"));
    }
    if config.train.freeze {
        return Ok(Some("the pool is frozen (train.freeze)"));
    }
    let Some(earlier) = state.ends.last() else {
        return Ok(Some("the first epoch has no earlier one to compare with"));
    };
    // A commit that changes no card shows nothing new.
    let is_same = run.pool.tree(*earlier)? == run.pool.tree(state.current)?;
    Ok(is_same.then_some("the epoch left the cards as they were"))
}

fn unchanged(current: Oid, reason: &str, compared: Vec<(Change, usize)>) -> SlowReport {
    let (after, reason) = (current.to_string(), reason.to_owned());
    SlowReport { after, candidate: None, outcome: Outcome::Unchanged, reason, compared }
}

fn compare(run: &Run<'_>, state: &State, stretch: Stretch) -> Result<SlowReport> {
    let pairs = pairs(run, state, stretch)?;
    let mut counts: Vec<(Change, usize)> = Vec::new();
    for change in [Change::Improved, Change::Regressed, Change::PersistentFailure, Change::StableSuccess] {
        counts.push((change, pairs.iter().filter(|pair| pair.change == change).count()));
    }
    let shown: Vec<Pair> = pairs.into_iter().filter(|pair| is_shown(run, pair.change)).collect();
    let folder = run.setup.folder.stretch(&stretch);
    let proposal = match Proposal::known(&folder)? {
        Some(known) => known,
        None => {
            let made = propose(run, state, stretch, &shown)?;
            made.keep(&folder)?;
            made
        }
    };
    proposal.took.iter().for_each(|took| run.count_usage(&took.stage, took.usage));
    let commit = proposal.commit()?;
    let judged = match (commit, proposal.skipped.first()) {
        (Some(candidate), _) => {
            let feedback: Vec<String> = shown.iter().flat_map(|pair| pair.feedback.clone()).collect();
            judge(run, state, stretch, candidate, &feedback)?
        }
        (None, Some(why)) => Judged::without(Outcome::Rejected, why.clone()),
        (None, None) => return Ok(unchanged(state.current, "the guidance stays as it is", counts)),
    };
    let after = verdict::carry_out(run, &run.label(stretch), state.current, commit, &judged)?;
    Ok(SlowReport {
        after: after.to_string(),
        candidate: proposal.candidate,
        outcome: judged.outcome,
        reason: judged.reason,
        compared: counts,
    })
}

/// Asks for new guidance and commits it; a proposal without a candidate says why the guidance was refused, or nothing when
/// it stays as it is.
fn propose(run: &Run<'_>, state: &State, stretch: Stretch, shown: &[Pair]) -> Result<Proposal> {
    let view = run.view(state.current)?;
    let place = view.profile.guidance_path();
    let old = view.card(&place).map(|card| card.body.clone()).unwrap_or_default();
    let folder = run.setup.folder.stretch(&stretch);
    let memory = Memory { rejected: "", meta_skill: &state.meta_skill };
    let seat = Seat { place: stretch.name(), desk: run.desk(&folder, "slow_update"), memory };
    let sight = Sight { profile: &view.profile, cards: &view.cards };
    let guidance = guidance_of(&old, &view.profile);
    let task = SlowTask { seat, sight, pairs: shown, guidance: &guidance };
    let said = run.seams().with_host(&run.label(stretch), |host| run.setup.optimizer.slow_update(&task, host))?;
    let took = vec![Took { stage: "slow_update".into(), usage: said.usage }];
    let Some(text) = said.value.filter(|text| !text.trim().is_empty() && *text != guidance) else {
        return Ok(Proposal { took, ..Proposal::default() });
    };
    files::write(&folder.join("guidance.md"), &text)?;
    let change = candidate::Draft {
        label: run.label(stretch),
        stretch,
        works: shown.iter().map(|pair| pair.task.clone()).collect(),
        evidence: crate::ground::digest::of(&text),
        texts: [(place, Some(card(&view.profile, &text)))].into(),
    };
    Ok(match candidate::commit(run, state.current, &change)? {
        Ok(commit) => Proposal { candidate: Some(commit.to_string()), took, ..Proposal::default() },
        Err(problems) => {
            let skipped = problems.lines().take(1).map(str::to_owned).collect();
            Proposal { candidate: None, skipped, took, failed: false }
        }
    })
}

fn judge(run: &Run<'_>, state: &State, stretch: Stretch, candidate: Oid, feedback: &[String]) -> Result<Judged> {
    let gated = run.config().optimizer.slow_update_gate_with_selection && !run.split.selection.is_empty();
    if !gated {
        return Ok(Judged::without(Outcome::Accepted, "not gated (optimizer.slow_update_gate_with_selection)"));
    }
    let number = run.steps() + state.ends.len();
    let (seen, current) = (HashMap::new(), state.current);
    // The run's error budget is spent on its steps; guidance has none, so it is held to the strict rule.
    let case = Case { stretch, current, candidate, level: None, number, seen: &seen, taught: feedback, use_gate: true };
    gate::decide(run, &case)
}

/// The sampled train tasks under the last epoch's pool and under this one's.
fn pairs(run: &Run<'_>, state: &State, stretch: Stretch) -> Result<Vec<Pair>> {
    let mut tasks: Vec<Task> = run.split.train.clone();
    Random::of(run.config().train.seed, &stretch.name()).shuffle(&mut tasks);
    tasks.truncate(run.config().optimizer.slow_update_samples);
    let earlier = state.ends.last().copied().unwrap_or(state.current);
    let mut sides = Vec::new();
    for commit in [earlier, state.current] {
        sides.push(run.measure(stretch, "slow update", &run.view(commit)?, &tasks, Samples::ONE)?);
    }
    let mut pairs = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let (before, after) = (&sides[0][place], &sides[1][place]);
        let (Some(old), Some(new)) = (before.score(), after.score()) else { continue };
        let (Some(one), Some(two)) = (&before.digest, &after.digest) else { continue };
        let change = match (old.hard, new.hard) {
            (old, new) if new > old => Change::Improved,
            (old, new) if new < old => Change::Regressed,
            _ if new.is_failure() => Change::PersistentFailure,
            _ => Change::StableSuccess,
        };
        pairs.push(Pair {
            task: task.id.clone(),
            input: task.input.clone(),
            change,
            answers: [run.attempts.kept(one)?.answer, run.attempts.kept(two)?.answer],
            scores: [old.hard, new.hard],
            feedback: new.feedback.clone(),
        });
    }
    Ok(pairs)
}

fn is_shown(run: &Run<'_>, change: Change) -> bool {
    let is_changed = matches!(change, Change::Improved | Change::Regressed);
    match run.config().optimizer.longitudinal_pair_policy {
        PairPolicy::Mixed => true,
        PairPolicy::Changed => is_changed,
        PairPolicy::Unchanged => !is_changed,
    }
}

/// The guidance in a card's body: what stands below its heading.
fn guidance_of(body: &str, profile: &Profile) -> String {
    let heading = format!("## {}\n", profile.card.heading);
    body.split_once(&heading).map_or(body, |(_, rest)| rest).trim().to_owned()
}

/// The guidance as a card.
fn card(profile: &Profile, text: &str) -> String {
    let description = "Use for every task: guidance from what earlier epochs fixed, broke, and never got right.";
    Card::render(description, &format!("## {}\n{}\n", profile.card.heading, text.trim()))
}
