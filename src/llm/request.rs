//! What a model is asked, as plain data, and the digest that names the question.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ground::digest;

/// One question to a chat model. What stands at its default is left out of the canonical form, so that a field
/// added later changes no digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The shape that the answer must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// The most tokens of the answer, hidden reasoning included.
    pub max_tokens: u32,
    /// The sampling temperature; none leaves it to the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// A seed for the servers that take one (OpenAI's kind).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Texts that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Which of several answers to the same question this is (0 is the first): repeats of one task differ here, so
    /// that a recording tells them apart whichever came first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sample: u32,
    /// Further fields for the server as they are, `reasoning_effort` for instance.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// Whether the beginning (tools, system) will be sent again soon, so that a provider may keep it. Changes the
    /// price, not the answer, and is therefore no part of the question's digest.
    #[serde(skip)]
    pub cache: bool,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What holds throughout.
    System { text: String },
    /// What we say.
    User { text: String },
    /// What the model said, and the tools that it called.
    Assistant {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// A tool's result, for the call of this id.
    Tool {
        id: String,
        text: String,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

impl Message {
    /// What holds throughout.
    pub fn system(text: impl Into<String>) -> Message {
        Message::System { text: text.into() }
    }

    /// What we say.
    pub fn user(text: impl Into<String>) -> Message {
        Message::User { text: text.into() }
    }

    /// The message's text.
    pub fn text(&self) -> &str {
        match self {
            Message::System { text }
            | Message::User { text }
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. } => text,
        }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// The JSON schema of its input: an object's.
    pub input: Value,
}

/// A call of a tool, as the model made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result must carry; ours when the server gave none.
    pub id: String,
    /// The tool's name, whether or not there is such a tool.
    pub name: String,
    /// The input; an empty object when `problem` is set.
    pub input: Value,
    /// Why the input could not be read, with what stood there: to be told to the model, never guessed at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The shape of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// A name for it: letters, digits, `_` and `-`.
    pub name: String,
    /// A JSON schema whose top is an object.
    pub schema: Value,
}

impl Request {
    /// A question with these messages and this limit on the answer, the rest at its default.
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Request {
        Request {
            messages,
            tools: Vec::new(),
            schema: None,
            max_tokens,
            temperature: None,
            seed: None,
            stop: Vec::new(),
            sample: 0,
            extra: Map::new(),
            cache: false,
        }
    }

    /// The question as canonical JSON: keys sorted at every depth, no white space.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        // A question is made of strings, numbers and JSON values: it always serialises.
        canonical(&serde_json::to_value(self).unwrap_or_default(), &mut out);
        out
    }

    /// The digest that names this question to this model, on any server: 64 hex characters. It is stable over
    /// versions of this program, since it names answers on disk.
    pub fn digest(&self, model: &str) -> String {
        self.name_and_bound(model).0
    }

    /// The most tokens that the question can have: no token is shorter than a byte, and its canonical form has more
    /// bytes than its text, which covers what a server's template adds. With tools, some servers add a page.
    pub fn input_bound(&self) -> u64 {
        self.bound_of(self.canonical().len())
    }

    /// Digest and bound, for a caller that needs both of a large question.
    pub(super) fn name_and_bound(&self, model: &str) -> (String, u64) {
        let canonical = self.canonical();
        let name = digest::of_parts([b"chat 1".as_slice(), model.as_bytes(), canonical.as_bytes()]);
        (name, self.bound_of(canonical.len()))
    }

    fn bound_of(&self, bytes: usize) -> u64 {
        let page = if self.tools.is_empty() && self.schema.is_none() { 0 } else { 1_024 };
        bytes as u64 + page
    }
}

fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (n, key) in keys.into_iter().enumerate() {
                let _ = write!(out, "{}{}:", if n > 0 { "," } else { "" }, Value::from(key.as_str()));
                canonical(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(list) => {
            out.push('[');
            for (n, value) in list.iter().enumerate() {
                out.push_str(if n > 0 { "," } else { "" });
                canonical(value, out);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_digest_is_stable_and_tells_questions_apart() {
        let request = Request::new(vec![Message::system("be brief"), Message::user("hi")], 16);
        insta::assert_snapshot!(request.canonical(), @r#"{"max_tokens":16,"messages":[{"role":"system","text":"be brief"},{"role":"user","text":"hi"}]}"#);
        insta::assert_snapshot!(request.digest("m"), @"bc6d44c136dcd7cbb07727c8b82a172916d236ced01ec83004585c164bbe6a77");
        let cached = Request { cache: true, ..request.clone() };
        assert_eq!(cached.digest("m"), request.digest("m"));
        let others = [
            Request { sample: 1, ..request.clone() },
            Request { max_tokens: 17, ..request.clone() },
            Request { temperature: Some(0.0), ..request.clone() },
            Request { stop: vec!["x".into()], ..request.clone() },
        ];
        assert!(others.iter().all(|other| other.digest("m") != request.digest("m")));
        assert_ne!(request.digest("m"), request.digest("n"));
    }

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let with = |schema: Value| Request {
            schema: Some(Schema { name: "s".into(), schema }),
            ..Request::new(vec![Message::user("hi")], 1)
        };
        let one = with(json!({"type": "object", "properties": {"b": {"x": 1, "a": 2}, "a": []}}));
        let two = with(json!({"properties": {"a": [], "b": {"a": 2, "x": 1}}, "type": "object"}));
        assert_eq!(one.digest("m"), two.digest("m"));
    }

    #[test]
    fn a_question_survives_its_file() {
        let call = ToolCall { id: "1".into(), name: "t".into(), input: json!({"a": 1}), problem: None };
        let request = Request {
            messages: vec![
                Message::user("hi"),
                Message::Assistant { text: String::new(), calls: vec![call] },
                Message::Tool { id: "1".into(), text: "ok".into(), failed: true },
            ],
            seed: Some(7),
            ..Request::new(Vec::new(), 9)
        };
        let back: Request = serde_json::from_str(&request.canonical()).unwrap();
        assert_eq!(back, request);
    }
}
