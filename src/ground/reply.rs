//! The JSON in what a model said: prose around it, drafts before it, fences and thoughts left open.
//!
//! The last whole object is what it means. What is cut off or broken is never patched up: that would be a guess.

use std::fmt;

use serde_json::Value;

/// Places at which an object may begin that are tried; a reply has a handful.
const MOST_TRIES: usize = 10_000;

/// Why a reply holds no object that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// There is none.
    None,
    /// The last one does not end.
    CutOff,
    /// The last one is no JSON; what the parser says.
    Invalid(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::None => write!(f, "the reply holds no JSON object"),
            Fault::CutOff => write!(f, "the reply is cut off inside its JSON object"),
            Fault::Invalid(why) => write!(f, "the reply's JSON is not valid: {why}"),
        }
    }
}

/// The last whole JSON object of a reply, or list of objects. A closed `<think>` part is no reply, and an empty object is
/// one only when there is no other: prose has `{}` in it.
///
/// # Errors
/// When there is none, or when something that was meant as one comes after it and is cut off or broken: the reply's
/// last word counts, not a draft.
pub fn last_object(reply: &str) -> Result<Value, Fault> {
    // A line feed at the end of a text that is cut inside a string is no part of the string.
    let text = spoken(reply).trim_end();
    let mut last = Err(Fault::None);
    let (mut at, mut tries) = (0, 0);
    while let Some(offset) = text[at..].find(['{', '[']) {
        at += offset;
        tries += 1;
        if tries > MOST_TRIES {
            break;
        }
        let rest = &text[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                at += values.byte_offset().max(1);
                let is_word = value.as_object().is_none_or(|object| !object.is_empty());
                if is_meant(&value) && (is_word || last.is_err()) {
                    last = Ok(value);
                }
            }
            Some(Err(error)) if looks_meant(rest) && error.is_eof() => return Err(Fault::CutOff),
            Some(Err(error)) if looks_meant(rest) => {
                last = Err(Fault::Invalid(error.to_string()));
                // Objects inside a broken one are parts of it, not the reply.
                at += closing(rest).unwrap_or(rest.len());
            }
            _ => at += 1,
        }
    }
    last
}

/// What comes after the last closed thought; everything when no thought was closed, and when the reply begins with its
/// object, whose strings may hold anything.
fn spoken(reply: &str) -> &str {
    if reply.trim_start().starts_with('{') {
        return reply;
    }
    reply.rfind("</think>").map_or(reply, |at| &reply[at + "</think>".len()..])
}

/// An object, or a list that begins with one: `[1]` is a footnote.
fn is_meant(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.first().is_some_and(Value::is_object),
        _ => false,
    }
}

/// Whether text at a bracket looks like JSON rather than prose such as `{name}`.
fn looks_meant(text: &str) -> bool {
    let inside = text[1..].trim_start();
    match text.as_bytes().first() {
        Some(b'{') => inside.is_empty() || inside.starts_with(['"', '\'']),
        _ => inside.starts_with('{') && looks_meant(inside),
    }
}

/// The byte after the bracket that closes the first one; text in double quotes does not count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_whole_object_is_the_reply() {
        let object = json!({"edits": []});
        let rows = [
            r#"{"edits": []}"#,
            "Sure! Here is the JSON you want:\n```json\n{\"edits\": []}\n```\nI hope that helps.",
            r#"First {"edits": [1]}, no, better: {"edits": []}"#,
            "```json\n{\"edits\": []}\n",
            r#"<think>maybe {"edits": [2]}</think> {"edits": []}"#,
            r#"<think>it should say {"edits": []}"#,
            r#"{"edits": []} and no {} at all"#,
            r#"As {name} says [1]: {"edits": []} (see [2] and {this})"#,
        ];
        for row in rows {
            assert_eq!(last_object(row), Ok(object.clone()), "{row}");
        }
        assert_eq!(last_object(r#"[{"op": "add"}] as in [1]"#), Ok(json!([{"op": "add"}])));
    }

    #[test]
    fn what_is_cut_or_broken_is_said_and_no_draft_or_part_stands_in() {
        for row in [
            r#"{"edits": [{"op": "append", "content": "x"}, {"op""#,
            r#"{"edits": []} and now the final one: {"edits": [{"op": "add"}"#,
            r#"[{"op": "add"}, {"#,
            "{",
            "{\"edits\": [{\"op\": \"app\n",
        ] {
            assert_eq!(last_object(row), Err(Fault::CutOff), "{row}");
        }
        for row in
            [r#"{"edits": [{"op": "add"},]}"#, r#"{'edits': [{"op": "add"}]}"#, r#"{"edits": True, "a": {"b": 1}}"#]
        {
            assert!(matches!(last_object(row), Err(Fault::Invalid(_))), "{row}: {:?}", last_object(row));
        }
        for row in ["", "no braces", "[1, 2]", "<think>{\"a\": 1}</think>", "{name}"] {
            assert_eq!(last_object(row), Err(Fault::None), "{row}");
        }
    }

    #[test]
    fn hostile_brackets_end_soon() {
        for text in ["{".repeat(200_000), "[{".repeat(100_000), "{\"a\":".repeat(50_000), "[".repeat(200_000)] {
            assert!(last_object(&text).is_err());
        }
    }
}
