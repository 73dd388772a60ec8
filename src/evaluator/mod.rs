//! Evaluators: whoever scores an attempt and says what was wrong with it.
//!
//! The feedback is the loss signal, so it names what should be different, not how much. An evaluator that cannot score
//! says so as an error, which is neither a pass nor a 0. A new evaluator is one file and one line in the registry.

mod checks;
mod command;
mod contains;
mod exact;
mod f1;
mod json;
mod judge;
mod normalised;
mod numeric;
mod regex;
pub mod registry;
mod text;

use std::path::Path;
use std::time::Duration;

use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::process::Sandbox;
use crate::ground::signals::Cancel;
use crate::score::Score;
use crate::task::Task;

/// One attempt to score.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The task.
    pub task: &'a Task,
    /// What the target answered, whole.
    pub answer: &'a str,
    /// The readable transcript, Markdown.
    pub trajectory: &'a str,
    /// The tools that the target called, by name, in order.
    pub tools: &'a [String],
}

/// What scoring needs of its surroundings.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The containment wanted for programs.
    pub sandbox: Sandbox,
    /// Wall-clock time for one attempt.
    pub timeout: Duration,
    /// A folder for this attempt's files, of nobody else; made when it is missing.
    pub desk: &'a Path,
    /// How often this answer got no score before: the same question then is another one to a recording.
    pub again: usize,
}

/// Scores attempts.
pub trait Evaluator: Send + Sync {
    /// Its name as the user gives it: `checks`, `command:./score`.
    fn name(&self) -> String;

    /// All that decides a score besides the attempt, for the digest of a rollout's inputs: its name and options.
    fn identity(&self) -> String {
        self.name()
    }

    /// Whether a score costs money and follows from task and answer alone, so that the same answer of another attempt has the
    /// same.
    fn judges_answers(&self) -> bool {
        false
    }

    /// Whether it starts programs, whose scores a recording has to hold.
    fn starts_programs(&self) -> bool {
        false
    }

    /// Whether this task can be scored at all: asked for every task before the first is attempted.
    ///
    /// # Errors
    /// Of kind `Usage`, naming file, line and key.
    fn check(&self, task: &Task) -> Result<()>;

    /// Scores an attempt.
    ///
    /// # Errors
    /// Of kind `Failed` when no score came of it, `Usage` as [`Evaluator::check`], `Unreachable` when what it needs is not
    /// there, `Interrupted`.
    fn evaluate(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Score>;
}

/// The texts any of which is right.
fn answers(task: &Task, evaluator: &str) -> Result<Vec<String>> {
    match task.answers() {
        answers if answers.is_empty() => Err(no_reference(task, evaluator)),
        answers => Ok(answers),
    }
}

fn no_reference(task: &Task, evaluator: &str) -> Error {
    task.fault(format!("key `reference` is missing, and the `{evaluator}` evaluator compares with it"))
        .hint("give the task a reference, or choose another evaluator")
}

/// What is said of a wrong answer when all that is known is the right one.
fn right_answer(answers: &[String]) -> Vec<String> {
    vec![format!("The right answer is {}.", alternatives(answers).trim_end_matches('.'))]
}

/// Words from which on an answer is a passage.
const PASSAGE: usize = 8;

/// Answers as advice names them, any of which is right. A passage is quoted: what a report quotes is material, and a card
/// that takes it over has copied an answer instead of learning a rule.
fn alternatives(answers: &[String]) -> String {
    let shown = answers.iter().map(|answer| match answer.split_whitespace().count() {
        ..PASSAGE => answer.clone(),
        _ => format!("\"{}\"", answer.replace(['"', '“', '”'], "'")),
    });
    shown.collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod testing;
