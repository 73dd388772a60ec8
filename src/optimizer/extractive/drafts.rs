//! Cards being edited: their rule lines with byte ranges, and the file that is written.
//!
//! An edit replaces only the bytes concerned; the rest of a body is never formatted anew.

use std::ops::Range;
use std::sync::Arc;

use super::facts::{Fact, fact};
use super::mood::imperative;
use super::sentences::sentences;
use super::terms::Terms;
use crate::pool::card::{self, Card};
use crate::pool::profile::{Profile, Role};

/// One sentence of a card's rules.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Where it stands in the body, in bytes.
    pub(super) range: Range<usize>,
    pub(super) text: String,
    pub(super) fact: Option<Fact>,
    /// The fact's shape: asked of every card whenever a new fact looks for its list.
    pub(super) shape: Option<String>,
    pub(super) terms: Arc<Terms>,
}

/// A card being edited.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) path: String,
    pub(super) description: String,
    pub(super) body: String,
    pub(super) role: Role,
    pub(super) lines: Vec<Line>,
}

impl Draft {
    /// A card of the pool; nothing when it lies in none of the profile's folders.
    pub(super) fn of(card: &Card, profile: &Profile) -> Option<Draft> {
        let folder = profile.folders.iter().find(|folder| {
            card.path.strip_prefix(folder.path.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        })?;
        let (description, body) = (card.description.clone(), card.body.clone());
        Some(Draft { path: card.path.clone(), description, lines: lines(&body), body, role: folder.role })
    }

    /// A new card with these rules as a list.
    pub(super) fn new(path: String, role: Role, description: String, rules: &[String], profile: &Profile) -> Draft {
        let list: String = rules.iter().map(|rule| format!("- {rule}\n")).collect();
        let body = format!("\n## {}\n{list}", profile.card.heading);
        Draft { path, description, role, lines: lines(&body), body }
    }

    /// Replaces the line that reads `old`.
    pub(super) fn replace(&mut self, old: &str, new: &str) {
        if let Some(line) = self.lines.iter().find(|line| line.text == old) {
            self.body.replace_range(line.range.clone(), new);
            self.lines = lines(&self.body);
        }
    }

    /// Adds a rule after the last one, written as that one is: as an item of its list, or as a paragraph.
    pub(super) fn append(&mut self, rule: &str) {
        let end = self.lines.last().map_or(self.body.len(), |line| line.range.end);
        let line_end = self.body[end..].find('\n').map_or(self.body.len(), |at| end + at);
        let line_start = self.body[..end].rfind('\n').map_or(0, |at| at + 1);
        let marker = bullet(&self.body[line_start..line_end]);
        let text = match marker {
            Some(marker) => format!("\n{marker}{rule}"),
            None if self.lines.is_empty() => format!("\n- {rule}\n"),
            None => format!("\n\n{rule}"),
        };
        self.body.insert_str(line_end, &text);
        if !self.body.ends_with('\n') {
            self.body.push('\n');
        }
        self.lines = lines(&self.body);
    }

    /// The whole file; nothing when the profile wants front matter that isn't known here.
    pub(super) fn file(&self, profile: &Profile) -> Option<String> {
        let mut out = "---\n".to_owned();
        for key in &profile.card.front_matter {
            match key.as_str() {
                card::DESCRIPTION => out.push_str(&card::front_matter_line(&self.description)),
                "name" => out.push_str(&format!("name: {}", name_of(&self.path))),
                _ => return None,
            }
            out.push('\n');
        }
        out.push_str("---\n");
        if !self.body.starts_with('\n') {
            out.push('\n');
        }
        out.push_str(&self.body);
        Some(out)
    }

    /// Whether it keeps the profile's limits.
    pub(super) fn fits(&self, profile: &Profile) -> bool {
        let limits = &profile.limits;
        self.description.chars().count() <= limits.max_description_chars
            && self.body.chars().count() <= limits.max_body_chars
            && self.file(profile).is_some_and(|text| text.lines().count() <= limits.max_lines)
    }
}

/// A card's name: its folder's when the file is one that every card has (`SKILL.md`), else the file's own.
fn name_of(path: &str) -> &str {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let stem = file.strip_suffix(".md").unwrap_or(file);
    if stem.chars().all(|c| c.is_ascii_uppercase()) { parts.next().unwrap_or(stem) } else { stem }
}

/// The marker of a list item with the white space around it: "- ", "3. ". A numbered list goes on with the same
/// number, which Markdown counts on from.
fn bullet(line: &str) -> Option<&str> {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = match rest.as_bytes().get(digits) {
        Some(b'.' | b')') if digits > 0 => digits + 1,
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        _ => return None,
    };
    let space = rest[mark..].len() - rest[mark..].trim_start().len();
    (space > 0).then(|| &line[..indent + mark + space])
}

/// The sentences of a body's rules: headings, fences and comments are none.
fn lines(body: &str) -> Vec<Line> {
    let (mut out, mut at, mut fence) = (Vec::new(), 0, None::<char>);
    for line in body.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let text = line.trim();
        let mark = text
            .chars()
            .next()
            .filter(|c| matches!(c, '`' | '~'))
            .filter(|c| text.starts_with(&c.to_string().repeat(3)));
        if let Some(mark) = mark {
            fence = match fence {
                Some(open) if open == mark => None,
                None => Some(mark),
                open => open,
            };
            continue;
        }
        if fence.is_some() || text.is_empty() || text.starts_with('#') || text.starts_with("<!--") {
            continue;
        }
        let content = start + bullet(line.trim_end()).map_or(line.len() - line.trim_start().len(), str::len);
        let end = start + line.trim_end().len();
        if content < end {
            cut(body, content..end, &mut out);
        }
    }
    out
}

