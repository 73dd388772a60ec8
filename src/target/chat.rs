//! A chat model as a target: the pool in its system text, whole or as headers with a tool that opens cards.

use serde_json::{Value, json};

use super::page::{Page, page};
use super::registry::Options;
use super::{Attempt, Host, Mode, Outcome, Ready, Target, View, routed};
use crate::ground::digest;
use crate::ground::error::{Error, Result};
use crate::llm::{Client, Failure, Message, Reply, Request, Why};
use crate::task::Task;
use crate::trajectory::{Event, Usage};

/// Raised when the same options make other questions.
const VERSION: u32 = 1;

/// The stage that a rollout's calls are counted under.
const STAGE: &str = "rollout";

pub(super) struct Chat {
    name: String,
    client: Client,
    options: Options,
}

impl Chat {
    pub(super) fn new(name: &str, client: Client, options: Options) -> Chat {
        Chat { name: name.to_owned(), client, options }
    }
}

impl Target for Chat {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn identity(&self) -> String {
        let Options { mode, seed, temperature, max_tokens, max_turns, .. } = &self.options;
        json!({
            "chat": VERSION, "model": self.client.model(), "mode": mode.name(), "seed": seed,
            "temperature": temperature, "max_tokens": max_tokens, "max_turns": max_turns,
        })
        .to_string()
    }

    fn asks_models(&self) -> bool {
        true
    }

    fn told(&self, task: &Task) -> Value {
        json!({ "id": task.id, "input": task.input })
    }

    /// Its client is made with a recording and a limit of calls at a time.
    fn keeps_answers(&self) -> bool {
        true
    }

    fn ready<'a>(&'a self, view: &'a View) -> Result<Box<dyn Ready + 'a>> {
        let Options { mode, system, budget, prompts, .. } = &self.options;
        let page = page(view, *mode, system, *budget, prompts)?;
        // Without a card to open there is nothing to route.
        let routed = *mode == Mode::Routed && view.cards.iter().any(|card| !view.is_general(card));
        Ok(Box::new(ChatReady { chat: self, view, page, routed }))
    }
}

/// A chat model and the page that it is shown of a pool.
struct ChatReady<'a> {
    chat: &'a Chat,
    view: &'a View,
    page: Page,
    routed: bool,
}

impl ChatReady<'_> {
    /// The question that begins an attempt.
    fn request(&self, task: &Task, sample: u32) -> Request {
        let mut messages = Vec::new();
        if !self.page.text.is_empty() {
            messages.push(Message::system(&self.page.text));
        }
        messages.push(Message::user(&task.input));
        let Options { seed, temperature, max_tokens, .. } = self.chat.options;
        // The same system text goes out with every task.
        Request { seed, temperature, sample, cache: true, ..Request::new(messages, max_tokens) }
    }
}

impl Ready for ChatReady<'_> {
    /// The whole system text: it holds the prompt's wording, the user's text, the headers and the cards in it.
    fn sees(&self) -> String {
        digest::of(&self.page.text)
    }

    fn remarks(&self) -> Vec<String> {
        let (cut, budget) = (self.page.cut, self.chat.options.budget);
        let line = || format!("{cut} cards are left out of the prompt: they do not fit into {budget} tokens");
        if cut > 0 { vec![line()] } else { Vec::new() }
    }

    fn attempt(&self, task: &Task, host: &Host<'_>) -> Result<Outcome> {
        let request = self.request(task, host.sample);
        let within = if host.place.is_empty() { String::new() } else { format!("{}/", host.place) };
        let client = self.chat.client.at(STAGE, format!("{within}{STAGE}/{}", task.id));
        let mut talk = Talk::new(self.page.read.clone());
        if self.routed {
            return routed::converse(&client, request, self.view, self.chat.options.max_turns, talk);
        }
        match client.chat(&request) {
            Ok(reply) => {
                talk.said(&reply);
                Ok(talk.answered(reply.text))
            }
            Err(failure) => talk.failed(failure),
        }
    }
}

/// An attempt while it is made.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) attempt: Attempt,
}

impl Talk {
    /// Begins; `read` are the cards whose rules stand in the prompt.
    pub(super) fn new(read: Vec<String>) -> Talk {
        let events = read.iter().map(|path| Event::Read { path: path.clone() }).collect();
        Talk { attempt: Attempt { events, reads: read, ..Attempt::default() } }
    }

    /// Takes a reply down.
    pub(super) fn said(&mut self, reply: &Reply) {
        self.attempt.events.push(Event::Said { text: reply.text.clone() });
        if let Some(used) = &reply.usage {
            *self.attempt.usage.get_or_insert_with(Usage::default) += used.usage;
        }
    }

    /// The answer is there.
    pub(super) fn answered(mut self, answer: String) -> Outcome {
        self.attempt.answer = answer;
        Outcome::Ended(self.closed())
    }

    /// There is none, and the fault is the target's own.
    pub(super) fn at_fault(mut self, why: impl Into<String>) -> Outcome {
        self.attempt.fault = Some(why.into());
        Outcome::Ended(self.closed())
    }

    /// A call failed. The model's own failure is something to learn from, its provider's is not; what concerns every
    /// other task as well ends the run.
    pub(super) fn failed(mut self, failure: Failure) -> Result<Outcome> {
        if failure.is_providers() {
            return Ok(Outcome::Lost(failure.message));
        }
        if let Some(text) = &failure.text {
            self.attempt.events.push(Event::Said { text: text.clone() });
        }
        match failure.why {
            Why::CutOff => Ok(self.at_fault(super::CUT_OFF)),
            Why::Refused => Ok(self.at_fault("The model declined to answer.")),
            Why::Malformed => Ok(self.at_fault("The model's reply could not be read.")),
            _ => Err(Error::from(failure)),
        }
    }

    fn closed(self) -> Attempt {
        let mut attempt = self.attempt;
        if let Some(usage) = attempt.usage {
            attempt.events.push(Event::Usage { usage });
        }
        attempt
    }
}
