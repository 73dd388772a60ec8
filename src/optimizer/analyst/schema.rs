//! The shapes of answers, for servers that hold a model to one. A small model needs every bound: without them it fills a
//! text until its tokens are used up.

use serde_json::{Map, Value, json};

use crate::llm::Schema;
use crate::optimizer::tasks::UpdateMode;

/// Characters of a passage of a card.
const PASSAGE: usize = 1_200;
/// Characters of a whole card.
const WHOLE: usize = 6_000;
/// Characters of a path, a description, a reason.
const PATH: usize = 160;
const DESCRIPTION: usize = 800;
const REASON: usize = 240;

/// The operations that replies of a mode may name.
pub(super) fn operations(mode: UpdateMode) -> &'static [&'static str] {
    match mode {
        UpdateMode::Patch => &["append", "insert_after", "replace", "delete", "create", "remove", "move", "rewrite"],
        UpdateMode::RewriteFromSuggestions => &["suggest", "remove", "move", "create", "rewrite"],
        UpdateMode::FullRewrite => &["rewrite", "create", "remove", "move"],
    }
}

/// At most `most` edits of a mode. `reason` may be left out, so that no server takes the schema for a strict one, in
/// which bounds on lengths are refused.
pub(super) fn edits(mode: UpdateMode, most: usize) -> Schema {
    let names: Vec<&str> = match mode {
        UpdateMode::Patch => vec!["append", "insert_after", "replace", "delete", "create", "remove"],
        UpdateMode::RewriteFromSuggestions => vec!["suggest", "remove"],
        UpdateMode::FullRewrite => vec!["rewrite", "create", "remove"],
    };
    let content = if mode == UpdateMode::FullRewrite { WHOLE } else { PASSAGE };
    let mut fields = Map::new();
    fields.insert("op".into(), json!({"type": "string", "enum": names}));
    fields.insert("card".into(), text(PATH));
    if mode == UpdateMode::Patch {
        fields.insert("target".into(), text(PASSAGE));
    }
    fields.insert("content".into(), text(content));
    if mode != UpdateMode::RewriteFromSuggestions {
        fields.insert("description".into(), text(DESCRIPTION));
    }
    let required: Vec<String> = fields.keys().cloned().chain(["support".into()]).collect();
    fields.insert("support".into(), json!({"type": "integer", "minimum": 1, "maximum": 1000}));
    fields.insert("reason".into(), text(REASON));
    fields.insert("source".into(), json!({"type": "string", "enum": ["failures", "successes"]}));
    let item = json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
    let list = json!({"type": "array", "items": item, "maxItems": most});
    object("edits", json!({"edits": list}))
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
