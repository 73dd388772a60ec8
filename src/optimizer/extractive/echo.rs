//! What the evidence quotes must not reach a card: a guard that works on long verbatim passages.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// A passage of this many words is no coincidence; the guard of the backward pass counts as many.
const PASSAGE: usize = 12;

/// The passages of what was quoted, as hashes: a few megabytes of transcript make a few million bytes.
#[derive(Debug, Default)]
pub(super) struct Echoes {
    passages: HashSet<u64>,
}

impl Echoes {
    /// Gathers the passages of some texts.
    pub(super) fn of<'a>(sources: impl Iterator<Item = &'a str>) -> Echoes {
        Echoes { passages: sources.flat_map(passages).collect() }
    }

    /// Without the passages of `own`: what a report advises in its own voice may be used, whoever quotes it.
    pub(super) fn without<'a>(mut self, own: impl Iterator<Item = &'a str>) -> Echoes {
        for passage in own.flat_map(passages) {
            self.passages.remove(&passage);
        }
        self
    }

    /// With the passages of others.
    pub(super) fn and(mut self, others: Echoes) -> Echoes {
        self.passages.extend(others.passages);
        self
    }

    /// Whether a text holds one of them.
    pub(super) fn ring_in(&self, text: &str) -> bool {
        passages(text).iter().any(|passage| self.passages.contains(passage))
    }
}

/// Each run of words as a hash; case and punctuation don't count.
fn passages(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    let words: Vec<String> = words
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect();
    let hash = |run: &[String]| {
        // Its keys are fixed, and no hash leaves this process.
        let mut hasher = DefaultHasher::new();
        run.hash(&mut hasher);
        hasher.finish()
    };
    words.windows(PASSAGE).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_words_in_a_row_are_an_echo_and_eleven_are_not() {
        let said = "He said: one two three four five six seven eight nine ten eleven twelve thirteen.";
        let echoes = Echoes::of([said, "short"].into_iter());
        assert!(echoes.ring_in("Write one, two three four five six-seven eight nine ten eleven twelve!"));
        assert!(!echoes.ring_in("Write one, two three four five six seven eight nine ten eleven."));
        assert!(!Echoes::default().ring_in(said));
    }
}
