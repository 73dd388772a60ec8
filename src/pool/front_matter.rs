//! Where a card's front matter begins and ends, as byte ranges: edits change only the lines that they mean.

/// The line that opens and closes front matter.
pub(crate) const FENCE: &str = "---";

/// A byte-order mark, which the lint refuses but which does not keep a card from being read.
pub(crate) const BOM: char = '\u{feff}';

/// A card's text, taken apart without copying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts<'t> {
    /// What stands between the two fences, line ends included.
    pub(crate) yaml: &'t str,
    /// Byte offset of `yaml`. Its first line is always line 2.
    pub(crate) yaml_at: usize,
    /// All that follows the closing fence's line.
    pub(crate) body: &'t str,
    /// Byte offset of `body`.
    pub(crate) body_at: usize,
    /// The body's first line, counted from 1.
    pub(crate) body_line: usize,
}

/// The file's line on which the YAML begins.
pub(crate) const YAML_LINE: usize = 2;

/// Why a text has no front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The first line is no fence.
    Opening,
    /// No later line is one.
    Closing,
}

/// Finds the front matter of a card.
///
/// # Errors
/// When the first line is not `---`, or no other line is.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, Missing> {
    let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut lines = text[start..].split_inclusive('\n');
    let opening = lines.next().filter(|line| line.trim_end() == FENCE).ok_or(Missing::Opening)?;
    let yaml_at = start + opening.len();
    let mut at = yaml_at;
    for (index, line) in lines.enumerate() {
        let next = at + line.len();
        if line.starts_with(FENCE) && line.trim_end() == FENCE {
            return Ok(Parts {
                yaml: &text[yaml_at..at],
                yaml_at,
                body: &text[next..],
                body_at: next,
                body_line: YAML_LINE + index + 1,
            });
        }
        at = next;
    }
    Err(Missing::Closing)
}

/// The line end that a text uses: that of its first line.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The bytes of the lines (counted from 1) from `first` up to, not including, `end`, without blank or comment lines at
/// their end: those belong to what follows.
pub(crate) fn lines(text: &str, first: usize, end: Option<usize>) -> std::ops::Range<usize> {
    let (mut at, mut from, mut to) = (0, text.len(), text.len());
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if end.is_some_and(|end| number >= end) {
            break;
        }
        if number == first {
            from = at;
        }
        at += line.len();
        let aside = line.trim().is_empty() || line.starts_with('#');
        if number >= first && (!aside || number == first) {
            to = at;
        }
    }
    from..to.max(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_whole_lines() {
        let parts = split("---\na: b\n---\nbody\n").expect("front matter");
        assert_eq!(
            (parts.yaml, parts.body, parts.yaml_at, parts.body_at, parts.body_line),
            ("a: b\n", "body\n", 4, 13, 4)
        );
        assert_eq!(split("---\n---\n").expect("empty").yaml, "");
        assert_eq!(split("---  \r\na: b\r\n---\r\n").expect("white space").yaml, "a: b\r\n");
        assert_eq!(split("\u{feff}---\na: b\n---").expect("mark").yaml, "a: b\n");
        for text in ["", "a", "\n---\n---\n", "----\n---\n", " ---\n---\n"] {
            assert_eq!(split(text), Err(Missing::Opening), "{text:?}");
        }
        for text in ["---", "---\n", "---\na: b\n ---\n", "---\n----\n"] {
            assert_eq!(split(text), Err(Missing::Closing), "{text:?}");
        }
    }
}
