//! Every code that the lint can give, in one table: a code, once published, keeps its meaning.

/// Each built-in code and what it means. A profile's forbidden patterns add their own.
pub const CODES: &[(&str, &str)] = &[
    // The tree.
    ("symlink", "a symbolic link"),
    ("submodule", "a submodule"),
    ("executable", "a file with the executable bit"),
    ("odd-mode", "a mode that is none of git's usual ones"),
    ("outside-layout", "a file outside the profile's folders"),
    ("nested-too-deep", "a file deeper than folder/card.md"),
    ("not-markdown", "a file in a card folder that is not a .md file"),
    ("git-folder", "something named .git, or that a file system takes for it"),
    ("git-file", "a file that changes what git does, such as .gitattributes or .gitignore"),
    ("hidden-file", "a name that begins with a dot"),
    ("case-only-difference", "two paths that are one on systems that ignore case"),
    ("duplicate-path", "the same path twice in one tree"),
    ("path-not-utf8", "a path that is not UTF-8"),
    ("odd-path", "a path with characters that are hidden or not allowed everywhere"),
    ("reserved-name", "a name that Windows keeps for a device"),
    ("name-too-long", "a name longer than file systems can hold"),
    // The bytes of a card.
    ("not-utf8", "bytes that are not UTF-8"),
    ("bom", "a byte-order mark at the start"),
    ("crlf", "lines that end in CR LF"),
    ("mixed-line-ends", "some lines that end in CR LF, others in LF"),
    ("lone-cr", "a carriage return that ends no line"),
    ("nul-byte", "a NUL byte"),
    ("control-character", "a control character"),
    ("hidden-zero-width", "a character without width"),
    ("hidden-bidi", "a character that turns the direction of the text"),
    ("hidden-tag", "a tag character"),
    ("hidden-variation", "a variation selector that selects nothing"),
    ("hidden-soft-hyphen", "a soft hyphen"),
    ("odd-line-separator", "a line or paragraph separator of Unicode"),
    ("html-comment", "an HTML comment or other markup that is not shown"),
    ("markdown-comment", "a link definition that is used as a comment"),
    ("secret", "something with the shape of a known kind of key or token"),
    ("secret-assignment", "a random-looking value given to a password or token"),
    // The front matter.
    ("front-matter-missing", "no front matter at the first line"),
    ("front-matter-unclosed", "front matter without its closing line"),
    ("front-matter-not-a-mapping", "front matter that has no keys"),
    ("yaml-invalid", "front matter that is not YAML"),
    ("yaml-unquoted-colon", "an unquoted value that holds a colon and a space"),
    ("yaml-unquoted-hash", "an unquoted value that is cut off at ` #`"),
    ("yaml-comment", "a comment in the front matter"),
    ("yaml-indirection", "an anchor, alias or tag in the front matter"),
    ("key-missing", "a front matter key that is not there"),
    ("key-empty", "a front matter key without a value"),
    ("key-placeholder", "a front matter value that is a placeholder"),
    ("key-not-text", "a front matter value that is not text"),
    ("key-duplicate", "a front matter key that is there twice"),
    ("key-unknown", "a front matter key that the profile does not have"),
    ("description-too-long", "a description above its limit"),
    // The body.
    ("heading-missing", "no second-level heading"),
    ("heading-wrong", "a second-level heading with another text"),
    ("heading-extra", "a second second-level heading"),
    ("text-before-heading", "text between front matter and heading"),
    ("rules-empty", "rules that say nothing"),
    ("body-too-long", "a body above its limit"),
    ("too-many-lines", "more lines than the limit"),
];

/// Names that Windows keeps for devices, whatever their extension.
const DEVICES: &[&str] = &[
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "conin$", "conout$",
];

/// The longest name that common file systems hold, in bytes.
pub(crate) const MAX_NAME_BYTES: usize = 255;

/// Whether a code is one of the built-in ones.
pub fn is_built_in(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

/// Lower-case letters and digits in words joined by single dashes, beginning with a letter.
pub(crate) fn is_kebab_case(code: &str) -> bool {
    code.starts_with(|first: char| first.is_ascii_lowercase())
        && code
            .split('-')
            .all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))
}

/// Whether Windows keeps this name for a device.
pub(crate) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
}

/// Whether every common system can hold this name of a file or folder and show all of it.
pub(crate) fn is_portable_name(name: &str) -> bool {
    !is_reserved(name) && name.len() <= MAX_NAME_BYTES && odd_character(name).is_none()
}

/// The first thing in a name that some system cannot hold or a reader cannot see, described.
pub(crate) fn odd_character(name: &str) -> Option<String> {
    let odd = |char: char| {
        char.is_control()
            || matches!(char, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\\' | '\u{2028}' | '\u{2029}')
            || super::hidden::kind(char).is_some()
    };
    if let Some(char) = name.chars().find(|char| odd(*char)) {
        return Some(format!("the character {}", super::hidden::name(char)));
    }
    match name.chars().next_back() {
        Some(last) if last == '.' || last.is_whitespace() => Some("a dot or space at the end of a name".into()),
        _ if name.starts_with(char::is_whitespace) => Some("a space at the start of a name".into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_kebab_case_and_there_once() {
        for (index, (code, what)) in CODES.iter().enumerate() {
            assert!(is_kebab_case(code) && !what.is_empty(), "{code}");
            assert!(!CODES[..index].iter().any(|(other, _)| other == code), "{code} is there twice");
        }
        assert!(["", "A", "a--b", "-a", "a-", "a_b", "1a", "ä"].iter().all(|code| !is_kebab_case(code)));
    }

    #[test]
    fn names_that_some_system_cannot_hold() {
        for name in ["a:b.md", "a\u{7}.md", "con.md", "LPT1", "a.", " a", "a\u{200b}b", "a\\b", "a\u{202e}b"] {
            assert!(!is_portable_name(name), "{name:?}");
        }
        for name in ["a.md", "site-facts.md", "Größe.md", "conductor.md", "a b.md", "日本.md"] {
            assert!(is_portable_name(name), "{name:?}");
        }
    }
}
