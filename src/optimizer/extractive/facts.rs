//! Statements of a value: "the door code of the north gate" is "4711".

use super::lexicon::{self, is};
use super::mood::{blames, lower_determiner};
use super::terms::Terms;
use super::words::{stem, words};

/// A statement of a value: "the door code of the north gate" "is" "4711".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// What it is about, as it stands inside a sentence.
    pub(super) subject: String,
    /// "is" or "are".
    pub(super) verb: String,
    /// The value, without the full stop.
    pub(super) value: String,
}

impl Fact {
    /// Equal for two subjects that name the same thing, whatever the word order.
    pub(super) fn key(&self) -> String {
        let terms = Terms::of(&self.subject);
        let stems = terms.stems();
        let mut numbers: Vec<&str> = terms.values.iter().map(String::as_str).filter(|v| !stems.contains(v)).collect();
        numbers.sort_unstable();
        stems.into_iter().chain(numbers).collect::<Vec<_>>().join(" ")
    }

    /// Equal for two spellings of the same value.
    pub(super) fn value_key(&self) -> String {
        let plain = words(&self.value);
        let numeric = |at: usize| plain[at].low.chars().all(|c| c.is_ascii_digit() || c == '.');
        plain
            .iter()
            .enumerate()
            .map(|(at, word)| match at.checked_sub(1).is_some_and(numeric) {
                true => unit(&word.low),
                false => word.low.as_str(),
            })
            .filter(|low| !is(lexicon::DETERMINERS, low))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The function words around the content, "the _ of the _": facts of one list share it.
    pub(super) fn shape(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        for word in words(&self.subject) {
            let part = if lexicon::is_stop(&word.low) { word.low } else { "_".to_owned() };
            if part != "_" || out.last().is_none_or(|last| last != "_") {
                out.push(part);
            }
        }
        out.join(" ")
    }

    /// The word that names the kind of value: "code" in "the door code of the north gate".
    pub(super) fn head(&self) -> String {
        let attribute = self.subject.split(" of ").next().unwrap_or(&self.subject);
        words(attribute).last().map(|word| stem(&word.low)).unwrap_or_default()
    }
}

/// A unit after a number, spelt out: "30 s" and "30 seconds" are one value.
fn unit(low: &str) -> &str {
    match low {
        "s" | "sec" | "secs" | "second" => "seconds",
        "min" | "mins" | "minute" => "minutes",
        "h" | "hr" | "hrs" | "hour" => "hours",
        "day" => "days",
        "eur" | "€" | "euro" => "euros",
        other => other,
    }
}

/// Reads "SUBJECT is VALUE."; nothing when it has no such shape.
pub(super) fn fact(text: &str) -> Option<Fact> {
    let text = text.trim().trim_end_matches(['.', ' ']);
    let (at, verb) =
        [" is ", " are "].iter().filter_map(|verb| Some((outside_code(text, verb)?, verb.trim()))).min()?;
    let (subject, value) = (text[..at].trim(), text[at + verb.len() + 2..].trim());
    let first = words(subject).first().map(|word| word.low.clone()).unwrap_or_default();
    let vague = ["it", "this", "that", "there", "what", "which", "he", "she", "they", "if", "when", "as", "here"];
    let plain = !subject.contains([',', ';', '?']) && !value.contains(['?', ';']) && !vague.contains(&first.as_str());
    let sized =
        (1..=14).contains(&subject.split_whitespace().count()) && (1..=12).contains(&value.split_whitespace().count());
    let negated = words(value).first().is_some_and(|word| is(lexicon::NEGATIONS, &word.low));
    (plain && sized && !negated && !Terms::of(subject).signed.is_empty() && !blames(subject)).then(|| Fact {
        subject: lower_determiner(subject),
        verb: verb.to_owned(),
        value: value.to_owned(),
    })
}

fn outside_code(text: &str, needle: &str) -> Option<usize> {
    text.match_indices(needle).map(|(at, _)| at).take(20).find(|at| text[..*at].matches('`').count().is_multiple_of(2))
}
