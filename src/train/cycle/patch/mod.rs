//! The patch strategy: analyse, merge, rank, clip, apply. The optimizer answers with edits; what fits is made by us.

mod desk;
mod fit;

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use self::desk::Desk;
use super::candidate::{self, Draft};
use super::reflect::Sample;
use super::step::Step;
use super::update::{Proposal, Took};
use crate::batch::{self, Batch, Evidence};
use crate::config::UpdateMode as Configured;
use crate::edit::merge::merge_edits;
use crate::edit::{Edit, Op, Source};
use crate::ground::digest;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::optimizer::tasks::{Sight, UpdateMode};
use crate::optimizer::{AnalyseTask, MergeTask, RankTask, RewriteTask};
use crate::stages::aggregate::{self, Node};
use crate::stages::reduce::side_by_side;
use crate::stages::select::{self, Selected};

/// Makes a candidate from edits.
pub(super) fn propose(step: &Step<'_>, samples: &[Sample], took: &mut Vec<Took>) -> Result<Proposal> {
    let (run, state) = (step.run, step.state);
    let view = run.view(state.current)?;
    let batch = Batch::load(&step.folder().join("batch.json"))?;
    let evidence = batch.samples.iter().map(batch::Sample::load).collect::<Result<Vec<_>>>()?;
    let rejected = state.rejected(run, step.epoch)?;
    let desk = Desk {
        seams: run.seams(),
        optimizer: run.setup.optimizer,
        label: step.label(),
        place: place(step)?,
        folder: step.folder().join("patch"),
        sight: Sight { profile: &view.profile, cards: &view.cards },
        rejected: &rejected,
        meta_skill: &state.meta_skill,
        mode: mode(step),
        most: step.rate.unwrap_or(run.config().optimizer.learning_rate).max(1),
        spent: Mutex::default(),
    };
    let failed = samples.iter().filter(|sample| sample.failed).count();
    let proposal = edits(step, &desk, &evidence, failed);
    let spent = desk.spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    took.extend(spent.into_iter().map(|usage| Took { stage: "patch".into(), usage }));
    proposal
}

fn edits(step: &Step<'_>, desk: &Desk<'_>, evidence: &[Evidence], failed: usize) -> Result<Proposal> {
    let mut skipped = Vec::new();
    let lists = analyse(step, desk, evidence, failed, &mut skipped)?;
    let is_unread = lists.iter().all(Vec::is_empty) && !skipped.is_empty();
    let merged = merge(step, desk, lists, &mut skipped)?;
    let selected = rank(step, desk, merged)?;
    skipped.extend(selected.left.iter().map(|edit| format!("beyond the learning rate: {edit}")));
    let wanted = selected.taken.len();
    let written = written(desk, selected.taken, &mut skipped)?;
    let is_unwritten = wanted > 0 && written.is_empty();
    let fitted = fit::fit(step, desk, written, evidence, &mut skipped)?;
    files::write_json(&desk.folder.join("applied.json"), &json!({ "made": fitted.made, "skipped": skipped }))?;
    if fitted.texts.is_empty() {
        return Ok(Proposal {
            skipped,
            failed: is_unread || is_unwritten || fitted.all_refused,
            ..Proposal::default()
        });
    }
    let draft = Draft {
        label: step.label(),
        stretch: step.stretch(),
        works: evidence.iter().map(|sample| sample.title.clone()).collect(),
        evidence: evidence_digest(evidence),
        texts: fitted.texts,
    };
    match candidate::commit(step.run, step.state.current, &draft)? {
        Ok(commit) => Ok(Proposal { candidate: Some(commit.to_string()), skipped, ..Proposal::default() }),
        Err(problems) => Err(Error::new(Kind::Refused, format!("the edited cards do not pass:\n{problems}"))),
    }
}

/// Where the update's questions are asked: elsewhere than those that the run stopped at.
fn place(step: &Step<'_>) -> Result<String> {
    let (name, stops) = (step.stretch().name(), step.stops()?);
    Ok(if stops > 0 { format!("{name}+{stops}") } else { name })
}

fn mode(step: &Step<'_>) -> UpdateMode {
    match step.run.config().optimizer.update_mode {
        Configured::Patch => UpdateMode::Patch,
        Configured::RewriteFromSuggestions => UpdateMode::RewriteFromSuggestions,
        Configured::FullRewrite => UpdateMode::FullRewrite,
    }
}

fn evidence_digest(evidence: &[Evidence]) -> String {
    let texts = evidence.iter().flat_map(|sample| [&sample.title, &sample.loss_report, &sample.trajectory]);
    digest::of_parts(texts.map(String::as_bytes))
}

