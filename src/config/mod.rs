//! The configuration of `skilltrain train`: its keys with their defaults, and all that is made of them.
//!
//! The types are the one source: their docstrings are the comments of the template and the descriptions of the
//! schema, and the schema decides what a file or a `--set` may hold.

mod check;
mod document;
mod evaluation;
mod history;
mod limits;
mod load;
mod models;
mod nearest;
mod place;
mod scrub;
mod shape;
mod source;
#[cfg(test)]
mod tests;
mod train;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::document::template;
pub use self::evaluation::{Data, Evaluation, GateMetric, GatePolicy};
pub use self::history::Change;
pub use self::limits::{Budget, Price, Rates};
pub use self::models::{LrScheduler, Mode, Optimizer, PairPolicy, Strategy, Target, UpdateMode};
pub use self::shape::schema;
pub use self::train::{Gradient, Sandbox, Train};

/// The configuration's usual file name.
pub const CONFIG_FILE: &str = "skilltrain.toml";

/// The configuration of skilltrain train. A key that is left out has its default. Relative paths are relative to this
/// file's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "skilltrain.toml")]
pub struct Config {
    /// The run: how long, on how much, where.
    pub train: Train,
    /// Reflection on a step's attempts: the gradient.
    pub gradient: Gradient,
    /// Who edits the pool, and how much of it in a step.
    pub optimizer: Optimizer,
    /// Who attempts the tasks.
    pub target: Target,
    /// Scores, and the gate that takes or refuses a step.
    pub evaluation: Evaluation,
    /// The tasks, and how they are split. Either `tasks` or `split_dir` is needed.
    pub data: Data,
    /// What the whole run may take. A limit that is left out does not bind; none is ever passed, not even by calls in
    /// flight.
    pub budget: Budget,
    /// What tokens cost, by the model's name; `*` in a name stands for anything. With `budget.max_usd` every model
    /// needs one, a free one too.
    #[schemars(extend("propertyNames" = {"examples": ["gpt-5-mini*"]}))]
    pub prices: BTreeMap<String, Price>,
    /// What a backend may be asked, by its name as in `target.name`.
    #[schemars(extend("propertyNames" = {"examples": ["openai:qwen3@http://127.0.0.1:8080/v1"]}))]
    pub rates: BTreeMap<String, Rates>,
}

/// A path as text; what is not UTF-8 in it is replaced, as loading refuses such a folder.
fn path_text<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

fn optional_path_text<S: serde::Serializer>(
    path: &Option<std::path::PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_deref().map(std::path::Path::to_string_lossy).serialize(serializer)
}
