//! Edits of a pool as data: what an optimizer without a checkout asks for. Read tolerantly, never guessed at.

pub mod merge;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ground::reply;
use crate::ground::text::first_line;

/// What an edit does to its card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Text at the card's end.
    Append { content: String },
    /// Text on the lines after the one that holds `target`'s end.
    InsertAfter { target: String, content: String },
    /// Text in the place of `target`.
    Replace { target: String, content: String },
    /// `target` is taken away.
    Delete { target: String },
    /// A new card: its body, and its description unless the content brings front matter of its own.
    Create { description: Option<String>, content: String },
    /// The card is taken away.
    Remove,
    /// The card gets another path.
    Move { to: String },
    /// The card's whole text anew: its body, and its description unless the content brings front matter of its own.
    /// Without a description the card keeps the one that it has.
    Rewrite { description: Option<String>, content: String },
    /// What should change, in words: somebody has to write it before it can be made.
    Suggest { content: String },
}

impl Op {
    /// The operation's name, as replies write it.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Append { .. } => "append",
            Op::InsertAfter { .. } => "insert_after",
            Op::Replace { .. } => "replace",
            Op::Delete { .. } => "delete",
            Op::Create { .. } => "create",
            Op::Remove => "remove",
            Op::Move { .. } => "move",
            Op::Rewrite { .. } => "rewrite",
            Op::Suggest { .. } => "suggest",
        }
    }
}

/// What an edit was learnt from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Attempts that failed; these win where edits are at odds.
    #[default]
    Failures,
    /// Attempts that went well.
    Successes,
}

/// One edit of one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The card's path in the pool.
    pub card: String,
    /// What is done to it.
    #[serde(flatten)]
    pub op: Op,
    /// Why, in the optimizer's words; may be empty.
    #[serde(default)]
    pub reason: String,
    /// Attempts that speak for it, at least 1.
    #[serde(default = "one")]
    pub support: u32,
    /// What it was learnt from.
    #[serde(default)]
    pub source: Source,
}

fn one() -> u32 {
    1
}

impl fmt::Display for Edit {
    /// One line: `append to 01_craft_elements/a.md: "- Say less."`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (card, name) = (&self.card, self.op.name());
        let quote = |text: &str| format!("{:?}", first_line(text, 60));
        match &self.op {
            Op::Append { content } => write!(f, "append to {card}: {}", quote(content)),
            Op::InsertAfter { target, .. } => write!(f, "insert after {} in {card}", quote(target)),
            Op::Replace { target, .. } => write!(f, "replace {} in {card}", quote(target)),
            Op::Delete { target } => write!(f, "delete {} in {card}", quote(target)),
            Op::Create { .. } | Op::Remove | Op::Rewrite { .. } => write!(f, "{name} {card}"),
            Op::Suggest { content } => write!(f, "suggest for {card}: {}", quote(content)),
            Op::Move { to } => write!(f, "move {card} to {to}"),
        }
    }
}

/// Something in a reply that is no edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its place in the list, from 0; none when the reply as a whole is meant.
    pub index: Option<usize>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "edits[{index}]: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// A reply, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The edits that could be read, in their order.
    pub edits: Vec<Edit>,
    /// What could not: to be told to the optimizer once, then recorded.
    pub unread: Vec<Unread>,
}

/// Reads a model's reply: its last whole object's `edits` (or a bare list of them). `only_card` is the card meant by an
/// edit that names none, for a pool that is one document.
pub fn read_reply(text: &str, only_card: Option<&str>) -> Reading {
    match reply::last_object(text) {
        Ok(value) => read(&value, only_card),
        Err(fault) => whole(fault.to_string()),
    }
}

