//! What is written for people: the commonality report and the report of a plan.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::Done;
use super::decide::Left;
use super::doubts;
use super::findings::{Finding, Findings, Verdict};
use super::groups::{Group, Support};
use super::lexicon;
use crate::batch::Evidence;

/// Works named in one line; the rest is counted.
const MAX_NAMES: usize = 12;
/// Lines of one section; the rest is counted.
const MAX_LINES: usize = 200;
/// Characters of one finding that are shown.
const MAX_SHOWN: usize = 240;

/// The samples' works by name, in the evidence's order.
pub(super) fn works(samples: &BTreeSet<usize>, evidence: &[Evidence]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for sample in samples.iter().filter_map(|sample| evidence.get(*sample)) {
        if !names.contains(&sample.work.as_str()) {
            names.push(&sample.work);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    match (names.is_empty(), more) {
        (true, _) => "no work".to_owned(),
        (_, 0) => names.join(", "),
        (_, more) => format!("{} and {more} more", names.join(", ")),
    }
}

/// The commonality report of a group.
pub(super) fn commonality(evidence: &[Evidence], findings: &Findings, groups: &[Group]) -> String {
    let mut out = Page::new("What these reports share");
    out.line(&format!("{}: {}.", plural(evidence.len(), "report"), titles(evidence)));
    let of = |support: Support| groups.iter().filter(move |group| group.support == support);
    let shared: Vec<&Group> = of(Support::Shared).collect();
    out.section("Shared", shared.iter().map(|group| advice(group, findings, evidence)));
    let repeated: Vec<&Group> = of(Support::Repeated).collect();
    out.section("Repeated by one work", repeated.iter().map(|group| advice(group, findings, evidence)));
    let once: Vec<&Group> = of(Support::Once).collect();
    out.section("Reported once", once.iter().map(|group| advice(group, findings, evidence)));
    out.section("Advice that no card may hold", unusable(&findings.all, evidence).into_iter());
    out.section("Not understood", doubts::not_understood(findings, evidence, true).into_iter());
    out.section("What went right", praise(&findings.all, evidence).into_iter());
    out.section("Findings without advice", silent(&findings.all, evidence).into_iter());
    if findings.dropped > 0 {
        out.line(&doubts::beyond(findings));
    }
    out.text
}

/// The report of a plan.
pub(super) struct Story<'a> {
    pub(super) evidence: &'a [Evidence],
    pub(super) findings: &'a Findings,
    pub(super) done: &'a [Done],
    pub(super) left: &'a [Left],
    pub(super) later: &'a [Left],
}

impl Story<'_> {
    /// Writes it.
    pub(super) fn write(&self) -> String {
        let mut out = Page::new("What was decided");
        out.line(&format!("{}: {}.", plural(self.evidence.len(), "report"), titles(self.evidence)));
        if self.done.is_empty() {
            out.line("\nNothing was worth changing.");
        }
        for done in self.done {
            let title = format!("{} `{}`", capital(done.what), done.path);
            let by = |(text, samples): &(String, BTreeSet<usize>)| {
                format!("{} Works: {}.", ended(text), works(samples, self.evidence))
            };
            out.section(&title, done.lines.iter().map(by));
        }
        let left = |left: &Left| {
            format!("{} Why: {}. Works: {}.", ended(&clip(&left.what)), left.why, works(&left.samples, self.evidence))
        };
        out.section("Left for a later step", self.later.iter().map(left));
        out.section("Reinforced", praise(&self.findings.all, self.evidence).into_iter());
        out.section("Left alone", self.left.iter().map(left));
        out.section("Not understood", doubts::not_understood(self.findings, self.evidence, false).into_iter());
        out.section("Advice that no card may hold", unusable(&self.findings.all, self.evidence).into_iter());
        if self.findings.dropped > 0 {
            out.line(&format!("\n{}", doubts::beyond(self.findings)));
        }
        out.text
    }
}

