//! Text as patterns see it: typography made plain, so that a pattern says `'` and means `’` too.

use std::borrow::Cow;

/// The text with curly quotes, long dashes and odd spaces made ASCII, and without emphasis stars.
///
/// Line feeds stay, so a line's number is the same in both.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains('*') {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '*' => {}
            '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2032}' | '\u{ff07}' => folded.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201f}' | '\u{2033}' | '\u{ff02}' => folded.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => folded.push('-'),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => folded.push(' '),
            char if super::hidden::kind(char).is_some() => {}
            char => folded.push(char),
        }
    }
    Cow::Owned(folded)
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
        assert_eq!(fold("the mo\u{200b}del"), "the model");
        assert!(matches!(fold("plain"), Cow::Borrowed("plain")));
        assert_eq!((line_at("a\nb\n", 0), line_at("a\nb\n", 2), line_at("a\nb\n", 9)), (1, 2, 3));
    }
}
