//! Descriptions that drew a reader to the wrong card, or drew none to the right one.

use std::collections::{BTreeMap, BTreeSet};

use super::decide::{Decider, Decision, Decisions, Left, Move};
use super::describe::announces;
use super::findings::Finding;
use super::groups::{Support, support};
use super::lexicon;
use super::mood::lower_first;
use super::sentences::fold;

impl Decider<'_> {
    /// Cards that reports name as read where they don't apply, or as unread where they do.
    pub(super) fn descriptions(&self, out: &mut Decisions) {
        let mut asked: BTreeMap<(usize, bool, String), BTreeSet<usize>> = BTreeMap::new();
        for (index, finding) in self.findings.iter().enumerate() {
            let (misapplied, unread) = (finding.says(lexicon::MISAPPLIED), finding.says(lexicon::UNREAD));
            if !misapplied && !unread {
                continue;
            }
            let Some(phrase) = phrase(finding) else {
                continue;
            };
            for card in finding.cards.iter().filter_map(|name| self.pool.resolve(name)) {
                let read = self.pool.read_by(card).intersection(&finding.works).next().is_some();
                if (misapplied && read) || (unread && !misapplied && !read) {
                    asked.entry((card, misapplied, phrase.clone())).or_default().insert(index);
                }
            }
        }
        for ((card, misapplied, phrase), indices) in asked {
            let draft = self.pool.draft(card);
            let samples: BTreeSet<usize> =
                indices.iter().flat_map(|index| self.findings[*index].works.clone()).collect();
            let path = draft.path.clone();
            let what = if misapplied {
                format!("narrow `{path}`: not for {phrase}")
            } else {
                format!("widen `{path}`: {phrase}")
            };
            if support(&indices, self.findings, self.evidence) == Support::Once {
                out.left.push(Left { what, why: format!("only {} reports it, once", self.names(&samples)), samples });
            } else if !misapplied && announces(&draft.description, &phrase, "") {
                out.left.push(Left { what, why: "its description says so already".into(), samples });
            } else {
                let act = match misapplied {
                    true => Move::Narrow { path, phrase: phrase.clone() },
                    false => Move::Widen { path, phrase: phrase.clone() },
                };
                let behind = BTreeMap::from([(phrase, samples.clone())]);
                out.moves.push(Decision { act, samples, behind, findings: indices.len() });
            }
        }
    }
}

/// What a finding is about, for a description: the fact that it states, else its label or topic.
fn phrase(finding: &Finding) -> Option<String> {
    let stated = finding.rules.iter().find_map(|rule| rule.fact.as_ref()).map(|fact| fact.subject.clone());
    let text = stated.or_else(|| finding.label.clone()).or_else(|| finding.topic.clone())?;
    let text = fold(&lower_first(&text.replace('`', "")));
    let plain = text.chars().any(char::is_alphabetic) && text.chars().count() <= 80 && !text.contains([';', ':', '"']);
    plain.then_some(text)
}