/// One minibatch, to be analysed.
struct Minibatch<'a> {
    name: String,
    source: Source,
    evidence: &'a [Evidence],
}

/// Edits by what they were learnt from: failures, successes.
type Lists = [Vec<Vec<Edit>>; 2];

/// Analyses all minibatches side by side; the first `failed` attempts are the failures.
fn analyse(
    step: &Step<'_>,
    desk: &Desk<'_>,
    evidence: &[Evidence],
    failed: usize,
    skipped: &mut Vec<String>,
) -> Result<Lists> {
    let gradient = &step.run.config().gradient;
    let parts =
        [("failures", Source::Failures, &evidence[..failed]), ("successes", Source::Successes, &evidence[failed..])];
    let batches: Vec<Minibatch<'_>> = parts
        .iter()
        .flat_map(|(name, source, evidence)| {
            let chunks = evidence.chunks(gradient.minibatch_size).enumerate();
            chunks.map(move |(n, evidence)| Minibatch { name: format!("{name}-{n:02}"), source: *source, evidence })
        })
        .collect();
    let said = side_by_side(&batches, gradient.analyst_workers, |batch| {
        let task = AnalyseTask {
            seat: desk.seat(&batch.name),
            source: batch.source,
            evidence: batch.evidence,
            sight: desk.sight,
            mode: desk.mode,
            most: desk.most,
        };
        desk.ask(&batch.name, |host| desk.optimizer.analyse(&task, host))
    });
    let mut lists = Lists::default();
    for (batch, said) in batches.iter().zip(said) {
        let said = said?;
        skipped.extend(said.unread.iter().map(|line| format!("{}: {line}", batch.name)));
        let edits: Vec<Edit> = said.value.into_iter().map(|edit| Edit { source: batch.source, ..edit }).collect();
        if !edits.is_empty() {
            lists[usize::from(batch.source == Source::Successes)].push(edits);
        }
    }
    Ok(lists)
}

/// Merges all lists to one.
fn merge(step: &Step<'_>, desk: &Desk<'_>, lists: Lists, skipped: &mut Vec<String>) -> Result<Vec<Edit>> {
    let gradient = &step.run.config().gradient;
    let unread = Mutex::new(Vec::new());
    let [failures, successes] = lists;
    let one = |node: Node, lists: &[Vec<Edit>]| {
        let name = format!("merge-{}", node.name());
        let task = MergeTask { seat: desk.seat(&name), source: node.source, lists, sight: desk.sight, mode: desk.mode };
        let said = desk.ask(&name, |host| desk.optimizer.merge(&task, host))?;
        let lines = said.unread.into_iter().map(|line| format!("{name}: {line}"));
        let is_unusable = said.value.is_empty() && lines.len() > 0;
        unread.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        // What was paid for is not lost to a bad merge: it is done without a model then.
        Ok(if is_unusable { merge_edits(lists) } else { said.value })
    };
    let merged = aggregate::merge(failures, successes, gradient.merge_batch_size, gradient.analyst_workers, &one)?;
    let mut lines = unread.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Threads end in any order.
    lines.sort();
    skipped.append(&mut lines);
    Ok(merged.unwrap_or_default())
}

/// Ranks, where there is more than may be made, and clips.
fn rank(step: &Step<'_>, desk: &Desk<'_>, edits: Vec<Edit>) -> Result<Selected> {
    let budget = step.rate;
    if edits.is_empty() || budget.is_some_and(|budget| edits.len() <= budget) {
        return Ok(select::clip(select::rank(edits), budget));
    }
    let task = RankTask { seat: desk.seat("rank"), edits: &edits, budget };
    let ranking = desk.ask("rank", |host| desk.optimizer.rank(&task, host))?.value;
    let own = ranking.budget.map(|own| own.min(edits.len()));
    Ok(select::clip(select::rank_as(edits, &ranking.order), budget.or(own)))
}

/// The edits that can be made: suggestions are written out first.
fn written(desk: &Desk<'_>, taken: Vec<Edit>, skipped: &mut Vec<String>) -> Result<Vec<Edit>> {
    if !taken.iter().any(|edit| matches!(edit.op, Op::Suggest { .. })) {
        return Ok(taken);
    }
    let task = RewriteTask { seat: desk.seat("rewrite"), sight: desk.sight, suggestions: &taken };
    let said = desk.ask("rewrite", |host| desk.optimizer.rewrite(&task, host))?;
    skipped.extend(said.unread.iter().map(|line| format!("rewrite: {line}")));
    Ok(said.value)
}
