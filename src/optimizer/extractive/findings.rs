//! Findings: what one list item, table row or paragraph of a report says, and the advice in it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::advice::{Reader, Rule, names_work};
use super::blocks::{self, Block, Report};
use super::counts::{Count, count};
use super::labels::{parts, unnumbered};
use super::lexicon::{self, is};
use super::said::Said;
use super::sentences::{fold, sentences, unquote};
use super::words::words;
use crate::batch::Evidence;

/// At most this many findings are kept for one plan; the rest is counted and said.
const MAX_FINDINGS: usize = 4_000;

/// Whether a finding is about what went right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    Wrong,
    Unmarked,
}

/// One finding.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The works that it comes from, by their place in the evidence; one, but in a commonality report.
    pub(super) works: BTreeSet<usize>,
    /// The nearest heading.
    pub(super) section: String,
    /// What the item is about: its bold beginning or a row's first cell, without its number.
    pub(super) label: Option<String>,
    /// The label or heading, when it names a part of the work rather than a part of the report.
    pub(super) topic: Option<String>,
    pub(super) verdict: Verdict,
    /// All its words, quotations left out.
    pub(super) text: String,
    pub(super) rules: Vec<Rule>,
    /// Advice that no card may hold, with the reason.
    pub(super) unusable: Vec<(String, Cow<'static, str>)>,
    /// Lines that may be advice and may be none, with what speaks against them.
    pub(super) doubts: Vec<(String, &'static str)>,
    /// When it makes nothing at all: the lines of which something might have been made.
    pub(super) unread: Vec<String>,
    /// The card paths that it names, as it names them.
    pub(super) cards: Vec<String>,
    /// How often the work repeats it, by its own count ("3 of 6 replies"); 1 when it gives none.
    pub(super) times: usize,
    /// That count as it is written.
    pub(super) counted: String,
    /// What is counted, in the singular ("reply").
    pub(super) unit: Option<String>,
}

impl Finding {
    /// Whether it says one of some phrases.
    pub(super) fn says(&self, phrases: &[&str]) -> bool {
        let low = self.text.to_lowercase();
        phrases.iter().any(|phrase| low.contains(phrase))
    }
}

/// All findings of a group.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) all: Vec<Finding>,
    /// What the reports quote: none of it may reach a card.
    pub(super) quoted: Vec<String>,
    /// Of reports without advice: the first passage in a fence or a block quote, which is data and was not read.
    pub(super) fenced: Vec<(BTreeSet<usize>, String)>,
    /// Findings beyond the bound.
    pub(super) dropped: usize,
    /// The bound for each report.
    pub(super) share: usize,
}

/// Reads the findings of all loss reports, or of a commonality report that stands for them.
pub(super) fn read(evidence: &[Evidence], summary: Option<&str>) -> Findings {
    let names = work_names(evidence);
    let mut found = Findings::default();
    match summary {
        Some(text) => found.add(blocks::read(text), &names, &|text| named_works(text, evidence), true, MAX_FINDINGS),
        None => {
            let reports: Vec<Report> = evidence.iter().map(|sample| blocks::read(&sample.loss_report)).collect();
            let share = fair_share(&reports.iter().map(|report| report.blocks.len()).collect::<Vec<_>>());
            for (index, report) in reports.into_iter().enumerate() {
                found.add(report, &names, &|_| BTreeSet::from([index]), false, share);
            }
        }
    }
    found
}

/// The most findings that may be read of each report, so that no report is left out for another's length.
fn fair_share(counts: &[usize]) -> usize {
    let read = |share: usize| counts.iter().map(|count| *count.min(&share)).sum::<usize>();
    let (mut low, mut high) = (1, MAX_FINDINGS);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if read(middle) <= MAX_FINDINGS { low = middle } else { high = middle - 1 }
    }
    low
}

/// Names that can be told from ordinary words: those with more in them than small letters.
fn work_names(evidence: &[Evidence]) -> Vec<String> {
    let telling = |name: &&String| !name.trim().is_empty() && !name.chars().all(|c| c.is_lowercase());
    let names: BTreeSet<&String> =
        evidence.iter().flat_map(|sample| [&sample.work, &sample.title]).filter(telling).collect();
    names.into_iter().cloned().collect()
}

