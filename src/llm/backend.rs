//! Whoever answers: a server, a recording, a script. All count what they do with the same meter.

use std::fmt::Debug;

use super::budget::{Bound, Budget, Hold};
use super::failure::Failure;
use super::ledger::{Account, Ledger, money};
use super::prices::Price;
use super::reply::Reply;
use super::request::Request;
use crate::ground::signals::Cancel;

/// Whoever answers a question, retries included. One is shared by many threads.
pub trait Backend: Debug + Send + Sync {
    /// The model's name, which is part of a question's digest and the key of its price.
    fn model(&self) -> &str;

    /// Answers one call. Every attempt goes through the call's meter.
    fn call(&self, call: &Call<'_>) -> Answered;
}

/// One call: the question, what it is called on disk, and who pays.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The question.
    pub request: &'a Request,
    /// Its digest for this model.
    pub digest: &'a str,
    /// Where in a run it is asked (`epoch_00/step_01/reflect/03`), so that the same question in another place is
    /// another one to a recording. Free text, empty when nothing needs it.
    pub place: &'a str,
    /// Counts and allows the attempts.
    pub meter: &'a Meter<'a>,
    /// The most tokens that the question can have ([`Request::input_bound`]).
    pub input_bound: u64,
    /// Ends the call when the user stops the program.
    pub cancel: &'a Cancel,
}

impl<'a> Call<'a> {
    /// Allows an attempt. A failure of the kind `Budget` when it could pass a limit.
    pub fn open(&self) -> Result<Attempt<'a>, Failure> {
        let (input, output) = (self.input_bound, u64::from(self.request.max_tokens));
        let money = self.meter.price.map(|price| price.bound(input, output, self.request.cache));
        let hold = self.meter.budget.reserve(Bound { tokens: input.saturating_add(output), money })?;
        Ok(Attempt { meter: self.meter, hold })
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer, or why there is none.
    pub outcome: Result<Reply, Failure>,
    /// The attempts that failed before, in order.
    pub failed: Vec<Failure>,
}

impl From<Result<Reply, Failure>> for Answered {
    fn from(outcome: Result<Reply, Failure>) -> Answered {
        Answered { outcome, failed: Vec::new() }
    }
}

/// What pays for a call and writes down what it took.
#[derive(Debug)]
pub struct Meter<'a> {
    /// The run's budget.
    pub budget: &'a Budget,
    /// The run's account.
    pub ledger: &'a Ledger,
    /// The account's line.
    pub account: &'a Account,
    /// The model's price; none when it is unknown.
    pub price: Option<Price>,
}

impl Meter<'_> {
    /// Counts an answer that costs nothing because it was there.
    pub fn reused(&self, reply: &Reply) {
        self.ledger.count(self.account, |sums| sums.reuse(reply.usage.as_ref()));
    }
}

/// An attempt that is under way and paid for in advance.
#[derive(Debug)]
#[must_use]
pub struct Attempt<'a> {
    meter: &'a Meter<'a>,
    hold: Hold<'a>,
}

impl Attempt<'_> {
    /// The attempt was answered.
    pub fn answered(self, reply: &Reply) {
        let price = self.meter.price;
        self.meter.ledger.count(self.meter.account, |sums| sums.answer(reply.usage.as_ref(), price.as_ref()));
        let used = reply.usage.as_ref();
        self.hold.settle(used.map(|used| used.usage.tokens()), used.and_then(|used| money(used, price.as_ref())));
    }

    /// The attempt failed. Where its reply was lost it counts as all that it could take, since it may be billed.
    pub fn failed(self, failure: &Failure) {
        let price = self.meter.price;
        let used = failure.usage.as_ref();
        self.meter.ledger.count(self.meter.account, |sums| sums.failure(used, failure.lost, price.as_ref()));
        match used {
            Some(used) => self.hold.settle(Some(used.usage.tokens()), money(used, price.as_ref())),
            None if failure.lost => self.hold.settle(None, None),
            None => self.hold.release(),
        }
    }

    /// The attempt was given up before its request left.
    pub fn withdrawn(self) {
        self.hold.release();
    }
}
