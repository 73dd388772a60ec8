//! YAML front matter, read and quoted. The only file that names serde-saphyr, which changes often.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Options, Spanned};

/// One `key: value` at the top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    /// The key's line in the YAML, counted from 1.
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// A value, as far as a card's front matter cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Text(String),
    /// Neither text nor nothing; says what it is ("a number").
    Other(&'static str),
}

/// Why the YAML cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is valid, but has no keys.
    NotAMapping,
    /// Not valid, or beyond the small budget that front matter gets.
    Invalid { line: usize, message: String },
}

/// Reads the top-level fields in order, one that is there twice both times.
///
/// # Errors
/// See [`Fault`].
pub(crate) fn fields(yaml: &str) -> Result<Vec<Field>, Fault> {
    if let Some(field) = plain_line(yaml) {
        return Ok(vec![field]);
    }
    match serde_saphyr::from_str_with_options::<Root>(yaml, options()) {
        Ok(Root::Fields(fields)) => Ok(fields),
        Ok(Root::Other) => Err(Fault::NotAMapping),
        Err(error) => {
            let error = error.without_snippet();
            let line = error.location().map_or(1, |location| usize::try_from(location.line()).unwrap_or(1));
            Err(Fault::Invalid { line: line.max(1), message: one_line(&error.to_string()) })
        }
    }
}

/// The common case, 20 times faster than the parser: one line, `key: plain text`, that YAML reads as it stands.
pub(super) fn plain_line(yaml: &str) -> Option<Field> {
    let line = yaml.strip_suffix('\n').unwrap_or(yaml);
    let (key, value) = line.split_once(": ")?;
    let value = value.trim_matches(' ');
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let plain_key = key.starts_with(|first: char| first.is_ascii_alphabetic()) && key.bytes().all(word);
    // A value with a space that begins with a letter is no number, no boolean and no date.
    let plain_value = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value.contains(' ')
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && is_plain(value);
    // Such a key could be a number, boolean or null to YAML; the parser knows.
    (plain_key && key.len() > 5 && plain_value).then(|| Field {
        key: key.to_string(),
        line: 1,
        value: Value::Text(value.to_string()),
    })
}

/// Whether a one-line plain scalar keeps these characters as they are.
fn is_plain(value: &str) -> bool {
    !value.ends_with(':') && !value.contains(": ") && !value.contains(" #")
}

/// `value` as YAML on one line: as it stands when every YAML reader takes it for this text, else quoted.
pub(crate) fn quote(value: &str) -> String {
    if stands_alone(value) {
        return value.to_string();
    }
    let special = |char: char| char.is_control() || is_hidden(char) || matches!(char, '\u{2028}' | '\u{2029}');
    if value.contains(['"', '\\']) && !value.contains(special) {
        return format!("'{}'", value.replace('\'', "''"));
    }
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for char in value.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            char if special(char) => quoted.push_str(&match u32::from(char) {
                code @ 0..=0xff => format!("\\x{code:02x}"),
                code @ 0x100..=0xffff => format!("\\u{code:04x}"),
                code => format!("\\U{code:08x}"),
            }),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

fn is_hidden(char: char) -> bool {
    super::lint::hidden::kind(char).is_some()
}

/// Whether a value needs no quotes under YAML 1.1 or 1.2.
fn stands_alone(value: &str) -> bool {
    let Some(first) = value.chars().next() else { return false };
    let starts_well = first.is_alphabetic() || matches!(first, '(' | '/' | '$') || first.is_ascii_digit();
    let clean = |char: char| !char.is_control() && !is_hidden(char) && !matches!(char, '\u{2028}' | '\u{2029}');
    starts_well
        && value.chars().all(clean)
        && !value.ends_with(char::is_whitespace)
        && is_plain(value)
        && !reads_as_other(value)
}

/// Whether some YAML reader takes this plain text for a number, a boolean, null or a date.
fn reads_as_other(value: &str) -> bool {
    const WORDS: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"];
    if value.starts_with(|first: char| first.is_ascii_digit()) {
        // 12, 1_000, 0x1F, 1e3, 12:30, 2001-12-14, 2001-12-14 21:59:43 -5
        let numeric = |char: char| char.is_ascii_hexdigit() || " _.:+-xXoObBtTzZ".contains(char);
        return value.chars().all(numeric);
    }
    WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2_000,
            max_aliases: 20,
            max_anchors: 20,
            max_recorded_anchor_events: 2_000,
            max_depth: 16,
            max_documents: 1,
            max_nodes: 1_000,
            max_total_scalar_bytes: 256 * 1024,
            flow_nesting_limit: 16,
            max_merge_keys: 0,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: serde_saphyr::options::MergeKeyPolicy::AsOrdinary,
    }
}

enum Root {
    Fields(Vec<Field>),
    Other,
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RootVisitor)
    }
}

struct RootVisitor;

impl<'de> Visitor<'de> for RootVisitor {
    type Value = Root;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Root, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let line = usize::try_from(key.referenced.line()).unwrap_or(1).max(1);
            fields.push(Field { key: key.value, line, value: map.next_value()? });
        }
        Ok(Root::Fields(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Root, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Root::Other)
    }

    fn visit_str<E>(self, _: &str) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_unit<E>(self) -> Result<Root, E> {
        Ok(Root::Other)
    }

    fn visit_none<E>(self) -> Result<Root, E> {
        Ok(Root::Other)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Other("a truth value"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Other("a number"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Other("a mapping"))
    }
}
