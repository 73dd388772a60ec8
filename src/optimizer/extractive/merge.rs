//! The fourth move: two cards that say the same are made one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::apply::Bench;
use super::decide::Left;
use super::describe;
use super::drafts::{Draft, Line};
use super::pool::Pool;
use super::terms::{Terms, Weighed, Weights};
use super::words::words;
use crate::pool::profile::Role;

/// Cards overlap when at least this share of the smaller one's rules stands in the other too.
const OVERLAP: f64 = 0.5;

/// Cards that were read in a group are compared pairwise; beyond this many the later ones are not.
const MAX_CARDS: usize = 200;

impl Bench<'_> {
    /// Merges overlapping cards of one folder that the group's samples read, until none is left.
    pub(super) fn merge(&mut self, pool: &Pool, concerned: &BTreeSet<usize>) {
        let read = pool.drafts().iter().enumerate().filter(|(card, _)| !pool.read_by(*card).is_empty());
        let paths: Vec<(String, usize)> =
            read.map(|(card, draft)| (draft.path.clone(), card)).take(MAX_CARDS).collect();
        for (at, (one, first)) in paths.iter().enumerate() {
            for (other, second) in &paths[at + 1..] {
                let samples = pool.read_by(*first).union(pool.read_by(*second)).copied().collect();
                let asked = concerned.contains(first) || concerned.contains(second);
                self.merge_pair(one, other, &samples, asked);
            }
        }
    }

    fn merge_pair(&mut self, one: &str, other: &str, samples: &BTreeSet<usize>, asked: bool) {
        let (Some(a), Some(b)) = (self.drafts.get(one), self.drafts.get(other)) else {
            return;
        };
        if folder(one) != folder(other) || self.removed.contains(one) || self.removed.contains(other) {
            return;
        }
        let (keep, gone) = if b.lines.len() > a.lines.len() { (b, a) } else { (a, b) };
        let overlap = Overlap::of(keep, gone, self.weights);
        if !overlap.enough(gone.lines.len()) {
            return;
        }
        let what = format!("merge `{}` into `{}`", gone.path, keep.path);
        let refused = self.refusal(keep, gone, &overlap);
        // No finding is about either of them, so nothing says that having two misleads anybody.
        if !asked && refused.is_none() {
            return;
        }
        if let Some((later, why)) = refused {
            let left = Left { what, why, samples: samples.clone() };
            if later {
                self.later.push(left)
            } else {
                self.left.push(left)
            }
            return;
        }
        let (mut merged, gone) = (Draft::clone(keep), Draft::clone(gone));
        for line in &overlap.distinct {
            merged.append(&line.text);
        }
        let limit = self.profile.limits.max_description_chars;
        merged.description = describe::joined(&merged.description, &gone.description, &merged.lines, limit);
        if let Err(why) = self.acceptable(&merged) {
            self.left.push(Left { what, why, samples: samples.clone() });
            return;
        }
        let mut lines = vec![(
            format!("`{}` is removed: {} of its {} rules stood here too.", gone.path, overlap.shared, gone.lines.len()),
            samples.clone(),
        )];
        lines.extend(overlap.distinct.iter().map(|line| (format!("moved here: {}", line.text), samples.clone())));
        let path = merged.path.clone();
        self.touched.extend([path.clone(), gone.path.clone()]);
        self.removed.insert(gone.path.clone());
        self.drafts.remove(&gone.path);
        self.drafts.insert(path.clone(), Arc::new(merged));
        self.record("merge", &path, lines);
    }

    /// Why two overlapping cards stay two; true when a later step may merge them.
    fn refusal(&self, keep: &Draft, gone: &Draft, overlap: &Overlap) -> Option<(bool, String)> {
        if let Some(line) = &overlap.conflict {
            return Some((false, format!("they disagree and the reports don't say which is right ({line})")));
        }
        // A card for one kind of work only, or one that keeps the other's work out, is another card for a reason.
        if keep.role == Role::Specific || excludes(&keep.description, &gone.description) {
            return Some((false, "one is not for what the other is for".to_owned()));
        }
        if self.removed.len() >= self.bounds.max_deletions {
            return Some((
                true,
                format!("a merge deletes a card, and the step may delete {}", self.bounds.max_deletions),
            ));
        }
        if !self.allows(&[&keep.path, &gone.path]) {
            return Some((true, "the step may touch no more cards".to_owned()));
        }
        None
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether one of two descriptions holds for one thing only, or keeps out what the other is for.
fn excludes(one: &str, other: &str) -> bool {
    let ((when, not), (other_when, other_not)) = (describe::parts(one), describe::parts(other));
    let only = |text: &str| words(text).iter().take(3).any(|word| word.low == "only");
    let kept_out = |not: &str, when: &str| {
        let (when, low) = (Terms::of(when), not.to_lowercase());
        let items = low.split([',', ';', '.']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
        items.map(Terms::of).any(|item| !item.signed.is_empty() && item.stems().is_subset(&when.stems()))
    };
    only(when) || only(other_when) || kept_out(not, other_when) || kept_out(other_not, when)
}

/// What a card's rules have in common with another's.
struct Overlap {
    shared: usize,
    distinct: Vec<Line>,
    conflict: Option<String>,
}

impl Overlap {
    fn of(keep: &Draft, gone: &Draft, weights: &Weights) -> Overlap {
        let weigh = |line: &Line| Weighed::new(line.terms.clone(), weights);
        let kept: Vec<(&Line, Weighed)> = keep.lines.iter().map(|line| (line, weigh(line))).collect();
        let mut out = Overlap { shared: 0, distinct: Vec::new(), conflict: None };
        for line in &gone.lines {
            let weighed = weigh(line);
            let same = kept.iter().any(|(other, theirs)| match (&line.fact, &other.fact) {
                (Some(a), Some(b)) => a.key() == b.key() && a.value_key() == b.value_key(),
                _ => weighed.covered_by(theirs),
            });
            if same {
                out.shared += 1;
                continue;
            }
            let against = kept.iter().find(|(other, _)| match (&line.fact, &other.fact) {
                (Some(a), Some(b)) => a.key() == b.key(),
                _ => false,
            });
            if let Some((other, _)) = against {
                out.conflict.get_or_insert(format!("{} / {}", other.text, line.text));
            }
            out.distinct.push(line.clone());
        }
        out
    }

    /// Two rules in common, or all that the smaller card has.
    fn enough(&self, smaller: usize) -> bool {
        self.shared >= smaller.min(2) && self.shared > 0 && self.shared as f64 >= OVERLAP * smaller as f64
    }
}
