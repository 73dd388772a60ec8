//! Evaluators by name, `KIND` or `KIND:PROGRAM`. A new one is one line here.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Attempt, Evaluator, Host};
use super::{checks, command, contains, exact, f1, json, judge, normalised, numeric, regex};
use crate::ground::error::{Error, Result};
use crate::ground::prompts::Prompts;
use crate::llm::Client;
use crate::pool::profile::nearest;
use crate::score::Score;
use crate::task::Task;

/// Makes an evaluator from what stands behind `KIND:` and its options.
type Make = fn(Option<&str>, Options<'_>) -> Result<Box<dyn Evaluator>>;

/// The evaluators there are: kind, maker, and a line of help.
const KINDS: [(&str, Make, &str); 11] = [
    ("auto", auto, "checks for a task that has them, else normalised"),
    ("checks", checks::make, "the task's own list of checks, each with its message"),
    ("exact", exact::make, "the reference, character by character"),
    ("normalised", normalised::make, "the reference, without case, punctuation and articles"),
    ("contains", contains::make, "the reference somewhere in the answer"),
    ("numeric", numeric::make, "the answer's number, within a tolerance"),
    ("regex", regex::make, "a pattern that the answer matches"),
    ("json_equal", json::make, "the answer's JSON, key by key"),
    ("token_f1", f1::make, "words shared with the reference"),
    ("judge", judge::make, "a chat model, by a rubric"),
    ("command", command::make, "any program: command:PROGRAM"),
];

/// The kinds of evaluator, each with a line of help.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|(kind, _, help)| (*kind, *help))
}

/// The model that judges, for an evaluator that asks one.
#[derive(Debug, Clone)]
pub struct Judge {
    /// The model. Its calls are counted under the judge's role, whatever role it comes with.
    pub client: Client,
    /// The prompts in force.
    pub prompts: Prompts,
}

/// Whether the evaluator of this name asks a model, and so is to be found with [`find_judging`].
pub fn needs_model(name: &str) -> bool {
    name.split(':').next().unwrap_or_default().trim() == "judge"
}

/// The evaluator of this name with its options, the keys of its section in the configuration.
///
/// # Errors
/// Of kind `Usage`: no such evaluator or option (the nearest name is given), an option of a wrong type or value.
pub fn find(name: &str, options: &Map<String, Value>) -> Result<Box<dyn Evaluator>> {
    find_judging(name, options, None)
}

/// As [`find`], with a model for the evaluator that [`needs_model`].
///
/// # Errors
/// As [`find`]; of kind `Usage` when a model is needed and not given, or a prompt of the user's cannot be rendered.
pub fn find_judging(name: &str, options: &Map<String, Value>, judge: Option<&Judge>) -> Result<Box<dyn Evaluator>> {
    let (kind, rest) = match name.split_once(':') {
        Some((kind, rest)) => (kind.trim(), Some(rest.trim())),
        None => (name.trim(), None),
    };
    let Some((_, make, _)) = KINDS.iter().find(|(known, ..)| *known == kind) else {
        let names: Vec<&str> = kinds().map(|(kind, _)| kind).collect();
        let error = Error::usage(format!("there is no evaluator `{kind}`"));
        return Err(match nearest(kind, names.iter().copied()) {
            Some(name) => error.hint(format!("did you mean `{name}`?")),
            None => error.hint(format!("evaluators are: {}", names.join(", "))),
        });
    };
    if rest.is_some() && kind != "command" {
        return Err(Error::usage(format!("the evaluator `{kind}` takes nothing behind a colon, as {name:?} has it")));
    }
    make(rest, Options { kind, given: options, judge })
}

/// The options given to an evaluator.
pub(super) struct Options<'a> {
    kind: &'a str,
    given: &'a Map<String, Value>,
    judge: Option<&'a Judge>,
}

