//! Anthropic's messages.

use serde_json::{Map, Value, json};

use super::{Abilities, count, misshapen, tool_call, with_own_ids};
use crate::llm::failure::{Failure, Why};
use crate::llm::reply::{Reply, Stop, Used};
use crate::llm::request::{Message, Request, Tool, ToolCall};
use crate::trajectory::Usage;

/// The tool that an answer with a schema is asked for through: a forced tool's input follows its schema on every
/// model, where a response format is known to the newer ones only.
const ANSWER: &str = "give_the_answer";

pub(super) fn encode(request: &Request, model: &str, abilities: Abilities) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("model", json!(model));
    put("max_tokens", json!(request.max_tokens));
    let system: Vec<&str> = request.messages.iter().filter_map(system_text).filter(|text| !text.is_empty()).collect();
    if !system.is_empty() {
        let mut block = json!({"type": "text", "text": system.join("\n\n")});
        if request.cache {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        put("system", json!([block]));
    }
    put("messages", turns(request));
    if let Some(temperature) = request.temperature {
        put("temperature", json!(temperature));
    }
    if !request.stop.is_empty() {
        put("stop_sequences", json!(request.stop));
    }
    let schema = request.schema.as_ref().filter(|_| abilities.schema && request.tools.is_empty());
    if let Some(schema) = schema {
        let description = "Gives the answer. Call it once, with the whole answer.";
        put("tools", json!([{"name": ANSWER, "description": description, "input_schema": schema.schema}]));
        put("tool_choice", json!({"type": "tool", "name": ANSWER}));
    } else if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
    }
    request.extra.iter().for_each(|(key, value)| {
        put(key, value.clone());
    });
    Value::Object(body)
}

fn system_text(message: &Message) -> Option<&str> {
    match message {
        Message::System { text } => Some(text),
        _ => None,
    }
}

fn tool(tool: &Tool) -> Value {
    json!({"name": tool.name, "description": tool.description, "input_schema": tool.input})
}

/// The conversation without its system texts; neighbours of one role are one turn, as results of several calls
/// must be. An empty text is left out: the server refuses it.
fn turns(request: &Request) -> Value {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let (role, blocks) = match message {
            Message::System { .. } => continue,
            Message::User { text } => ("user", text_block(text).into_iter().collect()),
            Message::Assistant { text, calls } => {
                ("assistant", text_block(text).into_iter().chain(calls.iter().map(call)).collect())
            }
            Message::Tool { id, text, failed } => {
                let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
                if *failed {
                    block["is_error"] = json!(true);
                }
                ("user", vec![block])
            }
        };
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend::<Vec<Value>>(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    // A growing conversation is kept up to here, so that the next turn pays for what is new only.
    if let Some(block) = turns.last_mut().and_then(|(_, blocks)| blocks.last_mut())
        && request.cache
        && !request.tools.is_empty()
    {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    let turns = turns.into_iter().filter(|(_, blocks)| !blocks.is_empty());
    turns.map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn call(call: &ToolCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
}

pub(super) fn decode(body: &Value) -> Result<Reply, Failure> {
    let blocks = body.get("content").and_then(Value::as_array);
    let blocks = blocks.ok_or_else(|| misshapen("it has no content", body))?;
    let usage = usage(body);
    let of_kind =
        |kind: &'static str| blocks.iter().filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind));
    let text: String = of_kind("text").filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    let calls = of_kind("tool_use").enumerate().filter_map(|(n, block)| {
        let name = block.get("name").and_then(Value::as_str)?;
        Some(tool_call(n, block.get("id").and_then(Value::as_str), name, block.get("input")))
    });
    let calls = with_own_ids(calls.collect());
    let failed = |why, what: &str| Err(Failure { usage, text: Some(text.clone()), ..Failure::new(why, what) });
    let stop = match body.get("stop_reason").and_then(Value::as_str) {
        Some("max_tokens") => return failed(Why::CutOff, "the answer was cut off at its limit of tokens"),
        Some("model_context_window_exceeded") => {
            return failed(Why::CutOff, "the answer was cut off at the end of the model's context");
        }
        Some("refusal") => return failed(Why::Refused, "the model refused"),
        Some("tool_use") => Stop::Tools,
        Some("end_turn" | "stop_sequence") => Stop::Done,
        other => Stop::Other(other.unwrap_or_default().to_owned()),
    };
    if let Some(answer) = calls.iter().find(|call| call.name == ANSWER) {
        return Ok(Reply { text: answer.input.to_string(), calls: Vec::new(), stop: Stop::Done, usage });
    }
    Ok(Reply { text, calls, stop, usage })
}

fn usage(body: &Value) -> Option<Used> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let (read, written) = (count(usage, "/cache_read_input_tokens"), count(usage, "/cache_creation_input_tokens"));
    let (read, written) = (read.unwrap_or(0), written.unwrap_or(0));
    // Here, unlike at OpenAI, what was read from or written into the cache is not part of the input's count.
    let input = count(usage, "/input_tokens")?.saturating_add(read).saturating_add(written);
    let output = count(usage, "/output_tokens")?;
    let usage = Usage { input_tokens: input, cached_tokens: read, output_tokens: output, cost_usd: None };
    Some(Used { usage, written_tokens: written })
}
