//! What a block is labelled with, and its text in passages, each in somebody's voice.

use super::blocks::{Block, Shape};
use super::lexicon::{self, is};
use super::mood::imperative;
use super::sentences::unquote;
use super::voice::{Voice, mark, voice};
use super::words::words;

/// A stretch of a block in one voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) voice: Voice,
    pub(super) text: String,
}

/// A block, taken apart.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) label: Option<String>,
    pub(super) passages: Vec<Passage>,
    /// Whether the label may be the subject that a bare value is the value of; the name of a fault is none.
    pub(super) subject: bool,
}

impl Parts {
    /// All the text.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.passages.iter().map(|passage| passage.text.as_str()).collect();
        texts.join("\n")
    }
}

/// Takes a block apart: a bold beginning that is a sentence, a lead-in or the stressed part of a sentence belongs to the
/// text, and a row's cells are read by the heads of their columns.
pub(super) fn parts(block: &Block) -> Parts {
    if block.shape == Shape::Row {
        return row(&block.cells);
    }
    let around = surrounding(block);
    let one = |label: Option<String>, voice: Voice, text: String| {
        let (voice, text) = signed(voice, text);
        Parts { label, passages: vec![Passage { voice, text }], subject: true }
    };
    let Some(bold) = &block.bold else {
        return one(None, around, block.text.clone());
    };
    let label = unnumbered(bold).trim_end_matches(['.', ':', '!']).trim().to_owned();
    let tail = block.text.trim_start();
    if stressed(bold, tail) {
        return one(None, around, format!("{bold} {tail}"));
    }
    if imperative(bold) && !tail.starts_with('(') {
        return one(None, around, format!("{bold}\n{tail}"));
    }
    let told = voice(bold);
    let own = if told == Voice::Topic || told == Voice::Note || told == Voice::Praise { around } else { told };
    if bold.ends_with(':') || tail.starts_with(':') {
        let rest = tail.trim_start_matches(':');
        // The lead-in is read again with its sentence, which it may be a part of ("Never: commit a secret").
        if told != Voice::Topic && told != Voice::Praise {
            return one(None, around, format!("{label}: {}", rest.trim_start()));
        }
        return one(Some(label), own, rest.to_owned());
    }
    one((!label.is_empty()).then_some(label), own, tail.to_owned())
}

/// The voice that the lines above announce: the nearest of them that announces one.
fn surrounding(block: &Block) -> Voice {
    let above = block.lead.iter().chain(block.headings.iter().rev());
    above.map(|text| voice(unnumbered(text))).find(|v| v.is_closed() || v.advises()).unwrap_or(Voice::Topic)
}

/// "**Never** commit a secret", "**Never commit** a secret": what is stressed belongs to its sentence.
fn stressed(bold: &str, tail: &str) -> bool {
    let ends = bold.ends_with(['.', ':', '!', '?']) || !tail.starts_with(|c: char| c.is_alphanumeric() || c == '`');
    let all = words(bold);
    let first = all.first().map_or("", |word| word.low.as_str());
    let opens = all.iter().any(|word| is(lexicon::NEGATIONS, &word.low))
        || is(lexicon::OPENERS, first)
        || matches!(first, "do" | "must" | "stop" | "only" | "be" | "must not");
    let small = tail.starts_with(|c: char| c.is_lowercase() || c.is_numeric() || c == '`');
    !ends && !all.is_empty() && (opens || (small && imperative(&format!("{bold} {tail}"))))
}

/// A sign at the beginning ("❌ Push to main") says whose voice it is, and it is no part of the text's first sentence.
fn signed(around: Voice, text: String) -> (Voice, String) {
    let first = text.split_whitespace().next().unwrap_or_default();
    let told = if first.chars().any(char::is_alphanumeric) { Voice::Topic } else { mark(first) };
    match told {
        Voice::Forbidden => (Voice::Forbidden, text),
        _ => (around, text),
    }
}

fn row(cells: &[(String, String)]) -> Parts {
    let mut voices: Vec<Voice> = cells.iter().map(|(head, _)| voice(head)).collect();
    // "Bad | Good": beside what is wrong, what is good is what to do.
    if voices.iter().any(|voice| matches!(voice, Voice::Forbidden | Voice::Done)) {
        voices.iter_mut().filter(|voice| **voice == Voice::Praise).for_each(|voice| *voice = Voice::Advice);
    }
    let mut parts = Parts { label: None, passages: Vec::new(), subject: true };
    for (index, ((head, cell), voice)) in cells.iter().zip(voices).enumerate() {
        let speech = matches!(voice, Voice::Done | Voice::Asked);
        if cell.is_empty() {
            continue;
        }
        if (index == 0 || (parts.label.is_none() && index == 1)) && !voice.advises() {
            let plain = unnumbered(cell).trim_end_matches('.').to_owned();
            let titled =
                !imperative(&plain) && plain.chars().any(char::is_alphabetic) && plain.split_whitespace().count() <= 10;
            if titled && (index == 0 || !matches!(voice, Voice::Done)) {
                parts.label = Some(plain).filter(|plain| unquote(plain).quotes.is_empty());
                parts.subject = !matches!(voice, Voice::Note | Voice::Forbidden);
                continue;
            }
        }
        let low = head.trim().to_lowercase();
        let announced = is(lexicon::ADVICE_LABELS, &low) || is(lexicon::VALUE_LABELS, &low);
        let value = voice == Voice::Value && !announced;
        let text = match (announced, value) {
            (true, _) => format!("{low}: {cell}"),
            (_, true) => format!("expected: {cell}"),
            _ => cell.clone(),
        };
        // A column that doesn't say whose voice it is makes no rule: what is right is then as likely as what was done.
        let voice = if voice.advises() || speech || voice == Voice::Forbidden { voice } else { Voice::Doubt };
        parts.passages.push(Passage { voice, text });
    }
    parts
}

/// A text without the number that it begins with.
pub(super) fn unnumbered(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_numeric() || matches!(c, '.' | ')' | '#' | '(' | ' ' | '-'))
}
