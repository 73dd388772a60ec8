//! From a file's text and the `--set` flags to one tree of values, with the place of each.

use std::path::Path;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place::{Fault, KeyPath, Places, dotted};
use super::shape::{Key, Leaf, Shape};
use crate::ground::error::{Error, Result};

/// What was written, not yet checked.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) root: Map<String, Value>,
    pub(super) places: Places,
}

impl Source {
    /// Reads TOML; `file` is only named in errors.
    ///
    /// # Errors
    /// Of kind `Usage`, naming file and line: text that is no TOML, and values that no key takes (dates, infinities).
    pub(super) fn parse(text: &str, file: &Path) -> Result<Source> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| format!(":{}", line_of(text, span.start))).unwrap_or_default();
            Error::usage(format!("{}{line}: {}", file.display(), error.message().trim_end()))
        })?;
        let mut places = Places::new(file);
        let mut note = |key: &[String], at: usize| places.on_line(key, line_of(text, at));
        let root = object(table.get_ref(), &[], &mut note);
        let root = root.map_err(|fault| places.error(fault))?;
        Ok(Source { root, places })
    }

    /// Puts the value of one `--set section.key=value` in its place, typed as the shape wants it. A value of nothing
    /// takes a key away that may be left out.
    ///
    /// # Errors
    /// Of kind `Usage`, naming the flag, when it is no key with a value. What the key is and holds is checked later.
    pub(super) fn set(&mut self, set: &str, shape: &Shape) -> Result<()> {
        let (key, text) = key_and_value(set, shape).ok_or_else(|| {
            Error::usage(format!("--set {}: this is not KEY=VALUE", super::scrub::scrubbed(set)))
                .hint("write section.key=value, for instance --set train.num_epochs=2")
                .hint("a name with dots stands in quotes: --set 'prices.\"gpt-4.1\".input=2'")
        })?;
        self.places.by_set(&key, set);
        let known = shape.at(&key);
        let value = match known {
            Some(known) if known.is_optional && text.is_empty() => None,
            _ => Some(typed(text, known.map(|known| &known.shape)).map_err(|what| self.wrong(&key, &what))?),
        };
        put(&mut self.root, &key, value)
            .map_err(|depth| self.wrong(&key, &format!("`{}` is not a table", dotted(&key[..depth]))))
    }

    fn wrong(&self, key: &[String], what: &str) -> Error {
        self.places.error(Fault::new(key, what))
    }
}

/// Takes a flag apart. Quotes that a shell took off are no matter: below `prices` and `rates`, what stands between the
/// section and the last dot is the name, dots and all.
fn key_and_value<'s>(set: &'s str, shape: &Shape) -> Option<(KeyPath, &'s str)> {
    // A name in quotes may hold an = itself, so each of them is tried as the one that divides.
    let cuts: Vec<(&str, &str)> = set.match_indices('=').map(|(at, _)| (&set[..at], &set[at + 1..])).collect();
    let read = |as_key: &dyn Fn(&str) -> Option<KeyPath>| -> Option<(KeyPath, &'s str)> {
        cuts.iter().find_map(|(key, value)| Some((as_key(key)?, *value)))
    };
    let known = |key: Option<KeyPath>| key.filter(|key| shape.at(key).is_some());
    read(&|text| known(toml_key(text)))
        .or_else(|| read(&|text| known(named_key(text, shape))))
        .or_else(|| read(&|text| toml_key(text).filter(|key| key.len() <= 3)))
        .or_else(|| read(&|text| named_key(text, shape)))
        .or_else(|| read(&toml_key))
}

/// A key as TOML reads it: `prices."gpt-4.1".input`.
fn toml_key(text: &str) -> Option<KeyPath> {
    let line = format!("{text} = 0");
    let root = DeTable::parse(&line).ok()?;
    let mut table = root.get_ref();
    let mut key = KeyPath::new();
    loop {
        let mut entries = table.iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else { return None };
        key.push(name.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            DeValue::Integer(_) => return Some(key),
            _ => return None,
        }
    }
}

