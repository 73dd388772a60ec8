//! Plain text of a report: quotations taken out, the rest cut into sentences.
//!
//! What stands between quotation marks was said by the attempt or by whoever asked. It is data, so a hole is left in
//! its place, and no sentence with a hole ever becomes a rule.

use super::lexicon::{self, is};

/// Stands where a quotation was.
pub(super) const HOLE: char = '\u{fffc}';

/// A single-quoted span is looked for this many characters ahead, so that stray apostrophes cost no more.
const SINGLE_QUOTE_REACH: usize = 400;

/// A text with holes, and what was taken out of it.
#[derive(Debug, Default)]
pub(super) struct Unquoted {
    pub(super) text: String,
    pub(super) quotes: Vec<String>,
}

/// Makes text safe to handle: no control, invisible or direction characters, white space folded by line.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|c| !hidden(*c)).map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

fn hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{fff9}'..=HOLE
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}' | '\u{2028}' | '\u{2029}' | '\u{e000}'..='\u{f8ff}')
}

/// Takes the quotations out of `text`. A quotation that is never closed reaches to the end: better a lost sentence
/// than a quoted one taken for advice. Code spans (between backticks) are left as they are.
pub(super) fn unquote(text: &str) -> Unquoted {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Unquoted::default();
    let (mut at, mut code) = (0, false);
    while at < chars.len() {
        let c = chars[at];
        code ^= c == '`';
        match (!code).then(|| quote_end(&chars, at)).flatten() {
            Some(end) => {
                out.quotes.push(chars[at + 1..end].iter().collect());
                out.text.push(HOLE);
                at = end + 1;
            }
            None => {
                out.text.push(c);
                at += 1;
            }
        }
    }
    out
}

/// The index of the mark that closes the quotation opened at `at`, or the text's length when nothing does.
fn quote_end(chars: &[char], at: usize) -> Option<usize> {
    match chars[at] {
        '"' => opens(chars, at).then(|| straight_end(chars, at)),
        '“' | '„' => Some(curly_end(chars, at, &['“', '„'], &['”', '"'])),
        '«' => Some(curly_end(chars, at, &['«'], &['»'])),
        '‘' => single_end(chars, at, '’'),
        '\'' => opens(chars, at).then(|| single_end(chars, at, '\'')).flatten(),
        _ => None,
    }
}

fn opens(chars: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|index| chars.get(index));
    before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '!' | '?' | '"' | '\''))
        && chars.get(at + 1).is_some_and(|c| !c.is_whitespace())
}

fn straight_end(chars: &[char], at: usize) -> usize {
    let mut depth = 1;
    for index in at + 1..chars.len() {
        if chars[index] != '"' {
            continue;
        }
        let after_word = chars.get(index + 1).is_some_and(|c| c.is_alphanumeric());
        if after_word && chars[index - 1].is_whitespace() {
            depth += 1;
        } else if !after_word {
            depth -= 1;
            if depth == 0 {
                return index;
            }
        }
    }
    chars.len()
}

fn curly_end(chars: &[char], at: usize, open: &[char], close: &[char]) -> usize {
    let mut depth = 1;
    for (index, c) in chars.iter().enumerate().skip(at + 1) {
        // `“` also closes what `„` opened.
        if close.contains(c) || (*c == '“' && chars[at] == '„') {
            depth -= 1;
        } else if open.contains(c) {
            depth += 1;
        }
        if depth == 0 {
            return index;
        }
    }
    chars.len()
}

/// Single marks are also apostrophes, and they set off single words that are meant literally ('utf-8'): only a span
/// of more than one word that is closed counts.
fn single_end(chars: &[char], at: usize, close: char) -> Option<usize> {
    let reach = chars.len().min(at + SINGLE_QUOTE_REACH);
    let end = (at + 1..reach).find(|index| {
        chars[*index] == close && chars.get(index + 1).is_none_or(|c| !c.is_alphanumeric()) && *index > at + 1
    })?;
    chars[at + 1..end].iter().any(|c| c.is_whitespace()).then_some(end)
}

