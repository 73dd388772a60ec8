//! Descriptions and file names: when to read a card, in the words of its rules.

use std::collections::BTreeSet;

use super::drafts::Line;
use super::facts::Fact;
use super::lexicon::{self, is};
use super::mood::lower_first;
use super::sentences::fold;
use super::terms::Terms;
use super::words::{stem, words};
use crate::pool::profile::Role;

/// A file name has at most this many bytes before its ending.
const MAX_SLUG: usize = 48;

/// Rules that a description quotes the beginning of.
const CLAUSES: usize = 4;

/// When to read a list of facts: what each is about, in full while it fits, else by the kinds of value.
pub(super) fn facts(facts: &[&Fact], others: &[String], limit: usize) -> String {
    let subjects: Vec<String> = facts.iter().map(|fact| fact.subject.clone()).collect();
    let kinds = distinct(facts.iter().map(|fact| fact.subject.split(" of ").next().unwrap_or_default().to_owned()));
    let listed = std::iter::once("a value that is not listed here".to_owned());
    let ending = not_for("", &listed.chain(others.iter().cloned()).collect::<Vec<_>>());
    let full = format!("Use when asked for {}. {ending}", alternatives(&subjects));
    let fits = |text: &String| text.chars().count() <= limit;
    let short =
        |count: usize| format!("Use when asked for a value such as {}. {ending}", alternatives(&kinds[..count]));
    let shorter = (1..=kinds.len()).rev().map(short);
    std::iter::once(full).chain(shorter).find(fits).unwrap_or_else(|| cut(&short(kinds.len().min(1)), limit))
}

/// When to read a card of instructions.
pub(super) struct Purpose<'a> {
    pub(super) role: Role,
    pub(super) topic: Option<&'a str>,
    /// What is counted in the reports ("reply").
    pub(super) unit: Option<&'a str>,
    pub(super) rules: &'a [String],
    /// What neighbouring cards are about.
    pub(super) others: &'a [String],
}

impl Purpose<'_> {
    /// The description: when it applies, what it says in short, and what it is not for.
    pub(super) fn describe(&self, limit: usize) -> String {
        let mut clauses: Vec<String> = self.rules.iter().map(|rule| first_clause(rule)).take(CLAUSES).collect();
        let topic = self.topic.map(lower_first).unwrap_or_default();
        loop {
            // Brackets, not a colon: the description stays a plain YAML scalar.
            let said = if clauses.is_empty() { String::new() } else { format!(" ({})", clauses.join("; ")) };
            let text = match (self.role, topic.is_empty()) {
                (Role::Specific, false) => {
                    format!("Use only when the work is about {topic}{said}. {}", not_for("any other kind of work", &[]))
                }
                (_, false) => {
                    format!("Use when working on {topic}{said}. {}", not_for("other parts of the work", self.others))
                }
                (_, true) => {
                    let unit = self.unit.unwrap_or("piece of work");
                    format!(
                        "Use for every {unit}, whatever it is about{said}. {}",
                        not_for("what only one kind of work needs", self.others)
                    )
                }
            };
            if text.chars().count() <= limit || clauses.pop().is_none() {
                return cut(&text, limit);
            }
        }
    }

    /// The file name's words.
    pub(super) fn slug_words(&self) -> String {
        match (self.topic, self.unit) {
            (Some(topic), _) => topic.to_owned(),
            (None, Some(unit)) => format!("every-{unit}"),
            (None, None) => key_terms(self.rules).join("-"),
        }
    }
}

/// What neighbouring cards are for; without any, a boundary in general words.
fn not_for(boundary: &str, others: &[String]) -> String {
    match others {
        [] => format!("Not for {boundary}."),
        others => format!("Not for {}.", alternatives(others)),
    }
}

/// "a, b or c".
pub(super) fn alternatives(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

fn distinct(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.to_lowercase())).collect()
}

/// A rule up to its first break, with a small first letter and no full stop.
fn first_clause(rule: &str) -> String {
    let text = rule.trim_end_matches(['.', '!', '。']);
    // A mark inside a word ("v1.2", "10:30") is no break.
    let mark = |at: usize| text[at..].starts_with(' ') && text[..at].ends_with([';', ':', '.']);
    let breaks = text.char_indices().map(|(at, _)| at).filter(|at| mark(*at)).map(|at| at - 1);
    let end =
        breaks.chain(text.find('(')).min().filter(|at| *at > 8 && text[..*at].matches('`').count().is_multiple_of(2));
    let clause = text[..end.unwrap_or(text.len())].trim();
    lower_first(clause.strip_suffix(", then stop").unwrap_or(clause))
}

/// The first three telling words of the first rule, which is the best supported.
fn key_terms(rules: &[String]) -> Vec<String> {
    let all = words(rules.first().map_or("", String::as_str));
    // "log-password" would say the opposite of "Never log a password".
    let denied = all.iter().take(2).any(|word| is(lexicon::NEGATIONS, &word.low)).then(|| "no".to_owned());
    let telling = all
        .into_iter()
        .map(|word| word.low)
        .filter(|low| !lexicon::is_stop(low) && !is(lexicon::NEGATIONS, low) && low.chars().count() > 2);
    denied.into_iter().chain(telling.take(3)).collect()
}

