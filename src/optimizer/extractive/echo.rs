//! What the evidence quotes must not reach a card: a guard that works on long verbatim passages.

use std::collections::HashSet;

use super::terms::words;

/// A passage of this many words is no coincidence.
const PASSAGE: usize = 12;

/// Those of `texts` that share a passage with one of the sources, by place.
///
/// Only the few passages of the texts are kept, and the sources are read once, whatever their length.
pub(super) fn echoes<'a>(texts: &[&str], sources: impl Iterator<Item = &'a str>) -> HashSet<usize> {
    let split = |text: &str| words(text).into_iter().map(|word| word.low).collect::<Vec<_>>();
    let wanted: Vec<Vec<Vec<String>>> =
        texts.iter().map(|text| split(text).windows(PASSAGE).map(<[String]>::to_vec).collect()).collect();
    let all: HashSet<&[String]> = wanted.iter().flatten().map(Vec::as_slice).collect();
    if all.is_empty() {
        return HashSet::new();
    }
    let mut hit: HashSet<Vec<String>> = HashSet::new();
    for source in sources {
        hit.extend(split(source).windows(PASSAGE).filter(|passage| all.contains(passage)).map(<[String]>::to_vec));
    }
    (0..texts.len()).filter(|place| wanted[*place].iter().any(|passage| hit.contains(passage))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_words_in_a_row_are_an_echo_and_eleven_are_not() {
        let said = "He said: one two three four five six seven eight nine ten eleven twelve thirteen.";
        let long = "Write one, two three four five six seven eight nine ten eleven twelve!";
        let short = "Write one, two three four five six seven eight nine ten eleven.";
        assert_eq!(echoes(&[short, long], [said].into_iter()), HashSet::from([1]));
    }
}
