//! Lines put into a card and taken out of it, so that Markdown stays what it was around them.

use std::ops::Range;

/// A text with exactly one line feed at its end.
pub(super) fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Lines at a card's end, in front of a protected part that ends the card.
pub(super) fn append(text: &str, content: &str, protected: &[Range<usize>]) -> String {
    let mut at = text.len();
    for region in protected.iter().rev() {
        if text[region.end..at].trim().is_empty() {
            at = region.start;
        }
    }
    let (head, tail) = (text[..at].trim_end(), &text[at..]);
    let content = content.trim_matches('\n').trim_end();
    let gap = if is_item(last_line(head)) && content.lines().next().is_some_and(is_item) { "\n" } else { "\n\n" };
    let gap = if head.is_empty() { "" } else { gap };
    if tail.is_empty() { format!("{head}{gap}{content}\n") } else { format!("{head}{gap}{content}\n\n{tail}") }
}

/// The byte behind the line that holds the byte before `end`, its line feed included.
pub(super) fn line_end_after(text: &str, end: usize) -> usize {
    if text[..end].ends_with('\n') {
        return end;
    }
    text[end..].find('\n').map_or(text.len(), |offset| end + offset + 1)
}

/// Whole lines put in at a line's beginning, or at the text's end.
pub(super) fn insert_lines(text: &str, at: usize, content: &str) -> String {
    let before = if text[..at].is_empty() || text[..at].ends_with('\n') { "" } else { "\n" };
    format!("{}{before}{}\n{}", &text[..at], content.trim_matches('\n').trim_end(), &text[at..])
}

/// A text without these bytes; a line that has nothing left but its marker goes too.
pub(super) fn delete(text: &str, range: Range<usize>) -> String {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |offset| range.end + offset + 1);
    let left = format!("{}{}", &text[start..range.start], &text[range.end..end]);
    let bare = left.trim().trim_start_matches(['-', '*', '+', '>']).trim();
    let numbered = bare.trim_end_matches(['.', ')']);
    let nothing =
        bare.is_empty() || (numbered.len() < bare.len() && numbered.bytes().all(|byte| byte.is_ascii_digit()));
    // Three dashes are a line of their own meaning.
    if nothing && left.trim().len() <= 5 && left.trim() != "---" {
        return format!("{}{}", &text[..start], &text[end..]);
    }
    format!("{}{}", &text[..range.start], &text[range.end..])
}

/// Whether a card holds all lines of a text in a row, indentation aside.
pub(super) fn holds_lines(text: &str, content: &str) -> bool {
    let wanted = lines(content);
    !wanted.is_empty() && lines(text).windows(wanted.len()).any(|window| window == wanted)
}

/// Whether a text's lines stand at a byte of a card already.
pub(super) fn follows_with(text: &str, at: usize, content: &str) -> bool {
    lines(&text[at..]).starts_with(&lines(content))
}

fn lines(text: &str) -> Vec<String> {
    let folded = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    folded.filter(|line| !line.is_empty()).collect()
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

/// Whether a line is a list item or goes on with one.
fn is_item(line: &str) -> bool {
    let trimmed = line.trim_start();
    let number = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    trimmed.starts_with("- ")
        || trimmed.starts_with("* ")
        || (number.len() < trimmed.len() && (number.starts_with(". ") || number.starts_with(") ")))
        || line.starts_with("  ")
}
