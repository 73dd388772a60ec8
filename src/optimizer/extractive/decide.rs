//! What to do about each group of findings: the decisions, before any bound and before any text is changed.

use std::collections::{BTreeMap, BTreeSet};

use super::describe::announces;
use super::drafts::Draft;
use super::facts::Fact;
use super::findings::Finding;
use super::groups::{Group, Support};
use super::lexicon;
use super::pool::Pool;
use crate::batch::Evidence;
use crate::pool::profile::Role;

/// How alike a misleading line and the advice against it must be, signs left out, for the line to be the one meant.
const KIN: f64 = 0.35;

/// A change that the evidence asks for.
#[derive(Debug, Clone)]
pub(super) enum Move {
    /// Replace lines (old, new) of a card.
    Correct { path: String, lines: Vec<(String, String)> },
    /// Say in a card's description what it is also for.
    Widen { path: String, phrase: String },
    /// Say in a card's description what it is not for.
    Narrow { path: String, phrase: String },
    /// State facts that no card states.
    Facts { rules: Vec<(String, Fact)> },
    /// Give instructions that no card gives.
    Instructions { role: Role, topic: Option<String>, unit: Option<String>, rules: Vec<String> },
}

/// A move and the samples behind it.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub(super) act: Move,
    pub(super) samples: BTreeSet<usize>,
    /// The samples behind each rule, by the rule's text.
    pub(super) behind: BTreeMap<String, BTreeSet<usize>>,
    pub(super) findings: usize,
}

/// A finding that changes nothing, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) what: String,
    pub(super) why: String,
    pub(super) samples: BTreeSet<usize>,
}

/// All decisions on one group of samples.
#[derive(Debug, Default)]
pub(super) struct Decisions {
    pub(super) moves: Vec<Decision>,
    pub(super) left: Vec<Left>,
}

/// What decisions are made from.
pub(super) struct Decider<'a> {
    pub(super) evidence: &'a [Evidence],
    pub(super) findings: &'a [Finding],
    pub(super) groups: &'a [Group],
    pub(super) pool: &'a Pool,
}

