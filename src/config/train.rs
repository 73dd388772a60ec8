//! The keys of `[train]` and `[gradient]`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run: how long, on how much, where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Train {
    /// The folder of the run: its pool, all its evidence, and what makes the same command resume.
    #[serde(serialize_with = "super::path_text")]
    #[schemars(length(min = 1))]
    pub out: PathBuf,
    /// The run's name, in the labels of its commits. Left out: its folder's name.
    #[schemars(length(min = 1), example = &"warehouse")]
    pub name: Option<String>,
    /// How often all train tasks are gone through. Raising it makes a finished run go on.
    #[schemars(range(min = 1))]
    pub num_epochs: usize,
    /// Tasks attempted for one step.
    #[schemars(range(min = 1))]
    pub batch_size: usize,
    /// Batches whose evidence is gathered for one step: an epoch has train / (batch_size × accumulation) steps, rounded
    /// up.
    #[schemars(range(min = 1))]
    pub accumulation: usize,
    /// Fixes the order of tasks and every other choice made by chance.
    pub seed: u64,
    /// How many of the train tasks are used; 0 uses all.
    pub train_size: usize,
    /// Tasks attempted at the same time. Changes nothing but the time it takes.
    #[schemars(range(min = 1, max = 1024))]
    pub workers: usize,
    /// A pool, or a folder of cards that is committed as the first state. Left out: an empty pool.
    #[serde(serialize_with = "super::optional_path_text")]
    #[schemars(length(min = 1), example = &"pool")]
    pub init_pool: Option<PathBuf>,
    /// A control: the same loop and the same attempts, but the optimizer is not asked and the pool never changes.
    pub freeze: bool,
    /// A folder with prompts of your own, under the names of the built-in ones.
    #[serde(serialize_with = "super::optional_path_text")]
    #[schemars(length(min = 1), example = &"prompts")]
    pub prompts: Option<PathBuf>,
    /// What contains an agent or a program.
    pub sandbox: Sandbox,
}

/// What contains an agent or a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// the best that works here
    #[default]
    Auto,
    /// bubblewrap, or an error
    Bwrap,
    /// Landlock, or an error
    Landlock,
    /// only the supervisor that ends every process
    Off,
}

impl Default for Train {
    fn default() -> Self {
        Train {
            out: PathBuf::from("runs/train"),
            name: None,
            num_epochs: 4,
            batch_size: 40,
            accumulation: 1,
            seed: 42,
            train_size: 0,
            workers: 4,
            init_pool: None,
            freeze: false,
            prompts: None,
            sandbox: Sandbox::Auto,
        }
    }
}

/// Reflection on a step's attempts: the gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gradient {
    /// Attempts that one reflection looks at together.
    #[schemars(range(min = 1))]
    pub minibatch_size: usize,
    /// How many reflections one merge folds into one; 1 would never end.
    #[schemars(range(min = 2))]
    pub merge_batch_size: usize,
    /// Reflections made at the same time. Changes nothing but the time it takes.
    #[schemars(range(min = 1, max = 1024))]
    pub analyst_workers: usize,
    /// Whether to learn from failures alone, and not from successes as well.
    pub failure_only: bool,
}

impl Default for Gradient {
    fn default() -> Self {
        Gradient { minibatch_size: 8, merge_batch_size: 8, analyst_workers: 16, failure_only: false }
    }
}
