//! The sentences of a passage, one after the other: a lead-in gives the word to another voice.

use std::borrow::Cow;

use super::advice::{Reader, Reading, Rule, lead_in};
use super::lexicon::{self, is};
use super::mood::{blames, imperative, lower_first};
use super::sentences::{HOLE, sentences};
use super::voice::{Voice, is_checked, voice};
use super::words::words;

/// What a finding says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) rules: Vec<Rule>,
    /// Advice that no card may hold, with the reason.
    pub(super) unusable: Vec<(String, Cow<'static, str>)>,
    /// Lines that may be advice and may be none, with what speaks against them.
    pub(super) doubts: Vec<(String, &'static str)>,
    /// Lines in the report's own voice of which nothing was made.
    pub(super) unread: Vec<String>,
}

impl Said {
    /// Reads a text that begins in `around`.
    pub(super) fn hear(&mut self, reader: &Reader<'_>, around: Voice, text: &str) {
        let mut now = around;
        for (index, sentence) in sentences(text).iter().enumerate() {
            let told = lead_in(sentence).map(|(label, rest)| (voice(label), rest)).filter(|(v, _)| *v != Voice::Topic);
            if let Some((told, rest)) = told {
                if told == Voice::Forbidden
                    && let Some(kept) = negated(sentence)
                {
                    self.read(reader, around, &kept);
                    continue;
                }
                // A quotation or a cause ends with its own sentence; told in the report's words, it may go on.
                let brief = told == Voice::Note || !rest.chars().any(|c| c.is_alphanumeric() && c != HOLE);
                if brief {
                    self.read(reader, if told == Voice::Note { now } else { told }, sentence);
                    continue;
                }
                now = told;
            }
            // Under "Expected", a bare statement of a value says what is right.
            let stated =
                Reader { statements: reader.statements || (around == Voice::Value && now == around), ..*reader };
            self.read(&stated, now, sentence);
            // "❌ No greeting. Open with one.": after a complaint, the advice is the report's.
            let complained = index == 0 && around == Voice::Forbidden && now == around && told.is_none();
            if complained && !sentence.starts_with(char::is_alphanumeric) && !instructs(sentence) {
                now = Voice::Topic;
            }
        }
    }

    fn read(&mut self, reader: &Reader<'_>, voice: Voice, sentence: &str) {
        if voice.is_closed() {
            let rest = lead_in(sentence).map_or(sentence, |(_, rest)| rest);
            if instructs(rest) || instructs(sentence) {
                self.doubts.push((sentence.to_owned(), voice.reason()));
            }
            return;
        }
        if is_checked(sentence) && instructs(sentence) {
            self.doubts.push((sentence.to_owned(), "it is a line of a checklist"));
            return;
        }
        if sentence.ends_with(':') && instructs(sentence) {
            self.doubts.push((sentence.to_owned(), "what it leads into is no part of it"));
            return;
        }
        match reader.read(sentence) {
            Reading::Rule(rule) if about_pool(&rule.text) => {
                self.doubts.push((sentence.to_owned(), "it is about the cards and not about the work"));
            }
            Reading::Rule(rule) if !self.rules.contains(&rule) => self.rules.push(rule),
            Reading::Unusable(reason) => self.unusable.push((sentence.to_owned(), Cow::Borrowed(reason))),
            Reading::Prose if tells(sentence) => self.unread.push(sentence.to_owned()),
            _ => {}
        }
    }
}

/// Whether a rule is advice to whoever keeps the cards: "Add a card about exchanges".
fn about_pool(rule: &str) -> bool {
    rule.split([',', ';', ':']).any(|clause| {
        let all: Vec<String> = words(clause).into_iter().map(|word| word.low).collect();
        let skip = |word: &&String| is(lexicon::OPENERS, word) || is(lexicon::NEGATIONS, word) || *word == "do";
        let modal =
            all.iter().take(6).position(|word| matches!(word.as_str(), "should" | "must")).map_or(0, |at| at + 1);
        let mut rest = all.iter().skip(modal).skip_while(skip);
        rest.next().is_some_and(|verb| is(lexicon::EDITS, verb))
            && rest.take(8).any(|word| is(lexicon::POOL_NOUNS, word) || word.ends_with(".md"))
    })
}

/// Whether a line says something of the work, and not of an attempt, a quotation or a cause.
fn tells(sentence: &str) -> bool {
    let all = words(sentence);
    let first = all.first().map_or("", |word| word.low.as_str());
    let of_attempt = matches!(first, "it" | "they" | "he" | "she")
        || blames(sentence.get(..all.get(1).map_or(0, |word| word.span.1)).unwrap_or_default());
    let named = lead_in(sentence).is_some_and(|(label, _)| voice(label).is_closed() || voice(label) == Voice::Note);
    all.len() >= 2 && !of_attempt && !named && !sentence.contains(HOLE)
}

fn instructs(sentence: &str) -> bool {
    imperative(sentence.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`'))
}

/// "Never: commit a secret" forbids what it says; other lead-ins of the kind ("Bad:") may say what was bad of it.
fn negated(sentence: &str) -> Option<String> {
    let (label, rest) = lead_in(sentence)?;
    let opening = match label.to_lowercase().replace('’', "'").as_str() {
        "never" => "Never",
        "do not" | "don't" => "Do not",
        _ => return None,
    };
    let denied = words(rest).iter().any(|word| is(lexicon::NEGATIONS, &word.low));
    let opened = words(rest).first().is_some_and(|word| is(lexicon::VERBS, &word.low));
    (opened && !denied && imperative(rest)).then(|| format!("{opening} {}", lower_first(rest)))
}
