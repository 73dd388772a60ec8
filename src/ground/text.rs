//! Text kept to a size, the cut said; and kept from steering a terminal.

/// A text cut to about `limit` bytes: its head and its tail stay, and what was cut is said.
pub fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit - limit / 4);
    let tail = text.ceil_char_boundary(text.len() - limit / 4).max(head);
    format!("{}\n[... {} bytes left out ...]\n{}", &text[..head], tail - head, &text[tail..])
}

/// The first line of a text, at most `limit` characters of it.
pub fn first_line(text: &str, limit: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= limit { line.to_owned() } else { line.chars().take(limit).chain(['…']).collect() }
}

/// A path as a shell takes it, for commands that a message tells the user to run.
pub fn shell_quoted(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Whether a terminal obeys this character, or shows the text around it as something else: control characters, line
/// separators, and those that turn the direction or are not seen.
pub fn steers(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(char, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text that a terminal shows and does not obey: what steers it is written out, line ends and tabs stay.
pub fn printable(text: &str) -> std::borrow::Cow<'_, str> {
    let bad = |c: char| steers(c) && c != '\n' && c != '\t';
    if !text.contains(bad) {
        return text.into();
    }
    let shown = text.chars().fold(String::with_capacity(text.len() + 16), |mut shown, c| {
        if bad(c) {
            shown.extend(c.escape_unicode())
        } else {
            shown.push(c)
        }
        shown
    });
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_characters_and_says_so() {
        let text = "ü".repeat(10_000);
        let cut = clip(&text, 101);
        assert!(cut.len() < 200 && cut.contains("bytes left out"), "{cut}");
        assert_eq!(clip("short", 100), "short");
        assert_eq!(first_line("\n  ab cd\nx", 3), "ab …");
    }

    #[test]
    fn a_quoted_path_is_one_word_of_a_shell() {
        assert_eq!(shell_quoted("runs/a-1".as_ref()), "runs/a-1");
        assert_eq!(shell_quoted("b'$(x)".as_ref()), "'b'\\''$(x)'");
    }

    #[test]
    fn what_steers_a_terminal_is_written_out() {
        assert_eq!(printable("a\u{1b}[2J\tb\r\nc\u{202e}é🙂"), "a\\u{1b}[2J\tb\\u{d}\nc\\u{202e}é🙂");
        assert!(matches!(printable("plain\n"), std::borrow::Cow::Borrowed(_)));
    }
}
