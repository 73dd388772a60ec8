//! Advice against advice: two rules of which one forbids what the other asks for, or that differ in one number only.
//!
//! Both are never written. Works that contradict each other are left alone; a line of a card gives way only to what two
//! works say who read it.

use std::collections::BTreeSet;

use super::decide::{Decider, Decisions};
use super::groups::{Group, Support};
use super::pool::Pool;
use super::terms::{SAME, Terms, Weighed, contrary, swapped};

/// How one rule stands against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clash {
    /// It forbids what the other asks for.
    Opposite,
    /// It is the same but for one number.
    Number,
}

/// A line of a card against which a group stands.
struct Against {
    card: usize,
    line: String,
    /// Whether both are about nothing else, so that one may stand in the other's place.
    whole: bool,
}

/// How two instructions stand against each other, if they do.
pub(super) fn clash(a: &Weighed, b: &Weighed) -> Option<Clash> {
    if renumbered(&a.terms, &b.terms) {
        return Some(Clash::Number);
    }
    if a.terms.values != b.terms.values {
        return None;
    }
    let turned = swapped(&a.terms, &b.terms) && contrary(&a.terms, &b.terms);
    let flipped = || {
        let (ours, theirs) = (a.terms.stems(), b.terms.stems());
        let common: Vec<&&str> = ours.intersection(&theirs).collect();
        let denied = |terms: &Terms, stem: &str| terms.signed.contains(&format!("!{stem}"));
        let against = common.iter().filter(|stem| denied(&a.terms, stem) != denied(&b.terms, stem)).count();
        against > 0 && against * 2 >= common.len() && a.vector.unsigned().cosine(&b.vector.unsigned()) >= SAME
    };
    (turned || flipped()).then_some(Clash::Opposite)
}

/// Whether all but one number is the same.
fn renumbered(a: &Terms, b: &Terms) -> bool {
    let number = |value: &String| value.chars().any(|c| c.is_ascii_digit());
    let only = |x: &Terms, y: &Terms| {
        let own: Vec<String> = x.values.difference(&y.values).cloned().collect();
        (own.len() == 1 && own.iter().all(number)).then(|| own.concat())
    };
    let (Some(ours), Some(theirs)) = (only(a, b), only(b, a)) else {
        return false;
    };
    let rest = |terms: &Terms, value: &str| -> BTreeSet<String> {
        terms.signed.iter().filter(|term| term.trim_start_matches('!') != value).cloned().collect()
    };
    let (left, right) = (rest(a, &ours), rest(b, &theirs));
    !left.is_empty() && left == right && a.turns == b.turns
}

impl Decider<'_> {
    /// Another group that advises the opposite, or another number, with at least as much support.
    pub(super) fn rival_advice(&self, group: &Group) -> Option<String> {
        if group.rule.fact.is_some() {
            return None;
        }
        let rival =
            self.groups.iter().filter(|other| other.rule.fact.is_none() && other.support >= group.support).find(
                |other| match clash(&group.weighed, &other.weighed) {
                    Some(Clash::Opposite) => true,
                    // Two works against one are an answer.
                    Some(Clash::Number) => other.samples.len() >= group.samples.len(),
                    None => false,
                },
            )?;
        Some(self.otherwise(rival))
    }

    /// Decides on advice that a card contradicts; false when none does.
    pub(super) fn contradicts_card(&self, group: &Group, out: &mut Decisions) -> bool {
        let against = against(self.pool, group);
        let Some(first) = against.first() else {
            return false;
        };
        let path = self.pool.draft(first.card).path.clone();
        let read = self.pool.read_by(first.card).intersection(&group.samples).next().is_some();
        let why = match (against.len(), first.whole, read, group.support) {
            (1, true, true, Support::Shared) => {
                out.replace(&path, &first.line, &group.rule.text, group);
                return true;
            }
            (1, true, false, _) => "but nobody who reports it read the card".to_owned(),
            (1, true, true, _) => format!("but only {} reports it", self.names(&group.samples)),
            _ => "and which of them holds where is not clear".to_owned(),
        };
        out.leave(&group.rule.text, format!("`{path}` says otherwise ({}), {why}", first.line), group);
        true
    }
}

/// The lines of the pool that a group stands against.
fn against(pool: &Pool, group: &Group) -> Vec<Against> {
    let mut out = Vec::new();
    if group.rule.fact.is_some() {
        return out;
    }
    for (card, at) in pool.alike(&group.weighed) {
        let (line, weighed) = pool.line(card, at);
        if let Some(kind) = clash(&group.weighed, weighed) {
            let whole = kind == Clash::Number || group.weighed.terms.stems() == weighed.terms.stems();
            out.push(Against { card, line: line.to_owned(), whole });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::terms::Weights;
    use super::*;

    #[test]
    fn opposites_and_other_numbers_clash() {
        let rows = [
            ("Always add a comment to each function.", "Never add a comment to each function.", Some(Clash::Opposite)),
            ("Ask for the receipt.", "Do not ask for the receipt.", Some(Clash::Opposite)),
            ("Stop offering a voucher of 5 euros.", "Offer a voucher of 5 euros.", Some(Clash::Opposite)),
            ("Use lists instead of tables.", "Use tables instead of lists.", Some(Clash::Opposite)),
            ("Check the schema before the query.", "Check the schema after the query.", Some(Clash::Opposite)),
            ("Wait 5 seconds before a retry.", "Wait 30 seconds before a retry.", Some(Clash::Number)),
            ("Use Python 3.9.", "Use Python 3.12.", Some(Clash::Number)),
            ("Answer in at most 3 sentences.", "Answer in at most two sentences.", Some(Clash::Number)),
            ("Wait 5 seconds before a retry.", "Wait 30 seconds before a call.", None),
            ("Ask the finance team.", "Ask the legal team.", None),
            ("Name the year.", "Name the year.", None),
        ];
        for (one, other, want) in rows {
            let (one, other) = (Terms::of(one), Terms::of(other));
            let weights = Weights::of([&one, &other].into_iter());
            let (a, b) = (Weighed::new(one, &weights), Weighed::new(other, &weights));
            assert_eq!((clash(&a, &b), clash(&b, &a)), (want, want), "{:?} {:?}", a.terms, b.terms);
        }
    }
}
