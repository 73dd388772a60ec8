//! Checks: a task's own list of what must hold, each with the message that says what to do instead.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::Regex;
use serde_json::{Map, Value};

use super::registry::Options;
use super::{Attempt, Evaluator, Host};
use crate::ground::error::Result;
use crate::ground::reply;
use crate::pool::profile::nearest;
use crate::score::Score;
use crate::task::Task;

/// What a check can ask for: one of these keys, besides `message` and `ignore_case`.
const KINDS: [&str; 13] = [
    "contains",
    "not_contains",
    "contains_any",
    "matches",
    "not_matches",
    "equals",
    "max_words",
    "min_words",
    "max_chars",
    "min_chars",
    "json_keys",
    "tool_called",
    "tool_not_called",
];

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    Ok(Box::new(Checks::default()))
}

/// Hard: all hold. Soft: the share that holds. Feedback: the messages of those that do not, once each.
#[derive(Default)]
struct Checks {
    /// Patterns compiled once: tasks of a family share them.
    patterns: Mutex<HashMap<String, Arc<Regex>>>,
}

/// One check, read.
struct Check {
    kind: &'static str,
    wanted: Wanted,
    ignore_case: bool,
    message: Option<String>,
}

/// What stands behind a check's key.
enum Wanted {
    Texts(Vec<String>),
    Pattern(Arc<Regex>),
    Count(u64),
}

impl Evaluator for Checks {
    fn name(&self) -> String {
        "checks".into()
    }

    fn check(&self, task: &Task) -> Result<()> {
        self.read(task).map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let checks = self.read(attempt.task)?;
        let failed: Vec<&Check> = checks.iter().filter(|check| !check.holds(attempt)).collect();
        let mut feedback: Vec<String> = Vec::new();
        for check in &failed {
            let message = check.told();
            if !feedback.contains(&message) {
                feedback.push(message);
            }
        }
        let held = checks.len() - failed.len();
        let hard = if failed.is_empty() { 1.0 } else { 0.0 };
        Ok(Score { hard, soft: held as f64 / checks.len() as f64, feedback })
    }
}

impl Checks {
    fn read(&self, task: &Task) -> Result<Vec<Check>> {
        if task.checks.is_empty() {
            return Err(task
                .fault("key `checks` is missing or empty, and the `checks` evaluator goes by it")
                .hint("give the task a list of checks, or choose another evaluator"));
        }
        let read = |(index, check)| {
            self.one(check).map_err(|(message, hint)| {
                let error = task.fault(format!("key `checks[{index}]`: {message}"));
                if hint.is_empty() { error } else { error.hint(hint) }
            })
        };
        task.checks.iter().enumerate().map(read).collect()
    }

    /// Reads a check; an error is a message and a hint.
    fn one(&self, check: &Value) -> std::result::Result<Check, (String, String)> {
        let plain = |message: String| (message, String::new());
        let object = check.as_object().ok_or_else(|| plain(format!("an object is wanted, not {check}")))?;
        let asked: Vec<&String> =
            object.keys().filter(|key| !matches!(key.as_str(), "message" | "ignore_case")).collect();
        let [key] = asked.as_slice() else {
            let all = format!("one of {} is wanted", KINDS.join(", "));
            return Err((format!("{} keys ask for something", asked.len()), all));
        };
        let Some(kind) = KINDS.into_iter().find(|kind| kind == key) else {
            let hint = match nearest(key, KINDS) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("checks are: {}", KINDS.join(", ")),
            };
            return Err((format!("there is no check `{key}`"), hint));
        };
        let ignore_case = flag(object, "ignore_case").map_err(plain)?;
        let message = match object.get("message") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(other) => return Err(plain(format!("`message` is {other}, not a text"))),
        };
        let wanted = self.wanted(kind, &object[*key], ignore_case).map_err(|why| plain(format!("`{kind}`: {why}")))?;
        Ok(Check { kind, wanted, ignore_case, message })
    }

    fn wanted(&self, kind: &str, value: &Value, ignore_case: bool) -> std::result::Result<Wanted, String> {
        match kind {
            "max_words" | "min_words" | "max_chars" | "min_chars" => {
                let count = value.as_u64().ok_or_else(|| format!("a whole number is wanted, not {value}"))?;
                Ok(Wanted::Count(count))
            }
            "matches" | "not_matches" => match value {
                Value::String(pattern) => self.pattern(pattern, ignore_case).map(Wanted::Pattern),
                other => Err(format!("a pattern is wanted, not {other}")),
            },
            _ => texts(value).map(Wanted::Texts),
        }
    }

    fn pattern(&self, pattern: &str, ignore_case: bool) -> std::result::Result<Arc<Regex>, String> {
        let key = if ignore_case { format!("(?i:{pattern})") } else { pattern.to_owned() };
        // A thread that died while it held the lock left the map as it was.
        let mut known = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known.get(&key) {
            return Ok(Arc::clone(compiled));
        }
        let compiled = Arc::new(Regex::new(&key).map_err(|error| error.to_string())?);
        known.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }
}