impl Decider<'_> {
    /// Decides on every group, best supported first.
    pub(super) fn decide(&self) -> Decisions {
        let mut out = Decisions::default();
        let mut fresh = Vec::new();
        for group in self.groups {
            let stale = self.stale_lines(group);
            if let Some(rival) = self.rival(group).or_else(|| self.rival_advice(group)) {
                out.leave(&group.rule.text, format!("the reports disagree: {rival}"), group);
            } else if !stale.is_empty() {
                self.correct(group, &stale, &mut out);
            } else if let Some(cover) = self.pool.covering(group) {
                self.covered(group, &cover, &mut out);
            } else if self.contradicts_card(group, &mut out) {
                // It is said there why.
            } else if group.support == Support::Once {
                let only = self.names(&group.samples);
                out.leave(&group.rule.text, format!("only {only} reports it, once"), group);
            } else {
                fresh.push(group);
            }
        }
        self.place(&fresh, &mut out);
        self.descriptions(&mut out);
        out.moves.sort_by(|a, b| {
            let rank = |d: &Decision| (std::cmp::Reverse((d.samples.len(), d.findings)), d.act.order(), d.act.path());
            rank(a).cmp(&rank(b))
        });
        out
    }

    pub(super) fn names(&self, samples: &BTreeSet<usize>) -> String {
        super::report::works(samples, self.evidence)
    }

    /// Another group that gives the same fact another value with at least as much support.
    fn rival(&self, group: &Group) -> Option<String> {
        let fact = group.rule.fact.as_ref()?;
        let rival = self.groups.iter().find(|other| {
            other
                .rule
                .fact
                .as_ref()
                .is_some_and(|theirs| theirs.key() == fact.key() && theirs.value_key() != fact.value_key())
                && (other.support, other.samples.len()) >= (group.support.min(Support::Shared), group.samples.len())
        })?;
        Some(self.otherwise(rival))
    }

    /// Who says what instead.
    pub(super) fn otherwise(&self, rival: &Group) -> String {
        let say = if rival.samples.len() == 1 { "says" } else { "say" };
        format!("{} {say} otherwise ({})", self.names(&rival.samples), rival.rule.text)
    }

    /// Lines that say otherwise than the group, with the card's place in the pool.
    fn stale_lines(&self, group: &Group) -> Vec<(usize, String)> {
        match &group.rule.fact {
            Some(fact) => self.pool.contradicting(fact),
            None => self.misled_by(group).into_iter().filter_map(|card| self.kin_line(card, group)).collect(),
        }
    }

    /// The cards that findings of the group name as out of date and that their work had read.
    fn misled_by(&self, group: &Group) -> BTreeSet<usize> {
        let mut out = BTreeSet::new();
        for finding in group.findings.iter().map(|index| &self.findings[*index]) {
            if finding.says(lexicon::STALE) {
                let named = finding.cards.iter().filter_map(|name| self.pool.resolve(name));
                out.extend(named.filter(|card| self.pool.read_by(*card).intersection(&finding.works).next().is_some()));
            }
        }
        out
    }

    fn kin_line(&self, card: usize, group: &Group) -> Option<(usize, String)> {
        let advice = group.weighed.vector.unsigned();
        let lines = self.pool.weighed_lines(card);
        if lines.iter().any(|(_, weighed)| group.weighed.covered_by(weighed)) {
            return None;
        }
        let alike = lines.iter().map(|(text, weighed)| (advice.cosine(&weighed.vector.unsigned()), text));
        let (cosine, text) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (cosine >= KIN).then(|| (card, (*text).clone()))
    }

    /// A wrong line is replaced when its card was read and the report shows that it misled, even one report: trace,
    /// report and card are three witnesses. Otherwise what the works say must be shared or repeated.
    fn correct(&self, group: &Group, stale: &[(usize, String)], out: &mut Decisions) {
        let misled = self.misled_by(group);
        for (card, line) in stale {
            let path = &self.pool.draft(*card).path;
            let witnessed = misled.contains(card) && group.rule.fact.is_some();
            if !witnessed && group.support == Support::Once {
                let why = format!(
                    "`{path}` says otherwise ({line}), but only {} reports it, once",
                    self.names(&group.samples)
                );
                out.leave(&group.rule.text, why, group);
                continue;
            }
            let new = corrected(self.pool.draft(*card), line, group);
            out.replace(path, line, &new, group);
        }
    }

    /// A card states it already: whether it was read tells what that means.
    fn covered(&self, group: &Group, cover: &[usize], out: &mut Decisions) {
        let read: BTreeSet<usize> = cover.iter().flat_map(|card| self.pool.read_by(*card).iter().copied()).collect();
        let followed_not: BTreeSet<usize> = group.samples.intersection(&read).copied().collect();
        let unread: BTreeSet<usize> = group.samples.difference(&read).copied().collect();
        let path = self.pool.draft(cover[0]).path.clone();
        let paths: Vec<String> = cover.iter().map(|card| format!("`{}`", self.pool.draft(*card).path)).collect();
        let states = match paths.as_slice() {
            [one] => format!("{one} states it"),
            many => format!("{} state it", many.join(" and ")),
        };
        if !followed_not.is_empty() {
            out.left.push(Left {
                what: group.rule.text.clone(),
                why: format!("{states}; read, right, not followed"),
                samples: followed_not,
            });
        }
        if unread.is_empty() {
            return;
        }
        let draft = self.pool.draft(cover[0]);
        let phrase = group.rule.fact.as_ref().map(|fact| (fact.subject.clone(), fact.head()));
        let widen = phrase.filter(|(phrase, head)| {
            draft.role != Role::General && group.support > Support::Once && !announces(&draft.description, phrase, head)
        });
        match widen {
            Some((phrase, _)) => {
                let act = Move::Widen { path, phrase: phrase.clone() };
                out.moves.push(Decision::new(act, &phrase, group));
            }
            None => out.left.push(Left {
                what: group.rule.text.clone(),
                why: format!("{states}; not read, and the description needs no change"),
                samples: unread,
            }),
        }
    }

    /// Facts go together; instructions go by topic, and without one to the general rules if works share them.
    fn place(&self, fresh: &[&Group], out: &mut Decisions) {
        let works = self.evidence.iter().map(|sample| sample.work.as_str()).collect::<BTreeSet<_>>().len();
        let mut facts: Option<Decision> = None;
        let mut topics: BTreeMap<(bool, String), Decision> = BTreeMap::new();
        for group in fresh {
            let text = group.rule.text.clone();
            if let Some(fact) = &group.rule.fact {
                let new = || Decision::new(Move::Facts { rules: Vec::new() }, &text, group);
                let decision = facts.get_or_insert_with(new);
                decision.back(&text, group);
                if let Move::Facts { rules } = &mut decision.act {
                    rules.push((text, fact.clone()));
                }
                continue;
            }
            let only_one = group.support == Support::Repeated && works > 1;
            let role = match (&group.topic, only_one) {
                (Some(_), true) => Role::Specific,
                (Some(_), false) => Role::Craft,
                (None, false) => Role::General,
                (None, true) => {
                    let only = self.names(&group.samples);
                    let why = format!("only {only} repeats it, and nothing says in which kind of work it holds");
                    out.leave(&text, why, group);
                    continue;
                }
            };
            let (topic, unit) = (group.topic.clone(), group.unit.clone());
            let act = Move::Instructions { role, topic: topic.clone(), unit: unit.clone(), rules: Vec::new() };
            let key = topic.map(|topic| super::describe::slug(&topic)).unwrap_or_default();
            let decision =
                topics.entry((role == Role::Specific, key)).or_insert_with(|| Decision::new(act, &text, group));
            decision.back(&text, group);
            if let Move::Instructions { rules, unit: known, .. } = &mut decision.act {
                rules.push(text);
                if known.is_none() {
                    *known = unit;
                }
            }
        }
        out.moves.extend(facts.into_iter().chain(topics.into_values()));
    }
}

