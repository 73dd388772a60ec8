//! Text kept to a size, the cut said.

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
}
