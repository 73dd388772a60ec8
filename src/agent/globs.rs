//! File name patterns as a shell reads them, matched against what lies on the disk.

use std::path::{Path, PathBuf};

/// At most so many files come out of one pattern, and at most so many folders are looked at.
const LIMIT: usize = 10_000;

/// Whether a pattern holds an unescaped glob character.
pub(super) fn is_glob(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '*' | '?' | '[' => return true,
            _ => {}
        }
    }
    false
}

/// Text as a pattern that matches only itself.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A pattern without its escapes.
pub(super) fn unescape(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// Expands `{a,b}`; what is too much to expand stays as it is.
pub(super) fn braces(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        match brace(&pattern) {
            Some((before, choices, after)) if done.len() + open.len() + choices.len() < 256 => {
                open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
            _ => done.push(pattern),
        }
    }
    done
}

/// The first innermost brace group with a comma in it: what stands before, the choices, what stands after.
fn brace(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut start, mut commas, mut escaped) = (None, Vec::new(), false);
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => {
                start = Some(at);
                commas.clear();
            }
            ',' if start.is_some() => commas.push(at),
            '}' => {
                if let Some(open) = start.take().filter(|_| !commas.is_empty()) {
                    let mut edges = vec![open];
                    edges.append(&mut commas);
                    edges.push(at);
                    let choices = edges.windows(2).map(|pair| &pattern[pair[0] + 1..pair[1]]).collect();
                    return Some((&pattern[..open], choices, &pattern[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether a single name matches a pattern without slashes.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match step(&pattern, p, name[n]) {
            Some(next) => (p, n) = (next, n + 1),
            None if pattern.get(p) == Some(&'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            None => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Where the pattern goes on when the piece at `at` (anything but a star) takes `c`.
fn step(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match *pattern.get(at)? {
        '*' => None,
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&c)).then_some(at + 2),
        '[' => {
            let negated = matches!(pattern.get(at + 1), Some('!' | '^'));
            let from = at + 1 + usize::from(negated);
            let end = from + 1 + pattern.get(from + 1..)?.iter().position(|c| *c == ']')?;
            let class = &pattern[from..end];
            let within = class.windows(3).any(|w| w[1] == '-' && w[0] <= c && c <= w[2]) || class.contains(&c);
            (within != negated).then_some(end + 1)
        }
        other => (other == c).then_some(at + 1),
    }
}

/// The files that an absolute pattern names now, sorted.
pub(super) fn files(pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("/")];
    for piece in pattern.split('/').filter(|piece| !piece.is_empty()) {
        found = if is_glob(piece) {
            found.iter().flat_map(|folder| entries(folder, piece)).take(LIMIT).collect()
        } else {
            let name = unescape(piece);
            found.into_iter().map(|folder| folder.join(&name)).collect()
        };
    }
    found.retain(|path| path.is_file());
    found
}

fn entries(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<PathBuf> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| (!name.starts_with('.') || pattern.starts_with('.')) && matches(pattern, name))
        .map(|name| folder.join(name))
        .collect();
    names.sort();
    names
}

/// The files below a folder whose names match one of the patterns (all, when there is none), sorted.
pub(super) fn files_below(folder: &Path, names: &[String]) -> Vec<PathBuf> {
    walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy();
            names.is_empty() || names.iter().any(|pattern| matches(pattern, &name))
        })
        .take(LIMIT)
        .map(walkdir::DirEntry::into_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        let rows = [
            ("*.md", "a.md", true),
            ("*.md", "a.txt", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("[a-c]?.md", "bz.md", true),
            ("[!a]*", "abc", false),
            ("\\*.md", "*.md", true),
            ("\\*.md", "a.md", false),
            ("**", "", true),
        ];
        for (pattern, name, wanted) in rows {
            assert_eq!(matches(pattern, name), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn braces_expand_in_order() {
        assert_eq!(braces("r/{a,b}.{md,txt}"), ["r/a.md", "r/a.txt", "r/b.md", "r/b.txt"]);
        assert_eq!(braces("x{a}y"), ["x{a}y"]);
        assert_eq!(braces("{,x}y"), ["y", "xy"]);
        assert_eq!(unescape(&escape("a*{b,c}\\")), "a*{b,c}\\");
    }

    proptest::proptest! {
        #[test]
        fn nothing_makes_it_fail(pattern in "[a*?{},\\\\\\[\\]!-]{0,24}", name in "[ab]{0,12}") {
            matches(&pattern, &name);
            braces(&pattern);
        }
    }
}
