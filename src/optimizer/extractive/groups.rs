//! Groups: the findings of a group of samples whose advice says the same.

use std::collections::{BTreeMap, BTreeSet};

use super::advice::Rule;
use super::findings::Finding;
use super::terms::{Terms, Weighed, Weights};
use crate::batch::Evidence;

/// At most this many different instructions are compared with each other: the comparison is quadratic.
const MAX_INSTRUCTIONS: usize = 1_000;

/// A topic stands for a group when at least this share of its findings has it.
const TOPIC_SHARE: f64 = 0.6;

/// Advice and the findings that give it.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The rule in its commonest wording; of equally common ones the first.
    pub(super) rule: Rule,
    pub(super) weighed: Weighed,
    /// The findings, ascending.
    pub(super) findings: Vec<usize>,
    /// The samples that they come from.
    pub(super) samples: BTreeSet<usize>,
    pub(super) support: Support,
    /// What part of the work it is about, when the findings agree.
    pub(super) topic: Option<String>,
    /// What is counted ("reply"), when a finding counts.
    pub(super) unit: Option<String>,
}

/// How well a group is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Support {
    /// One work reports it, once.
    Once,
    /// One work repeats it.
    Repeated,
    /// At least two works share it.
    Shared,
}

/// Groups the rules of all findings; the best supported first, then in order of appearance.
pub(super) fn group(findings: &[Finding], evidence: &[Evidence], weights: &Weights) -> Vec<Group> {
    let mut distinct: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
    let mut wordings: Vec<(Rule, Weighed, Vec<usize>)> = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        for rule in &finding.rules {
            let key = match &rule.fact {
                Some(fact) => (fact.key(), Some(fact.value_key())),
                None => (rule.text.to_lowercase(), None),
            };
            match distinct.get(&key) {
                Some(place) => wordings[*place].2.push(index),
                None if wordings.len() < MAX_INSTRUCTIONS => {
                    distinct.insert(key, wordings.len());
                    wordings.push((rule.clone(), Weighed::new(Terms::of(&rule.text), weights), vec![index]));
                }
                None => {}
            }
        }
    }
    let mut groups: Vec<Group> = clusters(&wordings)
        .into_iter()
        .map(|members| assemble(&members.iter().map(|index| &wordings[*index]).collect::<Vec<_>>(), findings, evidence))
        .collect();
    groups.sort_by_key(|group| {
        (std::cmp::Reverse((group.samples.len(), group.findings.len())), group.findings.first().copied())
    });
    groups
}

/// Leader clustering: each wording joins the most similar cluster whose first wording says the same, else begins one.
/// Facts are already told apart by subject and value.
fn clusters(wordings: &[(Rule, Weighed, Vec<usize>)]) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    for (index, (rule, weighed, _)) in wordings.iter().enumerate() {
        let best = (rule.fact.is_none())
            .then(|| {
                let leaders = out.iter().enumerate().filter(|(_, members)| wordings[members[0]].0.fact.is_none());
                leaders
                    .filter(|(_, members)| wordings[members[0]].1.same(weighed))
                    .map(|(place, members)| (place, wordings[members[0]].1.vector.cosine(&weighed.vector)))
                    .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
            })
            .flatten();
        match best {
            Some((place, _)) => out[place].push(index),
            None => out.push(vec![index]),
        }
    }
    out
}

fn assemble(members: &[&(Rule, Weighed, Vec<usize>)], findings: &[Finding], evidence: &[Evidence]) -> Group {
    let mut best = members[0];
    for member in members {
        if member.2.len() > best.2.len() {
            best = member;
        }
    }
    let all: BTreeSet<usize> = members.iter().flat_map(|member| member.2.iter().copied()).collect();
    let samples = all.iter().flat_map(|index| findings[*index].works.iter().copied()).collect();
    let support = support(&all, findings, evidence);
    let topic = agreed(all.iter().map(|index| findings[*index].topic.as_deref()));
    let unit = all.iter().find_map(|index| findings[*index].unit.clone());
    let (rule, weighed) = (best.0.clone(), best.1.clone());
    Group { rule, weighed, findings: all.into_iter().collect(), samples, support, topic, unit }
}

