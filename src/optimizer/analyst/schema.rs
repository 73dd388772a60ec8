//! The shapes of answers, for servers that hold a model to one. A small model needs every bound: without them it fills a
//! text until its tokens are used up.

use serde_json::{Map, Value, json};

use crate::llm::Schema;
use crate::optimizer::tasks::{Sight, UpdateMode};
use crate::pool::profile::Profile;

/// Characters of a passage of a card.
const PASSAGE: usize = 1_200;
/// Characters of a whole card.
const WHOLE: usize = 6_000;
/// Characters of a path, a description, a reason.
const PATH: usize = 160;
const DESCRIPTION: usize = 800;
const REASON: usize = 160;
/// A text that says something has as many characters; the placeholder of a form has fewer.
const SHORTEST: usize = 12;
/// Cards whose paths are listed in a schema at most.
const CARDS: usize = 200;

/// The operations that replies of a mode may name.
pub(super) fn operations(mode: UpdateMode) -> &'static [&'static str] {
    match mode {
        UpdateMode::Patch => &["append", "insert_after", "replace", "delete", "create", "remove", "move", "rewrite"],
        UpdateMode::RewriteFromSuggestions => &["suggest", "remove", "move", "create", "rewrite"],
        UpdateMode::FullRewrite => &["rewrite", "create", "remove", "move"],
    }
}

/// At most `most` edits of a mode: of each operation its own shape, with the paths that it may name. `source` may be left
/// out, so that no server takes the schema for a strict one, in which bounds on lengths are refused.
pub(super) fn edits(mode: UpdateMode, most: usize, sight: Sight<'_>) -> Schema {
    let (old, new) = (known(sight), fresh(sight.profile));
    let either = match sight.cards {
        [] => new.clone(),
        _ => json!({"anyOf": [old, new]}),
    };
    let content = || json!({"type": "string", "minLength": SHORTEST, "maxLength": PASSAGE});
    let whole = || json!({"type": "string", "minLength": SHORTEST, "maxLength": WHOLE});
    let (target, description) =
        (|| json!({"type": "string", "minLength": 1, "maxLength": PASSAGE}), || text(DESCRIPTION));
    let create =
        |content: Value| item("create", json!({"card": new, "description": description(), "content": content}), &[]);
    let remove = || item("remove", json!({"card": old}), &[]);
    let (made, changed) = match mode {
        UpdateMode::Patch => (
            vec![create(content())],
            vec![
                item("append", json!({"card": old, "content": content()}), &[]),
                item("insert_after", json!({"card": old, "target": target(), "content": content()}), &[]),
                item("replace", json!({"card": old, "target": target(), "content": content()}), &[]),
                item("delete", json!({"card": old, "target": target()}), &[]),
                remove(),
            ],
        ),
        UpdateMode::RewriteFromSuggestions => {
            (vec![item("suggest", json!({"card": either, "content": content()}), &[])], vec![remove()])
        }
        UpdateMode::FullRewrite => {
            let fields = json!({"card": old, "content": whole(), "description": description()});
            (vec![create(whole())], vec![item("rewrite", fields, &["description"]), remove()])
        }
    };
    // Without a card there is nothing to change.
    let shapes: Vec<Value> = if sight.cards.is_empty() { made } else { made.into_iter().chain(changed).collect() };
    object("edits", json!({"edits": {"type": "array", "items": {"anyOf": shapes}, "maxItems": most}}))
}

/// One operation's shape.
fn item(op: &str, fields: Value, optional: &[&str]) -> Value {
    // The reason first: what is written down decides what is written next.
    let mut properties = Map::from_iter([
        ("reason".to_owned(), text(REASON)),
        ("op".to_owned(), json!({"type": "string", "enum": [op]})),
    ]);
    properties.extend(fields.as_object().cloned().unwrap_or_default());
    properties.insert("support".into(), json!({"type": "integer", "minimum": 1, "maximum": 1000}));
    let required: Vec<String> = properties.keys().filter(|key| !optional.contains(&key.as_str())).cloned().collect();
    properties.insert("source".into(), json!({"type": "string", "enum": ["failures", "successes"]}));
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The path of a card that is there.
fn known(sight: Sight<'_>) -> Value {
    match sight.cards.len() {
        1..=CARDS => json!({"type": "string", "enum": sight.cards.iter().map(|card| &card.path).collect::<Vec<_>>()}),
        _ => text(PATH),
    }
}

/// The path of a card that is to be made.
fn fresh(profile: &Profile) -> Value {
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    let folders: Vec<&str> = profile.folders.iter().map(|folder| folder.path.as_str()).collect();
    if folders.is_empty() || !folders.iter().all(|folder| is_plain(folder)) {
        return text(PATH);
    }
    let pattern = format!("^({})/[a-z0-9][a-z0-9-]{{0,60}}\\.md$", folders.join("|"));
    json!({"type": "string", "pattern": pattern})
}

/// An order of `count` edits, and a number of them where it is asked for.
pub(super) fn ranking(count: usize, with_budget: bool) -> Schema {
    let last = count.saturating_sub(1);
    let place = json!({"type": "integer", "minimum": 0, "maximum": last});
    let mut fields = json!({"order": {"type": "array", "items": place, "maxItems": count}});
    if with_budget {
        fields["budget"] = json!({"type": "integer", "minimum": 0, "maximum": count});
    }
    object("ranking", fields)
}

/// One text under this name, or null.
pub(super) fn note(name: &str, limit: usize) -> Schema {
    let value = json!({"anyOf": [text(limit), {"type": "null"}]});
    object(name, json!({ name: value }))
}

fn text(limit: usize) -> Value {
    json!({"type": "string", "maxLength": limit})
}

fn object(name: &str, fields: Value) -> Schema {
    let required: Vec<&String> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    let schema = json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
    Schema { name: name.to_owned(), schema }
}
