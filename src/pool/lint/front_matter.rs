//! A card's front matter: is it there, is it YAML, does it hold what the profile asks for.

use super::Found;
use super::hidden::quote;
use crate::pool::card::DESCRIPTION;
use crate::pool::front_matter::{FENCE, Missing, Parts, YAML_LINE};
use crate::pool::profile::{Profile, nearest};
use crate::pool::yaml::{self, Fault, Field, Value};

const QUOTE_IT: &str = "put the whole value in double quotes";

/// Says that the front matter is not there.
pub(crate) fn not_there(missing: Missing, found: &mut Found<'_>) {
    match missing {
        Missing::Opening => found.add(
            "front-matter-missing",
            1,
            format!("the first line is not `{FENCE}`: there is no front matter"),
            format!("begin the file with `{FENCE}`, `{DESCRIPTION}: ...`, `{FENCE}`"),
        ),
        Missing::Closing => found.add(
            "front-matter-unclosed",
            1,
            format!("the front matter has no closing `{FENCE}` line"),
            format!("put a line of `{FENCE}` alone after the last key"),
        ),
    }
}

/// Says that a value is not text.
pub(crate) fn not_text(key: &str, what: &str, line: usize, found: &mut Found<'_>) {
    let line = YAML_LINE + line - 1;
    found.add("key-not-text", line, format!("`{key}` is {what}, not text"), QUOTE_IT);
}

/// Says that a key is not there.
pub(crate) fn no_key(key: &str, fields: &[Field], found: &mut Found<'_>) {
    let hint = match nearest(key, fields.iter().map(|field| field.key.as_str())) {
        Some(other) => format!("is `{}` meant to be `{key}`?", printable(other)),
        None => format!("add a line `{key}: ...` to the front matter"),
    };
    found.add("key-missing", YAML_LINE - 1, format!("`{key}` is not in the front matter"), hint);
}

/// The fields of the front matter, with the problems of its notation; none when it cannot be read.
pub(crate) fn fields(yaml: &str, found: &mut Found<'_>) -> Option<Vec<Field>> {
    notation(yaml, found);
    match yaml::fields(yaml) {
        Ok(fields) => Some(fields),
        Err(Fault::NotAMapping) if yaml.trim().is_empty() => Some(Vec::new()),
        Err(Fault::NotAMapping) if found.has("yaml-comment") => Some(Vec::new()),
        Err(Fault::NotAMapping) => {
            let hint = format!("write `{DESCRIPTION}: ...`, with a space after the colon");
            found.add("front-matter-not-a-mapping", YAML_LINE, "the front matter has no `key: value` line", hint);
            None
        }
        // An unquoted colon is why it cannot be read, and its own message says how to mend it.
        Err(Fault::Invalid { .. }) if found.has("yaml-unquoted-colon") => None,
        Err(Fault::Invalid { line, message }) => {
            let line = YAML_LINE + (line - 1).min(yaml.lines().count().saturating_sub(1));
            found.add("yaml-invalid", line, format!("not YAML: {}", super::hidden::printable(&message)), QUOTE_IT);
            None
        }
    }
}

/// What the profile asks of the fields.
pub(super) fn check(profile: &Profile, parts: &Parts<'_>, found: &mut Found<'_>) {
    let Some(fields) = fields(parts.yaml, found) else { return };
    for (index, field) in fields.iter().enumerate() {
        let line = YAML_LINE + field.line - 1;
        let known = profile.card.front_matter.contains(&field.key);
        if let Some(first) = fields[..index].iter().find(|first| first.key == field.key) {
            let message =
                format!("`{}` is there twice, first on line {}", printable(&field.key), YAML_LINE + first.line - 1);
            found.add("key-duplicate", line, message, "keep one of them");
        } else if !known {
            unknown_key(profile, &field.key, &fields, line, found);
        }
        if known {
            value(profile, field, found);
        }
    }
    for key in &profile.card.front_matter {
        if !fields.iter().any(|field| field.key == *key) {
            no_key(key, &fields, found);
        }
    }
}

fn unknown_key(profile: &Profile, key: &str, fields: &[Field], line: usize, found: &mut Found<'_>) {
    let keys = &profile.card.front_matter;
    let missing = keys.iter().filter(|known| !fields.iter().any(|field| field.key == **known));
    let hint = match nearest(key, missing.map(String::as_str)) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("remove it: the front matter holds {} only", keys.join(", ")),
    };
    found.add("key-unknown", line, format!("`{}` is not a key of this profile", printable(key)), hint);
}

