//! How often a report says that something recurs: a work that counts is a work that repeats.

use std::sync::LazyLock;

use regex::Regex;

/// A report's own count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Count {
    /// How often; 1 when the text gives no count.
    pub(super) times: usize,
    /// The count as it is written, empty without one.
    pub(super) written: String,
    /// What is counted, in the singular.
    pub(super) unit: Option<String>,
}

/// "3 of 6 replies" gives 3 and "reply"; "four times" gives 4.
pub(super) fn count(text: &str) -> Count {
    static SHARE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)(?:\s*/\s*|\s+(?:out\s+)?of\s+(?:the\s+|its\s+)?)(?:\d{1,6}|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+([\p{L}-]{3,30})")
            .expect("the pattern is a constant that a test compiles")
    });
    static TIMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(\d{1,6}|two|three|four|five|six|seven|eight|nine|ten)\s+times\b|\b(twice|repeatedly)\b")
            .expect("the pattern is a constant that a test compiles")
    });
    if let Some(found) = SHARE.captures(text) {
        let unit = found.get(2).map(|unit| singular(&unit.as_str().to_lowercase()));
        let times = number(found.get(1).map_or("", |count| count.as_str()));
        return Count { times, written: found[0].to_owned(), unit };
    }
    match TIMES.captures(text) {
        Some(found) => {
            let times = found.get(1).map_or(2, |count| number(count.as_str()));
            Count { times, written: found[0].to_owned(), unit: None }
        }
        None => Count { times: 1, written: String::new(), unit: None },
    }
}

fn number(text: &str) -> usize {
    const WORDS: [&str; 11] = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let low = text.to_lowercase();
    low.parse().ok().or_else(|| WORDS.iter().position(|word| *word == low)).unwrap_or(1)
}

/// The singular of an English plural, by its ending.
fn singular(word: &str) -> String {
    if let Some(root) = word.strip_suffix("ies").filter(|root| root.len() > 1) {
        return format!("{root}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match word.strip_suffix('s') {
        Some(root) if !root.ends_with(['s', 'u', 'i']) => root.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_with_what_they_count() {
        let rows = [
            ("3 of 6 replies stop.", 3, Some("reply")),
            ("Two out of five queries fail.", 2, Some("query")),
            ("1 of 6 boxes is open.", 1, Some("box")),
            ("It asks twice.", 2, None),
            ("It asks four times.", 4, None),
            ("It asks on 3 of May.", 1, None),
        ];
        for (text, times, unit) in rows {
            let got = count(text);
            assert_eq!((got.times, got.unit.as_deref()), (times, unit), "{text}");
        }
    }
}
