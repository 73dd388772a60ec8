//! Where an edit's target stands in a card: exactly once, or nowhere.

use std::ops::Range;

/// A part of a card between two markers, both included, that ordinary edits cannot touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Opens it.
    pub start: String,
    /// Closes it; a region that is not closed reaches to the card's end.
    pub end: String,
}

impl Region {
    /// Whether a text holds one of its markers.
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(&self.start) || text.contains(&self.end)
    }
}

/// The protected bytes of a text, in their order.
pub(super) fn regions(text: &str, known: &[Region]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for region in known {
        let mut at = 0;
        while let Some(start) = text[at..].find(&region.start).map(|offset| at + offset) {
            let inside = start + region.start.len();
            let end = text[inside..].find(&region.end).map_or(text.len(), |offset| inside + offset + region.end.len());
            found.push(start..end);
            at = end;
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// The bytes of a target that is there exactly once as written, or else exactly once with white space folded.
///
/// # Errors
/// Says that it is nowhere, or that it is there several times.
pub(super) fn locate(text: &str, target: &str) -> Result<Range<usize>, String> {
    let exact = occurrences(text, target);
    match exact.as_slice() {
        [at] => return Ok(*at..at + target.len()),
        [] => {}
        several => return Err(ambiguous(several.len())),
    }
    let (folded, origin) = fold(text);
    let (wanted, _) = fold(target.trim());
    let loose = occurrences(&folded, &wanted);
    match loose.as_slice() {
        // A character of more than one byte may be the last: its end is where the next one begins.
        [at] => Ok(origin[*at]..end_of(text, &folded, &origin, at + wanted.len())),
        [] => Err("its target is not in the card: quote it as it stands there".into()),
        several => Err(ambiguous(several.len())),
    }
}

/// As [`locate`], outside the protected parts.
pub(super) fn locate_free(text: &str, target: &str, protected: &[Range<usize>]) -> Result<Range<usize>, String> {
    let range = locate(text, target)?;
    match protected.iter().any(|region| region.start < range.end && range.start < region.end) {
        true => Err("its target touches a protected region".into()),
        false => Ok(range),
    }
}

fn ambiguous(times: usize) -> String {
    format!("its target is in the card {times} times: quote more of it, so that one place is meant")
}

/// The bytes at which a text begins in another, overlapping ones included.
fn occurrences(text: &str, wanted: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let Some(step) = wanted.chars().next().map(char::len_utf8) else { return found };
    let mut at = 0;
    while let Some(offset) = text[at..].find(wanted) {
        found.push(at + offset);
        at += offset + step;
    }
    found
}

/// A text with each run of white space as one space, and for each byte the byte it came from.
fn fold(text: &str) -> (String, Vec<usize>) {
    let (mut folded, mut origin) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut in_space = false;
    for (at, char) in text.char_indices() {
        if char.is_whitespace() {
            if !in_space {
                folded.push(' ');
                origin.push(at);
            }
        } else {
            folded.push(char);
            origin.extend(at..at + char.len_utf8());
        }
        in_space = char.is_whitespace();
    }
    (folded, origin)
}

/// The byte of the text behind the folded text's byte before `end`.
fn end_of(text: &str, folded: &str, origin: &[usize], end: usize) -> usize {
    let last = folded[..end].chars().next_back().map_or(0, char::len_utf8);
    let start = origin[end - last];
    start + text[start..].chars().next().map_or(0, char::len_utf8)
}
