//! Which changes of a configuration would make the history of its run a lie.

use serde_json::Value;

use super::document::value;
use super::shape::Shape;
use super::{Config, scrub};

/// Sections that only say what may be taken, and how fast.
const FREE_SECTIONS: &[&str] = &["budget", "prices", "rates"];

/// Keys that change no result. What tasks a run has is held by its own copy of them, wherever they came from.
const FREE_KEYS: &[&str] = &[
    "train.workers",
    "train.out",
    "train.sandbox",
    "data.tasks",
    "data.split_dir",
    "gradient.analyst_workers",
    "evaluation.eval_test",
];

/// Keys that are free in every section.
const FREE_NAMES: &[&str] = &["timeout", "retries"];

/// Keys that hold the name of a model, whose address may move.
const MODELS: &[&str] = &["optimizer.name", "optimizer.model", "target.name", "evaluation.judge"];

/// A key whose value is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key, `section.key`.
    pub key: String,
    /// What it was, as TOML writes it; `not set` for nothing.
    pub old: String,
    /// What it is.
    pub new: String,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} → {}", self.key, self.old, self.new)
    }
}

impl Config {
    /// The keys whose change would make a run's history a lie, in the order of the sections. More epochs, another
    /// address of the same model, and whatever only costs or saves time and money are none.
    pub fn changes_of_history(old: &Config, new: &Config) -> Vec<Change> {
        let (old, new) = (old.tree(), new.tree());
        let mut changes = Vec::new();
        for section in Shape::of_config().keys().iter().filter(|one| !FREE_SECTIONS.contains(&one.name.as_str())) {
            for key in section.shape.keys() {
                let (old, new) = (&old[&section.name][&key.name], &new[&section.name][&key.name]);
                let name = format!("{}.{}", section.name, key.name);
                let is_free = FREE_KEYS.contains(&name.as_str()) || FREE_NAMES.contains(&key.name.as_str());
                if !is_free && !is_same(&name, old, new) {
                    changes.push(Change { key: name, old: shown(old), new: shown(new) });
                }
            }
        }
        changes
    }
}

fn is_same(key: &str, old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::String(old), Value::String(new)) if MODELS.contains(&key) => {
            without_address(old) == without_address(new)
        }
        _ if key == "train.num_epochs" => new.as_u64() >= old.as_u64(),
        _ => old == new,
    }
}

/// A model's name without the `@URL` where it is served. A program's name has none.
fn without_address(name: &str) -> &str {
    if name.starts_with("command:") {
        return name;
    }
    // A model's name may hold an @ itself, so only one before a scheme divides.
    let at = ["@http://", "@https://"].iter().filter_map(|mark| name.find(mark)).min();
    at.map_or(name, |at| &name[..at])
}

fn shown(old: &Value) -> String {
    if old.is_null() { "not set".to_owned() } else { value(&scrub::scrubbed_value(old.clone())) }
}
