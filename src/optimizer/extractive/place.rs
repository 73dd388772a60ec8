//! Where new rules go: to the card that they belong to, else to a new one.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::Bench;
use super::decide::{Decision, Left, Move};
use super::describe::{self, Purpose, announces, widen};
use super::drafts::Draft;
use super::facts::Fact;
use super::terms::{Terms, Weighed};
use crate::pool::profile::Role;

/// A rule belongs to a card of general rules that has a line at least this much like it.
const NEAR: f64 = 0.1;

impl Bench<'_> {
    /// New facts go to the card that lists facts of their shape, else to a new list.
    pub(super) fn facts(&mut self, rules: &[(String, Fact)], decision: &Decision) {
        let mut homeless: Vec<(String, Fact)> = Vec::new();
        let mut homes: BTreeMap<String, Vec<(String, Fact)>> = BTreeMap::new();
        let mut lists: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (text, fact) in rules {
            let shape = fact.shape();
            match lists.entry(shape).or_insert_with_key(|shape| self.list_of(shape)).clone() {
                Some(path) => homes.entry(path).or_default().push((text.clone(), fact.clone())),
                None => homeless.push((text.clone(), fact.clone())),
            }
        }
        for (path, rules) in homes {
            homeless.extend(self.add_facts(&path, rules, decision));
        }
        for list in by_shape(homeless) {
            let mut rest = list.as_slice();
            while !rest.is_empty() {
                rest = self.new_list(rest, decision);
            }
        }
    }

    /// The card with the most facts of a shape, if facts are at least half of what it holds.
    fn list_of(&self, shape: &str) -> Option<String> {
        let (_, role) = self.folder(Role::Craft)?;
        let lists = self.drafts.values().filter(|draft| draft.role == role);
        let counted = lists.filter_map(|draft| {
            let facts = draft.lines.iter().filter_map(|line| line.shape.as_ref());
            let alike = facts.clone().filter(|known| *known == shape).count();
            (alike > 0 && facts.count() * 2 >= draft.lines.len()).then_some((alike, draft))
        });
        counted.max_by(|a, b| a.0.cmp(&b.0).then(b.1.path.cmp(&a.1.path))).map(|(_, draft)| draft.path.clone())
    }

    /// Adds facts to a list and says so in its description; gives back those that found no room.
    fn add_facts(&mut self, path: &str, rules: Vec<(String, Fact)>, decision: &Decision) -> Vec<(String, Fact)> {
        let Some(mut draft) = self.draft(path) else {
            return rules;
        };
        let (mut added, mut over) = (Vec::new(), Vec::new());
        for (text, fact) in rules {
            let mut longer = draft.clone();
            longer.append(&text);
            if longer.fits(self.profile) {
                draft = longer;
                added.push((text, fact));
            } else {
                over.push((text, fact));
            }
        }
        if added.is_empty() {
            return over;
        }
        draft.description = self.announced(&draft, &added);
        let lines: Vec<_> = added.iter().map(|(text, _)| (text.clone(), decision.behind_of(text))).collect();
        match self.put(draft) {
            Ok(()) => self.record("add", path, lines),
            Err(refusal) => {
                let samples = lines.iter().flat_map(|(_, samples)| samples.iter().copied()).collect();
                let texts: Vec<String> = lines.into_iter().map(|(text, _)| text).collect();
                self.refuse(refusal, &format!("add to `{path}`: {}", texts.join(" ")), &samples);
            }
        }
        over
    }

    /// A list's description with what was added; one of our own is written anew when a longer one has no room.
    fn announced(&self, draft: &Draft, added: &[(String, Fact)]) -> String {
        let limit = self.profile.limits.max_description_chars;
        let new = added.iter().filter(|(_, fact)| !announces(&draft.description, &fact.subject, &fact.head()));
        let phrases: Vec<String> = new.map(|(_, fact)| fact.subject.clone()).collect();
        if phrases.is_empty() {
            return draft.description.clone();
        }
        if let Some(text) = widen(&draft.description, &phrases, limit) {
            return text;
        }
        if !draft.description.starts_with("Use when asked for ") {
            return draft.description.clone();
        }
        let all: Vec<&Fact> = draft.lines.iter().filter_map(|line| line.fact.as_ref()).collect();
        describe::facts(&all, &[], limit)
    }

    /// Makes a list of as many of the facts as one card may hold; gives back the rest.
    fn new_list<'b>(&mut self, rules: &'b [(String, Fact)], decision: &Decision) -> &'b [(String, Fact)] {
        let Some((folder, role)) = self.folder(Role::Craft) else {
            self.no_folder(rules.iter().map(|(text, _)| text.as_str()), decision);
            return &[];
        };
        let limit = self.profile.limits.max_description_chars;
        let mut size = rules.len();
        while size > 0 {
            let part = &rules[..size];
            let facts: Vec<&Fact> = part.iter().map(|(_, fact)| fact).collect();
            let texts: Vec<String> = part.iter().map(|(text, _)| text.clone()).collect();
            let others = self.neighbours(&texts);
            let path = self.free_path(&folder, &describe::facts_slug(&facts));
            let draft = Draft::new(path.clone(), role, describe::facts(&facts, &others, limit), &texts, self.profile);
            if size == 1 || draft.fits(self.profile) {
                self.create(draft, &texts, decision);
                return &rules[size..];
            }
            // A card that is over by a little should not be halved.
            size -= (size / 8).max(1);
        }
        &[]
    }

    fn create(&mut self, draft: Draft, texts: &[String], decision: &Decision) {
        let path = draft.path.clone();
        let lines: Vec<_> = texts.iter().map(|text| (text.clone(), decision.behind_of(text))).collect();
        let samples: BTreeSet<usize> = lines.iter().flat_map(|(_, samples)| samples.iter().copied()).collect();
        match self.put(draft) {
            Ok(()) => self.record("create", &path, lines),
            Err(refusal) => self.refuse(refusal, &format!("create `{path}`: {}", texts.join(" ")), &samples),
        }
    }

    fn no_folder<'b>(&mut self, texts: impl Iterator<Item = &'b str>, decision: &Decision) {
        for text in texts {
            let why = "the profile has no folder for it".to_owned();
            self.left.push(Left { what: text.to_owned(), why, samples: decision.behind_of(text) });
        }
    }

    /// Instructions go to the card of their topic, or to the general rules most like them, else to a new card.
    pub(super) fn instructions(&mut self, decision: &Decision, stating: bool) {
        let Move::Instructions { role, topic, unit, rules } = &decision.act else {
            return;
        };
        let Some((folder, held)) = self.folder(*role) else {
            return self.no_folder(rules.iter().map(String::as_str), decision);
        };
        let mut over = rules.clone();
        if let Some(path) = self.home(held, topic.as_deref(), unit.as_deref(), rules) {
            over = self.add_rules(&path, rules, decision);
        }
        let stated = stating || self.drafts.values().any(|draft| draft.lines.iter().any(|line| line.fact.is_some()));
        let limit = self.profile.limits.max_description_chars;
        let mut rest = over.as_slice();
        while !rest.is_empty() {
            let mut size = rest.len();
            loop {
                let part = &rest[..size];
                let mut others = self.neighbours(part);
                if topic.is_none() {
                    others = stated.then(|| "a value that another card states".to_owned()).into_iter().collect();
                }
                let (topic, unit) = (topic.as_deref(), unit.as_deref());
                let purpose = Purpose { role: *role, topic, unit, rules: part, others: &others };
                let path = self.free_path(&folder, &describe::slug(&purpose.slug_words()));
                let draft = Draft::new(path, held, purpose.describe(limit), part, self.profile);
                if size == 1 || draft.fits(self.profile) {
                    self.create(draft, part, decision);
                    break;
                }
                size -= (size / 8).max(1);
            }
            rest = &rest[size..];
        }
    }

    fn home(&self, role: Role, topic: Option<&str>, unit: Option<&str>, rules: &[String]) -> Option<String> {
        let cards = self.drafts.values().filter(|draft| draft.role == role);
        if let Some(topic) = topic {
            let wanted = Terms::of(topic);
            let stems: Vec<&str> = wanted.stems().into_iter().collect();
            let mut named = cards.filter(|draft| mentions(draft, &stems) >= stems.len()).filter(|draft| {
                let subject = Terms::of(&describe::subject_of(&draft.path));
                wanted.stems().is_subset(&subject.stems()) || announces(&draft.description, topic, "")
            });
            return named.next().map(|draft| draft.path.clone());
        }
        let weighed: Vec<Weighed> = rules.iter().map(|rule| Weighed::new(Terms::of(rule), self.weights)).collect();
        let alike = |draft: &Draft| {
            let near = draft
                .lines
                .iter()
                .filter(|line| weighed.iter().any(|rule| !rule.terms.signed.is_disjoint(&line.terms.signed)));
            let lines = near.map(|line| Weighed::new(line.terms.clone(), self.weights));
            lines
                .flat_map(|line| weighed.iter().map(move |rule| rule.vector.cosine(&line.vector)).collect::<Vec<_>>())
                .fold(0.0, f64::max)
        };
        let best = cards
            .clone()
            .map(|draft| (alike(draft), draft))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.path.cmp(&a.1.path)));
        let own = unit.map(|unit| format!("/{}.md", describe::slug(&format!("every-{unit}"))));
        best.filter(|(cosine, _)| *cosine >= NEAR).map(|(_, draft)| draft.path.clone()).or_else(|| {
            cards.map(|draft| &draft.path).find(|path| own.as_ref().is_some_and(|own| path.ends_with(own))).cloned()
        })
    }

    fn add_rules(&mut self, path: &str, rules: &[String], decision: &Decision) -> Vec<String> {
        let Some(mut draft) = self.draft(path) else {
            return rules.to_vec();
        };
        let (mut added, mut over) = (Vec::new(), Vec::new());
        for rule in rules {
            let mut longer = draft.clone();
            longer.append(rule);
            if longer.fits(self.profile) {
                draft = longer;
                added.push((rule.clone(), decision.behind_of(rule)));
            } else {
                over.push(rule.clone());
            }
        }
        if added.is_empty() {
            return over;
        }
        let samples = added.iter().flat_map(|(_, samples)| samples.iter().copied()).collect();
        match self.put(draft) {
            Ok(()) => self.record("add", path, added),
            Err(refusal) => {
                let texts: Vec<&str> = added.iter().map(|(text, _)| text.as_str()).collect();
                self.refuse(refusal, &format!("add to `{path}`: {}", texts.join(" ")), &samples);
            }
        }
        over
    }

    /// The folder that plays a role; where a profile has none, the next broader one.
    fn folder(&self, role: Role) -> Option<(String, Role)> {
        let wanted = match role {
            Role::General => [Role::General, Role::Craft, Role::Specific],
            Role::Craft => [Role::Craft, Role::General, Role::Specific],
            Role::Specific => [Role::Specific, Role::Craft, Role::General],
        };
        let of = |role: &Role| self.profile.folders.iter().find(|folder| folder.role == *role);
        wanted.iter().find_map(of).map(|folder| (folder.path.trim_end_matches('/').to_owned(), folder.role))
    }

    fn free_path(&self, folder: &str, slug: &str) -> String {
        let taken = |path: &str| self.drafts.keys().chain(&self.removed).any(|known| known.eq_ignore_ascii_case(path));
        let paths =
            std::iter::once(format!("{folder}/{slug}.md")).chain((2..).map(|n| format!("{folder}/{slug}-{n}.md")));
        paths.into_iter().find(|path| !taken(path)).unwrap_or_default()
    }

    /// What the cards next to a new one are about: at most two, those that share most words with it.
    fn neighbours(&self, rules: &[String]) -> Vec<String> {
        let own: BTreeSet<String> = rules.iter().flat_map(|rule| Terms::of(rule).signed).collect();
        let stems: Vec<&str> = own.iter().map(|term| term.trim_start_matches('!')).collect();
        let mut near: Vec<(usize, String)> = self
            .drafts
            .values()
            .filter(|draft| draft.role != Role::General && mentions(draft, &stems) >= 2)
            .map(|draft| {
                (Terms::of(&draft.description).signed.intersection(&own).count(), describe::subject_of(&draft.path))
            })
            .filter(|(shared, _)| *shared >= 2)
            .collect();
        near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        near.into_iter().take(2).map(|(_, subject)| subject).collect()
    }
}