/// Two works, or one that repeats: in two of its samples, in two items of one section, or by its own count.
pub(super) fn support(indices: &BTreeSet<usize>, findings: &[Finding], evidence: &[Evidence]) -> Support {
    let mut works: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut sections: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    let mut counted = false;
    for index in indices {
        let finding = &findings[*index];
        counted |= finding.times >= 2;
        for sample in &finding.works {
            let work = evidence.get(*sample).map_or("", |sample| sample.work.as_str());
            works.entry(work).or_default().insert(*sample);
            *sections.entry((*sample, finding.section.as_str())).or_default() += 1;
        }
    }
    let repeated = counted || works.values().any(|samples| samples.len() >= 2) || sections.values().any(|n| *n >= 2);
    match (works.len() >= 2, repeated) {
        (true, _) => Support::Shared,
        (false, true) => Support::Repeated,
        (false, false) => Support::Once,
    }
}

fn agreed<'a>(topics: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let (mut all, mut counts) = (0, BTreeMap::<String, (usize, &str)>::new());
    for topic in topics {
        all += 1;
        if let Some(topic) = topic {
            let key = Terms::of(topic).stems().into_iter().collect::<Vec<_>>().join(" ");
            counts.entry(key).or_insert((0, topic)).0 += 1;
        }
    }
    let (count, topic) = counts.into_values().max_by_key(|(count, _)| *count)?;
    (count as f64 >= TOPIC_SHARE * f64::from(all)).then(|| topic.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimizer::extractive::findings;

    fn grouped(reports: &[(&str, &str)]) -> Vec<(String, Support, usize)> {
        let sample = |(work, text): &(&str, &str)| Evidence {
            work: (*work).into(),
            loss_report: (*text).into(),
            ..Evidence::default()
        };
        let evidence: Vec<Evidence> = reports.iter().map(sample).collect();
        let findings = findings::read(&evidence, None).all;
        let terms: Vec<Terms> =
            findings.iter().flat_map(|f| f.rules.iter().map(|rule| Terms::of(&rule.text))).collect();
        let groups = group(&findings, &evidence, &Weights::of(terms.iter()));
        groups.into_iter().map(|group| (group.rule.text, group.support, group.samples.len())).collect()
    }

    #[test]
    fn works_that_say_the_same_are_one_group_in_its_commonest_wording() {
        let got = grouped(&[
            ("a", "- Cut adverbs from dialogue tags.\n- Name the year."),
            ("b", "- Cut all adverbs in the dialogue tags."),
            ("c", "- Cut all adverbs in the dialogue tags.\n- Do not cut adverbs from dialogue tags."),
        ]);
        let want = [
            ("Cut all adverbs in the dialogue tags.", Support::Shared, 3),
            ("Name the year.", Support::Once, 1),
            ("Do not cut adverbs from dialogue tags.", Support::Once, 1),
        ];
        assert_eq!(got, want.map(|(text, support, works)| (text.to_owned(), support, works)));
    }

    #[test]
    fn one_work_repeats_by_samples_items_or_its_own_count() {
        let support = |reports: &[(&str, &str)]| grouped(reports)[0].1;
        assert_eq!(support(&[("a", "- Name the year."), ("a", "- Name the year.")]), Support::Repeated);
        assert_eq!(support(&[("a", "- x: Name the year.\n- y: Name the year.")]), Support::Repeated);
        assert_eq!(support(&[("a", "- 2 of 3 letters lack it. Name the year.")]), Support::Repeated);
        // A summary that says an item again repeats nothing.
        assert_eq!(support(&[("a", "## One\n\n- Name the year.\n\n## In short\n\n- Name the year.")]), Support::Once);
    }
}
