//! For the tests of evaluators: a task of one line, scored without surroundings.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::registry;
use super::{Attempt, Host};
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::process::Sandbox;
use crate::ground::signals::Cancel;
use crate::score::Score;
use crate::task::{self, Task};

/// A task with these keys besides `id` and `input`.
pub(super) fn task(keys: &Value) -> Task {
    let mut line = json!({"id": "a", "input": "q"});
    if let (Some(line), Some(keys)) = (line.as_object_mut(), keys.as_object()) {
        line.extend(keys.clone());
    }
    task::parse(Path::new("t.jsonl"), &line.to_string()).unwrap().remove(0)
}

/// The score of an answer, by an evaluator with options.
pub(super) fn score(name: &str, options: &Value, keys: &Value, answer: &str) -> Result<Score> {
    let evaluator = registry::find(name, options.as_object().unwrap_or(&serde_json::Map::new()))?;
    let task = task(keys);
    evaluator.check(&task)?;
    let tools = ["read_card".to_owned()];
    let attempt = Attempt { task: &task, answer, trajectory: "", tools: &tools };
    let (env, cancel) = (Env::default(), Cancel::default());
    let host = Host {
        again: 0,
        env: &env,
        cancel: &cancel,
        sandbox: Sandbox::Off,
        timeout: Duration::from_secs(1),
        desk: Path::new(""),
    };
    evaluator.evaluate(&attempt, &host)
}

/// Hard scores of answers to one task.
pub(super) fn hard(name: &str, options: &Value, keys: &Value, answers: &[&str]) -> Vec<f64> {
    answers.iter().map(|answer| score(name, options, keys, answer).unwrap().hard).collect()
}
