//! OpenAI's chat completions, as its many imitators understand them.

use serde_json::{Map, Value, json};

use super::{Abilities, count, misshapen, tool_call, with_own_ids};
use crate::llm::failure::{Failure, Why};
use crate::llm::reply::{Reply, Stop, Used};
use crate::llm::request::{Message, Request, Schema, Tool, ToolCall};
use crate::trajectory::Usage;

pub(super) fn encode(request: &Request, model: &str, abilities: Abilities) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(model));
    put("messages", request.messages.iter().map(message).collect());
    put(if abilities.completion_limit { "max_completion_tokens" } else { "max_tokens" }, json!(request.max_tokens));
    if let Some(temperature) = request.temperature {
        put("temperature", json!(temperature));
    }
    if let Some(seed) = request.seed {
        put("seed", json!(seed));
    }
    if !request.stop.is_empty() {
        put("stop", json!(request.stop));
    }
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
    }
    if let Some(schema) = request.schema.as_ref().filter(|_| abilities.schema) {
        put("response_format", response_format(schema));
    }
    // Last, so that a user's own field wins.
    request.extra.iter().for_each(|(key, value)| {
        put(key, value.clone());
    });
    Value::Object(body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({"role": "system", "content": text}),
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => json!({"role": "assistant", "content": text}),
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            json!({"role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Value>()})
        }
        Message::Tool { id, text, .. } => json!({"role": "tool", "tool_call_id": id, "content": text}),
    }
}

fn call(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.input.to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

fn tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.input});
    json!({"type": "function", "function": function})
}

fn response_format(schema: &Schema) -> Value {
    let inner = json!({"name": schema.name, "schema": schema.schema, "strict": is_strict(&schema.schema)});
    json!({"type": "json_schema", "json_schema": inner})
}

/// Whether OpenAI would take a schema as strict: every object closed, and all of its properties required. It
/// refuses the request otherwise.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let closed = map.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                let required = map.get("required").and_then(Value::as_array);
                let is_required = |key: &String| {
                    required.is_some_and(|list| list.iter().any(|name| name.as_str() == Some(key.as_str())))
                };
                map.get("additionalProperties") == Some(&json!(false)) && properties.keys().all(is_required)
            });
            closed && map.values().all(is_strict)
        }
        Value::Array(list) => list.iter().all(is_strict),
        _ => true,
    }
}

pub(super) fn decode(body: &Value) -> Result<Reply, Failure> {
    let usage = usage(body);
    let choice = body.pointer("/choices/0").ok_or_else(|| misshapen("it has no choices", body))?;
    let message = choice.get("message").filter(|message| message.is_object());
    let message = message.ok_or_else(|| misshapen("its choice has no message", body))?;
    let text = text_of(message.get("content")).ok_or_else(|| misshapen("its content is no text", body))?;
    let failed = |why, what: String| Failure { usage, text: Some(text.clone()), ..Failure::new(why, what) };
    if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        let why = crate::ground::text::first_line(refusal, 200);
        return Err(failed(Why::Refused, format!("the model refused: {why}")));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let calls: Vec<ToolCall> = calls.iter().enumerate().filter_map(|(n, value)| read_call(n, value)).collect();
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(failed(Why::CutOff, "the answer was cut off at its limit of tokens".into())),
        Some("content_filter") => return Err(failed(Why::Refused, "the provider's filter withheld the answer".into())),
        Some("error") => return Err(Failure::new(Why::Outage, "the provider broke off the answer")),
        Some("tool_calls" | "function_call") => Stop::Tools,
        // Some servers say "stop" beside tool calls.
        Some("stop") | None if !calls.is_empty() => Stop::Tools,
        Some("stop") => Stop::Done,
        other => Stop::Other(other.unwrap_or_default().to_owned()),
    };
    Ok(Reply { text, calls: with_own_ids(calls), stop, usage })
}

/// A message's text: a string, nothing, or parts of which those that are text count.
fn text_of(content: Option<&Value>) -> Option<String> {
    match content {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => {
            Some(parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect())
        }
        Some(_) => None,
    }
}

fn read_call(n: usize, value: &Value) -> Option<ToolCall> {
    let function = value.get("function")?;
    let name = function.get("name").and_then(Value::as_str)?;
    Some(tool_call(n, value.get("id").and_then(Value::as_str), name, function.get("arguments")))
}

fn usage(body: &Value) -> Option<Used> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    // Both counts or none: half a usage would make the other half free.
    let usage = Usage {
        input_tokens: count(usage, "/prompt_tokens")?,
        output_tokens: count(usage, "/completion_tokens")?,
        cached_tokens: count(usage, "/prompt_tokens_details/cached_tokens").unwrap_or(0),
        cost_usd: usage.get("cost").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0),
    };
    Some(Used { usage, written_tokens: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictness_follows_the_schema() {
        let closed =
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&closed));
        assert!(is_strict(&json!({"type": "array", "items": closed})));
        assert!(!is_strict(&json!({"type": "object", "properties": {"a": {}}, "required": ["a"]})));
        assert!(!is_strict(&json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false})));
    }
}
