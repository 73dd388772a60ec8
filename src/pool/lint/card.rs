//! One card, from bytes to problems.

use super::front_matter::{check as check_front_matter, not_there};
use super::{Found, Linter, body, fold, secrets, text};
use crate::pool::front_matter::split;

/// Finds everything that is wrong with a card's bytes.
pub(super) fn check(linter: &Linter, bytes: &[u8], found: &mut Found<'_>) {
    if bytes.len() > linter.profile.most_bytes() {
        let message = format!("the file has {} bytes; no card of this profile can have as many", bytes.len());
        return found.add("body-too-long", None, message, "a card is a page of text: shorten it, or remove it");
    }
    // What is not UTF-8 is read on as well as it goes, so that its other problems show too.
    let lossy;
    let text = match text::utf8(bytes, found) {
        Some(text) => text,
        None => {
            lossy = String::from_utf8_lossy(bytes);
            &lossy
        }
    };
    text::check(text, found);
    let limit = linter.profile.limits.max_lines;
    let lines = line_count(text);
    if lines > limit {
        let message = format!("the card has {lines} lines, above the limit of {limit}");
        found.add("too-many-lines", limit + 1, message, "shorten it, or split it into two cards");
    }
    match split(text) {
        Ok(parts) => {
            check_front_matter(&linter.profile, &parts, found);
            body::check(&linter.profile, parts.body, parts.body_line, found);
        }
        Err(missing) => not_there(missing, found),
    }
    linter.forbidden.check(&fold::fold(text), found);
    secrets::check(text, found);
}

/// Lines of a text; a last one without line end counts.
fn line_count(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}