/// Cuts a text to `limit` characters at a word, with a full stop.
fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit.saturating_sub(1)).collect();
    let end = head.rfind(' ').unwrap_or(head.len());
    format!("{}.", head[..end].trim_end_matches([',', ';', ':', '.', ' ']))
}

/// A description parted into what it is for and what it is not for ("Not for ...").
pub(super) fn parts(description: &str) -> (&str, &str) {
    match description.find(" Not ").or_else(|| description.find(" Never ")) {
        Some(at) => (description[..at].trim_end(), description[at + 1..].trim()),
        None => (description.trim_end(), ""),
    }
}

/// Whether a description announces something: it holds all its words, or names its kind without narrowing it to one.
///
/// "a code, key or day of a place" announces the pickup day of the scrap yard; "the door code of the north gate" does
/// not announce the door code of the south gate.
pub(super) fn announces(description: &str, phrase: &str, head: &str) -> bool {
    let (when, _) = parts(description);
    let (all, wanted) = (Terms::of(when), Terms::of(phrase));
    if wanted.signed.iter().all(|term| all.signed.contains(term)) {
        return true;
    }
    when.split(", ").flat_map(|part| part.split(" or ")).any(|item| {
        let narrowed = item.contains(" of the ") || item.contains(" of this ");
        !head.is_empty() && !narrowed && words(item).iter().any(|word| stem(&word.low) == head)
    })
}

/// Adds phrases to what a description is for; nothing when they don't fit.
pub(super) fn widen(description: &str, phrases: &[String], limit: usize) -> Option<String> {
    let (when, not) = parts(description);
    let body = when.trim_end_matches('.');
    let one_sentence = !body.contains(". ");
    let widened = match body.rfind(" or ").filter(|_| one_sentence) {
        // A list goes on; its last two items may have no comma between them.
        Some(at) if body.contains(", ") || phrases.len() > 1 => {
            format!("{}, {}, {}", &body[..at], &body[at + 4..], alternatives(phrases))
        }
        _ if body.is_empty() => format!("Use for {}", alternatives(phrases)),
        // "when writing to a customer" takes another "for"; "when asked for a code" and "when asked about hours" don't.
        _ if [" for ", " about "].iter().any(|word| body.contains(word)) => {
            format!("{body}, or {}", alternatives(phrases))
        }
        _ => format!("{body}, or for {}", alternatives(phrases)),
    };
    let widened = if phrases.len() == 1 { last_comma(&widened, phrases) } else { widened };
    let text = fold(&format!("{widened}. {not}"));
    (text.chars().count() <= limit).then_some(text)
}

/// "a, b, c" becomes "a, b or c" where `c` is the one phrase added.
fn last_comma(text: &str, phrases: &[String]) -> String {
    let ending = format!(", {}", phrases.concat());
    match text.strip_suffix(&ending) {
        Some(head) => format!("{head} or {}", phrases.concat()),
        None => text.to_owned(),
    }
}

/// Adds a phrase to what a description is not for; nothing when it is there already or doesn't fit.
pub(super) fn narrow(description: &str, phrase: &str, limit: usize) -> Option<String> {
    let (when, not) = parts(description);
    if Terms::of(phrase).stems().is_subset(&Terms::of(not).stems()) {
        return None;
    }
    let when = if when.is_empty() || when.ends_with(['.', '!', '?']) { when.to_owned() } else { format!("{when}.") };
    let not = match not.trim_end_matches('.') {
        "" => format!("Not for {phrase}."),
        not => format!("{not} or {phrase}."),
    };
    let text = fold(&format!("{when} {not}"));
    (text.chars().count() <= limit).then_some(text)
}

/// The description of two cards made one; what the first announces already is not said twice.
pub(super) fn joined(keep: &str, gone: &str, rules: &[Line], limit: usize) -> String {
    let ((when, not), (other_when, other_not)) = (parts(keep), parts(gone));
    let known = Terms::of(when);
    let plain = other_when.trim_end_matches('.');
    let fresh = Terms::of(plain).stems().iter().any(|stem| !known.stems().contains(stem));
    let also =
        if fresh && !plain.is_empty() { format!(" Also {}.", lower_first(without_use(plain))) } else { String::new() };
    // What one of them was not for may be what the other is for.
    let covered = rules
        .iter()
        .any(|line| Terms::of(other_not.trim_start_matches("Not for ")).stems().is_subset(&line.terms.stems()));
    let other_not =
        if covered || Terms::of(other_not).stems().is_subset(&Terms::of(not).stems()) { "" } else { other_not };
    let when = if when.ends_with(['.', '!', '?']) || when.is_empty() { when.to_owned() } else { format!("{when}.") };
    let all = [format!("{when}{also} {not} {other_not}"), format!("{when}{also} {not}"), format!("{when} {not}")];
    let fits = |text: &String| text.chars().count() <= limit;
    all.iter().map(|text| fold(text)).find(fits).unwrap_or_else(|| keep.to_owned())
}