/// Reads `{"edits": [...]}` or a bare list. Never fails as a whole for one bad item.
pub fn read(value: &Value, only_card: Option<&str>) -> Reading {
    let items = match value {
        Value::Array(items) => items,
        Value::Object(object) => match field(object, &["edits"]) {
            Some(Value::Array(items)) => items,
            // A single edit, not in a list, is one all the same.
            None if field(object, &["op"]).is_some() => return read(&json!([value]), only_card),
            None => return whole("the reply's object has no `edits`".into()),
            Some(other) => return whole(format!("`edits` is {}, not a list", kind(other))),
        },
        other => return whole(format!("the reply is {}, not an object with `edits`", kind(other))),
    };
    let mut reading = Reading::default();
    for (index, item) in items.iter().enumerate() {
        let read = match item {
            Value::Object(object) => edit(object, only_card),
            other => Err(format!("an edit is an object, not {}", kind(other))),
        };
        match read {
            Ok(edit) => reading.edits.push(edit),
            Err(message) => reading.unread.push(Unread { index: Some(index), message }),
        }
    }
    reading
}

fn whole(message: String) -> Reading {
    Reading { edits: Vec::new(), unread: vec![Unread { index: None, message }] }
}

fn edit(object: &Map<String, Value>, only_card: Option<&str>) -> Result<Edit, String> {
    let name = text(object, &["op", "operation", "type"])?.ok_or("`op` is missing")?;
    let card = match (text(object, &["card", "path", "file"])?, only_card) {
        (Some(card), _) => card.trim().trim_start_matches("./").to_owned(),
        (None, Some(card)) => card.to_owned(),
        (None, None) => return Err("`card` is missing".into()),
    };
    let target = || filled(object, &["target", "anchor"], &name);
    let content = || filled(object, &["content", "text", "new_text"], &name);
    let op = match name.trim().to_lowercase().replace([' ', '-'], "_").as_str() {
        "append" | "add" => Op::Append { content: content()? },
        "insert_after" | "insert" => Op::InsertAfter { target: target()?, content: content()? },
        "replace" => Op::Replace { target: target()?, content: content()? },
        "delete" => Op::Delete { target: target()? },
        "create" => Op::Create {
            description: text(object, &["description"])?,
            content: filled(object, &["content", "text"], &name)?,
        },
        "rewrite" | "full_rewrite" => Op::Rewrite {
            description: text(object, &["description"])?,
            content: filled(object, &["content", "text"], &name)?,
        },
        "suggest" | "suggestion" => Op::Suggest { content: content()? },
        "remove" => Op::Remove,
        "move" | "rename" => {
            Op::Move { to: filled(object, &["to"], &name)?.trim().trim_start_matches("./").to_owned() }
        }
        _ => {
            return Err(format!(
                "there is no operation {name:?}; operations are append, insert_after, replace, delete, create, remove, \
                 move, rewrite, suggest"
            ));
        }
    };
    let support = match field(object, &["support", "support_count"]) {
        None => 1,
        Some(value) => match value.as_u64() {
            Some(count) => u32::try_from(count).unwrap_or(u32::MAX).max(1),
            None => return Err(format!("`support` is {value}, not a whole number")),
        },
    };
    let reason = text(object, &["reason", "reasoning", "rationale"])?.unwrap_or_default();
    let source = match text(object, &["source"])?.as_deref() {
        Some("success" | "successes") => Source::Successes,
        _ => Source::Failures,
    };
    Ok(Edit { card, op, reason, support, source })
}

/// The first of a key's names that is there and not null; names are matched without case.
fn field<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let found = |name: &&str| object.iter().find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null());
    names.iter().find_map(found).map(|(_, value)| value)
}

fn text(object: &Map<String, Value>, names: &[&str]) -> Result<Option<String>, String> {
    match field(object, names) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.replace("\r\n", "\n"))),
        Some(other) => Err(format!("`{}` is {}, not a text", names[0], kind(other))),
    }
}

/// A text that an operation cannot do without.
fn filled(object: &Map<String, Value>, names: &[&str], op: &str) -> Result<String, String> {
    match text(object, names)? {
        Some(text) if !text.trim().is_empty() => Ok(text),
        Some(_) => Err(format!("`{}` is empty, and {op} needs it", names[0])),
        None => Err(format!("`{}` is missing, and {op} needs it", names[0])),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
