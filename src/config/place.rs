//! Where a value of a configuration was written, so that an error can name it: a line of the file, or a `--set`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::ground::error::{Error, Result};

/// A key's parts, outermost first: `["train", "num_epochs"]`.
pub(super) type KeyPath = Vec<String>;

/// Something wrong with the value at a key.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) key: KeyPath,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(key: impl Into<KeyPath>, message: impl Into<String>) -> Fault {
        Fault { key: key.into(), message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }
}

/// Where each key was written.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) file: PathBuf,
    lines: BTreeMap<KeyPath, usize>,
    sets: BTreeMap<KeyPath, String>,
}

impl Places {
    pub(super) fn new(file: &Path) -> Places {
        Places { file: file.to_owned(), lines: BTreeMap::new(), sets: BTreeMap::new() }
    }

    /// Notes the line that a key stands on.
    pub(super) fn on_line(&mut self, key: &[String], line: usize) {
        self.lines.insert(key.to_owned(), line);
    }

    /// Notes that a key was given by `--set`, and with it the named table that it lies in, where the file has none.
    pub(super) fn by_set(&mut self, key: &[String], set: &str) {
        if let Some(table) = key.get(..key.len().saturating_sub(1)).filter(|table| table.len() > 1)
            && !self.lines.contains_key(table)
        {
            self.sets.insert(table.to_owned(), set.to_owned());
        }
        self.sets.insert(key.to_owned(), set.to_owned());
    }

    /// Fails when there is a fault: the first one in the file is the message, the others are hints. Kind `Usage`.
    pub(super) fn check(&self, mut faults: Vec<Fault>) -> Result<()> {
        faults.sort_by_key(|fault| self.line(&fault.key));
        let mut faults = faults.into_iter();
        let Some(first) = faults.next() else { return Ok(()) };
        Err(faults.fold(self.error(first), |error, fault| error.hint(format!("also wrong: {}", self.told(&fault)))))
    }

    /// A fault as an error of kind `Usage`.
    pub(super) fn error(&self, fault: Fault) -> Error {
        let error = Error::usage(self.told(&fault));
        fault.hint.into_iter().fold(error, Error::hint)
    }

    /// A fault as one line: where, which key, what.
    fn told(&self, fault: &Fault) -> String {
        format!("{}: key `{}`: {}", self.of(&fault.key), dotted(&fault.key), fault.message)
    }

    /// Where a key was written, or the nearest table above it: `FILE:LINE`, `FILE`, or `--set SET`.
    fn of(&self, key: &[String]) -> String {
        for length in (1..=key.len()).rev() {
            if let Some(set) = self.sets.get(&key[..length]) {
                return flag(set);
            }
            if let Some(line) = self.lines.get(&key[..length]) {
                return format!("{}:{line}", self.file.display());
            }
        }
        // A table that is in the file nowhere comes of a key below it.
        match self.sets.iter().find(|(set, _)| set.starts_with(key)) {
            Some((_, set)) => flag(set),
            None => self.file.display().to_string(),
        }
    }

    fn line(&self, key: &[String]) -> usize {
        let known = (1..=key.len()).rev().find_map(|length| self.lines.get(&key[..length]));
        known.copied().unwrap_or(usize::MAX)
    }
}

fn flag(set: &str) -> String {
    format!("--set {}", super::scrub::scrubbed(set))
}

/// A key as TOML writes it: parts that are no bare words in quotes.
pub(super) fn dotted(key: &[String]) -> String {
    let parts: Vec<String> = key.iter().map(|part| quoted(part)).collect();
    parts.join(".")
}

/// One part of a key as TOML writes it.
pub(super) fn quoted(part: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !part.is_empty() && part.chars().all(is_bare) { part.to_owned() } else { toml_string(part) }
}

/// Text as TOML writes it on one line.
pub(super) fn toml_string(text: &str) -> String {
    // JSON's escapes are TOML's; TOML wants the delete character escaped as well.
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}
