//! Which sentences of a finding are advice, and the rule that each one makes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::facts::{Fact, fact};
use super::lexicon::{self, is};
use super::mood::{blames, has_verb, imperative, lower_first, modal};
use super::sentences::{HOLE, fold};
use super::voice::{Voice, voice};
use super::words::words;

/// A rule has at most this many characters; what is longer is prose.
const MAX_RULE_CHARS: usize = 400;

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
        let text = without_asides(sentence, self.names);
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
            let (advice, value) = (is(lexicon::ADVICE_LABELS, &low), is(lexicon::VALUE_LABELS, &low));
            let told = voice(label);
            if told.is_closed() || told == Voice::Note {
                return None;
            }
            // "Store credit" is a value as likely as an instruction.
            if value && rest.split_whitespace().count() < 3 && imperative(rest) {
                return None;
            }
            // "Use this order: greet, ask, close" is one instruction; "State it: the code is 7" only leads in.
            let leads = !imperative(label) || points_ahead(&low);
            if leads && imperative(rest) {
                return Some((without_blame(rest).to_owned(), true));
            }
            if leads && (advice || value || imperative(label)) && statement(rest) {
                return Some((modal(rest).unwrap_or_else(|| rest.to_owned()), true));
            }
            if advice || value {
                return self.labelled_value(rest).filter(|_| value).map(|text| (text, true));
            }
        }
        if imperative(text) {
            return Some((without_blame(text).to_owned(), true));
        }
        if let Some(text) = modal(text).or_else(|| after_complaint(text)) {
            return Some((text, true));
        }
        (self.statements && statement(text) && !blames(text)).then(|| (text.to_owned(), false))
    }

    /// "Expected: 4711" under the label "Door code of the north gate" states what the door code is.
    fn labelled_value(&self, value: &str) -> Option<String> {
        let label = self.label?;
        let value = value.trim_end_matches(['.', ' ']);
        if value.is_empty() || value.split_whitespace().count() > 6 || label.split_whitespace().count() > 12 {
            return None;
        }
        let first = label.split_whitespace().next().unwrap_or_default().to_lowercase();
        if is(lexicon::PROBLEM_STARTS, &first) {
            return None;
        }
        let article = if is(lexicon::DETERMINERS, &first) { "" } else { "the " };
        Some(format!("{article}{} is {value}", lower_first(label)))
    }
}

/// Whether a lead-in only points to what follows: "State it", "Do this", "Say it like this".
fn points_ahead(label: &str) -> bool {
    let all = words(label);
    let last = all.last().map_or("", |word| word.low.as_str());
    is(lexicon::ADVICE_LABELS, label) || all.len() == 1 || matches!(last, "it" | "this" | "that" | "following")
}

/// Marks between a complaint and its remedy, or a remedy and its complaint.
const BREAKS: [&str; 5] = ["; ", " — ", " – ", " -- ", ": "];

/// "No test covers the fix; add one": what was wrong, then what to do. A head that states how things are stays, since
/// the instruction rests on it: "`created_at` is in UTC; convert it".
fn after_complaint(text: &str) -> Option<String> {
    let broken = BREAKS.iter().filter_map(|mark| text.split_once(mark));
    let (head, tail) = broken.map(|(head, tail)| (head.trim(), tail.trim())).find(|(_, tail)| imperative(tail))?;
    if voice(head).is_closed() {
        return None;
    }
    let ground = fact(head).is_some() && !words(head).iter().any(|word| is(lexicon::PROBLEM_STARTS, &word.low));
    Some(if ground { text.to_owned() } else { without_blame(tail).to_owned() })
}

/// "Escalate to a human; the agent kept arguing": what to do, then what was wrong.
fn without_blame(text: &str) -> &str {
    let broken = BREAKS[..4].iter().filter_map(|mark| text.split_once(mark));
    let told = |tail: &str| {
        !imperative(tail) && (blames(tail) || tail.split_whitespace().next().is_some_and(|word| word == "it"))
    };
    broken.filter(|(_, tail)| told(tail)).map(|(head, _)| head).min_by_key(|head| head.len()).unwrap_or(text)
}

pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant that a test compiles")
}

