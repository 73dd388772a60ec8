//! A card: one rule, one file. Read leniently (the lint judges it), edited by the line, never written anew.

#[cfg(test)]
mod tests;

use super::front_matter::{self, Parts, YAML_LINE};
use super::lint::{self, Problem};
use super::yaml::{self, Field, Value};

/// The front matter key that every card has.
pub const DESCRIPTION: &str = "description";

/// One card, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its path in the pool, with `/`, for instance `01_craft_elements/site-facts.md`.
    pub path: String,
    /// When to read it: the front matter's `description`, folded text unfolded.
    pub description: String,
    /// All that follows the front matter, the `## Rules` heading included.
    pub body: String,
}

impl Card {
    /// Reads a card. What can be read is not always clean: the lint decides that.
    ///
    /// # Errors
    /// The problems that keep it from being read: bytes that are not UTF-8, no front matter, bad YAML, a description
    /// that is not there or not text.
    pub fn parse(path: &str, bytes: &[u8]) -> Result<Self, Vec<Problem>> {
        let mut found = lint::Found::new(path);
        let card = read(path, bytes, &mut found);
        card.ok_or_else(|| found.into_sorted())
    }

    /// The whole file of a card that lints, if description and body do: canonical, one empty line before the body.
    pub fn render(description: &str, body: &str) -> String {
        let body = body.trim_start_matches(['\n', '\r']).trim_end();
        format!("---\n{}\n---\n\n{body}\n", front_matter_line(description))
    }
}

/// The front matter line of a description, without line end; quoted exactly when YAML needs it.
pub fn front_matter_line(description: &str) -> String {
    format!("{DESCRIPTION}: {}", yaml::quote(description))
}

/// The card's text with another description: only the lines of the description change.
///
/// # Errors
/// As [`Card::parse`], with `path` in the problems.
pub fn replace_description(path: &str, text: &str, description: &str) -> Result<String, Vec<Problem>> {
    let mut found = lint::Found::new(path);
    let lines = split(text, &mut found).and_then(|parts| description_lines(parts, &mut found));
    let Some(lines) = lines else { return Err(found.into_sorted()) };
    let (before, rest) = text.split_at(lines.start);
    let after = &rest[lines.end - lines.start..];
    let line = front_matter_line(description);
    Ok(format!("{before}{line}{}{after}", front_matter::line_end(text)))
}

/// The card's text with another body: the front matter keeps its bytes. `body` is all that follows the closing `---`
/// line; a missing line end is added, nothing else.
///
/// # Errors
/// When the text has no front matter.
pub fn replace_body(path: &str, text: &str, body: &str) -> Result<String, Vec<Problem>> {
    let mut found = lint::Found::new(path);
    let Some(parts) = split(text, &mut found) else { return Err(found.into_sorted()) };
    let line_end = front_matter::line_end(text);
    let head = &text[..parts.body_at];
    let head_end = if head.ends_with('\n') { "" } else { line_end };
    let body_end = if body.ends_with('\n') || body.is_empty() { "" } else { line_end };
    Ok(format!("{head}{head_end}{body}{body_end}"))
}

fn read(path: &str, bytes: &[u8], found: &mut lint::Found) -> Option<Card> {
    let text = lint::text::utf8(bytes, found)?;
    let parts = split(text, found)?;
    let fields = lint::front_matter::fields(parts.yaml, found)?;
    let description = text_of(&fields, found)?;
    Some(Card { path: path.to_string(), description, body: parts.body.to_string() })
}

fn split<'t>(text: &'t str, found: &mut lint::Found) -> Option<Parts<'t>> {
    front_matter::split(text).map_err(|missing| lint::front_matter::not_there(missing, found)).ok()
}

fn text_of(fields: &[Field], found: &mut lint::Found) -> Option<String> {
    let field = fields.iter().find(|field| field.key == DESCRIPTION);
    match field.map(|field| &field.value) {
        Some(Value::Text(text)) => return Some(text.trim().to_string()),
        Some(Value::Null) => return Some(String::new()),
        Some(Value::Other(what)) => {
            lint::front_matter::not_text(DESCRIPTION, what, field.map_or(1, |field| field.line), found);
        }
        None => lint::front_matter::no_key(DESCRIPTION, fields, found),
    }
    None
}

/// The bytes of the description's lines in the text, line ends included.
fn description_lines(parts: Parts<'_>, found: &mut lint::Found) -> Option<std::ops::Range<usize>> {
    let fields = lint::front_matter::fields(parts.yaml, found)?;
    let Some(index) = fields.iter().position(|field| field.key == DESCRIPTION) else {
        lint::front_matter::no_key(DESCRIPTION, &fields, found);
        return None;
    };
    let next = fields.get(index + 1).map(|field| field.line);
    if next == Some(fields[index].line) {
        // `{description: a, name: b}`: the line holds more than the description.
        let line = YAML_LINE + fields[index].line - 1;
        found.add(
            "yaml-invalid",
            line,
            "the description shares its line with another key",
            "give each key its own line",
        );
        return None;
    }
    let lines = front_matter::lines(parts.yaml, fields[index].line, next);
    let start = parts.yaml[lines.clone()].trim_start();
    if !start.starts_with(DESCRIPTION) {
        let line = YAML_LINE + fields[index].line - 1;
        found.add(
            "yaml-invalid",
            line,
            "the description does not begin its line",
            "write `description: ...` on its own line",
        );
        return None;
    }
    Some(parts.yaml_at + lines.start..parts.yaml_at + lines.end)
}
