//! The built-in optimizer: deterministic, no model, no network. A baseline that a reader can check by hand.
//!
//! 1. `blocks`, `sentences`, `findings`: a loss report falls into list items, table rows and paragraphs; quotations
//!    leave holes; what went right is set apart.
//! 2. `mood`, `facts`, `advice`: the sentences that instruct, or state a value after a lead-in, become rules.
//! 3. `words`, `terms`, `groups`: rules that say the same across works are one group; the threshold and its guards are measured
//!    in `tests/pairs.rs`.
//! 4. `decide`, `attention`: for each group, what the pool's cards say of it and who read them decides on correcting a
//!    line, adding a rule, changing a description, or leaving it alone with a reason.
//! 5. `apply`, `place`, `merge`: the decisions, best supported first, are made into edited cards within the bounds;
//!    merges come last, since they only tidy. Nothing is written that the lint or the guard against copied passages
//!    would refuse.
//!
//! What one work reports once is left alone, with one exception: a wrong value in a card is replaced on one report's
//! word when the read trace shows that the card was read and the report names it as out of date. Trace, report and
//! card are then three witnesses, and leaving the value would mislead the next reader for certain.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use apply::{Bench, Done};
use decide::Decider;
use drafts::Draft;
use echo::Echoes;
use findings::Findings;
use pool::Pool;
use report::Story;
use terms::{Terms, Weights};

use super::Bounds;
use crate::batch::Evidence;
use crate::pool::card::Card;
use crate::pool::lint::Linter;
use crate::pool::profile::{Profile, Role};

/// One change of the pool's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Create the card or put this text in its place: the whole file.
    Write { path: String, text: String },
    /// Delete the card.
    Remove { path: String },
}

/// What the optimizer decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The changes, at most one a path, in path order. Empty: nothing was worth changing.
    pub changes: Vec<Change>,
    /// Markdown: each decision with the works behind it, and what was left alone and why.
    pub report: String,
}

/// Folds the loss reports of a group into one commonality report (Markdown), every work named.
pub fn reduce(evidence: &[Evidence]) -> String {
    let findings = findings::read(evidence, None);
    let terms = rule_terms(&findings);
    let weights = Weights::of(terms.iter());
    let groups = groups::group(&findings.all, evidence, &weights);
    report::commonality(evidence, &findings, &groups)
}

/// Decides what to change. A pure function: same inputs, same bytes.
///
/// `summary` is a commonality report given by the user in place of the loss reports (`--summary`): when there,
/// findings are taken from it.
pub fn plan(evidence: &[Evidence], summary: Option<&str>, cards: &[Card], profile: &Profile, bounds: Bounds) -> Plan {
    planned(evidence, summary, cards, profile, bounds).0
}

/// A plan, and what was done to each card with the samples behind it.
fn planned(
    evidence: &[Evidence],
    summary: Option<&str>,
    cards: &[Card],
    profile: &Profile,
    bounds: Bounds,
) -> (Plan, Vec<Done>) {
    // A profile whose patterns are none is the lint's to report; here it only means that nothing is checked.
    let linter = linter(profile);
    let mut findings = findings::read(evidence, summary);
    let trajectories = evidence.iter().map(|sample| sample.trajectory.as_str());
    let advised = findings.all.iter().flat_map(|finding| finding.rules.iter().map(|rule| rule.text.as_str()));
    let quoted = Echoes::of(findings.quoted.iter().map(String::as_str)).without(advised);
    let echoes = quoted.and(Echoes::of(trajectories));
    refuse(&mut findings, &echoes, linter.as_deref(), profile);
    let drafts = pool::drafts(cards, profile);
    let terms = rule_terms(&findings);
    let weights = pool::weights(&drafts, terms.iter());
    let groups = groups::group(&findings.all, evidence, &weights);
    let pool = Pool::new(drafts, evidence, &weights);
    let decisions = Decider { evidence, findings: &findings.all, groups: &groups, pool: &pool }.decide();
    let mut bench = Bench {
        profile,
        weights: &weights,
        linter: linter.as_deref(),
        echoes: &echoes,
        bounds,
        drafts: pool.drafts().iter().map(|draft| (draft.path.clone(), draft.clone())).collect(),
        touched: BTreeSet::new(),
        removed: BTreeSet::new(),
        done: Vec::new(),
        left: decisions.left,
        later: Vec::new(),
    };
    bench.apply(&decisions.moves);
    bench.merge(&pool, &pool.concerned(&findings.all, &groups));
    let (done, left, later) = (&bench.done, &bench.left, &bench.later);
    let report = Story { evidence, findings: &findings, done, left, later }.write();
    (Plan { changes: bench.changes(), report }, bench.done)
}

fn rule_terms(findings: &Findings) -> Vec<Terms> {
    let texts: BTreeSet<&str> =
        findings.all.iter().flat_map(|f| f.rules.iter().map(|rule| rule.text.as_str())).collect();
    texts.into_iter().map(Terms::of).collect()
}

/// The profile's linter, kept from one micro-step to the next: compiling its patterns takes longer than a whole plan.
fn linter(profile: &Profile) -> Option<Arc<Linter>> {
    static LAST: Mutex<Option<(Profile, Arc<Linter>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some((known, linter)) if known == profile => Some(Arc::clone(linter)),
        _ => {
            let linter = Arc::new(Linter::new(profile).ok()?);
            *last = Some((profile.clone(), Arc::clone(&linter)));
            Some(linter)
        }
    }
}

/// Takes out the rules that no card of this pool may hold, before they can be counted on.
fn refuse(findings: &mut Findings, echoes: &Echoes, linter: Option<&Linter>, profile: &Profile) {
    for finding in &mut findings.all {
        let unusable = &mut finding.unusable;
        finding.rules.retain(|rule| {
            let reason = match echoes.ring_in(&rule.text) {
                true => Some(Cow::Borrowed("it repeats at length what was said")),
                false => linter.and_then(|linter| refusal(&rule.text, linter, profile)).map(Cow::Owned),
            };
            let keep = reason.is_none();
            unusable.extend(reason.map(|reason| (rule.text.clone(), reason)));
            keep
        });
    }
}

/// What the lint says against a card with this rule alone.
fn refusal(rule: &str, linter: &Linter, profile: &Profile) -> Option<String> {
    let description = "Use when this rule is checked.".to_owned();
    let draft = Draft::new("rule.md".into(), Role::General, description, &[rule.to_owned()], profile);
    let problems = linter.card(&draft.path, draft.file(profile)?.as_bytes());
    problems.into_iter().next().map(|problem| problem.message)
}

mod advice;
mod apply;
mod attention;
mod blocks;
mod clashes;
mod counts;
mod decide;
mod describe;
mod diff;
mod doubts;
mod drafts;
mod echo;
mod edits;
mod facts;
mod findings;
mod groups;
mod labels;
// The lists are set by hand: one word a line would hide them.
#[rustfmt::skip]
mod lexicon;
mod merge;
mod mood;
mod operations;
mod optimizer;
mod place;
mod pool;
mod report;
mod said;
mod sentences;
mod terms;
mod voice;
mod words;

pub use optimizer::Extractive;

#[cfg(test)]
mod tests;