/// Takes out what only the report needs: asides with counts, quotations or works, and a count at the beginning.
fn without_asides(text: &str, names: &[String]) -> String {
    static BRACKETS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*[(\[][^()\[\]]{1,200}[)\]]"));
    static SCOPE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)^(?:(?:in |from |by |seen in )?(?:all|both|most|every|each)\b|seen in\b|works?:)")
    });
    static ASIDE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"\s*[(\[][^()\[\]]*(?:\d+\s*(?:of|/|out of)\s*\d+|￼|\d+\s*(?:×|x\b|times))[^()\[\]]*[)\]]")
    });
    static COUNT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:in |for )?(?:\d+|two|three|four|five|six|seven|eight)(?:\s*/\s*|\s+(?:out )?of\s+(?:the\s+)?)(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\s+[\p{L}-]+\s*[,:]\s*",
        )
    });
    let text = ASIDE.replace_all(text, "");
    let text = BRACKETS.replace_all(&text, |found: &Captures<'_>| {
        let inside = found[0].trim_matches(|c: char| c.is_whitespace() || "()[]".contains(c));
        let aside = SCOPE.is_match(inside) || names.iter().any(|name| names_work(inside, name));
        if aside { String::new() } else { found[0].to_owned() }
    });
    fold(&COUNT.replace(text.trim().trim_start_matches(['-', '*', '•', '→', '–', '—', '>', ' ']), ""))
}

/// "label: rest" with a short label; a colon inside a word or a code span is no lead-in.
pub(super) fn lead_in(text: &str) -> Option<(&str, &str)> {
    let at = text.find(": ")?;
    let (label, rest) = (text[..at].trim(), text[at + 1..].trim());
    let short = label.split_whitespace().count() <= 5 && !label.contains(['`', HOLE, ',', ';']);
    (short && !label.is_empty() && !rest.is_empty()).then_some((label, rest))
}

/// Whether a text is a statement with a finite verb, long enough to stand alone.
fn statement(text: &str) -> bool {
    fact(text).is_some() || modal(text).is_some() || (has_verb(text) && words(text).len() >= 4)
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
    static OPENING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:(?:in (?:the )?future|next time|instead|so|also|therefore|then|from now on|please|and|but)\b,?\s+|(?:make|be) sure (?:to|that you)\s+|(?:remember|try) to\s+)+",
        )
    });
    let text = fold(text);
    // "Instead of adding emojis, keep a sober tone" is one sentence.
    let whole = text.get(..11).is_some_and(|start| start.eq_ignore_ascii_case("instead of "));
    let text = if whole { Cow::Borrowed(text.as_str()) } else { OPENING.replace(&text, "") };
    // Without what it was set against, "instead" points nowhere.
    let text = text.trim_end_matches(['.', ' ']).strip_suffix(" instead").unwrap_or(&text);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sentence: &str) -> String {
        let names = ["ep-7".to_owned()];
        match (Reader { names: &names, statements: false, label: Some("Fee of the west car park") }).read(sentence) {
            Reading::Rule(rule) => rule.text,
            Reading::Unusable(reason) => format!("! {reason}"),
            Reading::Prose => "-".to_owned(),
        }
    }

    #[test]
    fn a_sentence_is_a_rule_or_says_why_not() {
        let rows = [
            ("State it: the door code of the north gate is 4711.", "The door code of the north gate is 4711."),
            ("Fix: use parameterised queries", "Use parameterised queries."),
            ("Expected: 4 euros", "The fee of the west car park is 4 euros."),
            ("Use this order: greet, ask, close.", "Use this order: greet, ask, close."),
            ("In 3 of 5 letters, use fewer commas.", "Use fewer commas."),
            ("Give the value (3 of 6 replies miss it).", "Give the value."),
            ("Give the value (as in ep-7) and the unit (all works).", "Give the value and the unit."),
            ("Give the value (with its unit).", "Give the value (with its unit)."),
            ("Agents should stop there.", "Stop there."),
            ("In future, make sure to sign the letter.", "Sign the letter."),
            ("The reply should give the value first.", "Give the value first."),
            ("It must not guess a fee.", "Do not guess a fee."),
            ("Every migration must have a way back.", "Every migration must have a way back."),
            ("No test covers the fix; add one for each bug.", "Add one for each bug."),
            ("Escalate to a human; the agent kept arguing.", "Escalate to a human."),
            ("`created_at` is in UTC; convert it first.", "`created_at` is in UTC; convert it first."),
            ("Write it without a date instead.", "Write it without a date."),
            ("Open with ￼ in the first line.", "! it quotes what was said"),
            ("Write as in ep-7, with short words.", "! it names a work"),
            ("Use what episode 3 used.", "! it counts or numbers attempts"),
            ("Asked: ￼", "-"),
            ("The reply should have stated the value.", "-"),
            ("The reply invents a value: ￼", "-"),
            ("Cause: the join doubles rows.", "-"),
            ("Lead time was short.", "-"),
            ("The door code of the north gate is 4711.", "-"),
            ("", "-"),
        ];
        for (sentence, want) in rows {
            assert_eq!(read(sentence), want, "{sentence}");
        }
    }
}
