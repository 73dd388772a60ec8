//! Cards opened by a tool, so that the read trace is what the model really read.

use serde_json::{Value, json};

use super::chat::Talk;
use super::{Outcome, View};
use crate::ground::error::Result;
use crate::llm::{Client, Message, Request, Tool, ToolCall};
use crate::trajectory::Event;

/// The tool's name.
const READ: &str = "read_card";

/// The most bytes of a card that are shown; the lint's limits are far below.
const SHOWN: usize = 64 << 10;

/// The most bytes of a path that can be a card's.
const LONGEST: usize = 1 << 10;

fn tool() -> Tool {
    Tool {
        name: READ.to_owned(),
        description: "Opens a card and gives its text. Call it for each card whose description fits the task.".into(),
        input: json!({
            "type": "object",
            "properties": {"path": {"type": "string", "description": "the card's path as it is listed"}},
            "required": ["path"],
            "additionalProperties": false,
        }),
    }
}

/// Asks until the model answers without opening another card, at most `turns` times.
///
/// # Errors
/// As [`super::Ready::attempt`].
pub(super) fn converse(
    client: &Client,
    mut request: Request,
    view: &View,
    turns: usize,
    mut talk: Talk,
) -> Result<Outcome> {
    request.tools = vec![tool()];
    for turn in 1..=turns {
        let reply = match client.chat(&request) {
            Ok(reply) => reply,
            Err(failure) => return talk.failed(failure),
        };
        talk.said(&reply);
        if reply.calls.is_empty() {
            return Ok(talk.answered(reply.text));
        }
        request.messages.push(reply.message());
        let is_last = turn + 1 >= turns;
        for call in &reply.calls {
            let (text, failed) = answer(call, view, &mut talk);
            let text = if is_last { format!("{text}\n\nNo more cards can be opened: answer now.") } else { text };
            request.messages.push(Message::Tool { id: call.id.clone(), text, failed });
        }
    }
    Ok(talk.at_fault(format!("There was no answer after {turns} turns. Open fewer cards.")))
}

/// A tool's result, and whether it failed.
fn answer(call: &ToolCall, view: &View, talk: &mut Talk) -> (String, bool) {
    talk.attempt.tools.push(call.name.clone());
    if call.name != READ {
        talk.attempt.events.push(Event::Used { tool: call.name.clone(), detail: call.input.to_string() });
        return (format!("There is no tool `{}`; the only one is `{READ}`.", call.name), true);
    }
    let path = call.input.get("path").and_then(Value::as_str).map(|path| path.trim().trim_start_matches("./"));
    // A path is one line of the read trace.
    let is_path = |path: &&str| path.len() <= LONGEST && !path.chars().any(char::is_control) && !path.is_empty();
    let Some(path) = path.filter(is_path).filter(|_| call.problem.is_none()) else {
        let problem = call.problem.clone().unwrap_or_else(|| "`path` is not a path as it is listed".to_owned());
        talk.attempt.events.push(Event::Used { tool: READ.to_owned(), detail: problem.clone() });
        return (format!("The input of `{READ}` cannot be used: {problem}"), true);
    };
    talk.attempt.reads.push(path.to_owned());
    talk.attempt.events.push(Event::Read { path: path.to_owned() });
    match view.card(path) {
        Some(card) => (crate::ground::text::clip(card.body.trim(), SHOWN), false),
        None => (format!("There is no card `{path}`. Use a path as it is listed."), true),
    }
}
