//! What a configuration may hold: each value by the schema, then what several keys together must be.

use serde_json::{Map, Value};

use super::Config;
use super::nearest;
use super::place::{Fault, KeyPath};
use super::shape::{Key, Leaf, Shape};
use super::source::shown;

/// All that is wrong with a tree of values by the schema.
pub(super) fn values(root: &Map<String, Value>, shape: &Shape) -> Vec<Fault> {
    let mut check = Check { shape, faults: Vec::new() };
    check.table(root, shape.keys(), &[]);
    check.faults
}

struct Check<'s> {
    /// Of the whole configuration.
    shape: &'s Shape,
    faults: Vec<Fault>,
}

impl Check<'_> {
    fn table(&mut self, table: &Map<String, Value>, keys: &[Key], above: &[String]) {
        for (name, value) in table {
            let key = below(above, name);
            match keys.iter().find(|known| known.name == *name) {
                Some(known) => self.value(value, &known.shape, &key),
                None => {
                    let hint = nearest::hint(&key, value.is_object(), self.shape, keys);
                    self.faults.push(Fault::new(key, "unknown key").hint(hint));
                }
            }
        }
        for missing in keys.iter().filter(|key| key.is_required && !table.contains_key(&key.name)) {
            self.faults.push(Fault::new(below(above, &missing.name), "is missing").hint(missing.about.clone()));
        }
    }

    fn value(&mut self, value: &Value, shape: &Shape, key: &[String]) {
        match (shape, value) {
            (Shape::Section(keys), Value::Object(table)) => self.table(table, keys, key),
            (Shape::Named { keys, .. }, Value::Object(table)) => {
                for (name, entry) in table {
                    let key = below(key, name);
                    match entry {
                        Value::Object(entry) => self.table(entry, keys, &key),
                        other => self.no_table(other, &key),
                    }
                }
            }
            (Shape::Free, Value::Object(_)) => {}
            (Shape::Section(_) | Shape::Named { .. } | Shape::Free, other) => self.no_table(other, key),
            (Shape::Leaf(leaf), value) if leaf.takes(value) => {}
            (Shape::Leaf(leaf), value) => self.faults.push(wrong(leaf, value, key)),
        }
    }

    fn no_table(&mut self, value: &Value, key: &[String]) {
        self.faults.push(Fault::new(key, format!("{} is not a table of keys", shown(value))));
    }
}

fn wrong(leaf: &Leaf, value: &Value, key: &[String]) -> Fault {
    let fault = Fault::new(key, format!("{} is not {}", shown(value), leaf.wanted()));
    let (Leaf::Choice(words), Some(given)) = (leaf, value.as_str()) else { return fault };
    match nearest::word(given, words.iter().map(|(word, _)| word.as_str())) {
        Some(word) => fault.hint(format!("did you mean \"{word}\"?")),
        None => fault,
    }
}

fn below(table: &[String], name: &str) -> KeyPath {
    [table, &[name.to_owned()]].concat()
}

/// What several keys together must be.
pub(super) fn together(config: &Config) -> Vec<Fault> {
    let fault = |name: &str, what: &str| Fault::new(["data".to_owned(), name.to_owned()], what);
    let tasks = match (&config.data.tasks, &config.data.split_dir) {
        (None, None) => Some(fault("tasks", "is missing: there is nothing to train on").hint(
            "name a file of tasks (tasks), or a folder with train.jsonl, selection.jsonl and test.jsonl (split_dir)",
        )),
        (Some(_), Some(_)) => Some(
            fault("split_dir", "tasks is set as well, and only one of the two can be")
                .hint("leave out split_dir to have tasks split, or tasks to use the splits there are"),
        ),
        _ => None,
    };
    let ratio = &config.data.split_ratio;
    let numbers: Option<Vec<u32>> = ratio.split(':').map(|part| part.trim().parse().ok()).collect();
    let gate_decides = config.data.tasks.is_some() && config.evaluation.use_gate;
    let ratio = match numbers.as_deref() {
        Some([1..=u32::MAX, 0, _]) if gate_decides => Some(
            fault("split_ratio", &format!("{ratio:?} leaves no selection split, and the gate decides by it"))
                .hint("raise its second number, or set evaluation.use_gate = false"),
        ),
        Some([1..=u32::MAX, _, _]) => None,
        _ => Some(
            fault("split_ratio", &format!("{ratio:?} is not three whole numbers"))
                .hint("write train:selection:test, for instance \"2:1:7\"; the first must be 1 or more"),
        ),
    };
    tasks.into_iter().chain(ratio).collect()
}
