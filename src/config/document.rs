//! A configuration as TOML: the commented template of a new one, and the resolved one of a run.

use serde_json::{Map, Value};

use super::Config;
use super::place::{dotted, quoted, toml_string};
use super::shape::{Key, Leaf, Shape};

/// The longest line of a comment, in characters.
const WIDTH: usize = 110;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Each key with what it is; what is not set as a commented example.
    Template,
    /// Each key with its value and nothing else.
    Resolved,
}

/// A new configuration file: every key with its default and what it means.
pub fn template() -> String {
    let about = super::schema()["description"].as_str().unwrap_or_default().to_owned();
    let head = comment(&format!("{about} What it comes to: skilltrain config show"));
    head + &document(&Config::default().tree(), Style::Template)
}

/// A configuration with every key and its value, in the order of the sections.
pub(super) fn resolved(tree: &Value) -> String {
    document(tree, Style::Resolved).trim_start().to_owned()
}

fn document(tree: &Value, style: Style) -> String {
    let mut text = String::new();
    for section in Shape::of_config().keys() {
        text.push('\n');
        if style == Style::Template {
            text.push_str(&comment(&section.about));
        }
        let values = &tree[&section.name];
        match &section.shape {
            Shape::Named { name, keys } if style == Style::Template => {
                let example = body(keys, &Value::Null, style);
                let header = format!("[{}]\n", dotted(&[section.name.clone(), name.clone()]));
                text.push_str(&(header + &example).lines().map(commented).collect::<String>());
            }
            Shape::Named { keys, .. } => {
                text.push_str(&format!("[{}]\n", section.name));
                for (name, entry) in values.as_object().unwrap_or(&Map::new()) {
                    text.push_str(&format!("\n[{}]\n", dotted(&[section.name.clone(), name.clone()])));
                    text.push_str(&body(keys, entry, style));
                }
            }
            shape => {
                text.push_str(&format!("[{}]\n", section.name));
                text.push_str(&body(shape.keys(), values, style));
            }
        }
    }
    text
}

/// The lines of a table's keys.
fn body(keys: &[Key], values: &Value, style: Style) -> String {
    let line = |key: &Key| {
        let about = if style == Style::Template { comment(&about(key)) } else { String::new() };
        let unset = match &values[&key.name] {
            Value::Object(map) if map.is_empty() && style == Style::Template => &Value::Null,
            set => set,
        };
        let line = match (unset, &key.example) {
            (Value::Null, Some(example)) if key.is_required => format!("{} = {}\n", key.name, value(example)),
            (Value::Null, Some(example)) if style == Style::Template => {
                format!("# {} = {}\n", key.name, value(example))
            }
            (Value::Null, _) => format!("# {}: not set\n", key.name),
            (set, _) => format!("{} = {}\n", key.name, value(set)),
        };
        about + &line
    };
    keys.iter().map(line).collect()
}

/// What a key is, and which words it takes.
fn about(key: &Key) -> String {
    let Shape::Leaf(Leaf::Choice(words)) = &key.shape else { return key.about.clone() };
    let words: Vec<String> = words.iter().map(|(word, meaning)| format!("{word} ({meaning})")).collect();
    format!("{} One of: {}.", key.about, words.join(", "))
}

/// A value as TOML on one line. JSON and TOML write numbers and text alike.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => toml_string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(self::value).collect::<Vec<_>>().join(", ")),
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{} = {}", quoted(key), self::value(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// A text as comment lines, broken between words.
fn comment(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        let fits = lines.last().is_some_and(|line| line.chars().count() + 1 + word.chars().count() <= WIDTH);
        if !fits {
            lines.push(String::from("#"));
        }
        if let Some(line) = lines.last_mut() {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

fn commented(line: &str) -> String {
    format!("# {line}\n")
}
