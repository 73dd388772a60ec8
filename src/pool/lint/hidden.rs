//! Characters that a reader does not see but a model does.

/// A kind of hidden character; each has its own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    ZeroWidth,
    Bidi,
    Tag,
    Variation,
    SoftHyphen,
}

impl Hidden {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Hidden::ZeroWidth => "hidden-zero-width",
            Hidden::Bidi => "hidden-bidi",
            Hidden::Tag => "hidden-tag",
            Hidden::Variation => "hidden-variation",
            Hidden::SoftHyphen => "hidden-soft-hyphen",
        }
    }

    pub(crate) fn what(self) -> &'static str {
        match self {
            Hidden::ZeroWidth => "a character without width",
            Hidden::Bidi => "a character that turns the direction of the text",
            Hidden::Tag => "a tag character, which can carry a hidden message",
            Hidden::Variation => "a variation selector, which can carry a hidden message",
            Hidden::SoftHyphen => "a soft hyphen, which splits a word unseen",
        }
    }
}

/// The kind of a character that is not seen, whatever stands beside it.
pub(crate) fn kind(char: char) -> Option<Hidden> {
    match char {
        '\u{ad}' => Some(Hidden::SoftHyphen),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(Hidden::Bidi),
        '\u{e0000}'..='\u{e007f}' => Some(Hidden::Tag),
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{180b}'..='\u{180d}' | '\u{180f}' => {
            Some(Hidden::Variation)
        }
        '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e00ff}'
        | '\u{e01f0}'..='\u{e0fff}' => Some(Hidden::ZeroWidth),
        _ => None,
    }
}

/// The hidden characters of a text that no script or emoji needs, with their byte offsets.
pub(crate) fn find(text: &str) -> impl Iterator<Item = (usize, char, Hidden)> + '_ {
    let flags = flags(text);
    super::fold::beyond_ascii(text).filter_map(move |(at, char)| {
        let kind = kind(char)?;
        let allowed = match kind {
            Hidden::Tag => {
                flags[..flags.partition_point(|flag| flag.start <= at)].last().is_some_and(|flag| at < flag.end)
            }
            Hidden::ZeroWidth => joins(text, at, char),
            Hidden::Variation => selects(text, at, char),
            Hidden::Bidi | Hidden::SoftHyphen => false,
        };
        (!allowed).then_some((at, char, kind))
    })
}

/// A name for messages: `U+200B`.
pub(crate) fn name(char: char) -> String {
    match char {
        ' '..='~' => format!("`{char}`"),
        _ => format!("U+{:04X}", u32::from(char)),
    }
}

/// A text with everything in it that a terminal would act on, or not show, written out.
pub(crate) fn printable(text: &str) -> String {
    let odd = |char: char| char.is_control() || kind(char).is_some() || matches!(char, '\u{2028}' | '\u{2029}');
    if !text.contains(odd) {
        return text.to_string();
    }
    text.chars().map(|char| if odd(char) { char.escape_unicode().to_string() } else { char.to_string() }).collect()
}

/// A short quotation for messages: printable, on one line, at most 60 characters.
pub(crate) fn quote(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(MOST).collect();
    let cut = if short.len() < line.len() { "…" } else { "" };
    format!("\"{}{cut}\"", printable(&short))
}

/// The flags of England, Scotland and Wales: the only tag sequences that mean something to a reader.
fn flags(text: &str) -> Vec<std::ops::Range<usize>> {
    const FLAG: &str = "\u{1f3f4}";
    let tags = |letters: &str| -> String {
        letters.chars().filter_map(|letter| char::from_u32(0xe0000 + u32::from(letter))).chain(['\u{e007f}']).collect()
    };
    if !text.contains(FLAG) {
        return Vec::new();
    }
    let known = ["gbeng", "gbsct", "gbwls"].map(tags);
    text.match_indices(FLAG)
        .filter_map(|(at, flag)| {
            let start = at + flag.len();
            let tags = known.iter().find(|tags| text[start..].starts_with(tags.as_str()))?;
            Some(start..start + tags.len())
        })
        .collect()
}

