//! Text as patterns see it: typography made plain, so that a pattern says `'` and means `’` too.

use std::borrow::Cow;

/// The text with curly quotes, long dashes and odd spaces made ASCII, and without emphasis stars.
///
/// Line feeds stay, so a line's number is the same in both.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    let changes = |byte: &u8| *byte == b'*' || !byte.is_ascii();
    let Some(mut at) = text.bytes().position(|byte| changes(&byte)) else { return Cow::Borrowed(text) };
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    // Runs of plain ASCII, nearly all of a card, are copied whole.
    loop {
        folded.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        if let Some(char) = chars.next() {
            folded.extend(plain(char));
        }
        rest = chars.as_str();
        match rest.as_bytes().iter().position(changes) {
            Some(next) => at = next,
            None => break,
        }
    }
    folded.push_str(rest);
    Cow::Owned(folded)
}

/// What a character is folded to, if anything.
fn plain(char: char) -> Option<char> {
    match char {
        '*' => None,
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2032}' | '\u{ff07}' => Some('\''),
        '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => Some('-'),
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        char if super::hidden::kind(char).is_some() => None,
        char => Some(char),
    }
}

/// The characters of a text that are not ASCII, with their byte offsets.
pub(crate) fn beyond_ascii(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = at + text.as_bytes().get(at..)?.iter().position(|byte| !byte.is_ascii())?;
        let char = text[found..].chars().next()?;
        at = found + char.len_utf8();
        Some((found, char))
    })
}

/// The line of a byte offset, counted from 1.
pub(crate) fn line_at(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Line numbers for offsets that only grow: each byte is counted once, however many are asked for.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Lines { text: text.as_bytes(), at: 0, line: 1 }
    }

    /// The line of a byte offset that is not below the last one asked for.
    pub(crate) fn at(&mut self, at: usize) -> usize {
        let passed = self.text.get(self.at..at).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(at);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_becomes_plain_and_lines_stay() {
        assert_eq!(fold("the **model**’s\u{a0}“draft”\nep 1–2"), "the model's \"draft\"\nep 1-2");
        assert_eq!(fold("*a*é**"), "aé");
        assert_eq!(beyond_ascii("aé日b😀").collect::<Vec<_>>(), [(1, 'é'), (3, '日'), (7, '😀')]);
        assert_eq!(fold("the mo\u{200b}del"), "the model");
        assert!(matches!(fold("plain"), Cow::Borrowed("plain")));
        assert_eq!((line_at("a\nb\n", 0), line_at("a\nb\n", 2), line_at("a\nb\n", 9)), (1, 2, 3));
    }
}
