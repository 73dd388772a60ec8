//! Grammar, as far as word lists carry: which sentences instruct, and in which words.

use std::sync::LazyLock;

use regex::Regex;

use super::advice::pattern;
use super::lexicon::{self, is};
use super::sentences::HOLE;
use super::words::{Word, words};

/// Whether a sentence tells the reader to do something.
pub(super) fn imperative(text: &str) -> bool {
    let all = words(text);
    let low: Vec<&str> = all.iter().map(plain).collect();
    if begins_with_verb(&low) {
        return true;
    }
    // A condition or circumstance first: the instruction follows one of the next commas.
    low.first().is_some_and(|first| is(lexicon::CONDITIONS, first) || is(lexicon::OPENERS, first))
        && text.match_indices([',', ':']).take(4).any(|(at, _)| {
            let rest: Vec<&str> = all.iter().filter(|word| word.span.0 > at).take(8).map(plain).collect();
            begins_with_verb(&rest)
        })
}

/// A word of a code span is code, whatever it spells.
fn plain(word: &Word) -> &str {
    if word.code { "`" } else { &word.low }
}

fn begins_with_verb(low: &[&str]) -> bool {
    let skip = low.iter().take_while(|word| is(lexicon::OPENERS, word)).count();
    let (opener, low) = (skip.checked_sub(1).and_then(|last| low.get(last)), &low[skip..]);
    let Some((first, rest)) = low.split_first() else {
        return false;
    };
    let next = rest.first().copied().unwrap_or_default();
    match *first {
        "never" => !next.is_empty() && !next.ends_with("ed") && !is(lexicon::FINITE, next),
        "don't" => !next.is_empty(),
        "do" if next == "not" => rest.len() > 1,
        verb if is(lexicon::VERBS, verb) => !noun_after_all(rest),
        other if opener == Some(&"always") => !other.ends_with("ed") && !is(lexicon::FINITE, other) && !rest.is_empty(),
        other => looks_like_verb(other) && is(lexicon::OBJECT_STARTS, next) && rest.len() > 1,
    }
}

/// No list holds every verb. A first word before an article or the like is one ("Escalate every complaint"), unless its
/// ending or a list says that it is something else.
fn looks_like_verb(low: &str) -> bool {
    let endings = ["s", "ed", "ing", "tion", "ness", "ment", "ity", "ly", "al", "er", "or", "ism", "ance", "ence"];
    low.len() > 3
        && low.chars().all(|c| c.is_ascii_lowercase())
        && !endings.iter().any(|ending| low.ends_with(ending))
        && ![lexicon::STOP, lexicon::CONDITIONS, lexicon::NOT_VERBS].iter().any(|list| is(list, low))
}

/// Whether a text has a verb after its first word: "Refunds to cards take 10 days".
pub(super) fn has_verb(text: &str) -> bool {
    let verb = |low: &str| {
        is(lexicon::VERBS, low)
            || ["s", "es"].iter().any(|ending| low.strip_suffix(ending).is_some_and(|root| is(lexicon::VERBS, root)))
            || matches!(low, "is" | "are" | "has" | "have" | "does" | "do" | "can" | "will" | "must" | "may")
    };
    words(text).iter().skip(1).any(|word| !word.code && verb(&word.low))
}

/// Many verbs are nouns too: "Lead time was short" and "Report mentioned the fire" instruct nobody.
fn noun_after_all(rest: &[&str]) -> bool {
    let told = rest.first().is_some_and(|word| word.ends_with("ed") && word.len() > 4)
        && rest.get(1).is_none_or(|word| is(lexicon::DETERMINERS, word) || is(lexicon::CONDITIONS, word));
    told || rest.is_empty()
        || rest
            .iter()
            .take(3)
            .take_while(|word| !is(lexicon::CLAUSE_STARTS, word))
            .any(|word| is(lexicon::FINITE, word) && *word != "of")
        || rest.first() == Some(&"of")
}

/// An instruction in the third person ("The reply should give the value") made a plain one ("Give the value"); one
/// about a thing ("Every migration must have a way back") stays as it is.
pub(super) fn modal(text: &str) -> Option<String> {
    static MODAL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?P<subject>[^,;:.!?]{1,80}?)\s+(?:should|must|needs? to|ought to|has to|have to)(?P<not>\s+not|\s+never)?\s+(?P<rest>\S.*)$",
        )
    });
    static OPENER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^(?:also|then|next|finally|here|so|instead|again),\s+"));
    let text = OPENER.replace(text, "");
    let found = MODAL.captures(&text)?;
    let (subject, rest) = (found.name("subject")?.as_str(), found.name("rest")?.as_str());
    let verb = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    if verb == "have" || subject.contains(HOLE) {
        // "should have stated": blame, not advice. "must have a header" is lost with it unless a thing is the subject.
        let participle = rest.split_whitespace().nth(1).is_some_and(|word| word.ends_with("ed") || word == "been");
        if participle || subject.contains(HOLE) {
            return None;
        }
    }
    let last = words(subject).last().map(|word| word.low.clone()).unwrap_or_default();
    let actor = is(lexicon::ACTORS, &last) && subject.split_whitespace().count() <= 3;
    if !actor {
        return (!blames(subject)).then(|| text.to_string());
    }
    if verb == "have" || verb == "be" {
        return (verb == "be" && last != "it").then(|| text.to_string());
    }
    Some(if found.name("not").is_some() { format!("Do not {rest}") } else { rest.to_owned() })
}

/// Whether a text speaks of an attempt rather than of the work: "the reply", "this model's", "replies".
pub(super) fn blames(text: &str) -> bool {
    let all = words(text);
    all.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).and_then(|last| all.get(last)).map_or("", |word| word.low.as_str());
        let low = word.low.strip_suffix("'s").unwrap_or(&word.low);
        // "a data model" and "the agent of a buyer" may be the work's own; "the model" in a report is the one trained.
        is(lexicon::ATTEMPTS, low)
            && (index == 0 || matches!(before, "the" | "this" | "that" | "its" | "these" | "all"))
    })
}

/// With a small first letter, unless the first word is spelt in capitals ("SQL") or with one inside ("McKay").
pub(super) fn lower_first(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.chars().skip(1).any(char::is_uppercase) || (first.chars().count() == 1 && first != "A") {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map(|c| c.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

pub(super) fn lower_determiner(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    if is(lexicon::DETERMINERS, &first) { lower_first(text) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_from_descriptions() {
        for text in [
            "Answer in one short sentence.",
            "Always qualify column names.",
            "Never make up a code.",
            "Do not apologise; give the value.",
            "When the parcel is late, offer a refund.",
            "Before the backfill, if the table is large, add an index.",
            "Amortise the cost over a year.",
            "Write `x IS NULL` there.",
            "Say what the card needs.",
        ] {
            assert!(imperative(text), "{text}");
        }
        for text in [
            "Answer was too long.",
            "Report mentioned the fire.",
            "Use of small functions.",
            "When asked, it failed.",
            "Like the first one.",
            "Customers feel ignored.",
            "Never answered.",
            "`Use` is a word.",
            "…",
        ] {
            assert!(!imperative(text), "{text}");
        }
    }

    #[test]
    fn first_letters_are_lowered_only_where_a_reader_would() {
        let rows = [
            ("The value", "the value"),
            ("SQL queries", "SQL queries"),
            ("McKay", "McKay"),
            ("A b", "a b"),
            ("I", "I"),
            ("", ""),
        ];
        for (text, want) in rows {
            assert_eq!(lower_first(text), want);
        }
    }
}
