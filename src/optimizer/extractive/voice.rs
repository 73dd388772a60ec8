//! Whose voice a part of a report is: what a label, a heading, a lead-in or the head of a column says of what stands
//! under it. Only advice makes rules; what is in doubt makes none and is named.

use std::sync::LazyLock;

use regex::Regex;

use super::advice::pattern;
use super::lexicon::{self, is};
use super::words::words;

/// Whose voice it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// What to do.
    Advice,
    /// The right value or answer.
    Value,
    /// What was done or said.
    Done,
    /// What was asked for.
    Asked,
    /// What must not be done.
    Forbidden,
    /// What was good.
    Praise,
    /// What explains a fault.
    Note,
    /// A mark of this kind that can't be placed.
    Doubt,
    /// It names a part of the work, or nothing that tells a voice.
    Topic,
}

impl Voice {
    /// Whether instructions in this voice are none to follow, as far as can be told.
    pub(super) fn is_closed(self) -> bool {
        matches!(self, Voice::Done | Voice::Asked | Voice::Forbidden | Voice::Doubt)
    }

    /// Whether it announces what is right.
    pub(super) fn advises(self) -> bool {
        matches!(self, Voice::Advice | Voice::Value)
    }

    /// Why a line in it makes no rule.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Voice::Done => "it stands where the report tells what was done",
            Voice::Asked => "it stands where the report tells what was asked",
            Voice::Forbidden => "it stands where the report tells what not to do",
            _ => "whose words they are is not clear",
        }
    }
}

/// The voice that a label, heading or column head announces.
pub(super) fn voice(label: &str) -> Voice {
    let label = label.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | '*' | '#' | '(' | ')'));
    if !label.chars().any(char::is_alphanumeric) {
        return mark(label);
    }
    let numbered = |word: &String| word.chars().all(|c| c.is_ascii_digit());
    let mut low: Vec<String> = words(label).into_iter().map(|word| word.low).skip_while(numbered).collect();
    if low.first().is_some_and(|first| matches!(first.as_str(), "the" | "this" | "our" | "your" | "an" | "a")) {
        low.remove(0);
    }
    let whole = low.join(" ");
    exact(&whole).or_else(|| composed(&low, &whole, label.contains('?'))).unwrap_or(Voice::Topic)
}

/// What a bare sign means.
pub(super) fn mark(sign: &str) -> Voice {
    let only = |list: &[&str]| !sign.is_empty() && sign.split_whitespace().all(|part| is(list, part));
    match (only(lexicon::FORBIDDING_SIGNS), only(lexicon::RIGHT_MARKS)) {
        (true, _) => Voice::Forbidden,
        (_, true) => Voice::Praise,
        _ => Voice::Topic,
    }
}

fn exact(whole: &str) -> Option<Voice> {
    let lists = [
        (lexicon::FORBIDDEN_LABELS, Voice::Forbidden),
        (lexicon::ASKED_LABELS, Voice::Asked),
        (lexicon::DONE_LABELS, Voice::Done),
        (lexicon::DOUBT_LABELS, Voice::Doubt),
        (lexicon::SPEECH_LABELS, Voice::Done),
        (lexicon::ADVICE_LABELS, Voice::Advice),
        (lexicon::VALUE_LABELS, Voice::Value),
        (lexicon::CAUSE_LABELS, Voice::Note),
        (lexicon::RIGHT_MARKS, Voice::Praise),
    ];
    lists.iter().find(|(list, _)| is(list, whole)).map(|(_, voice)| *voice)
}