fn cut(body: &str, range: Range<usize>, out: &mut Vec<Line>) {
    let mut at = range.start;
    let found = sentences(&body[range.clone()]);
    let placed: Option<Vec<Range<usize>>> = found
        .iter()
        .map(|sentence| {
            let start = at + body[at..range.end].find(sentence.as_str())?;
            at = start + sentence.len();
            Some(start..at)
        })
        .collect();
    // White space inside was folded: the whole line is then one.
    for range in placed.unwrap_or_else(|| vec![range]) {
        let text = body[range.clone()].to_owned();
        let fact = fact(&text).filter(|_| !imperative(&text));
        let (shape, terms) = (fact.as_ref().map(Fact::shape), Arc::new(Terms::of(&text)));
        out.push(Line { range, text, fact, shape, terms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(body: &str) -> Draft {
        let profile = Profile::default_rules();
        let folder = &profile.folders[1].path;
        let card = Card { path: format!("{folder}/a.md"), description: "Use when asked.".into(), body: body.into() };
        Draft::of(&card, &profile).unwrap()
    }

    #[test]
    fn rules_are_added_as_the_card_writes_them() {
        let rows = [
            ("\n## Rules\n- One is 1.\n", "\n## Rules\n- One is 1.\n- New.\n"),
            ("\n## Rules\n  * One. Two.\n\nEnd.\n", "\n## Rules\n  * One. Two.\n\nEnd.\n\nNew.\n"),
            ("\n## Rules\n1. One.", "\n## Rules\n1. One.\n1. New.\n"),
            ("\n## Rules\nOne.\n", "\n## Rules\nOne.\n\nNew.\n"),
            ("\n## Rules\n", "\n## Rules\n\n- New.\n"),
        ];
        for (body, want) in rows {
            let mut draft = draft(body);
            draft.append("New.");
            assert_eq!(draft.body, want);
        }
    }

    #[test]
    fn a_sentence_is_replaced_in_its_place() {
        let mut draft =
            draft("\n## Rules\n- One is 1. Two  is 2.\n```\n- Code is 3.\n```\n# Not a rule\n- Four is 4.\n");
        let lines: Vec<&str> = draft.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(lines, ["One is 1. Two  is 2.", "Four is 4."]);
        draft.replace("Four is 4.", "Four is 5.");
        draft.replace("Nowhere.", "Somewhere.");
        assert!(draft.body.ends_with("- Four is 5.\n"));
    }

    #[test]
    fn a_card_outside_the_folders_is_no_draft() {
        let card = Card { path: "notes/a.md".into(), description: String::new(), body: String::new() };
        assert!(Draft::of(&card, &Profile::default_rules()).is_none());
    }

    #[test]
    fn names_come_from_the_file_or_its_folder() {
        assert_eq!((name_of("a/b-c.md"), name_of("b-c/SKILL.md"), name_of("x")), ("b-c", "b-c", "x"));
    }
}
