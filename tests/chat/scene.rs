//! A world with a batch, and a model that plays a part call by call.

use serde_json::{Value, json};

use crate::server::{Seen, Server, Step, completion, json_reply};
use crate::support::{CARD, Run, World};

/// The card that a good step writes.
pub(crate) const PATH: &str = "00_general_rules/answer.md";

/// A world with a pool and a batch of so many works.
pub(crate) fn world(works: usize) -> World {
    let world = World::with_pool();
    world.batch(works);
    world
}

/// The optimizer's name.
pub(crate) fn name(server: &Server) -> String {
    format!("openai:m@{}", server.url())
}

/// Runs `backward`, one work a micro-step, calls not retried.
pub(crate) fn backward(world: &World, server: &Server, more: &[&str]) -> Run {
    let mut args = vec!["--group-size", "1", "--call-retries", "0"];
    args.extend(more);
    world.backward(&name(server), &args)
}

/// A reply that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Step {
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(n, (name, input))| {
            json!({"id": format!("c{n}"), "type": "function", "function": {"name": name, "arguments": input.to_string()}})
        })
        .collect();
    json_reply(&completion(json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls"))
}

pub(crate) fn call(name: &str, input: Value) -> Step {
    calls(&[(name, input)])
}

pub(crate) fn finish() -> Step {
    call("finish", json!({"message": "answer first", "report": "- w1: answer first"}))
}

pub(crate) fn write(path: &str, text: &str) -> Step {
    call("write_card", json!({"path": path, "text": text}))
}

/// How many replies of the model a request's talk holds.
pub(crate) fn turn(seen: &Seen) -> usize {
    let messages = seen.body["messages"].as_array().unwrap();
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

/// The results of the last reply's calls.
pub(crate) fn results(seen: &Seen) -> Vec<String> {
    let messages = seen.body["messages"].as_array().unwrap();
    let last = messages.iter().rev().take_while(|message| message["role"] == "tool");
    let mut texts: Vec<String> = last.map(|message| message["content"].as_str().unwrap().to_owned()).collect();
    texts.reverse();
    texts
}

/// A model that lists, reads its evidence, writes the card and finishes: four calls.
pub(crate) fn good(seen: &Seen) -> Step {
    match turn(seen) {
        0 => calls(&[("list_cards", json!({"folder": ""})), ("history", json!({}))]),
        1 => call("read_evidence", json!({"work": 1, "part": "loss_report"})),
        2 => write(PATH, CARD),
        _ => finish(),
    }
}
