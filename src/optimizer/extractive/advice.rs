//! Which sentences of a finding are advice, and the rule that each one makes.

use std::sync::LazyLock;

use regex::Regex;

use super::lexicon::{self, is};
use super::sentences::{HOLE, fold};
use super::terms::{Terms, stem, words};

/// A rule has at most this many characters; what is longer is prose.
const MAX_RULE_CHARS: usize = 400;

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
        plain
            .iter()
            .map(|word| word.low.as_str())
            .filter(|low| !is(lexicon::DETERMINERS, low))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The function words around the content, "the _ of the _": facts of one list share it.
    pub(super) fn shape(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        for word in words(&self.subject) {
            let part = if is(lexicon::STOP, &word.low) { word.low } else { "_".to_owned() };
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

/// One rule that a sentence makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// The rule line: a plain sentence with a capital and a full stop.
    pub(super) text: String,
    /// When it states a value.
    pub(super) fact: Option<Fact>,
}

/// What became of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// It is advice.
    Rule(Rule),
    /// It is advice that no card may hold, with the reason.
    Unusable(&'static str),
    /// It describes, and asks for nothing.
    Prose,
}

/// What a sentence is read against.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reader<'a> {
    /// Names of works: no rule may hold one.
    pub(super) names: &'a [String],
    /// Whether a bare statement of a value is advice, as in a commonality report.
    pub(super) statements: bool,
    /// The finding's label, which a bare value is the value of.
    pub(super) label: Option<&'a str>,
}

impl Reader<'_> {
    /// Reads one sentence.
    pub(super) fn read(&self, sentence: &str) -> Reading {
        let text = without_asides(sentence);
        let Some((text, advised)) = self.advice_in(&text) else {
            return Reading::Prose;
        };
        if text.contains(HOLE) {
            return Reading::Unusable("it quotes what was said");
        }
        let text = finished(&text);
        let fact = fact(&text).filter(|_| !imperative(&text));
        if !advised && fact.is_none() {
            return Reading::Prose;
        }
        match unfit(&text, self.names) {
            Some(reason) => Reading::Unusable(reason),
            None => Reading::Rule(Rule { text, fact }),
        }
    }

    /// The part of a sentence that advises; true when it surely does, false when only a statement of a value would.
    fn advice_in(&self, text: &str) -> Option<(String, bool)> {
        if let Some((label, rest)) = lead_in(text) {
            let low = label.to_lowercase();
            if is(lexicon::SPEECH_LABELS, &low) {
                return None;
            }
            let announced = is(lexicon::ADVICE_LABELS, &low) || is(lexicon::VALUE_LABELS, &low) || imperative(label);
            if imperative(rest) {
                return Some((rest.to_owned(), true));
            }
            if announced && statement(rest) {
                return Some((self.plain(rest), true));
            }
            if is(lexicon::VALUE_LABELS, &low) {
                return self.labelled_value(rest).map(|text| (text, true));
            }
        }
        if imperative(text) {
            return Some((text.to_owned(), true));
        }
        if let Some(text) = modal(text) {
            return Some((text, true));
        }
        (self.statements && statement(text) && !blames(text)).then(|| (text.to_owned(), false))
    }

    fn plain(&self, text: &str) -> String {
        modal(text).unwrap_or_else(|| text.to_owned())
    }

    /// "Expected: 4711" under the label "Door code of the north gate" states what the door code is.
    fn labelled_value(&self, value: &str) -> Option<String> {
        let label = self.label?;
        let value = value.trim_end_matches(['.', ' ']);
        if value.is_empty() || value.split_whitespace().count() > 6 || label.split_whitespace().count() > 12 {
            return None;
        }
        let first = label.split_whitespace().next().unwrap_or_default().to_lowercase();
        let article = if is(lexicon::DETERMINERS, &first) { "" } else { "the " };
        Some(format!("{article}{} is {value}", lower_first(label)))
    }
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that a test compiles")
}

/// Takes out what only the report needs: asides with counts, quotations or works, and a count at the beginning.
fn without_asides(text: &str) -> String {
    static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\s*[(\[][^()\[\]]*(?:\d+\s*(?:of|/|out of)\s*\d+|￼|\d+\s*(?:×|x\b|times))[^()\[\]]*[)\]]")
    });
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:in |for )?(?:\d+|two|three|four|five|six|seven|eight)(?:\s*/\s*|\s+(?:out )?of\s+(?:the\s+)?)(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\s+[\p{L}-]+\s*[,:]\s*",
        )
    });
    let text = ASIDE.replace_all(text, "");
    fold(&COUNT.replace(text.trim().trim_start_matches(['-', '*', '•', '→', '–', '—', '>', ' ']), ""))
}

/// "label: rest" with a short label; a colon inside a word or a code span is no lead-in.
fn lead_in(text: &str) -> Option<(&str, &str)> {
    let at = text.find(": ")?;
    let (label, rest) = (text[..at].trim(), text[at + 1..].trim());
    let short = label.split_whitespace().count() <= 5 && !label.contains(['`', HOLE, ',', ';']);
    (short && !label.is_empty() && !rest.is_empty()).then_some((label, rest))
}

