//! Passages that a card took over word for word from what the evidence quotes.

use std::collections::HashSet;

use super::runs;
use crate::batch::Evidence;

/// Words in a row that make a passage copied: below it, ordinary phrases meet by chance.
pub const COPIED_WORDS: usize = 12;

/// A copied passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The card's line, from 1, on which the passage begins.
    pub line: usize,
    /// Its first words.
    pub passage: String,
    /// The work whose evidence quotes it.
    pub work: String,
}

/// What may be copied from, prepared once for a group's evidence.
pub struct Quoted {
    /// For each work: runs of words that its report quotes or its transcript holds.
    works: Vec<(String, HashSet<u64>)>,
    /// Runs of words that the reports say in their own voice, as advice.
    advice: HashSet<u64>,
}

impl Quoted {
    /// Gathers what a group's evidence quotes from attempts and references, and what it advises itself.
    pub fn of(evidence: &[Evidence]) -> Quoted {
        let mut advice = HashSet::new();
        let mut works = Vec::with_capacity(evidence.len());
        for sample in evidence {
            let mut quoted = HashSet::new();
            let (own, quotes) = split_quotes(&sample.loss_report);
            own.iter().for_each(|text| advice.extend(copied_runs(text).map(|(run, _)| run)));
            quotes.iter().for_each(|text| quoted.extend(copied_runs(text).map(|(run, _)| run)));
            quoted.extend(copied_runs(&sample.trajectory).map(|(run, _)| run));
            works.push((sample.work.clone(), quoted));
        }
        Quoted { works, advice }
    }

    /// The first passage of `after` that was copied. What the pool's cards said already is not at issue: `old` gives
    /// their texts, and is only asked when a passage is found.
    pub fn find<'t, T: Iterator<Item = &'t str>>(&self, after: &str, old: impl FnOnce() -> T) -> Option<Copied> {
        let work_of = |run: u64| self.works.iter().find(|(_, quoted)| quoted.contains(&run)).map(|(work, _)| work);
        let fresh = copied_runs(after).filter(|(run, _)| !self.advice.contains(run));
        let found: Vec<(u64, usize, &String)> =
            fresh.filter_map(|(run, at)| work_of(run).map(|work| (run, at, work))).collect();
        if found.is_empty() {
            return None;
        }
        let known: HashSet<u64> = old().flat_map(copied_runs).map(|(run, _)| run).collect();
        let (_, at, work) = found.into_iter().find(|(run, ..)| !known.contains(run))?;
        let passage = runs::passage(after, at, COPIED_WORDS);
        Some(Copied { line: runs::line_of(after, at), passage, work: work.clone() })
    }
}

fn copied_runs(text: &str) -> impl Iterator<Item = (u64, usize)> {
    runs::runs(text, COPIED_WORDS)
}

/// Splits a report into what it says itself and what it quotes: in quotation marks on one line, in block quotes, in
/// fenced code.
pub(crate) fn split_quotes(report: &str) -> (Vec<String>, Vec<String>) {
    let (mut own, mut quotes) = (Vec::new(), Vec::new());
    let mut fence: Option<String> = None;
    for line in report.lines() {
        let trimmed = line.trim_start();
        let marks: String = trimmed.chars().take_while(|c| *c == '`' || *c == '~').collect();
        match &fence {
            Some(open) if marks.starts_with(open.as_str()) => fence = None,
            Some(_) => push_line(&mut quotes, line),
            None if marks.len() >= 3 => fence = Some(marks),
            None if trimmed.starts_with('>') => push_line(&mut quotes, trimmed.trim_start_matches('>')),
            None => split_line(line, &mut own, &mut quotes),
        }
    }
    (own, quotes)
}

/// Lines of one block belong together: a passage may run over their ends.
fn push_line(texts: &mut Vec<String>, line: &str) {
    match texts.last_mut() {
        Some(text) => {
            text.push('\n');
            text.push_str(line);
        }
        None => texts.push(line.to_owned()),
    }
}

fn split_line(line: &str, own: &mut Vec<String>, quotes: &mut Vec<String>) {
    let mut rest = line;
    while let Some(start) = rest.find(['"', '“']) {
        let open = rest[start..].chars().next().unwrap_or('"');
        let inside = start + open.len_utf8();
        let close = if open == '“' { '”' } else { '"' };
        let Some(length) = rest[inside..].find(close) else {
            break;
        };
        own.push(rest[..start].to_owned());
        quotes.push(rest[inside..inside + length].to_owned());
        rest = &rest[inside + length + close.len_utf8()..];
    }
    own.push(rest.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(report: &str, trajectory: &str) -> Vec<Evidence> {
        vec![Evidence {
            work: "one".into(),
            loss_report: report.into(),
            trajectory: trajectory.into(),
            ..Evidence::default()
        }]
    }

    fn none() -> std::iter::Empty<&'static str> {
        std::iter::empty()
    }

    const SAID: &str = "the north gate is a legendary gate in the ancient city guarded by a dragon";

    #[test]
    fn a_quoted_passage_is_found_with_its_line_and_work_whatever_its_case_and_stops() {
        let quoted = Quoted::of(&evidence(&format!("The reply: \"{SAID}\" Say less."), ""));
        let card = format!("## Rules\n- {}.", SAID.to_uppercase().replace("GATE IN", "gate, in"));
        let found = quoted.find(&card, none).unwrap();
        assert_eq!((found.line, found.work.as_str()), (2, "one"));
        assert!(quoted.find(&card, || [card.as_str()].into_iter()).is_none(), "it stood there before");
    }

    #[test]
    fn advice_may_be_reused_and_eleven_words_may_meet() {
        let advice = "Answer in one short sentence that gives the value and then stop without another word.";
        let quoted = Quoted::of(&evidence(advice, &format!("I read: {advice}")));
        assert!(quoted.find(advice, none).is_none());
        let quoted = Quoted::of(&evidence("", "one two three four five six seven eight nine ten eleven"));
        assert!(quoted.find("one two three four five six seven eight nine ten eleven", none).is_none());
    }

    #[test]
    fn block_quotes_fences_curly_quotes_and_transcripts_count() {
        let (first, second) = SAID.split_once(" ancient ").map(|(one, two)| (format!("{one} ancient"), two)).unwrap();
        for report in
            [format!("> {first}\n> {second}"), format!("```\n{first}\n{second}\n```"), format!("It said “{SAID}”.")]
        {
            assert!(Quoted::of(&evidence(&report, "")).find(SAID, none).is_some(), "{report}");
        }
        assert!(Quoted::of(&evidence("", SAID)).find(SAID, none).is_some());
    }
}