impl<'a> Options<'a> {
    /// The model that judges.
    pub(super) fn judge(&self) -> Result<&'a Judge> {
        self.judge.ok_or_else(|| {
            Error::usage(format!("the evaluator `{}` asks a model, and none is named", self.kind))
                .hint("name it with --judge, for instance --judge openai:MODEL@URL")
        })
    }

    /// Reads them; `known` are the keys that `T` has.
    pub(super) fn read<T: DeserializeOwned>(&self, known: &[&str]) -> Result<T> {
        if let Some(key) = self.given.keys().find(|key| !known.contains(&key.as_str())) {
            let error = Error::usage(format!("the evaluator `{}` has no option `{key}`", self.kind));
            return Err(match nearest(key, known.iter().copied()) {
                Some(name) => error.hint(format!("did you mean `{name}`?")),
                None if known.is_empty() => error.hint("it has no options"),
                None => error.hint(format!("its options are: {}", known.join(", "))),
            });
        }
        serde_path_to_error::deserialize(Value::Object(self.given.clone())).map_err(|error| {
            let (key, cause) = (error.path().to_string(), error.into_inner());
            Error::usage(format!("the evaluator `{}`: option `{key}`: {cause}", self.kind))
        })
    }

    /// For an evaluator without options.
    pub(super) fn none(&self) -> Result<()> {
        self.read::<Map<String, Value>>(&[]).map(drop)
    }
}

fn auto(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    options.none()?;
    let (checks, normalised) = (find("checks", options.given)?, find("normalised", options.given)?);
    Ok(Box::new(Auto { checks, normalised }))
}

struct Auto {
    checks: Box<dyn Evaluator>,
    normalised: Box<dyn Evaluator>,
}

impl Auto {
    fn of(&self, task: &Task) -> &dyn Evaluator {
        if task.checks.is_empty() { self.normalised.as_ref() } else { self.checks.as_ref() }
    }
}

impl Evaluator for Auto {
    fn name(&self) -> String {
        "auto".into()
    }

    fn check(&self, task: &Task) -> Result<()> {
        self.of(task).check(task)
    }

    fn evaluate(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Score> {
        self.of(attempt.task).evaluate(attempt, host)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::hard;
    use super::*;
    use serde_json::json;

    fn fails(name: &str, options: &Value) -> String {
        let error = find(name, options.as_object().unwrap()).err().unwrap();
        assert_eq!(error.kind(), crate::ground::error::Kind::Usage);
        format!("{error} [{}]", error.hints().join("; "))
    }

    #[test]
    fn names_and_options_are_known_or_refused_with_the_nearest() {
        for (kind, _) in kinds().filter(|(kind, _)| !needs_model(kind)) {
            let name = if kind == "command" { "command:true" } else { kind };
            assert_eq!(find(name, &Map::new()).unwrap().name(), name);
        }
        assert_eq!(fails("exakt", &json!({})), "there is no evaluator `exakt` [did you mean `exact`?]");
        assert!(fails("zzz", &json!({})).contains("evaluators are: auto, checks"));
        assert!(
            fails("numeric", &json!({"tolerence": 1}))
                .contains("has no option `tolerence` [did you mean `tolerance`?]")
        );
        assert!(fails("numeric", &json!({"tolerance": "1"})).contains("option `tolerance`: invalid type"));
        assert!(fails("checks", &json!({"x": 1})).contains("[it has no options]"));
        assert!(fails("command", &json!({})).contains("which program?"));
        assert!(fails("exact:x", &json!({})).contains("nothing behind a colon"));
        assert!(fails("judge", &json!({})).contains("needs a rubric"));
        assert!(fails("judge", &json!({"rubric": "x"})).contains("none is named [name it with --judge"));
    }

    #[test]
    fn auto_takes_a_tasks_checks_when_it_has_them() {
        let none = json!({});
        assert_eq!(hard("auto", &none, &json!({"reference": "The Key"}), &["key.", "lock"]), [1.0, 0.0]);
        let keys = json!({"reference": "x", "checks": [{"contains": "key"}]});
        assert_eq!(hard("auto", &none, &keys, &["a key", "x"]), [1.0, 0.0]);
    }
}