fn without_use(text: &str) -> &str {
    ["Use only ", "Use ", "Read only ", "Read "].iter().find_map(|lead| text.strip_prefix(lead)).unwrap_or(text)
}

/// What a card is about, for a neighbour's "Not for": its file name in words.
pub(super) fn subject_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file).replace(['-', '_'], " ")
}

/// A file name in kebab case from some words; "rules" when no letter of them fits in one.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for word in text.to_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if out.len() + word.len() >= MAX_SLUG {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(word);
    }
    if out.is_empty() { "rules".to_owned() } else { out }
}

/// The file name of a list of facts: its first kinds of value.
pub(super) fn facts_slug(facts: &[&Fact]) -> String {
    let kinds = distinct(facts.iter().map(|fact| {
        let attribute = fact.subject.split(" of ").next().unwrap_or_default();
        let content = words(attribute).into_iter().filter(|word| !lexicon::is_stop(&word.low)).map(|word| word.low);
        content.collect::<Vec<_>>().join(" ")
    }));
    let shown: Vec<String> = kinds.iter().take(2).cloned().collect();
    let more = if kinds.len() > 2 { " and other facts" } else { "" };
    slug(&format!("{}{more}", shown.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "Use when asked for a code, key or day of a place. Not for people.";

    #[test]
    fn descriptions_grow_as_lists_and_keep_what_they_are_not_for() {
        let rows: [(&str, &[&str], &str); 5] = [
            (LIST, &["the fee"], "Use when asked for a code, key, day of a place or the fee. Not for people."),
            (
                LIST,
                &["the fee", "the fine"],
                "Use when asked for a code, key, day of a place, the fee or the fine. Not for people.",
            ),
            ("Use when asked for a code.", &["the fee"], "Use when asked for a code, or the fee."),
            ("Use for letters. Be quick.", &["notes"], "Use for letters. Be quick, or notes."),
            ("", &["the fee"], "Use for the fee."),
        ];
        for (text, phrases, want) in rows {
            let phrases: Vec<String> = phrases.iter().map(|phrase| (*phrase).to_owned()).collect();
            assert_eq!(widen(text, &phrases, 200).as_deref(), Some(want));
        }
        assert_eq!(widen(LIST, &["the fee".to_owned()], 70), None);
        assert_eq!(narrow(LIST, "animals", 200).unwrap(), LIST.replace("people.", "people or animals."));
        assert_eq!(narrow("Use for letters", "notes", 200).unwrap(), "Use for letters. Not for notes.");
        assert_eq!(narrow(LIST, "people", 200), None);
    }

    #[test]
    fn a_kind_is_announced_and_a_namesake_is_not() {
        assert!(announces(LIST, "the pickup day of the scrap yard", "day"));
        assert!(announces("Use when asked for the door code of the north gate.", "the north gate's door code", "code"));
        assert!(!announces(
            "Use when asked for the door code of the north gate.",
            "the door code of the south gate",
            "code"
        ));
        assert!(!announces(LIST, "the name of the guard", "name"));
    }

    #[test]
    fn two_descriptions_become_one_that_covers_both() {
        let both =
            joined("Use when asked for a code. Not for people.", "Use when asked for a handbook value.", &[], 200);
        assert_eq!(both, "Use when asked for a code. Also when asked for a handbook value. Not for people.");
        let same = joined("Use when asked for a code or key.", "Use when asked for a key.", &[], 200);
        assert_eq!(same, "Use when asked for a code or key.");
        assert_eq!(joined("Use when a.", "Use when asked for much else.", &[], 20), "Use when a.");
    }

    #[test]
    fn slugs_are_short_plain_and_never_empty() {
        let rows = [
            ("SQL: queries & CTEs", "sql-queries-ctes"),
            ("日本", "rules"),
            ("../../etc/passwd", "etc-passwd"),
            ("", "rules"),
        ];
        for (text, want) in rows {
            assert_eq!(slug(text), want);
        }
        assert!(slug(&"word ".repeat(50)).len() <= MAX_SLUG);
    }

    #[test]
    fn a_description_that_is_too_long_names_fewer_things() {
        let all: Vec<Fact> = (0..60)
            .map(|n| {
                crate::optimizer::extractive::facts::fact(&format!("The part{n} limit of the plant is {n}.")).unwrap()
            })
            .collect();
        let all: Vec<&Fact> = all.iter().collect();
        for limit in [10, 60, 120, 400, 800] {
            assert!(facts(&all, &[], limit).chars().count() <= limit);
        }
        let rules: Vec<String> = (0..9).map(|n| format!("Check the part number {n} before you pack it.")).collect();
        let purpose = Purpose { role: Role::General, topic: None, unit: None, rules: &rules, others: &[] };
        for limit in [10, 60, 120, 400] {
            assert!(purpose.describe(limit).chars().count() <= limit);
        }
    }
}
