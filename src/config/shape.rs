//! What a configuration may hold, read from the schema: sections, keys, and what each value must be.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Config;

/// The JSON schema of a configuration: a description for every key, with its default and its bounds.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    unwrap_lines(&mut schema);
    schema
}

/// Makes one line of each description: docstrings are broken where the source's lines end.
fn unwrap_lines(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => *text = text.replace('\n', " "),
                    other => unwrap_lines(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unwrap_lines),
        _ => {}
    }
}

/// What stands at one place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A table of these keys.
    Section(Vec<Key>),
    /// A table whose keys are names of the user's, each of them a table of these keys. `name` is an example of one.
    Named { name: String, keys: Vec<Key> },
    /// A table of anything.
    Free,
    /// A value.
    Leaf(Leaf),
}

/// A value, and its bounds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Leaf {
    /// A whole number.
    Whole(Bounds),
    /// A number.
    Number(Bounds),
    /// Text of so many characters or more.
    Text { least: u64 },
    /// True or false.
    Flag,
    /// One of some words, each with what it means.
    Choice(Vec<(String, String)>),
}

/// What a number must be; what is absent does not bind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Bounds {
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    pub(super) above: Option<f64>,
    pub(super) below: Option<f64>,
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) name: String,
    /// What it is: its docstring.
    pub(super) about: String,
    pub(super) shape: Shape,
    /// Whether a table without it is refused.
    pub(super) is_required: bool,
    /// Whether it may be left out and is then nothing.
    pub(super) is_optional: bool,
    pub(super) example: Option<Value>,
}

impl Shape {
    /// The shape of a whole configuration.
    pub(super) fn of_config() -> Shape {
        Shape::of(&schema())
    }

    fn of(schema: &Value) -> Shape {
        if schema.get("properties").is_some() {
            return Shape::Section(keys(schema));
        }
        if has_type(schema, "object") {
            let entry = &schema["additionalProperties"];
            let name = schema["propertyNames"]["examples"][0].as_str().unwrap_or("NAME").to_owned();
            return match entry.get("properties") {
                Some(_) => Shape::Named { name, keys: keys(entry) },
                None => Shape::Free,
            };
        }
        Shape::Leaf(Leaf::of(schema))
    }

    /// The keys of a table: a section's own, or those of each named one.
    pub(super) fn keys(&self) -> &[Key] {
        match self {
            Shape::Section(keys) | Shape::Named { keys, .. } => keys,
            Shape::Free | Shape::Leaf(_) => &[],
        }
    }

    /// The key at this path; none below a leaf, within a free table, or where it is not known.
    pub(super) fn at(&self, path: &[String]) -> Option<&Key> {
        let (first, rest) = path.split_first()?;
        let rest = if let Shape::Named { .. } = self { rest.split_first()? } else { (first, rest) };
        let key = self.keys().iter().find(|key| key.name == *rest.0)?;
        if rest.1.is_empty() { Some(key) } else { key.shape.at(rest.1) }
    }
}

impl Leaf {
    fn of(schema: &Value) -> Leaf {
        let number = |name: &str| schema.get(name).and_then(Value::as_f64);
        let most = if schema["format"] == "uint32" { f64::from(u32::MAX) } else { f64::INFINITY };
        let bounds = Bounds {
            least: number("minimum"),
            most: number("maximum").or(Some(most).filter(|most| most.is_finite())),
            above: number("exclusiveMinimum"),
            below: number("exclusiveMaximum"),
        };
        if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
            return Leaf::Choice(
                choices.iter().map(|choice| (text(choice, "const"), text(choice, "description"))).collect(),
            );
        }
        match schema {
            _ if has_type(schema, "integer") => Leaf::Whole(bounds),
            _ if has_type(schema, "number") => Leaf::Number(bounds),
            _ if has_type(schema, "boolean") => Leaf::Flag,
            _ => Leaf::Text { least: schema.get("minLength").and_then(Value::as_u64).unwrap_or(0) },
        }
    }

    /// What is wanted here, to follow "is not": "a whole number of 1 or more".
    pub(super) fn wanted(&self) -> String {
        match self {
            Leaf::Whole(bounds) => format!("a whole number{bounds}"),
            Leaf::Number(bounds) => format!("a number{bounds}"),
            Leaf::Text { least: 0 } => "text in quotes".to_owned(),
            Leaf::Text { .. } => "text in quotes that is not empty".to_owned(),
            Leaf::Flag => "true or false".to_owned(),
            Leaf::Choice(words) => {
                let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
        }
    }

    /// Whether a value is one of these.
    pub(super) fn takes(&self, value: &Value) -> bool {
        match self {
            Leaf::Whole(bounds) => (value.is_u64() || value.is_i64()) && bounds.hold(value),
            Leaf::Number(bounds) => value.is_number() && bounds.hold(value),
            Leaf::Text { least } => value.as_str().is_some_and(|text| text.chars().count() as u64 >= *least),
            Leaf::Flag => value.is_boolean(),
            Leaf::Choice(words) => value.as_str().is_some_and(|text| words.iter().any(|(word, _)| word == text)),
        }
    }
}

impl Bounds {
    fn hold(&self, value: &Value) -> bool {
        let Some(number) = value.as_f64() else { return false };
        self.least.is_none_or(|least| number >= least)
            && self.most.is_none_or(|most| number <= most)
            && self.above.is_none_or(|above| number > above)
            && self.below.is_none_or(|below| number < below)
    }
}

impl std::fmt::Display for Bounds {
    /// What follows "a number": " from 0 to 1", " of 1 or more", " above 0".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.least, self.most, self.above, self.below) {
            (Some(least), Some(most), ..) => write!(f, " from {least} to {most}"),
            (Some(least), None, ..) => write!(f, " of {least} or more"),
            (None, Some(most), Some(above), _) => write!(f, " above {above}, at most {most}"),
            (None, Some(most), ..) => write!(f, " of {most} or less"),
            (.., Some(above), Some(below)) => write!(f, " above {above} and below {below}"),
            (.., Some(above), None) => write!(f, " above {above}"),
            (.., None, Some(below)) => write!(f, " below {below}"),
            _ => Ok(()),
        }
    }
}

fn keys(table: &Value) -> Vec<Key> {
    let none = Map::new();
    let required = |name: &str| table["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    let properties = table["properties"].as_object().unwrap_or(&none);
    let key = |(name, schema): (&String, &Value)| Key {
        name: name.clone(),
        about: text(schema, "description"),
        shape: Shape::of(schema),
        is_required: required(name),
        is_optional: has_type(schema, "null"),
        example: schema["examples"].get(0).cloned(),
    };
    properties.iter().map(key).collect()
}

/// Whether a schema's type is this, or this or another.
fn has_type(schema: &Value, name: &str) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == name),
        one => one == name,
    }
}

fn text(schema: &Value, key: &str) -> String {
    schema[key].as_str().unwrap_or_default().to_owned()
}
