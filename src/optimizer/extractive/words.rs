//! The words of a text and their stems.

use frostem::{Algorithm, Stemmer};

/// A word as a comparison sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In small letters, apostrophes straight.
    pub(super) low: String,
    /// Byte range in the text.
    pub(super) span: (usize, usize),
    /// Whether it begins a clause.
    pub(super) opens: bool,
    /// Whether it stood in a code span.
    pub(super) code: bool,
    /// Whether it begins with a capital.
    pub(super) capital: bool,
}

/// The words of a text in order; a mark inside a word (`a-b`, `x.y`, `don't`) does not cut it.
pub(super) fn words(text: &str) -> Vec<Word> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let (mut out, mut start, mut opens, mut code): (Vec<Word>, Option<usize>, bool, bool) =
        (Vec::new(), None, true, false);
    for (index, (at, c)) in chars.iter().enumerate() {
        let inside = c.is_alphanumeric()
            || (start.is_some()
                && matches!(c, '-' | '\'' | '’' | '.' | '_' | '/' | '@' | ':' | '+')
                && chars.get(index + 1).is_some_and(|(_, next)| next.is_alphanumeric()));
        match (inside, start) {
            (true, None) => start = Some(*at),
            (false, Some(from)) => {
                out.push(word(text, from, *at, opens, code));
                (start, opens) = (None, false);
            }
            _ => {}
        }
        if !inside {
            code ^= *c == '`';
            opens |= matches!(c, '.' | ';' | ':' | '!' | '?' | '\n' | '(');
        }
    }
    if let Some(from) = start {
        out.push(word(text, from, text.len(), opens, code));
    }
    out
}

fn word(text: &str, from: usize, to: usize, opens: bool, code: bool) -> Word {
    let raw = &text[from..to];
    let mut low = raw.to_lowercase();
    if low.contains('’') {
        low = low.replace('’', "'");
    }
    let capital = raw.chars().next().is_some_and(char::is_uppercase);
    Word { low, span: (from, to), opens, code, capital }
}

/// The stem of a word in small letters: Snowball's English stemmer ("Porter 2"), after possessives are cut and British
/// spellings are folded to American ones, so that reports by different hands agree.
pub(super) fn stem(low: &str) -> String {
    let low = low.strip_suffix("'s").unwrap_or(low);
    if !low.chars().all(|c| c.is_ascii_lowercase()) {
        return low.to_owned();
    }
    let mut word = low.to_owned();
    if word.len() > 5 {
        for (british, american) in
            [("isation", "ization"), ("ising", "izing"), ("ised", "ized"), ("ises", "izes"), ("ise", "ize")]
        {
            if let Some(root) = word.strip_suffix(british) {
                word = format!("{root}{american}");
                break;
            }
        }
        for (british, american) in [("ours", "ors"), ("our", "or"), ("oured", "ored"), ("ouring", "oring")] {
            if let Some(root) = word.strip_suffix(british) {
                word = format!("{root}{american}");
                break;
            }
        }
    }
    Stemmer::new(Algorithm::English).stem(&word).into_owned()
}

/// A number word as digits: "two" and "2" are the same value. "One" is mostly an article.
pub(super) fn number_word(low: &str) -> Option<&'static str> {
    const NUMBERS: [(&str, &str); 11] = [
        ("two", "2"),
        ("three", "3"),
        ("four", "4"),
        ("five", "5"),
        ("six", "6"),
        ("seven", "7"),
        ("eight", "8"),
        ("nine", "9"),
        ("ten", "10"),
        ("eleven", "11"),
        ("twelve", "12"),
    ];
    NUMBERS.iter().find(|(word, _)| *word == low).map(|(_, digits)| *digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_endings_meet_in_a_stem() {
        for (one, other) in
            [("apologise", "apologize"), ("colours", "color"), ("codes", "code"), ("organisation", "organization")]
        {
            assert_eq!(stem(one), stem(other));
        }
        assert_eq!(
            (stem("customer's").as_str(), stem("k17").as_str(), stem("größe").as_str()),
            ("custom", "k17", "größe")
        );
    }

    #[test]
    fn marks_inside_a_word_do_not_cut_it() {
        let text = "Don’t cut e-mail, a.b or x/y; `code here`: end.";
        let got: Vec<String> = words(text).into_iter().map(|word| word.low).collect();
        assert_eq!(got, ["don't", "cut", "e-mail", "a.b", "or", "x/y", "code", "here", "end"]);
        let opens: Vec<bool> = words(text).iter().map(|word| word.opens).collect();
        assert_eq!(opens, [true, false, false, false, false, false, true, false, true]);
        let spans = words(text).into_iter().map(|word| text[word.span.0..word.span.1].to_lowercase().replace('’', "'"));
        assert_eq!(spans.collect::<Vec<_>>(), got);
    }
}
