//! The two shapes in which the world's servers are asked: pure functions from a question to JSON and back.

mod anthropic;
mod openai;
mod status;

use serde_json::Value;

use super::failure::{Failure, Why};
use super::reply::Reply;
use super::request::{Request, ToolCall};

pub(super) use status::{failure_of, retry_after};

/// How a server is talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// What a server turned out to take, learnt from its refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Abilities {
    /// Whether it takes a JSON schema for the answer.
    pub(super) schema: bool,
    /// Whether it wants the answer's limit as `max_completion_tokens`.
    pub(super) completion_limit: bool,
}

impl Dialect {
    /// The request's body.
    pub(super) fn encode(self, request: &Request, model: &str, abilities: Abilities) -> Value {
        match self {
            Dialect::OpenAi => openai::encode(request, model, abilities),
            Dialect::Anthropic => anthropic::encode(request, model, abilities),
        }
    }

    /// The answer that a reply of status 200 holds.
    pub(super) fn decode(self, body: &Value) -> Result<Reply, Failure> {
        match self {
            Dialect::OpenAi => openai::decode(body),
            Dialect::Anthropic => anthropic::decode(body),
        }
    }
}

/// A failure of a reply that is JSON but not the answer's shape.
fn misshapen(what: &str, body: &Value) -> Failure {
    let text = crate::ground::text::first_line(&body.to_string(), 200);
    Failure::new(Why::Malformed, format!("the server's reply is not an answer: {what} ({text})"))
}

/// A tool call from what servers send: input as text or as JSON, an id or none.
fn tool_call(n: usize, id: Option<&str>, name: &str, input: Option<&Value>) -> ToolCall {
    let id = id.filter(|id| !id.is_empty()).map_or_else(|| format!("call_{n}"), str::to_owned);
    let parsed = match input {
        None | Some(Value::Null) => Ok(Value::Object(serde_json::Map::new())),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
        Some(Value::String(text)) => {
            serde_json::from_str::<Value>(text).map_err(|error| (error.to_string(), text.clone()))
        }
        Some(value) => Ok(value.clone()),
    };
    let parsed = parsed.and_then(|value| match value {
        Value::Object(_) => Ok(value),
        other => Err(("it is not an object".to_owned(), other.to_string())),
    });
    let (input, problem) = match parsed {
        Ok(input) => (input, None),
        Err((why, text)) => {
            let text = crate::ground::text::first_line(&text, 200);
            (Value::Object(serde_json::Map::new()), Some(format!("the input is not a JSON object: {why}: {text}")))
        }
    };
    ToolCall { id, name: name.to_owned(), input, problem }
}

/// Tool calls with ids that differ, since results are matched by them.
fn with_own_ids(mut calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut seen = std::collections::BTreeSet::new();
    for (n, call) in calls.iter_mut().enumerate() {
        if !seen.insert(call.id.clone()) {
            call.id = format!("{}_{n}", call.id);
            seen.insert(call.id.clone());
        }
    }
    calls
}

/// A count of tokens in a usage object; absent when it is no count.
fn count(usage: &Value, pointer: &str) -> Option<u64> {
    let value = usage.pointer(pointer)?;
    value.as_u64().or_else(|| value.as_f64().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n as u64))
}

#[cfg(test)]
mod tests;
