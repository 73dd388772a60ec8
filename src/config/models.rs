//! The keys of `[optimizer]` and `[target]`: who edits, and who attempts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who edits the pool, and how much of it in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Optimizer {
    /// The optimizer: extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM, openai:MODEL[@URL], anthropic:MODEL,
    /// ollama:MODEL.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The optimizer's model, where its name gives none.
    #[schemars(length(min = 1), example = &"opus")]
    pub model: Option<String>,
    /// How evidence becomes an edit.
    pub strategy: Strategy,
    /// The most edits of a step, or cards that it may change. 0 applies nothing.
    pub learning_rate: usize,
    /// Where a falling learning rate ends.
    pub min_learning_rate: usize,
    /// How the learning rate goes from its first to its least value over the run's steps.
    pub lr_scheduler: LrScheduler,
    /// What the patch strategy asks the optimizer for.
    pub update_mode: UpdateMode,
    /// Cards that a step may delete.
    pub max_deletions: usize,
    /// Whether to compare each epoch's pool with the last one's on the same tasks, and to write guidance of it.
    pub use_slow_update: bool,
    /// Train tasks in that comparison.
    #[schemars(range(min = 1))]
    pub slow_update_samples: usize,
    /// Whether the guidance must pass the gate as an edit does.
    pub slow_update_gate_with_selection: bool,
    /// Which pairs of attempts of that comparison the optimizer is shown.
    pub longitudinal_pair_policy: PairPolicy,
    /// Whether the optimizer keeps notes on what edits helped, for its own later work.
    pub use_meta_skill: bool,
    /// Wall-clock seconds of one attempt to edit.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
    /// Fresh attempts after the first one failed.
    pub retries: usize,
    /// The sampling temperature of a chat model. Left out: the provider's.
    #[schemars(range(min = 0, max = 2), example = 0.0)]
    pub temperature: Option<f64>,
    /// The most tokens of one answer of a chat model.
    #[schemars(range(min = 1))]
    pub answer_tokens: u32,
    /// The most questions to a chat model for one edit of the pool.
    #[schemars(range(min = 1))]
    pub max_turns: usize,
}

/// How evidence becomes an edit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// loss reports are reduced to one, and the optimizer edits a checkout
    #[default]
    Backward,
    /// typed edits are merged, ranked, clipped and applied by us
    Patch,
}

/// How the learning rate goes over the run's steps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LrScheduler {
    /// slowly, fast, slowly
    #[default]
    Cosine,
    /// evenly
    Linear,
    /// not at all
    Constant,
    /// as the optimizer says, step by step
    Autonomous,
}

/// What the patch strategy asks the optimizer for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpdateMode {
    /// edits of cards
    #[default]
    Patch,
    /// suggestions, from which the cards are written anew
    RewriteFromSuggestions,
    /// whole cards
    FullRewrite,
}

/// Which pairs of attempts the slow update shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairPolicy {
    /// both kinds
    #[default]
    Mixed,
    /// those that improved or got worse
    Changed,
    /// those that stayed as they were
    Unchanged,
}

impl Default for Optimizer {
    fn default() -> Self {
        Optimizer {
            name: "extractive".to_owned(),
            model: None,
            strategy: Strategy::Backward,
            learning_rate: 4,
            min_learning_rate: 2,
            lr_scheduler: LrScheduler::Cosine,
            update_mode: UpdateMode::Patch,
            max_deletions: 2,
            use_slow_update: true,
            slow_update_samples: 20,
            slow_update_gate_with_selection: true,
            longitudinal_pair_policy: PairPolicy::Mixed,
            use_meta_skill: true,
            timeout: 5400.0,
            retries: 2,
            temperature: None,
            answer_tokens: 8192,
            max_turns: 40,
        }
    }
}

/// Who attempts the tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The target, needed to train: openai:MODEL[@URL], anthropic:MODEL, ollama:MODEL, command:PROGRAM.
    #[schemars(length(min = 1), example = &"openai:qwen3@http://127.0.0.1:8080/v1")]
    pub name: Option<String>,
    /// How a model sees the pool.
    pub mode: Mode,
    /// What a model is told besides the pool.
    pub system: String,
    /// The sampling temperature. Left out: the provider's.
    #[schemars(range(min = 0, max = 2), example = 0.0)]
    pub temperature: Option<f64>,
    /// A seed for servers that take one.
    #[schemars(example = 42)]
    pub seed: Option<u64>,
    /// The most tokens of one answer.
    #[schemars(range(min = 1))]
    pub answer_tokens: u32,
    /// The most tokens of cards in a prompt.
    pub pool_tokens: usize,
    /// The most questions to a model for one task, where it opens cards.
    #[schemars(range(min = 1))]
    pub max_turns: usize,
    /// Wall-clock seconds of one call, or of one attempt of a program.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
    /// Calls repeated after the provider failed.
    pub retries: usize,
}

/// How a model sees the pool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// every card in its prompt
    #[default]
    Inline,
    /// headers, and a tool that opens cards
    Routed,
}

impl Default for Target {
    fn default() -> Self {
        Target {
            name: None,
            mode: Mode::Inline,
            system: String::new(),
            temperature: None,
            seed: None,
            answer_tokens: 1024,
            pool_tokens: 16_000,
            max_turns: 8,
            timeout: 300.0,
            retries: 5,
        }
    }
}
