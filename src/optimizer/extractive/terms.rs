//! Words, stems and rarity weights, and when two rules say the same.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::lexicon::{self, is};
use super::words::{Word, number_word, stem, words};

/// Two rules whose cosine is at least this say the same, if their values, signs and opposites agree too.
///
/// It lies in the gap that `tests/pairs.rs` measures: of 29 pairs that say the same the lowest has 0.77; of the pairs
/// that don't and that no other guard tells apart the highest has 0.61. Without the guards no threshold would do, since
/// pairs that differ in a value, a contrary or one swapped word reach 0.77.
pub(super) const SAME: f64 = 0.7;

/// A rule of which a line holds at least this share of the weight is covered by it: all but a side word.
const COVERED: f64 = 0.9;

/// What a text is compared by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms {
    /// Stems of the content words; `!` before a stem in a negated clause, so that "do X" and "do not X" share nothing.
    pub(super) signed: BTreeSet<String>,
    /// What must agree to the letter: numbers, codes, code spans, names.
    pub(super) values: BTreeSet<String>,
    /// The words that have a contrary.
    pub(super) turns: BTreeSet<String>,
}

impl Terms {
    /// Reads a text's terms.
    pub(super) fn of(text: &str) -> Terms {
        let words = words(text);
        let mut terms = Terms::default();
        let mut negated = false;
        for (index, word) in words.iter().enumerate() {
            let negates = negates(&words, index);
            negated = (negated && !breaks_clause(text, &words, index)) || negates;
            if lexicon::OPPOSITES.iter().any(|(one, other)| word.low == *one || word.low == *other) {
                terms.turns.insert(word.low.clone());
            }
            if let Some(value) = value_of(word) {
                terms.values.insert(value);
            }
            if lexicon::is_stop(&word.low) || is(lexicon::NEGATIONS, &word.low) || (negates && ends(word)) {
                continue;
            }
            let stem = number_word(&word.low).map_or_else(|| stem(&word.low), str::to_owned);
            terms.signed.insert(if negated { format!("!{stem}") } else { stem });
        }
        terms
    }

    /// The stems without their signs.
    pub(super) fn stems(&self) -> BTreeSet<&str> {
        self.signed.iter().map(|term| term.trim_start_matches('!')).collect()
    }
}

/// Whether a negation begins here; what stands after "instead of" or "rather than" is not to be done either.
fn negates(words: &[Word], index: usize) -> bool {
    let next = words.get(index + 1).map_or("", |word| word.low.as_str());
    let low = words.get(index).map_or("", |word| word.low.as_str());
    let stops = words.get(index).is_some_and(ends) && next.len() > 4 && next.ends_with("ing");
    stops || is(lexicon::NEGATIONS, low) || matches!((low, next), ("instead", "of") | ("rather", "than"))
}

/// "Stop offering a voucher" forbids to offer one.
fn ends(word: &Word) -> bool {
    matches!(word.low.as_str(), "stop" | "cease" | "quit")
}

/// A negation reaches to the end of its clause: a semicolon, colon, full stop or dash, "but" or "instead", or a comma
/// before another instruction ("Do not apologise, give the value").
fn breaks_clause(text: &str, words: &[Word], index: usize) -> bool {
    let (Some(word), Some(before)) = (words.get(index), index.checked_sub(1).and_then(|last| words.get(last))) else {
        return true;
    };
    let between = text.get(before.span.1..word.span.0).unwrap_or_default();
    between.contains([';', ':', '.', '!', '?', '—', '–', '\n'])
        || matches!(word.low.as_str(), "but" | "instead")
        || (between.contains(',') && (is(lexicon::OPENERS, &word.low) || verb_with_object(text, words, index)))
}

/// Tells "give the value" after a comma from the "number" of "a code, number or time".
fn verb_with_object(text: &str, words: &[Word], index: usize) -> bool {
    let (Some(word), Some(next)) = (words.get(index), words.get(index + 1)) else {
        return false;
    };
    let apart = text.get(word.span.1..next.span.0).unwrap_or_default();
    is(lexicon::VERBS, &word.low)
        && !apart.contains([',', ';', '.'])
        && !matches!(next.low.as_str(), "or" | "and" | "nor")
}

fn value_of(word: &Word) -> Option<String> {
    if word.code || word.low.chars().any(char::is_numeric) {
        return Some(word.low.clone());
    }
    if let Some(digits) = number_word(&word.low) {
        return Some(digits.to_owned());
    }
    let name = !word.opens && word.capital && word.low != "i";
    name.then(|| word.low.clone())
}

/// How much each stem tells: the rarer among the rules at hand, the more.
///
/// Smoothed inverse document frequency, ln((1 + N) / (1 + n)) + 1, for N rules of which n hold the stem (Spärck Jones
/// 1972; the smoothing is the common one that keeps a stem which all hold above zero).
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// A stem's number and its squared weight.
    stems: HashMap<String, (u32, f64)>,
}

/// Terms as numbers, ready to be compared many times.
#[derive(Debug, Clone, Default)]
pub(super) struct Vector {
    /// Term number (the stem's, doubled, plus one when negated) and squared weight, ascending.
    terms: Vec<(u32, f64)>,
    /// The sum of the squared weights.
    norm: f64,
}