/// The works that a line of a commonality report names; all when it names none, since sharing is what it reports.
fn named_works(text: &str, evidence: &[Evidence]) -> BTreeSet<usize> {
    let named: BTreeSet<usize> = (0..evidence.len()).filter(|index| names_work(text, &evidence[*index].work)).collect();
    if named.is_empty() { (0..evidence.len()).collect() } else { named }
}

impl Findings {
    /// Adds the first findings of a report, at most `share`; the others are counted.
    fn add(
        &mut self,
        report: Report,
        names: &[String],
        works: &dyn Fn(&str) -> BTreeSet<usize>,
        summary: bool,
        share: usize,
    ) {
        let fenced = report.quoted.first().cloned();
        self.quoted.extend(report.quoted);
        self.share = share;
        let before = self.all.len();
        for (index, block) in report.blocks.iter().enumerate() {
            if index >= share {
                self.dropped += 1;
                continue;
            }
            let (finding, quotes) = finding(block, names, works, summary);
            self.quoted.extend(quotes);
            self.all.push(finding);
        }
        let none = self.all[before..].iter().all(|finding| finding.rules.is_empty() && finding.unusable.is_empty());
        if let Some(text) = fenced.filter(|_| none && !summary) {
            self.fenced.push((works(""), fold(&text)));
        }
    }
}

fn finding(
    block: &Block,
    names: &[String],
    works: &dyn Fn(&str) -> BTreeSet<usize>,
    summary: bool,
) -> (Finding, Vec<String>) {
    let parts = parts(block);
    let (label, written) = (parts.label.clone(), parts.text());
    let plain = unquote(&written);
    let text = without_works(&plain.text, summary);
    let section = block.headings.last().cloned().unwrap_or_default();
    let reader = Reader { names, statements: summary, label: label.as_deref().filter(|_| parts.subject) };
    let verdict = verdict(block, &text);
    let mut said = Said::default();
    if verdict != Verdict::Right {
        for passage in &parts.passages {
            said.hear(&reader, passage.voice, &without_works(&unquote(&passage.text).text, summary));
        }
    }
    let Said { rules, unusable, doubts, unread } = said;
    let silent = rules.is_empty() && unusable.is_empty() && doubts.is_empty();
    let Count { times, written: counted, unit } = count(&plain.text);
    let topic = topic(label.as_deref(), &block.headings, names);
    let finding = Finding {
        works: works(&format!("{written} {}", label.as_deref().unwrap_or_default())),
        section,
        topic,
        label,
        verdict,
        cards: cards_named(&plain.text),
        text: fold(&plain.text),
        rules,
        unusable,
        doubts,
        unread: if silent && verdict != Verdict::Right { unread } else { Vec::new() },
        times,
        counted,
        unit,
    };
    (finding, plain.quotes)
}

/// A commonality report names works at a line's end, which is for the reader and not for the rule.
fn without_works(text: &str, summary: bool) -> String {
    if !summary {
        return text.to_owned();
    }
    let kept = sentences(text).into_iter().filter(|sentence| {
        let label = sentence.split(':').next().unwrap_or_default().trim().to_lowercase();
        !(sentence.contains(':') && is(lexicon::WORK_LABELS, &label))
    });
    kept.collect::<Vec<_>>().join("\n")
}

fn verdict(block: &Block, text: &str) -> Verdict {
    let praised = |heading: &String| {
        let low = heading.to_lowercase();
        let alone = low.trim_matches(|c: char| !c.is_alphanumeric());
        is(lexicon::RIGHT_MARKS, alone)
            || lexicon::PRAISE.iter().any(|phrase| low.contains(phrase)) && !low.contains("not ")
    };
    if block.headings.iter().any(praised) {
        return Verdict::Right;
    }
    let mark = text.trim_start().strip_prefix('(').and_then(|rest| rest.split(')').next()).map(str::to_owned);
    // A bare first word is a mark only when it can't be an instruction's verb ("Pass the id on", "Correct: 4711").
    let first = text.split_whitespace().next().unwrap_or_default();
    let bare =
        first.chars().all(|c| !c.is_alphanumeric()) || matches!(first.to_lowercase().as_str(), "right:" | "good:");
    let bracketed = first.starts_with('[') && first.ends_with(']');
    let marks = mark.into_iter().chain((bare || bracketed).then(|| first.trim_matches([':', '[', ']']).to_owned()));
    for mark in marks.chain(block.cells.iter().map(|cell| cell.1.clone())) {
        let low = mark.trim().to_lowercase();
        if is(lexicon::WRONG_MARKS, &low) {
            return Verdict::Wrong;
        }
        if is(lexicon::RIGHT_MARKS, &low) {
            return Verdict::Right;
        }
    }
    Verdict::Unmarked
}