/// A text or number, or a list of them that is not empty.
fn texts(value: &Value) -> std::result::Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("a text is wanted that is not empty, not {other}")),
    };
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(text).collect(),
        value => Ok(vec![text(value)?]),
    }
}

fn flag(object: &Map<String, Value>, key: &str) -> std::result::Result<bool, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("`{key}` is {other}, not true or false")),
    }
}

impl Check {
    fn holds(&self, attempt: &Attempt<'_>) -> bool {
        let answer = attempt.answer;
        match &self.wanted {
            Wanted::Count(limit) => {
                let count = if self.kind.ends_with("words") { words(answer) } else { answer.trim().chars().count() };
                if self.kind.starts_with("max") { count as u64 <= *limit } else { count as u64 >= *limit }
            }
            Wanted::Pattern(pattern) => pattern.is_match(answer) == (self.kind == "matches"),
            Wanted::Texts(wanted) => self.texts_hold(wanted, attempt),
        }
    }

    fn texts_hold(&self, wanted: &[String], attempt: &Attempt<'_>) -> bool {
        let folded = |text: &str| if self.ignore_case { text.to_lowercase() } else { text.to_owned() };
        let answer = folded(attempt.answer);
        let called = |name: &String| attempt.tools.iter().any(|tool| folded(tool) == folded(name));
        match self.kind {
            "contains" => wanted.iter().all(|text| answer.contains(&folded(text))),
            "contains_any" => wanted.iter().any(|text| answer.contains(&folded(text))),
            "not_contains" => !wanted.iter().any(|text| answer.contains(&folded(text))),
            "equals" => wanted.iter().any(|text| answer.trim() == folded(text).trim()),
            "tool_called" => wanted.iter().all(called),
            "tool_not_called" => !wanted.iter().any(called),
            _ => {
                let object = reply::last_object(attempt.answer).unwrap_or_default();
                wanted.iter().all(|path| has_key(&object, path, self.ignore_case))
            }
        }
    }

    /// The check's message, or one that says what it asks for.
    fn told(&self) -> String {
        if let Some(message) = &self.message {
            return message.clone();
        }
        let quoted =
            |texts: &[String], with: &str| texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(with);
        match &self.wanted {
            Wanted::Pattern(pattern) if self.kind == "matches" => format!("The answer must match `{pattern}`."),
            Wanted::Pattern(pattern) => format!("The answer must not match `{pattern}`."),
            Wanted::Count(count) => {
                let (bound, unit) = self.kind.split_once('_').unwrap_or_default();
                let unit = if unit == "chars" { "characters" } else { unit };
                format!("Answer in at {} {count} {unit}.", if bound == "max" { "most" } else { "least" })
            }
            Wanted::Texts(texts) => match self.kind {
                "contains" => format!("Say {}.", quoted(texts, " and ")),
                "contains_any" => format!("Say {}.", quoted(texts, " or ")),
                "not_contains" => format!("Do not say {}.", quoted(texts, " or ")),
                "equals" => format!("Answer with exactly {}.", quoted(texts, " or ")),
                "tool_called" => format!("Call the tool {}.", quoted(texts, " and ")),
                "tool_not_called" => format!("Do not call the tool {}.", quoted(texts, " or ")),
                _ => format!("Answer with a JSON object that has the keys {}.", quoted(texts, ", ")),
            },
        }
    }
}

/// Words: what white space parts and has a letter or digit in it.
fn words(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Whether JSON has a key, or keys of keys: `a.b`.
fn has_key(value: &Value, path: &str, ignore_case: bool) -> bool {
    let Some(object) = value.as_object() else { return false };
    let get = |name: &str| {
        object.iter().find(|(key, _)| *key == name || (ignore_case && key.to_lowercase() == name.to_lowercase()))
    };
    match (get(path), path.split_once('.')) {
        (Some(_), _) => true,
        (None, Some((first, rest))) => get(first).is_some_and(|(_, inner)| has_key(inner, rest, ignore_case)),
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests;
