//! The keys of `[evaluation]` and `[data]`: what is scored, on what, and what a score must reach.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scores, and the gate that takes or refuses a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Evaluation {
    /// Who scores: auto (a task's checks, else its reference), checks, exact, normalised, contains, numeric, regex,
    /// json_equal, token_f1, command:PROGRAM.
    #[schemars(length(min = 1))]
    pub evaluator: String,
    /// Settings of the evaluator's own; each evaluator says which it takes.
    #[schemars(example = evaluator_options())]
    pub options: serde_json::Map<String, serde_json::Value>,
    /// The model that judges, for an evaluator that asks one.
    #[schemars(length(min = 1), example = &"openai:gpt-5-mini")]
    pub judge: Option<String>,
    /// What the judge is told to look at.
    #[schemars(length(min = 1), example = &"The answer names the code and nothing else.")]
    pub rubric: Option<String>,
    /// Whether a step must pass the gate; false records the scores and takes every step.
    pub use_gate: bool,
    /// What the gate compares.
    pub gate_metric: GateMetric,
    /// The soft score's share of the mixed one.
    #[schemars(range(min = 0, max = 1))]
    pub mixed_weight: f64,
    /// When a step is taken.
    pub gate_policy: GatePolicy,
    /// How many tasks that are not marked critical may get worse under no_regression.
    pub max_regressions: usize,
    /// The chance, over the whole run, that the sequential gate ever takes a worthless step.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub alpha: f64,
    /// The share of tasks that must get a score; below it a step is undecided.
    #[schemars(range(min = 0, max = 1))]
    pub min_coverage: f64,
    /// Whether the gate stops as soon as the tasks that are left cannot change its verdict. Without it every selection task
    /// is measured; the verdicts are the same.
    pub early_stop: bool,
    /// Attempts of each selection or test task, whose scores are averaged.
    #[schemars(range(min = 1))]
    pub repeats: usize,
    /// Steps in a row without one taken after which the run stops; 0 never stops it.
    pub patience: usize,
    /// Whether the best pool is scored on the test split at the end.
    pub eval_test: bool,
}

/// Options as they may look.
fn evaluator_options() -> serde_json::Value {
    serde_json::json!({ "tolerance": 0.01 })
}

/// What the gate compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateMetric {
    /// the mean of what the evaluator calls right
    #[default]
    Hard,
    /// the mean of its partial credit
    Soft,
    /// both, weighted by mixed_weight
    Mixed,
}

/// When a step is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatePolicy {
    /// only when its score is higher; a tie is refused
    #[default]
    Strict,
    /// as strict, and no critical task and at most max_regressions others got worse
    NoRegression,
    /// when a test that holds its error over the whole run says that it is better
    Sequential,
}

impl Default for Evaluation {
    fn default() -> Self {
        Evaluation {
            evaluator: "auto".to_owned(),
            options: serde_json::Map::new(),
            judge: None,
            rubric: None,
            use_gate: true,
            gate_metric: GateMetric::Hard,
            mixed_weight: 0.5,
            gate_policy: GatePolicy::Strict,
            max_regressions: 0,
            alpha: 0.05,
            min_coverage: 0.9,
            early_stop: true,
            repeats: 1,
            patience: 0,
            eval_test: true,
        }
    }
}

/// The tasks, and how they are split. Either `tasks` or `split_dir` is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Data {
    /// A file of tasks, one JSON object a line, to be split.
    #[serde(serialize_with = "super::optional_path_text")]
    #[schemars(length(min = 1), example = &"tasks.jsonl")]
    pub tasks: Option<PathBuf>,
    /// A folder with train.jsonl, selection.jsonl and test.jsonl, split already.
    #[serde(serialize_with = "super::optional_path_text")]
    #[schemars(length(min = 1), example = &"split")]
    pub split_dir: Option<PathBuf>,
    /// The shares of train, selection and test, where `tasks` is split.
    pub split_ratio: String,
    /// Fixes which task goes where.
    pub split_seed: u64,
}

impl Default for Data {
    fn default() -> Self {
        Data { tasks: None, split_dir: None, split_ratio: "2:1:7".to_owned(), split_seed: 42 }
    }
}
