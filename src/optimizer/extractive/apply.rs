//! Decisions made into edited cards, within the bounds of the step.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::decide::{Decision, Left, Move};
use super::describe::{narrow, widen};
use super::drafts::Draft;
use super::echo::Echoes;
use super::terms::Weights;
use super::{Bounds, Change};
use crate::pool::lint::Linter;
use crate::pool::profile::Profile;

/// What was done to a card.
#[derive(Debug, Clone)]
pub(super) struct Done {
    /// The move's name: create, correct, add, widen, narrow, merge.
    pub(super) what: &'static str,
    pub(super) path: String,
    pub(super) samples: BTreeSet<usize>,
    /// Each line of it, with the samples behind it.
    pub(super) lines: Vec<(String, BTreeSet<usize>)>,
}

/// The cards while decisions are applied.
pub(super) struct Bench<'a> {
    pub(super) profile: &'a Profile,
    pub(super) weights: &'a Weights,
    pub(super) linter: Option<&'a Linter>,
    pub(super) echoes: &'a Echoes,
    pub(super) bounds: Bounds,
    pub(super) drafts: BTreeMap<String, Arc<Draft>>,
    pub(super) touched: BTreeSet<String>,
    pub(super) removed: BTreeSet<String>,
    pub(super) done: Vec<Done>,
    pub(super) left: Vec<Left>,
    pub(super) later: Vec<Left>,
}

impl Bench<'_> {
    /// Applies decisions in order; what the bounds don't allow is put off.
    pub(super) fn apply(&mut self, decisions: &[Decision]) {
        let stating = decisions.iter().any(|d| matches!(d.act, Move::Facts { .. }));
        for decision in decisions {
            match &decision.act {
                Move::Correct { path, lines } => self.correct(path, lines, decision),
                Move::Widen { path, phrase } => {
                    let limit = self.profile.limits.max_description_chars;
                    self.redescribe("widen", path, phrase, decision, |text| {
                        widen(text, std::slice::from_ref(phrase), limit)
                    });
                }
                Move::Narrow { path, phrase } => {
                    let limit = self.profile.limits.max_description_chars;
                    self.redescribe("narrow", path, phrase, decision, |text| narrow(text, phrase, limit));
                }
                Move::Facts { rules } => self.facts(rules, decision),
                Move::Instructions { .. } => self.instructions(decision, stating),
            }
        }
    }

    /// A card to be edited.
    pub(super) fn draft(&self, path: &str) -> Option<Draft> {
        self.drafts.get(path).map(|draft| Draft::clone(draft))
    }

    /// Whether one more card may be touched.
    pub(super) fn allows(&self, paths: &[&str]) -> bool {
        let more = paths.iter().filter(|path| !self.touched.contains(**path)).count();
        self.bounds.learning_rate.is_none_or(|most| self.touched.len() + more <= most)
    }

    /// Puts an edited card in place if the profile and the bounds allow it; else says why not.
    pub(super) fn put(&mut self, draft: Draft) -> Result<(), Refusal> {
        if !self.allows(&[&draft.path]) {
            return Err(Refusal::Later);
        }
        self.acceptable(&draft).map_err(Refusal::Never)?;
        self.touched.insert(draft.path.clone());
        self.drafts.insert(draft.path.clone(), Arc::new(draft));
        Ok(())
    }

    /// Why a card must not be written, as the lint and the guard against copied passages would say it.
    pub(super) fn acceptable(&self, draft: &Draft) -> Result<(), String> {
        if draft.lines.is_empty() {
            return Err("the card would hold no rule".into());
        }
        let Some(file) = draft.file(self.profile) else {
            return Err("the profile wants front matter that this optimizer cannot write".into());
        };
        if !draft.fits(self.profile) {
            return Err(format!("`{}` would be over the profile's limits", draft.path));
        }
        if self.echoes.ring_in(&draft.description) {
            return Err("its description would repeat at length what was said".into());
        }
        let problems = self.linter.map(|linter| linter.card(&draft.path, file.as_bytes())).unwrap_or_default();
        problems.first().map_or(Ok(()), |problem| Err(format!("the lint would refuse it: {}", problem.message)))
    }

    pub(super) fn refuse(&mut self, refusal: Refusal, what: &str, samples: &BTreeSet<usize>) {
        let (list, why) = match refusal {
            Refusal::Later => (&mut self.later, "the step may touch no more cards".to_owned()),
            Refusal::Never(why) => (&mut self.left, why),
        };
        list.push(Left { what: what.to_owned(), why, samples: samples.clone() });
    }

    fn correct(&mut self, path: &str, lines: &[(String, String)], decision: &Decision) {
        let Some(mut draft) = self.draft(path) else {
            return;
        };
        for (old, new) in lines {
            draft.replace(old, new);
        }
        let shown = |(old, new): &(String, String)| (format!("{old} → {new}"), decision.behind_of(new));
        match self.put(draft) {
            Ok(()) => self.done.push(Done {
                what: "correct",
                path: path.to_owned(),
                samples: decision.samples.clone(),
                lines: lines.iter().map(shown).collect(),
            }),
            Err(refusal) => self.refuse(refusal, &format!("correct `{path}`"), &decision.samples),
        }
    }

    fn redescribe(
        &mut self,
        what: &'static str,
        path: &str,
        phrase: &str,
        decision: &Decision,
        edit: impl Fn(&str) -> Option<String>,
    ) {
        let Some(mut draft) = self.draft(path) else {
            return;
        };
        let title = format!("{what} `{path}`: {phrase}");
        let Some(description) = edit(&draft.description) else {
            let why = "its description says so already or has no room".to_owned();
            self.left.push(Left { what: title, why, samples: decision.samples.clone() });
            return;
        };
        draft.description = description;
        match self.put(draft) {
            Ok(()) => {
                let line = (phrase.to_owned(), decision.samples.clone());
                self.record(what, path, vec![line]);
            }
            Err(refusal) => self.refuse(refusal, &title, &decision.samples),
        }
    }

    /// Notes what was done; several of one kind on a card are one entry.
    pub(super) fn record(&mut self, what: &'static str, path: &str, lines: Vec<(String, BTreeSet<usize>)>) {
        let samples: BTreeSet<usize> = lines.iter().flat_map(|(_, samples)| samples.iter().copied()).collect();
        match self.done.iter_mut().find(|done| done.what == what && done.path == path) {
            Some(done) => {
                done.lines.extend(lines);
                done.samples.extend(samples);
            }
            None => self.done.push(Done { what, path: path.to_owned(), samples, lines }),
        }
    }

    /// The changed files, in path order.
    pub(super) fn changes(&self) -> Vec<Change> {
        let written = self.touched.iter().filter_map(|path| match self.removed.contains(path) {
            true => Some(Change::Remove { path: path.clone() }),
            false => self
                .drafts
                .get(path)
                .and_then(|draft| draft.file(self.profile))
                .map(|text| Change::Write { path: path.clone(), text }),
        });
        written.collect()
    }
}

/// Why a card was not put in place.
pub(super) enum Refusal {
    Later,
    Never(String),
}

impl Decision {
    pub(super) fn behind_of(&self, text: &str) -> BTreeSet<usize> {
        self.behind.get(text).unwrap_or(&self.samples).clone()
    }
}