/// Cuts text into sentences, white space folded, in order. A line feed always ends one.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut start, mut code) = (Vec::new(), 0, false);
    for at in 0..chars.len() {
        code ^= chars[at] == '`';
        if chars[at] == '\n' || (!code && ends_sentence(&chars, at)) {
            push(&mut out, &chars[start..=at]);
            start = at + 1;
            code = false;
        }
    }
    push(&mut out, &chars[start..]);
    out
}

fn push(out: &mut Vec<String>, chars: &[char]) {
    let text = fold(&chars.iter().collect::<String>());
    if text.chars().any(char::is_alphanumeric) {
        out.push(text);
    }
}

/// Folds all white space to single spaces.
pub(super) fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn ends_sentence(chars: &[char], at: usize) -> bool {
    let next = chars[at + 1..].iter().find(|c| !c.is_whitespace());
    let spaced = chars.get(at + 1).is_none_or(|c| c.is_whitespace());
    let begins = next.is_none_or(|c| !c.is_lowercase());
    match chars[at] {
        '。' | '！' | '？' => true,
        '.' => spaced && begins && !abbreviation(chars, at),
        '!' | '?' | '…' | HOLE => spaced && begins && next.is_none_or(|c| *c != HOLE && c.is_alphanumeric()),
        ')' | ']' => spaced && begins && at > 0 && matches!(chars[at - 1], '.' | '!' | '?'),
        _ => false,
    }
}

fn abbreviation(chars: &[char], at: usize) -> bool {
    let word: String = chars[..at]
        .iter()
        .rev()
        .take(12)
        .take_while(|c| c.is_alphanumeric() || **c == '.')
        .flat_map(|c| c.to_lowercase())
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    // "p." before a page number is one; a sentence may end in "no.", so only a number after it tells.
    let number = chars[at + 1..].iter().find(|c| !c.is_whitespace()).is_some_and(|c| c.is_ascii_digit());
    match word.as_str() {
        "no" | "nr" | "p" | "pp" | "fig" => number,
        word => is(lexicon::ABBREVIATIONS, word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_leave_holes() {
        let rows = [
            ("Asked: \"Where?\" State it: here.", "Asked: ￼ State it: here.", 1),
            ("It said \"a \"b\" c\" then stopped.", "It said ￼ then stopped.", 1),
            ("A 5\" pipe and a 6\" pipe.", "A 5\" pipe and a 6\" pipe.", 0),
            ("Never closed: \"The returns desk is", "Never closed: ￼", 1),
            ("Say “hello there” or «bonjour».", "Say ￼ or ￼.", 2),
            ("The pilots' lounge isn't 'the best place' here.", "The pilots' lounge isn't ￼ here.", 1),
            ("Write 'utf-8' and `say \"x\"`.", "Write 'utf-8' and `say \"x\"`.", 0),
        ];
        for (text, want, quotes) in rows {
            let got = unquote(text);
            assert_eq!((got.text.as_str(), got.quotes.len()), (want, quotes), "{text}");
        }
    }

    #[test]
    fn sentences_end_where_a_reader_would_end_them() {
        let rows: [(&str, &[&str]); 6] = [
            ("Use 3.5 mm. Then stop.", &["Use 3.5 mm.", "Then stop."]),
            ("Read `a.b. C` first, e.g. Tuesday. Go!", &["Read `a.b. C` first, e.g. Tuesday.", "Go!"]),
            (
                "Asked: ￼ The reply: ￼ State it: x is 7 a.m. today.",
                &["Asked: ￼", "The reply: ￼", "State it: x is 7 a.m. today."],
            ),
            ("One line\nanother line", &["One line", "another line"]),
            ("The door is no. 7. Close it.", &["The door is no. 7.", "Close it."]),
            ("...", &[]),
        ];
        for (text, want) in rows {
            assert_eq!(sentences(text), want, "{text}");
        }
    }
}
