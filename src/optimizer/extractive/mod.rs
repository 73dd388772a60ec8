//! The built-in optimizer: deterministic, no model, no network. A baseline that a reader can check by hand.

use std::collections::BTreeSet;

use regex::Regex;

use apply::Bench;
use decide::Decider;
use findings::Findings;
use pool::Pool;
use report::Story;
use terms::{Terms, Weights};

use super::Bounds;
use crate::batch::Evidence;
use crate::pool::card::Card;
use crate::pool::profile::Profile;

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
    let forbidden = forbidden(profile);
    let mut findings = findings::read(evidence, summary);
    refuse(&mut findings, evidence, &forbidden);
    let drafts = pool::drafts(cards, profile);
    let terms = rule_terms(&findings);
    let weights = pool::weights(&drafts, terms.iter());
    let groups = groups::group(&findings.all, evidence, &weights);
    let pool = Pool::new(drafts, evidence, &weights);
    let decisions = Decider { evidence, findings: &findings.all, groups: &groups, pool: &pool }.decide();
    let mut bench = Bench {
        profile,
        weights: &weights,
        forbidden: &forbidden,
        bounds,
        drafts: pool.drafts().iter().map(|draft| (draft.path.clone(), draft.clone())).collect(),
        touched: BTreeSet::new(),
        removed: BTreeSet::new(),
        done: Vec::new(),
        left: decisions.left,
        later: Vec::new(),
    };
    bench.apply(&decisions.moves);
    bench.merge(&pool);
    let (done, left, later) = (&bench.done, &bench.left, &bench.later);
    let report = Story { evidence, findings: &findings, done, left, later }.write();
    Plan { changes: bench.changes(), report }
}

fn rule_terms(findings: &Findings) -> Vec<Terms> {
    let texts: BTreeSet<&str> =
        findings.all.iter().flat_map(|f| f.rules.iter().map(|rule| rule.text.as_str())).collect();
    texts.into_iter().map(Terms::of).collect()
}

/// The profile's forbidden patterns with their messages; one that is no pattern is the lint's to report.
fn forbidden(profile: &Profile) -> Vec<(Regex, String)> {
    let compiled = profile.forbidden.iter().map(|rule| (Regex::new(&rule.pattern), rule.message.clone()));
    compiled.filter_map(|(pattern, message)| pattern.ok().map(|pattern| (pattern, message))).collect()
}

/// Takes out the rules that no card of this pool may hold, before they can be counted on.
fn refuse(findings: &mut Findings, evidence: &[Evidence], forbidden: &[(Regex, String)]) {
    let texts: Vec<&str> = findings.all.iter().flat_map(|f| f.rules.iter().map(|rule| rule.text.as_str())).collect();
    let said = findings.quoted.iter().map(String::as_str).chain(evidence.iter().map(|e| e.trajectory.as_str()));
    let echoes: BTreeSet<String> =
        echo::echoes(&texts, said).into_iter().map(|place| texts[place].to_owned()).collect();
    for finding in &mut findings.all {
        let (unusable, rules) = (&mut finding.unusable, &mut finding.rules);
        rules.retain(|rule| {
            let reason = if echoes.contains(&rule.text) {
                Some("it repeats at length what was said")
            } else {
                let hit = forbidden.iter().any(|(pattern, _)| pattern.is_match(&rule.text));
                hit.then_some("the profile forbids its wording")
            };
            unusable.extend(reason.map(|reason| (rule.text.clone(), reason)));
            reason.is_none()
        });
    }
}

mod advice;
mod apply;
mod attention;
mod blocks;
mod decide;
mod describe;
mod drafts;
mod echo;
mod facts;
mod findings;
mod groups;
// The lists are set by hand: one word a line would hide them.
#[rustfmt::skip]
mod lexicon;
mod merge;
mod mood;
mod optimizer;
mod place;
mod pool;
mod report;
mod sentences;
mod terms;

pub use optimizer::Extractive;

#[cfg(test)]
mod tests;
