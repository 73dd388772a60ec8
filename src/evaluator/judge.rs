//! Judge: a chat model scores an answer by a rubric of the user's.
//!
//! What is judged stands in the question as data. A number that is out of range or missing is asked for once more and
//! then no score; neither is a provider's failure one.

mod compare;
mod verdict;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::registry::Options;
use super::{Attempt, Evaluator, Host};
use crate::ground::digest;
use crate::ground::error::{Error, Result};
use crate::ground::prompts::{Prompts, frame};
use crate::ground::text::clip;
use crate::llm::{Client, Failure, Message, Request, Role, Schema};
use crate::score::Score;
use crate::task::Task;

/// Raised when the same options make other questions.
const VERSION: u32 = 1;
/// The stage that a judge's calls are counted under.
const STAGE: &str = "judge";
/// Bytes of one text that a judge is shown.
const SHOWN: usize = 64 << 10;
/// Failures of the provider in a row after which it is taken to be out of order: before its first answer, and after it.
const LOST_AT_FIRST: usize = 4;
/// See [`LOST_AT_FIRST`].
const LOST_LATER: usize = 16;

pub(super) fn make(_: Option<&str>, options: Options<'_>) -> Result<Box<dyn Evaluator>> {
    let keys = ["rubric", "criteria", "threshold", "compare", "max_tokens", "temperature"];
    let settings: Settings = options.read(&keys)?;
    settings.check()?;
    let super::registry::Judge { client, prompts } = options.judge()?;
    let mut judge = Judge {
        client: client.for_role(Role::Judge),
        prompts: prompts.clone(),
        settings,
        wording: String::new(),
        lost: AtomicUsize::new(0),
        has_answered: AtomicBool::new(false),
    };
    // A prompt of the user's that cannot be rendered is told before anything is attempted.
    judge.wording = digest::of_parts([judge.question("")?.as_bytes(), judge.comparison("")?.as_bytes()]);
    Ok(Box::new(judge))
}

/// The options.
#[derive(Debug, Deserialize)]
struct Settings {
    /// What a good answer is.
    #[serde(default)]
    rubric: String,
    /// Requirements that are scored one by one; the score is their mean.
    #[serde(default)]
    criteria: Vec<String>,
    /// The soft score from which an answer counts as right.
    #[serde(default = "threshold")]
    threshold: f64,
    /// Whether an answer is compared with the task's reference, where there is one, instead of scored.
    #[serde(default)]
    compare: bool,
    /// The most tokens of a verdict.
    #[serde(default = "max_tokens")]
    max_tokens: u32,
    /// The sampling temperature; none leaves it to the server.
    #[serde(default)]
    temperature: Option<f64>,
}

fn threshold() -> f64 {
    0.8
}

fn max_tokens() -> u32 {
    2_048
}

impl Settings {
    fn check(&self) -> Result<()> {
        let fail = |what: String| Err(Error::usage(format!("the evaluator `judge`: {what}")));
        let has_criteria = !self.criteria.is_empty();
        if self.rubric.trim().is_empty() && !has_criteria {
            return Err(Error::usage("the evaluator `judge` needs a rubric: what is a good answer?").hint(
                "give it as evaluation.rubric, or with --rubric TEXT or --rubric @FILE where there is that flag",
            ));
        }
        if self.criteria.iter().any(|criterion| criterion.trim().is_empty()) {
            return fail("option `criteria` holds an empty text".into());
        }
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return fail(format!("option `threshold` is {}, not a number above 0 and up to 1", self.threshold));
        }
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return fail("option `temperature` is not a number from 0 to 2".into());
        }
        if self.max_tokens == 0 {
            return fail("option `max_tokens` is 0".into());
        }
        Ok(())
    }

    /// The rubric and, for one without, what stands in its place.
    fn rubric(&self) -> String {
        match self.rubric.trim() {
            "" => "Each of the criteria below counts the same.".to_owned(),
            rubric => rubric.to_owned(),
        }
    }

    /// The criteria under the names that a verdict gives their scores.
    fn named(&self) -> impl Iterator<Item = (String, &str)> {
        self.criteria.iter().enumerate().map(|(number, text)| (format!("c{}", number + 1), text.trim()))
    }

    /// The criteria as the judge reads them; empty when there are none.
    fn listed(&self) -> String {
        self.named().map(|(name, text)| format!("- {name}: {text}")).collect::<Vec<_>>().join("\n")
    }
}

struct Judge {
    client: Client,
    prompts: Prompts,
    settings: Settings,
    /// The digest of all that it is asked, without what is judged.
    wording: String,
    /// Failures of the provider since its last answer.
    lost: AtomicUsize,
    has_answered: AtomicBool,
}

impl Evaluator for Judge {
    fn name(&self) -> String {
        "judge".into()
    }