/// Whether a joiner or non-joiner stands where emoji or a script needs it.
fn joins(text: &str, at: usize, char: char) -> bool {
    if !matches!(char, '\u{200c}' | '\u{200d}') {
        return false;
    }
    let before = text[..at].chars().next_back();
    let after = text[at + char.len_utf8()..].chars().next();
    let (Some(before), Some(after)) = (before, after) else { return false };
    let emoji = char == '\u{200d}'
        && (is_pictograph(before) || matches!(before, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'))
        && is_pictograph(after);
    let script = is_joining(before) && (is_joining(after) || after.is_whitespace() || after.is_ascii_punctuation());
    emoji || script
}

/// Whether a selector picks the emoji or text form of a character that has both.
fn selects(text: &str, at: usize, char: char) -> bool {
    if !matches!(char, '\u{fe0e}' | '\u{fe0f}') {
        return false;
    }
    let after = &text[at + char.len_utf8()..];
    match text[..at].chars().next_back() {
        Some('0'..='9' | '#' | '*') => after.starts_with('\u{20e3}'),
        Some(before) => is_pictograph(before),
        None => false,
    }
}

/// Roughly Unicode's Extended_Pictographic: the blocks that hold it.
fn is_pictograph(char: char) -> bool {
    matches!(char,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303d}' | '\u{3297}'
        | '\u{3299}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Letters of scripts whose spelling uses joiners and non-joiners: Arabic, Syriac, the Indic ones, Mongolian.
fn is_joining(char: char) -> bool {
    matches!(char, '\u{620}'..='\u{6d3}' | '\u{710}'..='\u{77f}' | '\u{900}'..='\u{df4}' | '\u{1820}'..='\u{18aa}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees_is_fine() {
        let family = "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥 👩🏽\u{200d}🚒 1\u{fe0f}\u{20e3} ☎\u{fe0e}";
        let flag = "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}";
        for text in ["", "plain", "Größe, naïve, 日本語, עברית", family, flag, "می\u{200c}خواهم", "क्\u{200d} ष"]
        {
            assert_eq!(find(text).count(), 0, "{text:?}");
        }
    }

    #[test]
    fn what_a_reader_does_not_see_is_found() {
        for (text, kind, count) in [
            ("a\u{200b}b", Hidden::ZeroWidth, 1),
            ("a\u{200d}b", Hidden::ZeroWidth, 1),
            ("👨\u{200d}\u{200d}👩", Hidden::ZeroWidth, 2),
            ("😀\u{200d}", Hidden::ZeroWidth, 1),
            ("a\u{feff}b", Hidden::ZeroWidth, 1),
            ("a\u{2062}b\u{3164}", Hidden::ZeroWidth, 2),
            ("\u{202e}abc\u{202c}", Hidden::Bidi, 2),
            ("a\u{e0068}\u{e0069}", Hidden::Tag, 2),
            ("🏴\u{e0068}\u{e0069}\u{e007f}", Hidden::Tag, 3),
            ("😀\u{fe0f}\u{fe0f}\u{e0101}", Hidden::Variation, 2),
            ("a\u{fe0f}", Hidden::Variation, 1),
            ("1\u{fe0f}", Hidden::Variation, 1),
            ("pass\u{ad}word", Hidden::SoftHyphen, 1),
        ] {
            let found: Vec<_> = find(text).map(|(_, _, kind)| kind).collect();
            assert_eq!(found, vec![kind; count], "{text:?}");
        }
    }

    #[test]
    fn quotations_are_printable_and_short() {
        assert_eq!(quote("a\u{1b}[31m\n  b\u{200b}"), r#""a\u{1b}[31m b\u{200b}""#);
        assert_eq!(quote(&"x".repeat(61)), format!("\"{}…\"", "x".repeat(60)));
    }
}
