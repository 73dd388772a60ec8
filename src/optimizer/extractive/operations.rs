//! The operations that return edits: what a plan decides, as typed edits; merged, ranked and made into cards by rules.

use std::collections::BTreeSet;

use super::edits::Planned;
use super::optimizer::editable;
use super::{Bounds, Change, Echoes, Weights, findings, groups, linter, planned, refuse, rule_terms};
use crate::batch::Evidence;
use crate::edit::merge::{join_new, merge_with};
use crate::edit::{Edit, Op, Source};
use crate::optimizer::tasks::{
    AnalyseTask, Change as Fate, MergeTask, RankTask, Ranking, RewriteTask, SlowTask, UpdateMode,
};
use crate::pool::card::Card;

/// Lines and characters of the guidance at most.
const MOST_GUIDANCE: usize = 16;
const LONGEST_GUIDANCE: usize = 2_400;

/// The edits that a minibatch of failures asks for, at most `most`, best supported first where they are too many. What
/// went right asks for none: an extractive reader has no rule to take from it.
pub(super) fn analyse(task: &AnalyseTask<'_>) -> Vec<Edit> {
    if task.source == Source::Successes {
        return Vec::new();
    }
    let bounds = Bounds { learning_rate: None, max_deletions: 1 };
    let cards = editable(task.sight.cards, task.sight.profile);
    let (plan, done) = planned(task.evidence, None, &cards, task.sight.profile, bounds);
    let planned = Planned { changes: &plan.changes, done: &done, evidence: task.evidence, cards: &cards };
    let mut edits = match task.mode {
        UpdateMode::Patch => planned.patch(),
        UpdateMode::FullRewrite => planned.whole_cards(),
        UpdateMode::RewriteFromSuggestions => planned.suggestions(),
    };
    if edits.len() > task.most {
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.support));
        edits.truncate(task.most);
    }
    edits
}

/// Merges by rules; a card that two lists write anew keeps what either of them changed.
pub(super) fn merge(task: &MergeTask<'_>) -> Vec<Edit> {
    let join = |one: &Edit, other: &Edit| join_new(one, other).or_else(|| join_anew(one, other, task.sight.cards));
    merge_with(task.lists, &join)
}

/// Two new texts of one card as one: what either took out is out, what either brought is in.
fn join_anew(first: &Edit, other: &Edit, cards: &[Card]) -> Option<Edit> {
    let (Op::Rewrite { description, content }, Op::Rewrite { content: others, .. }) = (&first.op, &other.op) else {
        return None;
    };
    let card = cards.iter().find(|card| card.path.eq_ignore_ascii_case(&first.card))?;
    if !first.card.eq_ignore_ascii_case(&other.card) || content.starts_with("---\n") != others.starts_with("---\n") {
        return None;
    }
    let lines = |text: &str| -> BTreeSet<String> { text.lines().map(|line| line.trim().to_owned()).collect() };
    let (base, mine, theirs) = (lines(&card.body), lines(content), lines(others));
    let is_gone =
        |line: &&str| base.contains(line.trim()) && !theirs.contains(line.trim()) && mine.contains(line.trim());
    let is_head = |line: &str| line.starts_with("description:") || line == "---";
    let mut text: Vec<&str> = content.trim_end().lines().filter(|line| !is_gone(line)).collect();
    text.extend(others.lines().filter(|line| {
        let line = line.trim();
        !line.is_empty() && !is_head(line) && !base.contains(line) && !mine.contains(line)
    }));
    let content = text.join("\n") + "\n";
    Some(Edit { op: Op::Rewrite { description: description.clone(), content }, ..first.clone() })
}

/// Best supported first; then what failures taught; then as they came.
pub(super) fn rank(task: &RankTask<'_>) -> Ranking {
    let mut order: Vec<usize> = (0..task.edits.len()).collect();
    order.sort_by_key(|place| (std::cmp::Reverse(task.edits[*place].support), task.edits[*place].source));
    // Asked for a number, it makes what more than one attempt speaks for, and at least the best.
    let shared = task.edits.iter().filter(|edit| edit.support > 1).count();
    let budget = task.budget.is_none().then_some(shared.max(1).min(task.edits.len()));
    Ranking { order, budget }
}

