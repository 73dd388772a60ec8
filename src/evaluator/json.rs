//! JSON equal: the answer's last JSON object or list against the reference, key by key.

use std::collections::BTreeMap;

use serde_json::Value;

use super::registry::Options;
use super::{Attempt, Evaluator, Host, no_reference};
use crate::ground::error::Result;
use crate::ground::reply;
use crate::score::Score;
use crate::task::Task;

/// Differences that are told.
const MOST_TOLD: usize = 8;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    Ok(Box::new(JsonEqual))
}

/// Hard: equal, whatever the order of keys; 1 and 1.0 are the same number. Soft: the share of leaves, of either side, that
/// are equal.
struct JsonEqual;

impl Evaluator for JsonEqual {
    fn name(&self) -> String {
        "json_equal".into()
    }

    fn check(&self, task: &Task) -> Result<()> {
        wanted(task).map(drop)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, _: &Host<'_>) -> Result<Score> {
        let wanted = leaves(&wanted(attempt.task)?);
        // An answer that is JSON as a whole may be a number or a text too.
        let whole = serde_json::from_str(attempt.answer.trim()).ok();
        let found = match whole.map_or_else(|| reply::last_object(attempt.answer), Ok) {
            Ok(value) => leaves(&value),
            Err(fault) => return Ok(Score::pass_or(false, || vec![format!("Answer with one JSON value: {fault}.")])),
        };
        let all = wanted.keys().chain(found.keys().filter(|path| !wanted.contains_key(*path)));
        let (mut equal, mut total, mut feedback) = (0_usize, 0_usize, Vec::new());
        for path in all {
            total += 1;
            match (wanted.get(path), found.get(path)) {
                (Some(wanted), Some(found)) if wanted == found => equal += 1,
                (Some(wanted), Some(found)) => feedback.push(format!("`{path}` must be {wanted}, not {found}.")),
                (Some(wanted), None) => feedback.push(format!("`{path}` is missing; it must be {wanted}.")),
                (None, _) => feedback.push(format!("`{path}` must not be there.")),
            }
        }
        if feedback.len() > MOST_TOLD {
            let more = feedback.len() - MOST_TOLD;
            feedback.truncate(MOST_TOLD);
            feedback.push(format!("{more} more values differ."));
        }
        let hard = if equal == total { 1.0 } else { 0.0 };
        Ok(Score { hard, soft: equal as f64 / total.max(1) as f64, feedback })
    }
}

/// The reference; a text is read as JSON when it is some.
fn wanted(task: &Task) -> Result<Value> {
    match &task.reference {
        None => Err(no_reference(task, "json_equal")),
        Some(Value::String(text)) => Ok(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))),
        Some(value) => Ok(value.clone()),
    }
}

/// Each leaf's text by its path, `a.b[2]`; an empty object or list is a leaf.
fn leaves(value: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![("$".to_owned(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(object) if !object.is_empty() => {
                open.extend(object.iter().map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            Value::Array(items) if !items.is_empty() => {
                open.extend(items.iter().enumerate().map(|(index, value)| (format!("{path}[{index}]"), value)));
            }
            Value::Number(number) => {
                // 1 and 1.0 are equal; whole numbers beyond a float's reach keep all their digits.
                let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15);
                let text = whole.map_or_else(|| number.to_string(), |float| format!("{float:.0}"));
                found.insert(path, text);
            }
            leaf => drop(found.insert(path, leaf.to_string())),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::{hard, score};
    use serde_json::json;

    #[test]
    fn order_and_prose_do_not_count_and_each_leaf_does() {
        let keys = json!({"reference": {"a": 1, "b": {"c": [true, "x"]}}});
        let answers = ["```json\n{\"b\": {\"c\": [true, \"x\"]}, \"a\": 1.0}\n```", "{\"a\": 1}", "none"];
        assert_eq!(hard("json_equal", &json!({}), &keys, &answers), [1.0, 0.0, 0.0]);
        let part = score("json_equal", &json!({}), &keys, r#"{"a": 2, "b": {"c": [true]}, "d": null}"#).unwrap();
        assert_eq!((part.hard, part.soft), (0.0, 0.25));
        assert_eq!(
            part.feedback,
            ["`$.a` must be 1, not 2.", "`$.b.c[1]` is missing; it must be \"x\".", "`$.d` must not be there."]
        );
        assert_eq!(hard("json_equal", &json!({}), &json!({"reference": "[1, 2]"}), &["[1, 2]", "[2, 1]"]), [1.0, 0.0]);
        let cut = score("json_equal", &json!({}), &keys, r#"{"a": 1, "#).unwrap();
        assert!(cut.feedback[0].contains("cut off"), "{cut:?}");
    }
}