/// One group as a line that reads well and that can be read back: the rule, what the reports say of cards, the works.
fn advice(group: &Group, findings: &Findings, evidence: &[Evidence]) -> String {
    let topic = group.topic.as_ref().filter(|_| group.rule.fact.is_none());
    let topic = topic.map(|topic| format!("**{topic}** ")).unwrap_or_default();
    let members = group.findings.iter().map(|index| &findings.all[*index]);
    let mut cards: BTreeSet<String> = BTreeSet::new();
    let mut counts: BTreeMap<usize, String> = BTreeMap::new();
    for finding in members {
        let about = [
            (lexicon::STALE, "is out of date"),
            (lexicon::MISAPPLIED, "does not apply"),
            (lexicon::UNREAD, "was not read"),
        ];
        for (_, says) in about.iter().filter(|(phrases, _)| finding.says(phrases)) {
            cards.extend(finding.cards.iter().map(|card| format!(" The card `{card}` {says}.")));
        }
        if finding.times > 1 {
            for sample in &finding.works {
                let name = works(&BTreeSet::from([*sample]), evidence);
                counts.insert(*sample, format!("{} in {name}", finding.counted));
            }
        }
    }
    let counts: Vec<String> = counts.into_values().collect();
    let counted = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    let cards: String = cards.into_iter().collect();
    format!("{topic}Rule: {}{cards} Works: {}{counted}.", group.rule.text, works(&group.samples, evidence))
}

/// What went right, by what it is about, with the works.
fn praise(findings: &[Finding], evidence: &[Evidence]) -> Vec<String> {
    by_text(findings.iter().filter(|finding| finding.verdict == Verdict::Right), evidence, |finding| {
        finding.label.clone().unwrap_or_else(|| finding.text.clone())
    })
}

fn unusable(findings: &[Finding], evidence: &[Evidence]) -> Vec<String> {
    let all = findings.iter().flat_map(|finding| finding.unusable.iter().map(move |advice| (finding, advice)));
    let mut seen: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (finding, (sentence, reason)) in all {
        let text = sentence.replace(super::sentences::HOLE, "[quoted]");
        seen.entry(format!("{} ({reason})", clip(&text))).or_default().extend(&finding.works);
    }
    seen.into_iter().map(|(text, samples)| format!("{text} Works: {}.", works(&samples, evidence))).collect()
}

/// Findings that say what was wrong and not what to do instead.
fn silent(findings: &[Finding], evidence: &[Evidence]) -> Vec<String> {
    let silent = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Wrong && finding.rules.is_empty() && finding.unusable.is_empty());
    by_text(silent, evidence, |finding| finding.label.clone().unwrap_or_else(|| finding.text.clone()))
}

fn by_text<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    evidence: &[Evidence],
    text: impl Fn(&Finding) -> String,
) -> Vec<String> {
    let (mut order, mut by): (Vec<String>, BTreeMap<String, BTreeSet<usize>>) = (Vec::new(), BTreeMap::new());
    for finding in findings {
        let text = clip(&text(finding).replace(super::sentences::HOLE, "[quoted]"));
        if !by.contains_key(&text) {
            order.push(text.clone());
        }
        by.entry(text).or_default().extend(&finding.works);
    }
    order.into_iter().map(|text| format!("{} Works: {}.", ended(&text), works(&by[&text], evidence))).collect()
}

pub(super) fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

/// All of them: a commonality report that leaves a work out is refused.
fn titles(evidence: &[Evidence]) -> String {
    evidence.iter().map(|sample| sample.title.as_str()).collect::<Vec<_>>().join(", ")
}

pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

struct Page {
    text: String,
}

impl Page {
    fn new(title: &str) -> Page {
        Page { text: format!("# {title}\n\n") }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A section with a list; nothing when the list is empty.
    fn section(&mut self, title: &str, lines: impl Iterator<Item = String>) {
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            return;
        }
        self.line(&format!("\n## {title}\n"));
        for line in lines.iter().take(MAX_LINES) {
            self.line(&format!("- {line}"));
        }
        if lines.len() > MAX_LINES {
            self.line(&format!("- and {} more.", lines.len() - MAX_LINES));
        }
    }
}