/// What part of the work a finding is about: its label, else its heading, unless that only orders the report.
fn topic(label: Option<&str>, headings: &[String], names: &[String]) -> Option<String> {
    let tells = |text: &str| {
        let all = words(text);
        let content = all.iter().filter(|word| !lexicon::is_stop(&word.low));
        (1..=8).contains(&all.len())
            && !all.first().is_some_and(|word| is(lexicon::PROBLEM_STARTS, &word.low))
            && !all.iter().any(|word| is(lexicon::FINITE, &word.low) && word.low != "of")
            && !all.iter().any(|word| word.low.ends_with("n't") || (word.low.ends_with("ed") && word.low.len() > 4))
            && content.clone().count() > 0
            && content.clone().all(|word| !is(lexicon::REPORT_WORDS, &word.low))
            && all.iter().any(|word| word.low.chars().any(char::is_alphabetic))
            && !names.iter().any(|name| names_work(text, name))
    };
    // The first heading is the report's title.
    let below_title = headings.iter().skip(1).rev().map(|heading| unnumbered(heading));
    label.into_iter().chain(below_title).find(|text| tells(text)).map(|text| text.trim().to_owned())
}

/// Paths of Markdown files in the text.
fn cards_named(text: &str) -> Vec<String> {
    let mut out = BTreeSet::new();
    for part in
        text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '(' | ')' | '"' | '\'' | '<' | '>' | '[' | ']'))
    {
        let part = part.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        if part.len() > 3 && part.is_char_boundary(part.len() - 3) && part[part.len() - 3..].eq_ignore_ascii_case(".md")
        {
            out.insert(part);
        }
    }
    out.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Finding {
        let evidence = [Evidence { work: "w-1".into(), loss_report: text.into(), ..Evidence::default() }];
        read(&evidence, None).all.pop().unwrap()
    }

    #[test]
    fn what_went_right_makes_no_rule() {
        for text in [
            "## What went right\n\n- Use short words.",
            "## Strengths\n\nUse short words.",
            "- **Words** (right). Use short words.",
            "- ✅ Use short words.",
            "| Item | Verdict | Fix |\n| --- | --- | --- |\n| Words | right | Use short words. |",
        ] {
            let finding = one(text);
            assert_eq!((finding.verdict, finding.rules.len()), (Verdict::Right, 0), "{text}");
        }
        for text in ["- **Words** (wrong). Use short words.", "- Pass the id on."] {
            let finding = one(text);
            assert_eq!((finding.verdict != Verdict::Right, finding.rules.len()), (true, 1), "{text}");
        }
    }

    #[test]
    fn topics_name_parts_of_the_work() {
        let rows = [
            ("# Loss\n\n## Dialogue\n\nUse verbs.", Some("Dialogue")),
            ("# Loss\n\n## Across the works\n\n- **2. Opening lines**: Use verbs.", Some("Opening lines")),
            ("# Loss\n\n## Findings\n\nUse verbs.", None),
            ("# Loss\n\n- **Missing index**: Add an index.", None),
            ("# Loss\n\n- **Value was guessed**: Look it up.", None),
        ];
        for (text, want) in rows {
            assert_eq!(one(text).topic.as_deref(), want, "{text}");
        }
    }

    #[test]
    fn cards_are_read_by_their_paths() {
        let finding = one("- The card `01_a/b.md` and (pool/c.MD), but not md or x.mdx.");
        assert_eq!(finding.cards, ["01_a/b.md", "pool/c.MD"]);
    }
}
