//! Answers made comparable.

/// A text in lower case without punctuation, articles and surplus white space: the normalisation of SQuAD's evaluation
/// (Rajpurkar et al., "SQuAD: 100,000+ questions for machine comprehension of text", EMNLP 2016). Punctuation here is
/// every character that is neither letter, digit nor white space, in any script.
pub(super) fn normalised(text: &str) -> String {
    tokens(text).join(" ")
}

/// The words of a normalised text.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let plain: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || c.is_whitespace()).collect();
    let words = plain.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_punctuation_and_articles_do_not_count() {
        assert_eq!(normalised("  The North-Gate's  key, a K17!\n"), "northgates key k17");
        assert_eq!(normalised("Ärger über Öl — “ja”"), "ärger über öl ja");
        assert_eq!(normalised("a. The!"), "");
    }
}
