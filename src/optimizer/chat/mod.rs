//! A chat model as optimizer: questions for reports and edits, a talk with tools for the backward pass.

mod bench;
mod talk;
mod tools;

use std::path::Path;

use super::analyst::{Analyst, Asker, Fault, Heard, Question};
use super::tasks::{AnalyseTask, MergeTask, MetaTask, RankTask, Ranking, RepairTask, RewriteTask, Said, SlowTask};
use super::{BackwardTask, Desk, Host, Optimizer, Outcome, ReduceTask, Session, Turn, prompt};
use crate::edit::Edit;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::text::clip;
use crate::llm::{Client, Failure, Message, Request, Role, Used, Why};
use crate::trajectory::{self, Event, Usage};

/// The most bytes of an unusable reply that its model is shown again.
const SHOWN_AGAIN: usize = 32 << 10;

/// What a chat model is asked with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The most tokens of one answer, hidden reasoning included.
    pub max_tokens: u32,
    /// The most questions of one backward pass's talk.
    pub max_turns: usize,
    /// The sampling temperature; none leaves it to the server.
    pub temperature: Option<f64>,
    /// A seed for servers that take one.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_tokens: 8_192, max_turns: 40, temperature: None, seed: None }
    }
}

/// A chat model as optimizer. Its answers are kept by whoever made its client: asked again in the same place, a question
/// that was answered costs nothing.
#[derive(Debug)]
pub struct Chat {
    name: String,
    client: Client,
    options: Options,
}

impl Chat {
    /// The optimizer that `name` names, asked through `client`.
    pub fn new(name: &str, client: &Client, options: Options) -> Chat {
        Chat { name: name.to_owned(), client: client.for_role(Role::Optimizer), options }
    }

    fn request(&self, messages: Vec<Message>) -> Request {
        let Options { max_tokens, temperature, seed, .. } = self.options;
        Request { temperature, seed, ..Request::new(messages, max_tokens) }
    }

    fn analyst(&self) -> Analyst<'_, Chat> {
        Analyst::new(self)
    }
}

impl Asker for Chat {
    fn ask(&self, question: &Question<'_>, _host: &Host<'_>) -> Result<Heard> {
        let mut messages = vec![Message::user(question.prompt)];
        if let Some((said, request)) = question.again {
            if !said.text.trim().is_empty() {
                messages.push(Message::Assistant { text: clip(&said.text, SHOWN_AGAIN), calls: Vec::new() });
            }
            messages.push(Message::user(request));
        }
        let request = Request { schema: Some(question.schema.clone()), ..self.request(messages) };
        match self.client.at(question.stage, &question.seat.place).chat(&request) {
            Ok(reply) => Ok(Heard { text: reply.text, ..Heard::default() }),
            Err(failure) => {
                let fault = fault(&failure).ok_or_else(|| Error::from(failure.clone()))?;
                Ok(Heard { text: failure.text.unwrap_or_default(), fault: Some(fault), ..Heard::default() })
            }
        }
    }
}

/// The model's own failure; none for one of its provider, the budget or the user.
fn fault(failure: &Failure) -> Option<Fault> {
    match failure.why {
        _ if failure.is_providers() => None,
        Why::CutOff => Some(Fault::CutOff),
        Why::Refused | Why::Malformed => Some(Fault::Lost(failure.message.clone())),
        _ => None,
    }
}

impl Optimizer for Chat {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn is_deterministic(&self) -> bool {
        false
    }

    /// # Errors
    /// Here and in `backward`, a provider that fails ends the pass: it was asked again already, and a fresh attempt would
    /// repeat what was paid. The same command goes on from the answers that there are.
    fn reduce(&self, task: &ReduceTask<'_>, host: &Host<'_>) -> Result<Turn> {
        let text = prompt::reduce(task, host.prompts)?;
        files::write(&task.desk.prompt(), &text)?;
        let client = self.client.at("reduce", format!("{}/reduce", task.label));
        let (outcome, report, usage) = match client.chat(&self.request(vec![Message::user(text)])) {
            Ok(reply) => (Outcome::Done, reply.text, usage(&client, reply.usage.as_ref())),
            Err(failure) if failure.why == Why::Cancelled => (Outcome::Cancelled, String::new(), None),
            Err(failure) => {
                let why = match fault(&failure) {
                    Some(Fault::CutOff) => "the report was cut off at its limit of tokens".to_owned(),
                    Some(Fault::Lost(why)) => why,
                    None => return Err(failure.into()),
                };
                (Outcome::Failed(why), String::new(), usage(&client, failure.usage.as_deref()))
            }
        };
        let said = Event::Said { text: report.clone() };
        let events: Vec<Event> = [said].into_iter().chain(usage.map(|usage| Event::Usage { usage })).collect();
        Ok(turn(outcome, report, Vec::new(), usage, &events))
    }

    fn backward(&self, task: &BackwardTask<'_>, host: &Host<'_>) -> Result<Turn> {
        let text = prompt::chat(task, host.prompts)?;
        files::write(&task.desk.prompt(), &text)?;
        let place = format!("{}/attempt-{:02}/{}", task.label, task.attempt, task.desk.stem);
        let client = self.client.at("backward", place);
        let request = Request {
            tools: tools::all(),
            // Each question begins as the one before it did.
            cache: true,
            ..self.request(vec![Message::user(text)])
        };
        talk::converse(&client, request, self.options.max_turns, task, host)
    }

    /// Nothing is recalled: asked again, each question is answered from disk.
    fn recall(&self, _desk: &Desk, _checkout: &Path, _resumed: Option<&Session>) -> Result<Option<Turn>> {
        Ok(None)
    }

    fn is_accounted(&self) -> bool {
        true
    }

    fn is_replayed(&self) -> bool {
        true
    }

    fn analyse(&self, task: &AnalyseTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst().analyse(task, host)
    }

    fn merge(&self, task: &MergeTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst().merge(task, host)
    }

    fn rank(&self, task: &RankTask<'_>, host: &Host<'_>) -> Result<Said<Ranking>> {
        self.analyst().rank(task, host)
    }

    fn rewrite(&self, task: &RewriteTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst().rewrite(task, host)
    }

    fn repair(&self, task: &RepairTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        self.analyst().repair(task, host)
    }

    fn slow_update(&self, task: &SlowTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        self.analyst().slow_update(task, host)
    }

    fn meta_skill(&self, task: &MetaTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        self.analyst().meta_skill(task, host)
    }
}

/// What a call took, its money by the provider's own word or by the client's price; none when the server did not say.
fn usage(client: &Client, used: Option<&Used>) -> Option<Usage> {
    let used = used?;
    let cost_usd = client.price().map(|price| price.of(used).as_usd()).or(used.usage.cost_usd);
    Some(Usage { cost_usd, ..used.usage })
}

/// A turn as it ended.
fn turn(outcome: Outcome, report: String, reads: Vec<String>, usage: Option<Usage>, events: &[Event]) -> Turn {
    Turn {
        outcome,
        session: None,
        usage,
        reads,
        report,
        trajectory: trajectory::markdown(events),
        sandbox: String::new(),
        warning: None,
        denied: Vec::new(),
    }
}