impl Weights {
    /// Counts the stems of the rules at hand.
    pub(super) fn of<'a>(rules: impl Iterator<Item = &'a Terms>) -> Weights {
        let (mut all, mut holding) = (0.0, HashMap::<String, f64>::new());
        for terms in rules {
            all += 1.0;
            for stem in terms.stems() {
                match holding.get_mut(stem) {
                    Some(count) => *count += 1.0,
                    None => drop(holding.insert(stem.to_owned(), 1.0)),
                }
            }
        }
        let weight = |holding: f64| (((1.0 + all) / (1.0 + holding)).ln() + 1.0).powi(2);
        // Numbered in order of spelling, so that sums are added up in the same order every time.
        let mut counted: Vec<(String, f64)> = holding.into_iter().collect();
        counted.sort_by(|a, b| a.0.cmp(&b.0));
        let stems = counted.into_iter().zip(0..).map(|((stem, count), id)| (stem, (id, weight(count)))).collect();
        Weights { stems }
    }

    /// The terms with their weights. A stem that was not counted only lengthens the vector.
    pub(super) fn vector(&self, terms: &Terms) -> Vector {
        let mut vector = Vector::default();
        for term in &terms.signed {
            let stem = term.trim_start_matches('!');
            match self.stems.get(stem) {
                Some((id, square)) => {
                    vector.terms.push((id * 2 + u32::from(term.starts_with('!')), *square));
                    vector.norm += square;
                }
                None => vector.norm += 1.0,
            }
        }
        vector.terms.sort_by_key(|(id, _)| *id);
        vector
    }
}

impl Vector {
    /// The cosine with another, 0 to 1; each term counts once, by its weight.
    pub(super) fn cosine(&self, other: &Vector) -> f64 {
        let norms = (self.norm * other.norm).sqrt();
        if norms > 0.0 { self.shared(other) / norms } else { 0.0 }
    }

    /// The share of this one's weight that `whole` holds too, 0 to 1.
    pub(super) fn contained(&self, whole: &Vector) -> f64 {
        if self.norm > 0.0 { self.shared(whole) / self.norm } else { 0.0 }
    }

    /// The same with every sign taken off: what both speak of, whatever they say of it.
    pub(super) fn unsigned(&self) -> Vector {
        let mut terms: Vec<(u32, f64)> = self.terms.iter().map(|(id, square)| (id & !1, *square)).collect();
        terms.sort_by_key(|(id, _)| *id);
        terms.dedup_by_key(|(id, _)| *id);
        let norm = terms.iter().map(|(_, square)| square).sum();
        Vector { terms, norm }
    }

    /// The numbers of its stems.
    pub(super) fn stems(&self) -> impl Iterator<Item = u32> {
        self.terms.iter().map(|(id, _)| id / 2)
    }

    fn shared(&self, other: &Vector) -> f64 {
        let (mut sum, mut left, mut right) = (0.0, self.terms.iter().peekable(), other.terms.iter().peekable());
        while let (Some((a, square)), Some((b, _))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    sum += square;
                    left.next();
                    right.next();
                }
            }
        }
        sum
    }
}

/// Terms and their vector.
#[derive(Debug, Clone, Default)]
pub(super) struct Weighed {
    pub(super) terms: Arc<Terms>,
    pub(super) vector: Vector,
}

impl Weighed {
    /// Weighs terms.
    pub(super) fn new(terms: impl Into<Arc<Terms>>, weights: &Weights) -> Weighed {
        let terms = terms.into();
        let vector = weights.vector(&terms);
        Weighed { terms, vector }
    }

    /// Whether two instructions say the same.
    pub(super) fn same(&self, other: &Weighed) -> bool {
        self.vector.cosine(&other.vector) >= SAME && !self.differs(other)
    }

    /// Whether a value, a contrary or a swapped word tells two instructions apart, however alike they are.
    pub(super) fn differs(&self, other: &Weighed) -> bool {
        self.terms.values != other.terms.values
            || contrary(&self.terms, &other.terms)
            || swapped(&self.terms, &other.terms)
    }

    /// Whether `line`, which may say more, says all of this.
    pub(super) fn covered_by(&self, line: &Weighed) -> bool {
        self.same(line)
            || (self.terms.values.is_subset(&line.terms.values)
                && self.vector.contained(&line.vector) >= COVERED
                && !contrary(&self.terms, &line.terms))
    }
}

/// Whether two texts differ in one word that stands in the other's place: "the finance team", "the legal team". That
/// is another rule more often than another wording, and no word list tells.
pub(super) fn swapped(a: &Terms, b: &Terms) -> bool {
    a.signed.difference(&b.signed).count() == 1 && b.signed.difference(&a.signed).count() == 1
}

/// Whether one text has a word of which the other has the contrary.
pub(super) fn contrary(a: &Terms, b: &Terms) -> bool {
    let only = |x: &Terms, y: &Terms, word: &str| x.turns.contains(word) && !y.turns.contains(word);
    lexicon::OPPOSITES
        .iter()
        .any(|(one, other)| (only(a, b, one) && only(b, a, other)) || (only(a, b, other) && only(b, a, one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(text: &str) -> Vec<String> {
        Terms::of(text).signed.into_iter().collect()
    }

    #[test]
    fn a_negation_holds_to_the_end_of_its_clause() {
        let rows: [(&str, &[&str]); 5] = [
            ("Do not guess codes, names or times; ask.", &["!code", "!guess", "!name", "!time", "ask"]),
            ("Do not guess, ask the guard.", &["!guess", "ask", "guard"]),
            ("Use lists instead of tables.", &["!tabl", "list", "use"]),
            ("Never guess but ask.", &["!guess", "ask"]),
            ("Ask.", &["ask"]),
        ];
        for (text, want) in rows {
            assert_eq!(signed(text), want, "{text}");
        }
    }

    #[test]
    fn what_must_agree_to_the_letter_is_kept_apart() {
        let values: Vec<String> =
            Terms::of("Ask Petra for two keys: Use K17 or `the_key` by 6 am.").values.into_iter().collect();
        assert_eq!(values, ["2", "6", "k17", "petra", "the_key"]);
    }
}
