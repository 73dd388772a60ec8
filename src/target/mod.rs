//! Targets: whoever attempts tasks with a pool at hand. A new one is one file and one line in the registry.
//!
//! A target tells what it saw of the pool and which cards it read, so that an attempt can be used again for a later
//! pool that has the same to show. An attempt without an answer because its provider failed is an outcome of its own.

mod agent;
mod chat;
mod command;
mod page;
pub mod registry;
mod routed;
mod skills;
mod view;

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::process::Sandbox;
use crate::ground::signals::Cancel;
use crate::task::Task;
use crate::trajectory::{Event, Usage};

pub use page::Mode;
pub use registry::{Options, find, needs_model};
pub use view::View;

/// What an attempt needs of its surroundings.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The containment wanted for programs.
    pub sandbox: Sandbox,
    /// Wall-clock time for one attempt of a program.
    pub timeout: Duration,
    /// A folder for this attempt's files, of nobody else; made when it is missing.
    pub desk: &'a Path,
    /// The pool's files as a folder, for a target that wants them so ([`Target::wants_folder`]).
    pub folder: &'a Path,
    /// Where in a run it is made (`epoch_00/step_01`), so that the same question in another place is another one to a
    /// recording. Empty when nothing needs it.
    pub place: &'a str,
    /// Which of several attempts at the same task this is; 0 is the first.
    pub sample: u32,
}

/// What is told of an answer that was cut off at its limit of tokens.
pub const CUT_OFF: &str = "The answer was cut off at its limit of tokens. Answer shorter.";

/// An attempt that came to its end.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Attempt {
    /// What was answered, whole.
    pub answer: String,
    /// Why there is no answer, when the fault is the target's own (cut off, declined): a failure to learn from.
    pub fault: Option<String>,
    /// What was said and done, in order.
    pub events: Vec<Event>,
    /// The paths of cards that were read, in order; one that is not there too.
    pub reads: Vec<String>,
    /// The tools that were called, by name, in order.
    pub tools: Vec<String>,
    /// Tokens, where they are known.
    pub usage: Option<Usage>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// By itself: with an answer, or with a fault of the target's own.
    Ended(Attempt),
    /// Its provider failed; why. Says nothing about the target or the pool.
    Lost(String),
}

/// Attempts tasks.
pub trait Target: Send + Sync {
    /// Its name as the user gives it.
    fn name(&self) -> String;

    /// All that decides an answer besides the task and the pool: the model and what it is asked with. Not the address:
    /// the same model answers the same wherever it is served.
    fn identity(&self) -> String;

    /// What of a task this target is told; never its reference or its checks.
    fn told(&self, task: &Task) -> Value;

    /// Whether it asks models that are paid through the run's account.
    fn asks_models(&self) -> bool {
        false
    }

    /// Whether it wants the pool as a folder.
    fn wants_folder(&self) -> bool {
        false
    }

    /// Whether its client writes every answer down before an attempt returns, so that the same question is answered again,
    /// and limits how many calls are under way: then attempts may wait for the disk while others ask.
    fn keeps_answers(&self) -> bool {
        false
    }

    /// Gets ready for a pool: what all attempts with it share is made here, once.
    ///
    /// # Errors
    /// Of kind `Usage` when its prompt cannot be rendered.
    fn ready<'a>(&'a self, view: &'a View) -> Result<Box<dyn Ready + 'a>>;
}

/// A target that has a pool at hand. Used by many threads.
pub trait Ready: Sync {
    /// The digest of what it sees of the pool before it opens a card.
    fn sees(&self) -> String;

    /// What a user should know of how it sees the pool: cards left out for length. One line each.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Attempts a task.
    ///
    /// # Errors
    /// What no other task would fare better with: `Interrupted`, a budget that is used up, a recording that holds no
    /// answer, a program that is not there.
    fn attempt(&self, task: &Task, host: &Host<'_>) -> Result<Outcome>;
}

/// A task without what would give its answer away.
fn without_answer(task: &Task) -> Value {
    let hidden = ["reference", "checks"];
    let open = task.raw.iter().filter(|(key, _)| !hidden.contains(&key.as_str()));
    Value::Object(open.map(|(key, value)| (key.clone(), value.clone())).collect::<Map<_, _>>())
}
