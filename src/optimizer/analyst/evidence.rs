//! What a question shows: attempts, cards, edits and pairs, as data in frames, each kept to its share.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::batch::Evidence;
use crate::edit::{Edit, Op};
use crate::ground::prompts::frame;
use crate::ground::text::{clip, first_line};
use crate::optimizer::prompt::relevance;
use crate::optimizer::tasks::{Change, Pair, Sight};
use crate::pool::card::{Card, front_matter_line};
use crate::pool::headers;

/// Tokens of the headers, by estimate; bytes of everything else.
const HEADERS: usize = 6_000;
const CARDS: usize = 48_000;
const REPORTS: usize = 96_000;
const TRANSCRIPTS: usize = 48_000;
const READS: usize = 2_000;
const EDITS: usize = 64_000;
const LONGEST_EDIT: usize = 8_000;
const PAIRS: usize = 48_000;
const LONGEST_PAIR: usize = 2_400;

/// The pool's headers; those that the words speak of first, when not all fit.
pub(super) fn headers(sight: Sight<'_>, words: &[&str]) -> String {
    let relevance = relevance(words);
    headers::headers(sight.profile, sight.cards, Some(HEADERS), Some(&relevance)).text
}

/// The text of the cards that `named` names (paths, or paths that end with one) and of those that fit the words best, as
/// many as have room.
pub(super) fn cards(sight: Sight<'_>, named: &[&str], words: &[&str]) -> String {
    let relevance = relevance(words);
    let is_named = |card: &Card| {
        named.iter().any(|name| {
            *name == card.path || name.strip_suffix(card.path.as_str()).is_some_and(|head| head.ends_with('/'))
        })
    };
    let mut ranked: Vec<(bool, f64, &Card)> =
        sight.cards.iter().map(|card| (is_named(card), relevance(card), card)).collect();
    ranked.sort_by(|one, other| {
        other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)).then_with(|| one.2.path.cmp(&other.2.path))
    });
    let (mut shown, mut left) = (BTreeSet::new(), CARDS);
    for (_, _, card) in &ranked {
        let cost = card.path.len() + card.description.len() + card.body.len() + 120;
        if cost <= left {
            left -= cost;
            shown.insert(card.path.as_str());
        }
    }
    let mut text = String::new();
    for card in sight.cards.iter().filter(|card| shown.contains(card.path.as_str())) {
        let whole = format!("{}\n{}", front_matter_line(&card.description), card.body);
        text.push_str(&frame("card", &card.path, &whole));
    }
    let cut = sight.cards.len() - shown.len();
    if cut > 0 {
        let _ = writeln!(text, "The text of {cut} other cards is left out, for length.");
    }
    text
}

/// A minibatch: report, reads and transcript of each attempt.
pub(super) fn attempts(evidence: &[Evidence]) -> String {
    let count = evidence.len().max(1);
    let mut text = String::new();
    for sample in evidence {
        let reads = if sample.reads.is_empty() { "(no card was opened)".to_owned() } else { sample.reads.join("\n") };
        text.push_str(&frame("report of", &sample.title, &clip(&sample.loss_report, REPORTS / count)));
        text.push_str(&frame("cards opened in", &sample.title, &clip(&reads, READS)));
        if !sample.trajectory.trim().is_empty() {
            text.push_str(&frame("transcript of", &sample.title, &clip(&sample.trajectory, TRANSCRIPTS / count)));
        }
    }
    text
}

/// Edits as JSON, one a line; with numbers from 0 where they are referred to.
pub(super) fn edits(name: &str, edits: &[Edit], numbered: bool, lists: usize) -> String {
    let mut text = String::new();
    for (place, edit) in edits.iter().enumerate() {
        let json = serde_json::to_string(edit).unwrap_or_default();
        let number = if numbered { format!("{place}: ") } else { String::new() };
        let _ = writeln!(text, "{number}{}", clip(&json, LONGEST_EDIT));
    }
    if edits.is_empty() {
        text.push_str("(none)\n");
    }
    frame("edits", name, &clip(&text, EDITS / lists.max(1)))
}

/// The tasks of two epochs with both answers; what got worse comes first.
pub(super) fn pairs(pairs: &[Pair]) -> String {
    let kinds = [
        (Change::Regressed, "worse than before"),
        (Change::PersistentFailure, "failed both times"),
        (Change::Improved, "better than before"),
        (Change::StableSuccess, "right both times"),
    ];
    let share = (PAIRS / pairs.len().max(1)).min(LONGEST_PAIR);
    let mut text = String::new();
    for (kind, name) in kinds {
        for pair in pairs.iter().filter(|pair| pair.change == kind) {
            let [before, after] = &pair.answers;
            let [was, is] = pair.scores;
            let part = |text: &str| clip(text.trim(), share / 4);
            let told = format!(
                "Asked: {}\n\nAnswer before (score {was}): {}\n\nAnswer now (score {is}): {}\n\nJudged: {}",
                part(&pair.input),
                part(before),
                part(after),
                part(&pair.feedback.join("; ")),
            );
            text.push_str(&frame(name, &first_line(&pair.task, 120), &told));
        }
    }
    if text.is_empty() { "(none)\n".to_owned() } else { text }
}

/// The words that the evidence is about.
pub(super) fn words(evidence: &[Evidence]) -> Vec<&str> {
    evidence.iter().map(|sample| sample.loss_report.as_str()).collect()
}

/// The paths that the attempts opened.
pub(super) fn opened(evidence: &[Evidence]) -> Vec<&str> {
    evidence.iter().flat_map(|sample| sample.reads.iter().map(String::as_str)).collect()
}

/// The cards that edits name, and what they say.
pub(super) fn told(edits: &[Edit]) -> (Vec<&str>, Vec<&str>) {
    let named = edits.iter().map(|edit| edit.card.as_str()).collect();
    let said = edits.iter().filter_map(|edit| match &edit.op {
        Op::Append { content }
        | Op::InsertAfter { content, .. }
        | Op::Replace { content, .. }
        | Op::Create { content, .. }
        | Op::Rewrite { content, .. }
        | Op::Suggest { content } => Some(content.as_str()),
        Op::Delete { .. } | Op::Remove | Op::Move { .. } => None,
    });
    (named, said.collect())
}

/// A framed text, or a word for there being none.
pub(super) fn or_none(kind: &str, text: &str, limit: usize) -> String {
    if text.trim().is_empty() { "(none)\n".to_owned() } else { frame(kind, "", &clip(text, limit)) }
}
