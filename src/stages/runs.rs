//! Runs of words as hashes: how a passage is known again, whatever its case and punctuation.

/// Each run of `length` words as a hash, with the byte at which it begins. Case and punctuation do not count.
pub(crate) fn runs(text: &str, length: usize) -> impl Iterator<Item = (u64, usize)> {
    let words: Vec<(usize, u64)> = words(text).map(|(at, word)| (at, hash(&word))).collect();
    let starts: Vec<(u64, usize)> =
        words.windows(length.max(1)).map(|window| (mix(window.iter().map(|(_, word)| *word)), window[0].0)).collect();
    starts.into_iter()
}

/// The hash of all words of a text as one run, and how many they are.
pub(crate) fn whole(text: &str) -> (u64, usize) {
    let words: Vec<u64> = words(text).map(|(_, word)| hash(&word)).collect();
    (mix(words.iter().copied()), words.len())
}

/// The words of a text in lower case, each with the byte at which it begins.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word.to_lowercase().replace('’', "'")))
}

/// The line, from 1, of a byte of a text.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The first `count` words from a byte of a text, as they stand there.
pub(crate) fn passage(text: &str, at: usize, count: usize) -> String {
    text[at..].split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}

fn mix(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0_u64, |sum, word| sum.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ word)
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo): fixed for ever, unlike the standard library's hasher.
fn hash(word: &str) -> u64 {
    word.bytes().fold(0xCBF2_9CE4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_is_the_one_run_of_its_length() {
        let (run, length) = whole("The North-Gate’s code,  4711!");
        assert_eq!(length, 5);
        let again: Vec<(u64, usize)> = runs("say: the north gate's CODE 4711", 5).collect();
        assert_eq!(again[1], (run, 5));
        assert_eq!(whole("…"), (0, 0));
        assert_eq!((line_of("a\nb", 2), passage("a b  c", 2, 2)), (2, "b c".to_owned()));
    }
}
