//! A pool, tasks and a model that knows what its prompt says.

use serde_json::{Value, json};

use crate::server::{Seen, Server, Step, answer, completion, json_reply};
use crate::support::{Run, World};

/// The codes that the tasks ask for, by place.
pub(crate) const CODES: [(&str, &str); 6] =
    [("north", "4711"), ("south", "4712"), ("east", "4713"), ("west", "4714"), ("roof", "4715"), ("cellar", "4716")];

/// A world with a pool that knows the first `known` codes, a card for each, and a task for every code.
pub(crate) fn scene(known: usize) -> World {
    let world = World::with_pool();
    for (place, code) in &CODES[..known] {
        card(&world, place, code);
    }
    commit(&world, "cards");
    let tasks = CODES.iter().map(|(place, code)| {
        let input = format!("What is the code of the {place} door?");
        json!({"id": place, "input": input, "reference": code}).to_string() + "\n"
    });
    world.write("tasks.jsonl", tasks.collect::<String>());
    world
}

pub(crate) fn card(world: &World, place: &str, rule: &str) {
    let text = format!(
        "---\ndescription: Use when the {place} door is asked for. Not for letters.\n---\n\n## Rules\n- The {place} code is {rule}.\n"
    );
    world.write(format!("pool/01_craft_elements/{place}.md"), text);
}

pub(crate) fn commit(world: &World, message: &str) {
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "--allow-empty", "-m", message]);
}

/// Runs `eval` on the scene's tasks with an exact evaluator, four workers and no retries.
pub(crate) fn eval(world: &World, server: &Server, more: &[&str]) -> Run {
    world.skilltrain(&args(&target(server), more))
}

pub(crate) fn target(server: &Server) -> String {
    format!("openai:m@{}", server.url())
}

pub(crate) fn args<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["eval", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", target, "--retries", "0"];
    args.extend(["--sandbox", "off", "--out", "out"]);
    args.extend(more);
    args
}

/// The result of a run with `--json`.
pub(crate) fn result(run: Run) -> Value {
    serde_json::from_str(&run.ok()).unwrap()
}

/// The place that a request's task asks for.
pub(crate) fn place(seen: &Seen) -> String {
    let messages = seen.body["messages"].as_array().unwrap();
    let asked = messages.iter().find(|message| message["role"] == "user").unwrap()["content"].as_str().unwrap();
    CODES.iter().find(|(place, _)| asked.contains(place)).unwrap().0.to_owned()
}

/// What a model answers that can read: the code that its conversation states, else that it does not know.
pub(crate) fn knows(seen: &Seen) -> Step {
    let (place, text) = (place(seen), seen.body["messages"].to_string());
    let mark = format!("The {place} code is ");
    match text.split_once(&mark) {
        Some((_, rest)) => answer(&rest.chars().take_while(char::is_ascii_digit).collect::<String>()),
        None => answer("I do not know."),
    }
}

/// As [`knows`], after opening the card of its place by the tool.
pub(crate) fn opens(seen: &Seen) -> Step {
    let messages = seen.body["messages"].as_array().unwrap();
    if messages.iter().any(|message| message["role"] == "tool") {
        return knows(seen);
    }
    let path = format!("01_craft_elements/{}.md", place(seen));
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "read_card", "arguments": json!({ "path": path }).to_string()}});
    json_reply(&completion(json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls"))
}
