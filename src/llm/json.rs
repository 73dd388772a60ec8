//! JSON in what a model says: the last whole object, whatever stands around it, and that object as a type of ours.
//!
//! A model's text is hostile until it parses. Nothing here panics, guesses, or takes more than linear time.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads the last whole object of a text as a `T`. The error is one line for the model and for a person: that no
/// object is there, or which field is wrong and how (`edits[1].op: unknown variant ...`).
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let object = last_object(text)?;
    serde_path_to_error::deserialize(object).map_err(|error| {
        let path = error.path().to_string();
        if path == "." { error.inner().to_string() } else { format!("{path}: {}", error.inner()) }
    })
}

/// The last whole object of a text, or why there is none.
///
/// Prose, fences (closed or not) and thoughts around it do not matter; where a thought ends (`</think>`), only what
/// follows counts. An object inside an array, or inside one that is cut off or broken, is a part of something and
/// never an answer by itself; an empty object is an answer only when there is no other.
pub fn last_object(text: &str) -> Result<Value, String> {
    // A reply that begins with its object has no thought before it, whatever its strings hold.
    let thought = text.rfind("</think>").filter(|_| !text.trim_start().starts_with('{'));
    let text = thought.map_or(text, |at| &text[at + "</think>".len()..]);
    let mut last = None;
    let mut problem = None;
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '[']) {
        let start = at + found;
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                let is_better = |last: &Value| value.as_object().is_some_and(|map| !map.is_empty()) || is_empty(last);
                if value.is_object() && last.as_ref().is_none_or(is_better) {
                    last = Some(value);
                }
            }
            // What began here runs to the end of the text: what stands inside belongs to it.
            Some(Err(error)) if error.is_eof() => {
                problem = Some("the JSON object is cut off before its end".to_owned());
                break;
            }
            Some(Err(error)) => {
                // Within something broken, go on where it broke; what stood before is a part of it. A bracket that
                // begins no JSON breaks at once, so that what prose holds in brackets is still found.
                at = (start + offset(&text[start..], &error)).max(start + 1);
                if text.as_bytes()[start] == b'{' && at > start + 1 {
                    problem = Some(format!("the JSON object is not valid: {}", without_place(&error)));
                }
            }
            None => break,
        }
        at = text.ceil_char_boundary(at);
    }
    last.ok_or_else(|| problem.unwrap_or_else(|| "there is no JSON object in the reply".to_owned()))
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Where in a text an error stands, in bytes: serde_json counts lines from 1 and bytes in them.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (before + error.column().saturating_sub(1)).min(text.len())
}

/// An error's message without the line and column, which count from where we began to read.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.clone(), |at| text[..at].to_owned())
}

#[cfg(test)]
mod tests;