/// `prices.gpt-4.1.input`, where `prices` holds tables with names of the user's.
fn named_key(text: &str, shape: &Shape) -> Option<KeyPath> {
    let (section, rest) = text.split_once('.')?;
    let (name, last) = rest.rsplit_once('.')?;
    let key = vec![section.trim().to_owned(), name.to_owned(), last.trim().to_owned()];
    let holds_names = |known: &Key| known.name == key[0] && matches!(known.shape, Shape::Named { .. });
    shape.keys().iter().any(holds_names).then_some(key)
}

/// A flag's value. Where text is wanted it needs no quotes; elsewhere it is TOML, and text when it is none.
fn typed(text: &str, shape: Option<&Shape>) -> Result<Value, String> {
    let wants_text = matches!(shape, Some(Shape::Leaf(Leaf::Text { .. } | Leaf::Choice(_))));
    if wants_text && !text.trim_start().starts_with(['"', '\'']) {
        return Ok(Value::from(text));
    }
    match DeValue::parse(text.trim()) {
        Ok(value) if !wants_text || value.get_ref().is_str() => {
            value_of(&value, &[], &mut |_, _| ()).map_err(|fault| fault.message)
        }
        _ => Ok(Value::from(text)),
    }
}

/// Puts a value into nested tables, or takes it out; the error is how many parts of the key lead to what is no table.
fn put(root: &mut Map<String, Value>, key: &[String], value: Option<Value>) -> Result<(), usize> {
    let Some((last, tables)) = key.split_last() else { return Ok(()) };
    let mut table = root;
    for (depth, part) in tables.iter().enumerate() {
        let inner = table.entry(part.clone()).or_insert_with(|| Value::Object(Map::new()));
        table = inner.as_object_mut().ok_or(depth + 1)?;
    }
    match value {
        Some(value) => drop(table.insert(last.clone(), value)),
        None => drop(table.remove(last)),
    }
    Ok(())
}

/// Called with each key and where it stands in the text.
type Note<'n> = dyn FnMut(&[String], usize) + 'n;

fn object(table: &DeTable<'_>, above: &[String], note: &mut Note<'_>) -> Result<Map<String, Value>, Fault> {
    // The parser sorts keys; people wrote them in another order.
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut map = Map::new();
    for (name, value) in entries {
        let mut key = above.to_owned();
        key.push(name.get_ref().to_string());
        note(&key, name.span().start);
        map.insert(name.get_ref().to_string(), value_of(value, &key, note)?);
    }
    Ok(map)
}

fn value_of(value: &Spanned<DeValue<'_>>, key: &[String], note: &mut Note<'_>) -> Result<Value, Fault> {
    let fault = |what: &str| Fault::new(key, what);
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map(Value::from)
            .map_err(|_| fault(&format!("{} is too large a number", number.as_str())))?,
        DeValue::Float(number) => {
            let finite = number.as_str().parse::<f64>().ok().filter(|number| number.is_finite());
            finite.map(Value::from).ok_or_else(|| fault(&format!("{} is not a finite number", number.as_str())))?
        }
        DeValue::Datetime(_) => {
            return Err(fault("no key takes a date or a time").hint("put it in quotes to make it text"));
        }
        DeValue::Array(items) => {
            let items: Result<Vec<Value>, Fault> = items.iter().map(|item| value_of(item, key, note)).collect();
            Value::Array(items?)
        }
        DeValue::Table(table) => Value::Object(object(table, key, note)?),
    })
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// A value as it is shown in an error: TOML, cut, without passwords.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => super::place::toml_string(text),
        Value::Object(_) => return "a table".to_owned(),
        Value::Array(_) => return "a list".to_owned(),
        other => other.to_string(),
    };
    crate::ground::text::first_line(&super::scrub::scrubbed(&text), 60)
}
