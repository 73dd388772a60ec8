//! What the rest of the program asks models through: a backend, a budget, an account, and who is asking.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::backend::{Backend, Call, Meter};
use super::budget::Budget;
use super::failure::{Failure, Why};
use super::json;
use super::ledger::{Account, Ledger, Role};
use super::prices::Price;
use super::reply::Reply;
use super::request::{Message, Request};
use crate::ground::prompts::Prompts;
use crate::ground::signals::Cancel;
use crate::ground::text::clip;

/// The most bytes of an unusable reply that its model is shown again.
const SHOWN_AGAIN: usize = 32 << 10;

/// What all callers of a run share.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The run's budget.
    pub budget: Arc<Budget>,
    /// The run's account.
    pub ledger: Arc<Ledger>,
    /// Ends calls when the user stops the program.
    pub cancel: Cancel,
    /// The prompts in force.
    pub prompts: Prompts,
}

/// A model to ask, on somebody's behalf. Cheap to clone, and used by many threads.
#[derive(Debug, Clone)]
pub struct Client {
    backend: Arc<dyn Backend>,
    shared: Shared,
    price: Option<Price>,
    account: Account,
    place: String,
}

/// An answer of the type that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked<T> {
    /// The answer.
    pub value: T,
    /// The reply that it was read from.
    pub reply: Reply,
    /// What was wrong with the first reply, when this is the second.
    pub repaired: Option<String>,
}

impl Client {
    /// A client of a backend whose model costs `price`; none when that is unknown.
    pub fn new(backend: Arc<dyn Backend>, shared: Shared, price: Option<Price>, role: Role) -> Client {
        let account = Account { role, stage: String::new(), model: backend.model().to_owned() };
        Client { backend, shared, price, account, place: String::new() }
    }

    /// The same client for a stage of the run (`rollout`, `reflect`), at a place in it.
    #[must_use]
    pub fn at(&self, stage: &str, place: impl Into<String>) -> Client {
        let account = Account { stage: stage.to_owned(), ..self.account.clone() };
        Client { account, place: place.into(), ..self.clone() }
    }

    /// The same client on behalf of another role.
    #[must_use]
    pub fn for_role(&self, role: Role) -> Client {
        Client { account: Account { role, ..self.account.clone() }, ..self.clone() }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        self.backend.model()
    }

    /// The model's price; none when it is unknown.
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// The digest of a question to this model.
    pub fn digest(&self, request: &Request) -> String {
        request.digest(self.model())
    }

    /// Asks, and gives the whole answer or the reason why there is none. Retries are the backend's.
    pub fn chat(&self, request: &Request) -> Result<Reply, Failure> {
        if self.shared.cancel.is_asked() {
            return Err(Failure::cancelled());
        }
        let (digest, input_bound) = request.name_and_bound(self.model());
        let meter = Meter {
            budget: &self.shared.budget,
            ledger: &self.shared.ledger,
            account: &self.account,
            price: self.price,
        };
        let cancel = &self.shared.cancel;
        let call = Call { request, digest: &digest, place: &self.place, meter: &meter, input_bound, cancel };
        self.backend.call(&call).outcome
    }

    /// Asks for an answer of a type of ours: the last whole JSON object of the reply. A reply that is cut off, holds
    /// none, or one of another shape gets one turn to be put right; then it is a failure (`CutOff`, `Malformed`)
    /// that names what is wrong with it. Fields that an answer cannot do without must not have defaults.
    pub fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<Asked<T>, Failure> {
        let (said, problem) = match self.read(self.chat(request))? {
            Ok((value, reply)) => return Ok(Asked { value, reply, repaired: None }),
            Err(unusable) => (unusable.text.clone().unwrap_or_default(), unusable.message),
        };
        let repair = self.repair(request, &said, &problem)?;
        match self.read(self.chat(&repair))? {
            Ok((value, reply)) => Ok(Asked { value, reply, repaired: Some(problem) }),
            Err(unusable) => Err(Failure {
                message: format!("{}: twice no usable answer: {}", self.model(), unusable.message),
                ..unusable
            }),
        }
    }

    /// The value in a reply, or what is wrong with the reply; the outer error is of a call without a reply.
    fn read<T: DeserializeOwned>(
        &self,
        outcome: Result<Reply, Failure>,
    ) -> Result<Result<(T, Reply), Failure>, Failure> {
        let reply = match outcome {
            Ok(reply) => reply,
            Err(failure) if failure.why == Why::CutOff => return Ok(Err(failure)),
            Err(failure) => return Err(failure),
        };
        Ok(match json::read(&reply.text) {
            Ok(value) => Ok((value, reply)),
            Err(problem) => Err(Failure {
                text: Some(reply.text),
                // A model's fault, paid or not: never taken for the provider's.
                usage: Some(reply.usage.unwrap_or_default()),
                ..Failure::new(Why::Malformed, problem)
            }),
        })
    }

    fn repair(&self, request: &Request, said: &str, problem: &str) -> Result<Request, Failure> {
        let schema = request.schema.as_ref().map(|schema| schema.schema.to_string()).unwrap_or_default();
        let slots = [("problem", problem.to_owned()), ("schema", schema)];
        let text = self.shared.prompts.render("answer", &slots);
        let text = text.map_err(|error| Failure::new(Why::Rejected, error.to_string()))?;
        let mut repair = request.clone();
        if !said.trim().is_empty() {
            repair.messages.push(Message::Assistant { text: clip(said, SHOWN_AGAIN), calls: Vec::new() });
        }
        repair.messages.push(Message::user(text));
        Ok(repair)
    }
}

#[cfg(test)]
mod tests;
