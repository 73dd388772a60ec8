//! A card's bytes: encoding, line ends, control and hidden characters.

use super::Found;
use super::fold::{Lines, beyond_ascii, line_at};
use super::hidden;
use crate::pool::front_matter::BOM;

/// The bytes as text, or a problem that names the first byte that is none.
pub(crate) fn utf8<'b>(bytes: &'b [u8], found: &mut Found<'_>) -> Option<&'b str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) => {
            let at = error.valid_up_to();
            let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
            let byte = bytes.get(at).copied().unwrap_or_default();
            found.add(
                "not-utf8",
                line,
                format!("byte {at} (0x{byte:02x}) is not UTF-8"),
                "save the file as UTF-8, without a byte-order mark",
            );
            None
        }
    }
}

/// All that a text's characters can be blamed for.
pub(super) fn check(text: &str, found: &mut Found<'_>) {
    // Without a branch in the loop it runs at memory speed; nearly every card stops here.
    let odd = text
        .bytes()
        .fold(false, |odd, byte| odd | ((byte < b' ') & (byte != b'\n') & (byte != b'\t')) | (byte == 0x7f));
    if odd {
        line_ends(text, found);
    }
    if odd {
        controls(text.char_indices(), text, found);
    } else if !text.is_ascii() {
        controls(beyond_ascii(text), text, found);
    }
    if !text.is_ascii() {
        hidden(text, found);
    }
}

fn line_ends(text: &str, found: &mut Found<'_>) {
    let bytes = text.as_bytes();
    let is_crlf = |at: usize| bytes.get(at + 1) == Some(&b'\n');
    let returns = || bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\r').map(|(at, _)| at);
    let crlf = returns().filter(|at| is_crlf(*at)).count();
    let lf = bytes.iter().filter(|byte| **byte == b'\n').count() - crlf;
    let fix = "end every line with LF alone, for instance with `sed -i 's/\\r$//' FILE`";
    if crlf > 0 {
        let at = returns().find(|at| is_crlf(*at)).unwrap_or(0);
        let line = line_at(text, at);
        if lf == 0 {
            found.add("crlf", line, format!("all {crlf} lines end in CR LF"), fix);
        } else {
            found.add("mixed-line-ends", line, format!("{crlf} lines end in CR LF, {lf} in LF"), fix);
        }
    }
    if let Some(at) = returns().find(|at| !is_crlf(*at)) {
        found.add(
            "lone-cr",
            line_at(text, at),
            "a carriage return that ends no line: what follows it can hide what precedes it",
            "remove it, or put a line feed in its place",
        );
    }
}

/// Looks for control characters among `chars`, which are the text's with their offsets.
fn controls(chars: impl Iterator<Item = (usize, char)>, text: &str, found: &mut Found<'_>) {
    let (mut lines, mut last_line) = (Lines::new(text), None);
    for (at, char) in chars {
        let code = match char {
            '\n' | '\t' | '\r' => continue,
            '\0' => "nul-byte",
            '\u{2028}' | '\u{2029}' => "odd-line-separator",
            char if char.is_control() => "control-character",
            _ => continue,
        };
        let line = lines.at(at);
        if last_line == Some((line, code)) {
            continue;
        }
        last_line = Some((line, code));
        let name = hidden::name(char);
        let (message, hint) = match code {
            "nul-byte" => ("a NUL byte: git and editors take the file for binary".to_string(), "remove it"),
            "odd-line-separator" => (format!("{name} breaks a line for some readers only"), "use a line feed"),
            _ => (format!("the control character {name}"), "remove it"),
        };
        found.add(code, line, message, hint);
    }
}

fn hidden(text: &str, found: &mut Found<'_>) {
    let start = if text.starts_with(BOM) {
        found.add("bom", 1, "the file begins with a byte-order mark", "save it as UTF-8 without one");
        BOM.len_utf8()
    } else {
        0
    };
    let (mut lines, mut last) = (Lines::new(text), None);
    for (at, char, kind) in hidden::find(&text[start..]) {
        let line = lines.at(start + at);
        if last == Some((line, kind)) {
            continue;
        }
        last = Some((line, kind));
        let message = format!("{} is {}", hidden::name(char), kind.what());
        found.add(kind.code(), line, message, "remove it: a reader must see all that a model reads");
    }
}