/// How many stems a card's name or description may mention, judged by their first letters: a cheap sieve before any
/// word of a large pool is stemmed.
fn mentions(draft: &Draft, stems: &[&str]) -> usize {
    let text = format!("{} {}", draft.path, draft.description).to_lowercase();
    stems.iter().filter(|stem| text.contains(stem.chars().take(3).collect::<String>().as_str())).count()
}

/// Facts by shape; a shape with a single fact joins the largest.
fn by_shape(rules: Vec<(String, Fact)>) -> Vec<Vec<(String, Fact)>> {
    let mut lists: Vec<(String, Vec<(String, Fact)>)> = Vec::new();
    for rule in rules {
        let shape = rule.1.shape();
        match lists.iter_mut().find(|(known, _)| *known == shape) {
            Some((_, list)) => list.push(rule),
            None => lists.push((shape, vec![rule])),
        }
    }
    let mut lists: Vec<_> = lists.into_iter().map(|(_, list)| list).collect();
    lists.sort_by_key(|list| std::cmp::Reverse(list.len()));
    let (mut kept, single): (Vec<_>, Vec<_>) = lists.into_iter().partition(|list| list.len() > 1);
    let single: Vec<(String, Fact)> = single.into_iter().flatten().collect();
    match kept.first_mut() {
        Some(largest) => largest.extend(single),
        None if !single.is_empty() => kept.push(single),
        None => {}
    }
    kept
}