fn value(profile: &Profile, field: &Field, found: &mut Found<'_>) {
    let (key, line) = (field.key.as_str(), YAML_LINE + field.line - 1);
    let text = match &field.value {
        Value::Text(text) => text.trim(),
        Value::Null => "",
        Value::Other(what) => return not_text(key, what, field.line, found),
    };
    if text.is_empty() {
        // What looks like a value but is a comment has its own problem.
        if !found.has("yaml-unquoted-hash") {
            found.add("key-empty", line, format!("`{key}` is empty"), "say when to read this card, and when not");
        }
    } else if is_placeholder(profile, text) {
        let message = format!("`{key}` is a placeholder: {}", quote(text));
        found.add("key-placeholder", line, message, "say when to read this card, and when not");
    } else if key == DESCRIPTION {
        let (limit, chars) = (profile.limits.max_description_chars, text.chars().count());
        if chars > limit {
            let message = format!("the description has {chars} characters, above the limit of {limit}");
            found.add("description-too-long", line, message, "say in a sentence or two when to read the card");
        }
    }
}

/// Whether a text is one of the profile's placeholders, alone or as a label ("TODO: describe").
pub(super) fn is_placeholder(profile: &Profile, text: &str) -> bool {
    let mark = |char: char| char.is_whitespace() || char.is_ascii_punctuation() || matches!(char, '…' | '–' | '—');
    let bare = text.trim_matches(mark);
    if bare.is_empty() {
        return true;
    }
    profile.card.placeholders.iter().any(|word| {
        let word = word.trim_matches(mark);
        let Some(rest) =
            bare.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).map(|_| &bare[word.len()..])
        else {
            return false;
        };
        let label = rest.trim_start().starts_with([':', '-', '–', '—', '(', '.', '…']);
        !word.is_empty() && (rest.is_empty() || (label && word.chars().all(char::is_uppercase)))
    })
}

fn printable(text: &str) -> String {
    super::hidden::printable(text)
}

/// What the value of the last key is written as.
#[derive(PartialEq, Eq)]
enum Style {
    Plain,
    Other,
}

/// What YAML reads otherwise than it looks: unquoted colons and hashes, comments, anchors, aliases and tags.
fn notation(yaml: &str, found: &mut Found<'_>) {
    let mut style = Style::Other;
    let mut block = false;
    for (index, line) in yaml.lines().enumerate() {
        let number = YAML_LINE + index;
        let indented = line.starts_with([' ', '\t']);
        let text = line.trim();
        if text.is_empty() || (block && indented) {
            continue;
        }
        if text.starts_with('#') {
            let hint = "remove it, or say it in the body: some readers of the file never see it";
            found.add("yaml-comment", number, "a comment in the front matter", hint);
            continue;
        }
        if indented {
            if style == Style::Plain {
                plain(text, number, found);
            }
            continue;
        }
        (style, block) = (Style::Other, false);
        let Some((key, value)) = key_and_value(text) else { continue };
        match value.chars().next() {
            Some('|' | '>') => block = true,
            Some('&' | '*' | '!') => {
                let message = format!("the value of `{}` begins with `{}`", printable(key), &value[..1]);
                found.add("yaml-indirection", number, format!("{message}, which YAML takes for its own"), QUOTE_IT);
            }
            Some('"' | '\'' | '[' | '{') | None => {}
            Some('#') => hash(number, found),
            Some(_) => {
                style = Style::Plain;
                plain(value, number, found);
            }
        }
    }
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    (value.is_empty() || value.starts_with([' ', '\t'])).then(|| (key.trim_end(), value.trim()))
}

fn plain(text: &str, line: usize, found: &mut Found<'_>) {
    if text.contains(": ") || text.contains(":\t") || text.ends_with(':') {
        let message = "an unquoted value holds a colon and a space, which YAML takes for a new key";
        found.add("yaml-unquoted-colon", line, message, QUOTE_IT);
    }
    if text.contains(" #") || text.contains("\t#") {
        hash(line, found);
    }
}

fn hash(line: usize, found: &mut Found<'_>) {
    let message = "an unquoted value holds ` #`: YAML takes the rest of the line for a comment";
    found.add("yaml-unquoted-hash", line, message, QUOTE_IT);
}
