//! Tasks: what a target attempts, one JSON object a line.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::ground::error::{Context as _, Error, Result};
use crate::ground::files;

/// Bytes of an id at most.
const LONGEST_ID: usize = 160;

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its name; unlike any other of the run. One line of plain text.
    pub id: String,
    /// What the target is asked.
    pub input: String,
    /// The right answer in the shape that the evaluator reads: mostly text, a number, a JSON value, or a list of texts
    /// any of which is right.
    pub reference: Option<Value>,
    /// Tasks of one group are never parted by a split.
    pub group: Option<String>,
    /// A task that the `no_regression` gate never lets get worse.
    pub critical: bool,
    /// The task's own checks, as the `checks` evaluator reads them.
    pub checks: Vec<Value>,
    /// The line as it was written, unknown keys included.
    pub raw: Map<String, Value>,
    /// Where it stands.
    pub place: Place,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

impl Task {
    /// The reference's texts, any of which is right: a list gives one each, a number as JSON writes it. Empty when
    /// there is no reference.
    pub fn answers(&self) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match &self.reference {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(text).collect(),
            Some(value) => vec![text(value)],
        }
    }

    /// An error of kind `Usage` at this task's line.
    pub fn fault(&self, message: impl std::fmt::Display) -> Error {
        Error::usage(format!("{}: task `{}`: {message}", self.place, self.id))
    }
}

/// Reads a file of tasks. Empty lines are passed over.
///
/// # Errors
/// Of kind `Usage`, naming file, line and key: no JSON object, a key missing or of a wrong type, an id that is there
/// twice (both lines named), no task at all. A file that cannot be read.
pub fn load(path: &Path) -> Result<Vec<Task>> {
    let text = files::read_text(path).map_err(|error| error.with_kind(crate::ground::error::Kind::Usage))?;
    parse(path, &text).context("cannot load tasks")
}

/// Reads tasks from a text; `file` is named in errors and kept as each task's place.
///
/// # Errors
/// As [`load`].
pub fn parse(file: &Path, text: &str) -> Result<Vec<Task>> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = Place { file: file.to_owned(), line: index + 1 };
        let task = read(line, place.clone()).map_err(|message| {
            Error::usage(format!("{place}: {message}")).hint("each line is one JSON object with `id` and `input`")
        })?;
        if let Some(earlier) = seen.insert(task.id.clone(), index + 1) {
            return Err(Error::usage(format!("{place}: key `id`: `{}` is also the task of line {earlier}", task.id))
                .hint("give each task an id of its own"));
        }
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Err(Error::usage(format!("{}: there is no task in it", file.display())));
    }
    Ok(tasks)
}

/// Tasks as a file of them, each as it was written.
pub fn render(tasks: &[Task]) -> String {
    tasks.iter().fold(String::new(), |mut text, task| {
        // Writing to a string cannot fail.
        writeln!(text, "{}", Value::Object(task.raw.clone())).ok();
        text
    })
}

fn read(line: &str, place: Place) -> Result<Task, String> {
    let raw = match serde_json::from_str(line) {
        Ok(Value::Object(raw)) => raw,
        Ok(_) => return Err("not a JSON object".into()),
        Err(error) => return Err(format!("not JSON: {error}")),
    };
    let id = match raw.get("id") {
        Some(Value::Number(number)) => number.to_string(),
        other => text(other, "id")?.to_owned(),
    };
    if id.chars().any(char::is_control) || id.trim() != id {
        return Err("key `id`: an id is one line of plain text without space around it".into());
    }
    if id.len() > LONGEST_ID {
        return Err(format!("key `id`: an id has at most {LONGEST_ID} bytes, since files are named after it"));
    }
    let group = match present(&raw, "group") {
        None => None,
        Some(Value::Number(number)) => Some(number.to_string()),
        group => Some(text(group, "group")?.to_owned()),
    };
    let critical = match present(&raw, "critical") {
        None => false,
        Some(Value::Bool(critical)) => *critical,
        Some(other) => return Err(format!("key `critical`: true or false is wanted, not {other}")),
    };
    let checks = match present(&raw, "checks") {
        None => Vec::new(),
        Some(Value::Array(checks)) => checks.clone(),
        Some(other) => return Err(format!("key `checks`: a list is wanted, not {other}")),
    };
    Ok(Task {
        input: text(raw.get("input"), "input")?.to_owned(),
        reference: present(&raw, "reference").cloned(),
        id,
        group,
        critical,
        checks,
        place,
        raw,
    })
}

/// A key's value; null means absent.
fn present<'a>(raw: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    raw.get(key).filter(|value| !value.is_null())
}

fn text<'a>(value: Option<&'a Value>, key: &str) -> Result<&'a str, String> {
    match value {
        None => Err(format!("key `{key}` is missing")),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(other) => Err(format!("key `{key}`: a text is wanted that is not empty, not {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Task>> {
        parse(Path::new("tasks.jsonl"), text)
    }

    #[test]
    fn all_keys_are_read_and_the_rest_is_kept() {
        let line = r#"{"id":"a","input":"Q?","reference":["1","one"],"group":"g","critical":true,"checks":[{"contains":"1"}],"level":3}"#;
        let tasks = of(&format!("\n{line}\n")).unwrap();
        let task = &tasks[0];
        assert_eq!((task.id.as_str(), task.input.as_str(), task.group.as_deref()), ("a", "Q?", Some("g")));
        assert!(task.critical && task.checks.len() == 1 && task.raw["level"] == 3);
        assert_eq!(task.answers(), ["1", "one"]);
        assert_eq!(task.place.to_string(), "tasks.jsonl:2");
        assert_eq!(render(&tasks), format!("{line}\n"));
        assert_eq!(of(r#"{"id":7,"input":"x","reference":4.5,"group":null}"#).unwrap()[0].answers(), ["4.5"]);
    }

    #[test]
    fn errors_name_file_line_and_key() {
        let rows = [
            ("{\"id\":\"a\",\"input\":\"b\"}\n{\"id\":\"c\"}", "tasks.jsonl:2: key `input` is missing"),
            ("{\"input\":\"b\"}", "tasks.jsonl:1: key `id` is missing"),
            ("{\"id\":\" \",\"input\":\"b\"}", "tasks.jsonl:1: key `id`: a text is wanted"),
            ("{\"id\":\"a\\nb\",\"input\":\"b\"}", "tasks.jsonl:1: key `id`: an id is one line"),
            ("{\"id\":\"a\",\"input\":[]}", "tasks.jsonl:1: key `input`: a text is wanted that is not empty, not []"),
            ("{\"id\":\"a\",\"input\":\"b\",\"critical\":\"yes\"}", "key `critical`: true or false"),
            ("{\"id\":\"a\",\"input\":\"b\",\"checks\":{}}", "key `checks`: a list"),
            ("[1]", "tasks.jsonl:1: not a JSON object"),
            ("{\"id\":", "tasks.jsonl:1: not JSON: EOF"),
            ("\n \n", "tasks.jsonl: there is no task in it"),
            (
                "{\"id\":\"a\",\"input\":\"b\"}\n\n{\"id\":\"a\",\"input\":\"c\"}",
                "tasks.jsonl:3: key `id`: `a` is also the task of line 1",
            ),
        ];
        for (text, said) in rows {
            let error = of(text).unwrap_err();
            assert!(error.to_string().contains(said), "{text}: {error}");
            assert_eq!(error.kind(), crate::ground::error::Kind::Usage);
        }
    }
}