/// The card's own line with the right value in the wrong one's place; an instruction is replaced whole.
fn corrected(draft: &Draft, line: &str, group: &Group) -> String {
    let theirs = draft.lines.iter().find(|known| known.text == line).and_then(|known| known.fact.as_ref());
    match (theirs, &group.rule.fact) {
        (Some(old), Some(new)) => match line.rfind(&old.value) {
            Some(at) => format!("{}{}{}", &line[..at], new.value, &line[at + old.value.len()..]),
            None => group.rule.text.clone(),
        },
        _ => group.rule.text.clone(),
    }
}

impl Decisions {
    /// Puts a line in another's place, with what else is corrected in the card.
    pub(super) fn replace(&mut self, path: &str, line: &str, new: &str, group: &Group) {
        let known = self.moves.iter_mut().find(|d| matches!(&d.act, Move::Correct { path: at, .. } if at == path));
        let Some(decision) = known else {
            let act = Move::Correct { path: path.to_owned(), lines: vec![(line.to_owned(), new.to_owned())] };
            self.moves.push(Decision::new(act, new, group));
            return;
        };
        if let Move::Correct { lines, .. } = &mut decision.act
            && lines.iter().all(|(old, _)| old != line)
        {
            lines.push((line.to_owned(), new.to_owned()));
        }
        decision.back(new, group);
    }

    pub(super) fn leave(&mut self, what: &str, why: String, group: &Group) {
        self.left.push(Left { what: what.to_owned(), why, samples: group.samples.clone() });
    }
}

impl Decision {
    fn new(act: Move, text: &str, group: &Group) -> Decision {
        let mut decision = Decision { act, samples: BTreeSet::new(), behind: BTreeMap::new(), findings: 0 };
        decision.back(text, group);
        decision
    }

    /// Puts a group's samples behind a rule of the decision.
    fn back(&mut self, text: &str, group: &Group) {
        self.samples.extend(&group.samples);
        if self.behind.insert(text.to_owned(), group.samples.clone()).is_none() {
            self.findings += group.findings.len();
        }
    }
}

impl Move {
    fn order(&self) -> usize {
        match self {
            Move::Correct { .. } => 0,
            Move::Facts { .. } => 1,
            Move::Instructions { .. } => 2,
            Move::Widen { .. } => 3,
            Move::Narrow { .. } => 4,
        }
    }

    fn path(&self) -> String {
        match self {
            Move::Correct { path, .. } | Move::Widen { path, .. } | Move::Narrow { path, .. } => path.clone(),
            Move::Instructions { topic, .. } => topic.clone().unwrap_or_default(),
            Move::Facts { .. } => String::new(),
        }
    }
}
