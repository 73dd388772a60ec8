//! The pool as the decisions see it: rule lines by subject and by word, and which samples read which card.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::drafts::Draft;
use super::facts::Fact;
use super::findings::Finding;
use super::groups::Group;
use super::terms::{Terms, Weighed, Weights};
use crate::batch::Evidence;
use crate::pool::card::Card;
use crate::pool::profile::Profile;

/// A word that this many lines hold tells too little to look a rule up by.
const COMMON: usize = 2_000;

/// The cards, indexed.
pub(super) struct Pool {
    drafts: Vec<Arc<Draft>>,
    places: HashMap<String, usize>,
    readers: Vec<BTreeSet<usize>>,
    weighed: Vec<Vec<Weighed>>,
    /// Lines (card, line) by a fact's subject.
    facts: HashMap<String, Vec<(usize, usize)>>,
    /// Lines (card, line) by a stem's number.
    stems: HashMap<u32, Vec<(usize, usize)>>,
}

/// The cards that lie in the profile's folders, in path order.
pub(super) fn drafts(cards: &[Card], profile: &Profile) -> Vec<Arc<Draft>> {
    let mut drafts: Vec<Arc<Draft>> =
        cards.par_iter().filter_map(|card| Draft::of(card, profile).map(Arc::new)).collect();
    drafts.sort_by(|a, b| a.path.cmp(&b.path));
    drafts.dedup_by(|a, b| a.path == b.path);
    drafts
}

impl Pool {
    /// Indexes the cards.
    pub(super) fn new(drafts: Vec<Arc<Draft>>, evidence: &[Evidence], weights: &Weights) -> Pool {
        let places: HashMap<String, usize> =
            drafts.iter().enumerate().map(|(place, draft)| (draft.path.clone(), place)).collect();
        let weighed: Vec<Vec<Weighed>> = drafts
            .par_iter()
            .map(|draft| draft.lines.iter().map(|line| Weighed::new(line.terms.clone(), weights)).collect())
            .collect();
        let (mut facts, mut stems) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (card, draft) in drafts.iter().enumerate() {
            for (at, line) in draft.lines.iter().enumerate() {
                if let Some(fact) = &line.fact {
                    facts.entry(fact.key()).or_default().push((card, at));
                }
                for stem in weighed[card][at].vector.stems() {
                    stems.entry(stem).or_default().push((card, at));
                }
            }
        }
        let mut pool = Pool { readers: vec![BTreeSet::new(); drafts.len()], drafts, places, weighed, facts, stems };
        for (sample, evidence) in evidence.iter().enumerate() {
            for read in &evidence.reads {
                if let Some(card) = pool.resolve(read) {
                    pool.readers[card].insert(sample);
                }
            }
        }
        pool
    }

    /// All cards, in path order.
    pub(super) fn drafts(&self) -> &[Arc<Draft>] {
        &self.drafts
    }

    /// One card.
    pub(super) fn draft(&self, card: usize) -> &Draft {
        &self.drafts[card]
    }

    /// The samples that read a card.
    pub(super) fn read_by(&self, card: usize) -> &BTreeSet<usize> {
        &self.readers[card]
    }

    /// The card that a path means: the path itself, or its end ("pool/00_x/y.md", "/tmp/run/00_x/y.md").
    pub(super) fn resolve(&self, path: &str) -> Option<usize> {
        let path = path.replace('\\', "/");
        let mut rest = path.trim().trim_start_matches("./");
        for _ in 0..64 {
            if let Some(card) = self.places.get(rest) {
                return Some(*card);
            }
            rest = rest.split_once('/')?.1;
        }
        None
    }

    /// A card's lines with their terms.
    pub(super) fn weighed_lines(&self, card: usize) -> Vec<(&String, &Weighed)> {
        self.drafts[card].lines.iter().map(|line| &line.text).zip(&self.weighed[card]).collect()
    }

    /// The lines that give a fact another value.
    pub(super) fn contradicting(&self, fact: &Fact) -> Vec<(usize, String)> {
        let (same, value) = (self.facts.get(&fact.key()), fact.value_key());
        let others = same.into_iter().flatten().map(|(card, at)| (*card, &self.drafts[*card].lines[*at]));
        let others = others.filter(|(_, line)| line.fact.as_ref().is_some_and(|theirs| theirs.value_key() != value));
        others.map(|(card, line)| (card, line.text.clone())).collect()
    }

    /// The cards that a finding names, or whose lines say what a group of them says or otherwise.
    pub(super) fn concerned(&self, findings: &[Finding], groups: &[Group]) -> BTreeSet<usize> {
        let named = findings.iter().flat_map(|finding| &finding.cards).filter_map(|name| self.resolve(name));
        let stated = groups.iter().filter_map(|group| self.covering(group)).flatten();
        named.chain(stated).collect()
    }

    /// The lines (card, line) that share a word with a rule.
    pub(super) fn alike(&self, rule: &Weighed) -> BTreeSet<(usize, usize)> {
        let of = |stem| self.stems.get(&stem).into_iter().flatten().take(COMMON).copied();
        rule.vector.stems().flat_map(of).collect()
    }

    /// A line and its terms.
    pub(super) fn line(&self, card: usize, at: usize) -> (&str, &Weighed) {
        (&self.drafts[card].lines[at].text, &self.weighed[card][at])
    }

    /// The cards that state a group's rule already; nothing when none does.
    pub(super) fn covering(&self, group: &Group) -> Option<Vec<usize>> {
        let mut cards = BTreeSet::new();
        if let Some(fact) = &group.rule.fact {
            let same = self.facts.get(&fact.key()).into_iter().flatten();
            cards.extend(same.map(|(card, _)| *card));
        }
        let candidates = self.alike(&group.weighed);
        let saying = candidates.iter().filter(|(card, at)| group.weighed.covered_by(&self.weighed[*card][*at]));
        cards.extend(saying.map(|(card, _)| *card));
        (!cards.is_empty()).then(|| cards.into_iter().collect())
    }
}

/// The weights over all rules at hand: those of the pool and those of the reports.
pub(super) fn weights<'a>(drafts: &'a [Arc<Draft>], rules: impl Iterator<Item = &'a Terms>) -> Weights {
    Weights::of(drafts.iter().flat_map(|draft| draft.lines.iter().map(|line| &*line.terms)).chain(rules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_trace_names_cards_by_the_end_of_a_path() {
        let profile = Profile::default_rules();
        let path = format!("{}/a.md", profile.folders[0].path);
        let card = Card { path: path.clone(), description: "Use.".into(), body: "\n## Rules\n- Go.\n".into() };
        let sample = Evidence {
            reads: vec![format!("/tmp/x/pool/{path}"), "a.md".into(), String::new()],
            ..Evidence::default()
        };
        let pool = Pool::new(drafts(&[card], &profile), &[sample], &Weights::default());
        for name in [path.clone(), format!("./{path}"), format!("pool/{path}"), path.replace('/', "\\")] {
            assert_eq!(pool.resolve(&name), Some(0), "{name}");
        }
        for name in ["a.md", "", "/", "00_general_rules"] {
            assert_eq!(pool.resolve(name), None, "{name}");
        }
        assert_eq!(pool.read_by(0).len(), 1);
    }
}