/// Whether a sentence tells the reader to do something.
pub(super) fn imperative(text: &str) -> bool {
    let all = words(text);
    let low: Vec<&str> = all.iter().map(|word| word.low.as_str()).collect();
    if begins_with_verb(&low) {
        return true;
    }
    // A condition or circumstance first: the instruction follows one of the next commas.
    low.first().is_some_and(|first| is(lexicon::CONDITIONS, first) || is(lexicon::OPENERS, first))
        && text.match_indices([',', ':']).take(4).any(|(at, _)| {
            let rest: Vec<&str> =
                all.iter().filter(|word| word.span.0 > at).take(8).map(|word| word.low.as_str()).collect();
            begins_with_verb(&rest)
        })
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
        other => opener == Some(&"always") && !other.ends_with("ed") && !is(lexicon::FINITE, other) && !rest.is_empty(),
    }
}

/// Many verbs are nouns too: "Lead time was short" instructs nobody.
fn noun_after_all(rest: &[&str]) -> bool {
    rest.is_empty()
        || rest
            .iter()
            .take(3)
            .take_while(|word| !is(lexicon::CLAUSE_STARTS, word))
            .any(|word| is(lexicon::FINITE, word) && *word != "of")
        || rest.first() == Some(&"of")
}

/// An instruction in the third person ("The reply should give the value") made a plain one ("Give the value"); one
/// about a thing ("Every migration must have a way back") stays as it is.
fn modal(text: &str) -> Option<String> {
    static MODAL: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?P<subject>[^,;:.!?]{1,80}?)\s+(?:should|must|needs? to|ought to|has to|have to)(?P<not>\s+not|\s+never)?\s+(?P<rest>\S.*)$",
        )
    });
    let found = MODAL.captures(text)?;
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
        return (!blames(subject)).then(|| text.to_owned());
    }
    if verb == "have" || verb == "be" {
        return (verb == "be" && last != "it").then(|| text.to_owned());
    }
    Some(if found.name("not").is_some() { format!("Do not {rest}") } else { rest.to_owned() })
}

/// Whether a text is a statement with a finite verb.
fn statement(text: &str) -> bool {
    fact(text).is_some()
        || modal(text).is_some()
        || words(text).iter().skip(1).any(|word| word.low == "has" || word.low == "have")
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
    text.match_indices(needle).map(|(at, _)| at).take(20).find(|at| text[..*at].matches('`').count() % 2 == 0)
}

/// Whether a text speaks of an attempt rather than of the work.
fn blames(text: &str) -> bool {
    words(text).iter().any(|word| {
        matches!(
            word.low.as_str(),
            "reply"
                | "replies"
                | "attempt"
                | "attempts"
                | "model"
                | "agent"
                | "assistant"
                | "report"
                | "card"
                | "cards"
        )
    })
}

/// Why a rule can't stand in a card, if it can't.
fn unfit(text: &str, names: &[String]) -> Option<&'static str> {
    static POST_MORTEM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:the|this|that|its) (?:model|agent|assistant|attempt|reply|replies|answer|response|draft|author)(?:['’]s)? (?:mistake|error|failure|fault|invent|apolog|gave|gives|wrote|said|did|was|were|had|has|fail|miss|forgot|ignor|repeat|version)",
        )
    });
    static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:episodes?|ep|samples?|attempts?|rollouts?|trials?|runs?|works?)\s*#?\s*\d+|\b\d+\s*(?:of|out of|/)\s*\d+\s+(?:replies|answers|attempts|questions|samples|runs|works|tasks|cases)",
        )
    });
    static SECRET: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9+/_=-]{24,}"));
    let secret = SECRET.find_iter(text).any(|found| {
        found.as_str().bytes().any(|b| b.is_ascii_digit()) && found.as_str().bytes().any(|b| b.is_ascii_alphabetic())
    });
    if text.chars().count() > MAX_RULE_CHARS {
        Some("it is too long for a rule")
    } else if words(text).len() < 2 {
        Some("it is too short to stand alone")
    } else if names.iter().any(|name| names_work(text, name)) {
        Some("it names a work")
    } else if NUMBERED.is_match(text) {
        Some("it counts or numbers attempts")
    } else if POST_MORTEM.is_match(text) {
        Some("it tells what an attempt did")
    } else if text.contains("<!--") || secret {
        Some("it holds what must not ride in a card")
    } else {
        None
    }
}

/// Whether `text` holds the work's name as a word of its own.
pub(super) fn names_work(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            edge(text[..at].chars().next_back()) && edge(text[at + name.len()..].chars().next())
        })
}

/// A sentence as it stands in a card: white space folded, a capital first, a full stop last.
fn finished(text: &str) -> String {
    let text = fold(text);
    let text = text
        .trim_start_matches(['#', '>', '-', '*', '+', '|', ' '])
        .trim_end_matches([',', ';', ':', '-', '–', '—', ' ']);
    let mut out = upper_first(text);
    if !out.ends_with(['.', '!', '?', '。']) && !out.is_empty() {
        out.push('.');
    }
    out
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    // A first word such as "iOS" or "git-annex --force" keeps its spelling only in code; that's what code spans are for.
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
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

fn lower_determiner(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default().to_lowercase();
    if is(lexicon::DETERMINERS, &first) { lower_first(text) } else { text.to_owned() }
}
