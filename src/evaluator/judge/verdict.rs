//! What a judge says, read strictly, and the schemas that ask for it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::ground::text::first_line;
use crate::score;

/// Pieces of advice that are taken from one verdict.
const MOST_ADVICE: usize = 12;
/// Characters of one piece.
const ADVICE: usize = 400;

/// A number from 0 to 1; anything else is no verdict, and its judge is asked once more.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Share(pub(super) f64);

impl TryFrom<f64> for Share {
    type Error = String;

    fn try_from(number: f64) -> Result<Share, String> {
        if (0.0..=1.0).contains(&number) {
            Ok(Share(number))
        } else {
            Err(format!("{number} is not a number from 0 to 1"))
        }
    }
}

/// One score for all.
#[derive(Debug, Deserialize)]
pub(super) struct Overall {
    pub(super) score: Share,
    #[serde(default)]
    pub(super) feedback: Vec<String>,
}

/// A score for each criterion.
#[derive(Debug, Deserialize)]
pub(super) struct ByCriterion {
    scores: BTreeMap<String, Share>,
    #[serde(default)]
    pub(super) feedback: Vec<String>,
}

impl ByCriterion {
    /// The mean over exactly these criteria.
    ///
    /// # Errors
    /// When one has no score, or there is a score of none.
    pub(super) fn mean(&self, names: &[String]) -> Result<f64, String> {
        if let Some(other) = self.scores.keys().find(|name| !names.contains(name)) {
            return Err(format!("there is no criterion `{other}`"));
        }
        let mut shares = Vec::new();
        for name in names {
            let share = self.scores.get(name).ok_or_else(|| format!("criterion `{name}` has no score"))?;
            shares.push(share.0);
        }
        score::mean(shares.into_iter()).ok_or_else(|| "there is no criterion".to_owned())
    }
}

/// Which of two texts is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Side {
    #[serde(alias = "a")]
    A,
    #[serde(alias = "b")]
    B,
    #[serde(rename = "tie", alias = "Tie", alias = "TIE")]
    Tie,
}

/// A comparison of two texts.
#[derive(Debug, Deserialize)]
pub(super) struct Comparison {
    pub(super) better: Side,
    #[serde(default)]
    pub(super) feedback: Vec<String>,
}

/// The advice in a verdict: one line each, bounded, once each. A judge repeats what it reads, which may be anything.
pub(super) fn advice(lines: &[String]) -> Vec<String> {
    let mut advice: Vec<String> = Vec::new();
    for line in lines {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = first_line(&line, ADVICE);
        if !line.is_empty() && !advice.contains(&line) && advice.len() < MOST_ADVICE {
            advice.push(line);
        }
    }
    advice
}

/// The schema of a number from 0 to 1.
pub(super) fn share() -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1})
}

/// A closed object with these properties, all required, and a list of advice.
pub(super) fn schema(properties: Value, required: &[&str]) -> Value {
    let mut all = Map::new();
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    all.insert("feedback".into(), json!({"type": "array", "items": {"type": "string"}}));
    let required: Vec<&str> = required.iter().copied().chain(["feedback"]).collect();
    json!({"type": "object", "properties": all, "required": required, "additionalProperties": false})
}

/// The schema of a verdict by criterion.
pub(super) fn schema_of_criteria(names: &[String]) -> Value {
    let scores: Map<String, Value> = names.iter().map(|name| (name.clone(), share())).collect();
    let scores = json!({
        "type": "object", "properties": scores, "required": names, "additionalProperties": false,
    });
    schema(json!({ "scores": scores }), &["scores"])
}