    fn identity(&self) -> String {
        let Settings { threshold, compare, max_tokens, temperature, .. } = &self.settings;
        json!({
            "judge": VERSION, "model": self.client.model(), "wording": self.wording, "threshold": threshold,
            "compare": compare, "max_tokens": max_tokens, "temperature": temperature,
        })
        .to_string()
    }

    /// Any task can be judged.
    fn check(&self, _: &Task) -> Result<()> {
        Ok(())
    }

    fn judges_answers(&self) -> bool {
        true
    }

    fn evaluate(&self, attempt: &Attempt<'_>, host: &Host<'_>) -> Result<Score> {
        if attempt.answer.trim().is_empty() {
            return Ok(Score::pass_or(false, || vec!["Give an answer.".into()]));
        }
        match attempt.task.answers().first() {
            Some(reference) if self.settings.compare => self.compared(attempt, reference, host.again),
            _ => self.scored(attempt, host.again),
        }
    }
}

impl Judge {
    /// The score by the rubric, or by its criteria.
    fn scored(&self, attempt: &Attempt<'_>, again: usize) -> Result<Score> {
        let mut data = task_data(attempt.task);
        for answer in attempt.task.answers() {
            data.push_str(&shown("a right answer", "", &answer));
        }
        data.push_str(&shown("the answer to judge", "", attempt.answer));
        let question = self.question(&data)?;
        if self.settings.criteria.is_empty() {
            let schema = verdict::schema(json!({"score": verdict::share()}), &["score"]);
            let said: verdict::Overall = self.ask(attempt.task, ("", again), &question, schema)?;
            return self.score(attempt.task, said.score.0, &said.feedback);
        }
        let names: Vec<String> = self.settings.named().map(|(name, _)| name).collect();
        let said: verdict::ByCriterion =
            self.ask(attempt.task, ("", again), &question, verdict::schema_of_criteria(&names))?;
        let soft = said.mean(&names).map_err(|why| no_score(attempt.task, why))?;
        self.score(attempt.task, soft, &said.feedback)
    }

    /// A score whose hard part is whether it reaches the threshold.
    fn score(&self, task: &Task, soft: f64, feedback: &[String]) -> Result<Score> {
        let hard = if soft >= self.settings.threshold { 1.0 } else { 0.0 };
        Score::new(hard, soft, verdict::advice(feedback)).map_err(|why| no_score(task, why))
    }

    /// The question with these texts in it.
    fn question(&self, data: &str) -> Result<String> {
        let slots =
            [("rubric", self.settings.rubric()), ("criteria", self.settings.listed()), ("data", data.to_owned())];
        self.prompts.render("judge", &slots)
    }

    /// Asks for a verdict. `turn` tells the questions about one answer apart: which of them, and how often there was no
    /// score before.
    ///
    /// # Errors
    /// Of kind `Failed` when there is no verdict on this answer; `Unreachable` when the provider fails all the time, and
    /// of the failure's own kind when no other answer would fare better.
    fn ask<T: DeserializeOwned>(&self, task: &Task, turn: (&str, usize), question: &str, schema: Value) -> Result<T> {
        let request = Request {
            schema: Some(Schema { name: "verdict".into(), schema }),
            temperature: self.settings.temperature,
            ..Request::new(vec![Message::user(question)], self.settings.max_tokens)
        };
        let (turn, again) = turn;
        let again = if again > 0 { format!("+{again}") } else { String::new() };
        match self.client.at(STAGE, format!("{STAGE}/{}{turn}{again}", task.id)).ask(&request) {
            Ok(asked) => {
                self.has_answered.store(true, Ordering::SeqCst);
                self.lost.store(0, Ordering::SeqCst);
                Ok(asked.value)
            }
            Err(failure) if failure.is_providers() => Err(self.lost(task, &failure)),
            Err(failure) => {
                let error = Error::from(failure);
                Err(error.context(format!("the judge gave task `{}` no score", task.id)))
            }
        }
    }

    /// The provider failed: this score is missing. When it fails all the time, so will all others be.
    fn lost(&self, task: &Task, failure: &Failure) -> Error {
        let lost = self.lost.fetch_add(1, Ordering::SeqCst) + 1;
        let most = if self.has_answered.load(Ordering::SeqCst) { LOST_LATER } else { LOST_AT_FIRST };
        if lost >= most {
            return Error::unreachable(format!("the judge failed {lost} times in a row: {failure}"))
                .hint("the answers are kept; check the judge's address and provider, then run the same command again");
        }
        no_score(task, failure)
    }
}

fn no_score(task: &Task, why: impl std::fmt::Display) -> Error {
    Error::failed(format!("the judge gave task `{}` no score: {why}", task.id))
}

/// The task as data.
fn task_data(task: &Task) -> String {
    shown("the task", &task.id, &task.input)
}

/// A text as data, bounded.
fn shown(kind: &str, name: &str, text: &str) -> String {
    frame(kind, name, &clip(text, SHOWN)) + "\n"
}

#[cfg(test)]
mod tests;