/// Labels of several words: "what the agent did", "the right reply", "things to avoid".
fn composed(low: &[String], whole: &str, asks: bool) -> Option<Voice> {
    let has = |list: &[&str]| low.iter().any(|word| is(list, word.strip_suffix("'s").unwrap_or(word)));
    let first = low.first().map_or("", String::as_str);
    let praised = lexicon::PRAISE.iter().any(|phrase| whole.contains(phrase));
    if asks || low.len() > 8 || praised && !whole.contains("not ") {
        return None;
    }
    let negative = matches!(first, "never" | "not" | "don't" | "avoid" | "avoiding" | "anti-pattern" | "forbidden")
        || whole.starts_with("do not")
        || low.last().is_some_and(|last| is(lexicon::NEGATIONS, last))
        || ["never ", "wrong to", "no circumstance", "no case", "no account"].iter().any(|p| whole.contains(p))
        || ["not to", "to avoid", "should not", "must not", "shouldn't", "to stop"].iter().any(|p| whole.contains(p))
        || (is(&["wrong", "bad", "incorrect", "poor"], first) && low.len() == 2 && has(lexicon::MADE));
    if negative {
        return Some(Voice::Forbidden);
    }
    let asker = has(lexicon::ASKERS);
    let right = has(&["right", "correct", "expected", "ideal", "reference", "desired"]);
    if has(&["should", "must", "ought"]) || has(&["recommended", "advised", "suggested"]) {
        return Some(if asker { Voice::Doubt } else { Voice::Advice });
    }
    if right && !has(&["problem", "wrong"]) && (has(lexicon::MADE) || whole.starts_with("what ") || low.len() <= 2) {
        return Some(if asker { Voice::Doubt } else { Voice::Value });
    }
    spoken(low, asker)
}

/// Whether it is a maker's or an asker's: "agent's query", "user request", "steps the agent took".
fn spoken(low: &[String], asker: bool) -> Option<Voice> {
    let bare = |word: &String| word.strip_suffix("'s").unwrap_or(word).to_owned();
    let maker = low.iter().any(|word| is(lexicon::MAKERS, &bare(word)));
    let voice = if asker { Voice::Asked } else { Voice::Done };
    let did = low.iter().any(|word| is(lexicon::DID, word));
    let told = low.first().is_some_and(|word| is(&["what", "steps", "actions", "mistakes", "things", "how"], word));
    let owned = low.len() <= 4
        && low.first().is_some_and(|word| {
            let name = bare(word);
            (is(lexicon::MAKERS, &name) || is(lexicon::ASKERS, &name))
                && (word.ends_with("'s") || low.len() == 1 || low.last().is_some_and(|last| is(lexicon::MADE, last)))
        });
    let of_attempt = low.len() == 2
        && low.first().is_some_and(|word| is(lexicon::OF_ATTEMPTS, word))
        && low.last().is_some_and(|last| is(lexicon::MADE, last));
    (owned || of_attempt || (did && (maker || asker || told))).then_some(voice)
}

/// A line of a checklist: its end or its beginning says whether it was done, and "no" is no part of any rule.
pub(super) fn is_checked(sentence: &str) -> bool {
    static STATUS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?::|—|–|\s-|\(|\||→)\s*(?:no|yes|done|not done|fail(?:ed)?|pass(?:ed)?|missing|missed|ok|n/a|skipped|partly|partial|true|false|wrong|right|[✓✔✅✗✘❌])\s*\)?[.!]?\s*$|^\s*\[[ xX✓-]?\]",
        )
    });
    STATUS.is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_whose_voice_follows() {
        let rows: [(&[&str], Voice); 9] = [
            (&["Fix", "What it should do", "What the agent should have done", "Do", "The fix:"], Voice::Advice),
            (&["Expected", "what is right", "The right reply", "Expected output"], Voice::Value),
            (
                &[
                    "What the agent did",
                    "Steps the agent took",
                    "Mistakes the agent made",
                    "Actual output",
                    "Observed",
                    "Agent",
                    "Agent's query",
                    "Did",
                    "Before",
                    "what the agent said",
                    "The assistant",
                    "Model answer",
                ],
                Voice::Done,
            ),
            (&["Request", "Task", "Customer", "User request", "The user's request"], Voice::Asked),
            (
                &[
                    "Don't",
                    "Never",
                    "Avoid",
                    "Not good",
                    "Wrong",
                    "Bad",
                    "Forbidden",
                    "Not allowed",
                    "Anti-patterns",
                    "What not to do",
                    "❌",
                    "Things to avoid",
                    "Bad example",
                ],
                Voice::Forbidden,
            ),
            (&["Good", "✅"], Voice::Praise),
            (&["Severity", "Cause"], Voice::Note),
            (&["After"], Voice::Doubt),
            (
                &["Dialogue", "SQL queries", "Customer names", "Missing index", "No index", "Problems", "Data model"],
                Voice::Topic,
            ),
        ];
        for (labels, want) in rows {
            for label in labels {
                assert_eq!(voice(label), want, "{label}");
            }
        }
    }
}
