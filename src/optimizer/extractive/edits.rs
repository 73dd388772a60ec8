//! A plan as typed edits: small ones inside the cards, whole cards anew, or the rules as suggestions.

use std::collections::BTreeSet;
use std::ops::Range;

use super::apply::Done;
use super::{Change, diff};
use crate::batch::Evidence;
use crate::edit::{Edit, Op, Source};
use crate::pool::card::{self, Card};

/// A plan's changes with what is behind them.
pub(super) struct Planned<'a> {
    pub(super) changes: &'a [Change],
    pub(super) done: &'a [Done],
    pub(super) evidence: &'a [Evidence],
    pub(super) cards: &'a [Card],
}

impl Planned<'_> {
    /// Small edits in cards that there are; new cards whole.
    pub(super) fn patch(&self) -> Vec<Edit> {
        let edits = self.changes.iter().flat_map(|change| match (change, self.old(change)) {
            (Change::Write { path, text }, Some(old)) => self.inside(path, old, text),
            (change, _) => vec![self.whole(change)],
        });
        edits.collect()
    }

    /// Whole cards.
    pub(super) fn whole_cards(&self) -> Vec<Edit> {
        self.changes.iter().map(|change| self.whole(change)).collect()
    }

    /// Each new or corrected rule as a suggestion. What only changes a description is none: a suggestion is a rule.
    pub(super) fn suggestions(&self) -> Vec<Edit> {
        let ruling = self.done.iter().filter(|done| matches!(done.what, "create" | "add" | "correct"));
        let lines = ruling.flat_map(|done| done.lines.iter().map(move |(line, samples)| (done, line, samples)));
        let edits = lines.map(|(done, line, samples)| {
            let rule = line.rsplit_once(" → ").map_or(line.as_str(), |(_, new)| new);
            self.edit(&done.path, Op::Suggest { content: rule.to_owned() }, samples)
        });
        edits.collect()
    }

    fn old(&self, change: &Change) -> Option<&Card> {
        let (Change::Write { path, .. } | Change::Remove { path }) = change;
        self.cards.iter().find(|card| card.path == *path)
    }

    fn whole(&self, change: &Change) -> Edit {
        let path = match change {
            Change::Write { path, .. } | Change::Remove { path } => path,
        };
        let op = match change {
            Change::Remove { .. } => Op::Remove,
            Change::Write { text, .. } => match (self.old(change), Card::parse(path, text.as_bytes())) {
                (None, _) => Op::Create { description: None, content: text.clone() },
                // Its front matter keeps its bytes where the description is the same.
                (Some(old), Ok(new)) if old.description == new.description => {
                    Op::Rewrite { description: None, content: new.body }
                }
                (Some(_), _) => Op::Rewrite { description: None, content: text.clone() },
            },
        };
        self.edit(path, op, &self.behind(path))
    }

    /// The edits that make a card's new text of its old one; the whole card anew where small ones would not do so.
    fn inside(&self, path: &str, old: &Card, text: &str) -> Vec<Edit> {
        let Ok(new) = Card::parse(path, text.as_bytes()) else { return Vec::new() };
        let mut ops: Vec<(Op, BTreeSet<usize>)> = Vec::new();
        if old.description != new.description {
            ops.push((described(old, &new), self.behind_what(path, &["widen", "narrow", "merge"])));
        }
        let Some(hunks) = diff::edits(&old.body, &new.body) else {
            return vec![self.whole(&Change::Write { path: path.to_owned(), text: text.to_owned() })];
        };
        ops.extend(hunks.into_iter().map(|op| {
            let samples = self.behind_line(path, &op);
            (op, samples)
        }));
        ops.into_iter().map(|(op, samples)| self.edit(path, op, &samples)).collect()
    }

    fn edit(&self, path: &str, op: Op, samples: &BTreeSet<usize>) -> Edit {
        let works: BTreeSet<&str> =
            samples.iter().filter_map(|sample| self.evidence.get(*sample)).map(|sample| sample.work.as_str()).collect();
        let support = u32::try_from(works.len()).unwrap_or(u32::MAX).max(1);
        let reason = match works.is_empty() {
            true => String::new(),
            false => format!("reported of {}", works.into_iter().collect::<Vec<_>>().join(", ")),
        };
        Edit { card: path.to_owned(), op, reason, support, source: Source::Failures }
    }

    /// The samples behind all that was done to a card.
    fn behind(&self, path: &str) -> BTreeSet<usize> {
        self.done.iter().filter(|done| done.path == path).flat_map(|done| done.samples.iter().copied()).collect()
    }

    fn behind_what(&self, path: &str, what: &[&str]) -> BTreeSet<usize> {
        let done = self.done.iter().filter(|done| done.path == path && what.contains(&done.what));
        done.flat_map(|done| done.samples.iter().copied()).collect()
    }

    /// The samples behind one line of a card, or behind the card where no line is known.
    fn behind_line(&self, path: &str, op: &Op) -> BTreeSet<usize> {
        let content = match op {
            Op::Append { content } | Op::InsertAfter { content, .. } | Op::Replace { content, .. } => content.as_str(),
            Op::Delete { target } => target,
            _ => "",
        };
        let lines = self.done.iter().filter(|done| done.path == path).flat_map(|done| &done.lines);
        let found: BTreeSet<usize> = lines
            .filter(|(line, _)| {
                let rule = line.rsplit_once(" → ").map_or(line.as_str(), |(_, new)| new);
                content.contains(rule.trim_start_matches("moved here: "))
            })
            .flat_map(|(_, samples)| samples.iter().copied())
            .collect();
        if found.is_empty() { self.behind(path) } else { found }
    }
}

/// Another description in the place of the old one. Its words are replaced where they can be written without quotes: they
/// are then found in a card that folds them or quotes them too. Else the line that a card of ours has is.
fn described(old: &Card, new: &Card) -> Op {
    let line = card::front_matter_line;
    let is_plain = |text: &str| line(text) == format!("{}: {text}", card::DESCRIPTION) && !text.contains(['\'', '"']);
    let once = !old.description.is_empty() && !old.body.contains(&old.description);
    match is_plain(&old.description) && is_plain(&new.description) && once {
        true => Op::Replace { target: old.description.clone(), content: new.description.clone() },
        false => Op::Replace { target: line(&old.description), content: line(&new.description) },
    }
}

/// Bytes of a text's lines from `range.start` to `range.end`, the last line feed aside.
pub(super) fn slice<'a>(lines: &[&'a str], range: Range<usize>, text: &'a str) -> &'a str {
    let offset = |at: usize| lines[..at].iter().map(|line| line.len()).sum::<usize>();
    text[offset(range.start)..offset(range.end)].trim_end_matches('\n')
}