/// The cards that suggestions make: each is taken as advice that was shared, and goes where a backward pass would put it.
/// What no card comes of is said.
pub(super) fn rewrite(task: &RewriteTask<'_>) -> (Vec<Edit>, Vec<String>) {
    let (mut summary, mut reads) = (String::new(), Vec::new());
    let (mut made, mut support): (Vec<Edit>, u32) = (Vec::new(), 1);
    for edit in task.suggestions {
        match &edit.op {
            Op::Suggest { content } => {
                let line = content.split_whitespace().collect::<Vec<_>>().join(" ");
                summary.push_str(&format!("- {line}\n"));
                reads.push(edit.card.clone());
                support = support.max(edit.support);
            }
            _ => made.push(edit.clone()),
        }
    }
    let summary = format!("## Shared\n\n{summary}");
    let work = |name: &str| Evidence {
        work: name.to_owned(),
        title: name.to_owned(),
        reads: reads.clone(),
        ..Evidence::default()
    };
    // Advice counts when two works share it; these two share all of it.
    let evidence = [work("Suggestions-A"), work("Suggestions-B")];
    let bounds = Bounds { learning_rate: None, max_deletions: 0 };
    let cards = editable(task.sight.cards, task.sight.profile);
    let (plan, done) = planned(&evidence, Some(&summary), &cards, task.sight.profile, bounds);
    let written = |edit: &Edit| made.iter().any(|other| other.card == edit.card);
    let planned = Planned { changes: &plan.changes, done: &done, evidence: &[], cards: &cards };
    let fresh: Vec<Edit> =
        planned.whole_cards().into_iter().filter(|edit| !written(edit)).map(|edit| Edit { support, ..edit }).collect();
    let lost = |content: &str| {
        let said = content.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = said.trim_end_matches('.').to_owned();
        let holds = |text: &str| text.contains(&said);
        !plan.changes.iter().any(|change| matches!(change, Change::Write { text, .. } if holds(text)))
    };
    let suggested = task.suggestions.iter().filter_map(|edit| match &edit.op {
        Op::Suggest { content } if lost(content) => Some(format!("no card came of the suggestion: {content}")),
        _ => None,
    });
    let unread = suggested.collect();
    made.extend(fresh);
    (made, unread)
}

/// The advice that two or more of the tasks share which failed both times or got worse, as a list before what
/// stands there; none when there is none, or when all of it stands there.
pub(super) fn slow_update(task: &SlowTask<'_>) -> Option<String> {
    let failing = task.pairs.iter().filter(|pair| matches!(pair.change, Fate::PersistentFailure | Fate::Regressed));
    let evidence: Vec<Evidence> = failing
        .map(|pair| Evidence {
            work: pair.task.clone(),
            title: pair.task.clone(),
            loss_report: pair.feedback.iter().map(|line| format!("- {}\n", line.replace(['\n', '\r'], " "))).collect(),
            ..Evidence::default()
        })
        .collect();
    let mut findings = findings::read(&evidence, None);
    let profile = task.sight.profile;
    refuse(&mut findings, &Echoes::of(std::iter::empty()), linter(profile).as_deref(), profile);
    let weights = Weights::of(rule_terms(&findings).iter());
    let groups = groups::group(&findings.all, &evidence, &weights);
    let works = |samples: &BTreeSet<usize>| -> usize {
        samples.iter().map(|sample| evidence[*sample].work.as_str()).collect::<BTreeSet<_>>().len()
    };
    let old: Vec<&str> = task.guidance.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
    let shared = groups.iter().filter(|group| works(&group.samples) >= 2).map(|group| format!("- {}", group.rule.text));
    let fresh: Vec<String> = shared.filter(|line| !old.contains(&line.as_str())).collect();
    if fresh.is_empty() {
        return None;
    }
    // What stands there already may be why other tasks go well: it stays as far as there is room.
    let (mut text, mut lines) = (String::new(), 0);
    for line in fresh.iter().map(String::as_str).chain(old) {
        if lines < MOST_GUIDANCE && text.chars().count() + line.chars().count() < LONGEST_GUIDANCE {
            text.push_str(line);
            text.push('\n');
            lines += 1;
        }
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
