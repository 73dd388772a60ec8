//! From TOML text to a profile, with errors that name file, line and key.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Profile;
use super::check::Fault;
use crate::ground::error::{Error, Result};

/// How far a misspelt name may be from a known one to be offered in its place (0 unlike, 1 equal).
const NEAR: f64 = 0.7;

/// Reads the fields; what they hold is checked elsewhere.
pub(super) fn read(text: &str, file: &Path) -> Result<Profile> {
    let syntax = |error: toml::de::Error| located(file, line_of(text, error.span()), None, error.message());
    let deserializer = toml::Deserializer::parse(text).map_err(syntax)?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let key = error.path().to_string();
        let cause = error.into_inner();
        let line = line_of(text, cause.span());
        let message = cause.message();
        match unknown_field(message) {
            Some((field, known)) => unknown_key(file, line, &key, field, &known),
            None => wrong_value(file, line, &key, message),
        }
    })
}

/// Turns a fault of a value into an error at that value's line.
pub(super) fn at_key(text: &str, file: &Path, fault: &Fault) -> Error {
    let line = line_of_key(text, &fault.key);
    let error = located(file, line, Some(&fault.key), &fault.message);
    if fault.hint.is_empty() { error } else { error.hint(fault.hint.clone()) }
}

/// The one of `known` that `name` was most likely meant to be.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

fn unknown_key(file: &Path, line: Option<usize>, key: &str, field: &str, known: &[&str]) -> Error {
    let table = key.rsplit_once('.').map_or("", |(table, _)| table);
    let whole = if table.is_empty() || key.ends_with('?') { field.to_string() } else { format!("{table}.{field}") };
    let error = located(file, line, Some(&whole), "unknown key");
    match nearest(field, known.iter().copied()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error.hint(format!("the keys here are {}", known.join(", "))),
    }
}

fn wrong_value(file: &Path, line: Option<usize>, key: &str, message: &str) -> Error {
    let message =
        message.replace("expected usize", "expected a whole number").replace("expected u32", "expected a whole number");
    let error = located(file, line, Some(key), &message);
    // "unknown variant `crafts`, expected one of `general`, `craft`"
    let Some(rest) = message.strip_prefix("unknown variant `") else { return error };
    let mut names = rest.split('`');
    let given = names.next().unwrap_or_default();
    match nearest(given, names.skip(1).step_by(2)) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    }
}

/// Takes apart serde's "unknown field `x`, expected one of `a`, `b`".
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (field, rest) = rest.split_once("`,")?;
    Some((field, rest.split('`').skip(1).step_by(2).collect()))
}

fn located(file: &Path, line: Option<usize>, key: Option<&str>, message: &str) -> Error {
    let line = line.map(|line| format!(":{line}")).unwrap_or_default();
    let key = key.filter(|key| *key != ".").map(|key| format!("key `{key}`: ")).unwrap_or_default();
    Error::usage(format!("{}{line}: {key}{}", file.display(), message.trim_end()))
}

fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> Option<usize> {
    let before = text.as_bytes().get(..span?.start)?;
    Some(1 + before.iter().filter(|byte| **byte == b'\n').count())
}

/// The line of a key such as `folders[1].path`; of the nearest table above it when it is not there itself.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    let mut line = None;
    for part in key.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, rest)) => (name, rest.trim_end_matches(']').parse::<usize>().ok()),
            None => (part, None),
        };
        let Some(mut value) = table.get(name) else { break };
        if let (Some(index), DeValue::Array(items)) = (index, value.get_ref()) {
            let Some(item) = items.get(index) else { break };
            value = item;
        }
        line = line_of(text, Some(value.span())).or(line);
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    line
}
