//! The budget: what a call may cost at most is set aside before it and settled after it, so that calls in flight
//! cannot pass a limit together.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::failure::{Failure, Why};
use super::prices::Money;
use crate::ground::error::{Error, Result};

/// What a run may take; a limit that is absent does not bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// US dollars.
    pub max_usd: Option<f64>,
    /// Tokens, sent and received.
    pub max_tokens: Option<u64>,
    /// Calls that a provider answered or may have answered; refused connections and the like are none.
    pub max_calls: Option<u64>,
    /// Minutes of running, those before a resume included.
    pub max_minutes: Option<f64>,
}

/// What was taken, or is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Money; of calls whose price is unknown, none is counted.
    pub money: Money,
    /// Tokens, sent and received.
    pub tokens: u64,
    /// Calls.
    pub calls: u64,
    /// Seconds of running.
    pub seconds: f64,
}

impl Spent {
    fn plus(self, other: Spent) -> Spent {
        Spent {
            money: self.money.plus(other.money),
            tokens: self.tokens.saturating_add(other.tokens),
            calls: self.calls.saturating_add(other.calls),
            seconds: self.seconds + other.seconds,
        }
    }

    fn minus(self, other: Spent) -> Spent {
        Spent {
            money: self.money.minus(other.money),
            tokens: self.tokens.saturating_sub(other.tokens),
            calls: self.calls.saturating_sub(other.calls),
            seconds: self.seconds,
        }
    }
}

/// The most that a call can take: its tokens, and its money where the price is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Tokens, sent and received.
    pub tokens: u64,
    /// Money; none when the model has no price.
    pub money: Option<Money>,
}

/// A run's budget, shared by everything that pays.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    clock: Arc<dyn Clock>,
    began: Duration,
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    spent: Spent,
    held: Spent,
}

impl Budget {
    /// A budget of which `spent` is gone already (a run that resumes).
    pub fn new(limits: Limits, spent: Spent, clock: Arc<dyn Clock>) -> Budget {
        let state = Mutex::new(State { spent, held: Spent::default() });
        Budget { limits, began: clock.now(), clock, state, settled: Condvar::new() }
    }

    /// What is spent so far: settled calls, and the time.
    pub fn spent(&self) -> Spent {
        let mut spent = self.lock().spent;
        spent.seconds += self.clock.now().saturating_sub(self.began).as_secs_f64();
        spent
    }

    /// Counts what was taken by an earlier process.
    pub fn take(&self, spent: Spent) {
        let mut state = self.lock();
        state.spent = state.spent.plus(spent);
    }

    /// How long may still be run; none without a limit.
    pub fn time_left(&self) -> Option<Duration> {
        let all = self.limits.max_minutes? * 60.0;
        Some(Duration::try_from_secs_f64((all - self.spent().seconds).max(0.0)).unwrap_or(Duration::MAX))
    }

    /// Sets a call's bound aside. Waits for calls in flight when only their bounds stand in the way, since most of
    /// them take less. A failure of the kind `Budget` when the call does not fit whatever they take.
    pub fn reserve(&self, bound: Bound) -> Result<Hold<'_>, Failure> {
        if self.limits.max_usd.is_some() && bound.money.is_none() {
            return Err(Failure::new(Why::Budget, "max_usd is set, but a model's price is unknown")
                .hint("give the model a price under [prices]; { input = 0, output = 0 } when it costs nothing"));
        }
        let set_aside = Spent { money: bound.money.unwrap_or_default(), tokens: bound.tokens, calls: 1, seconds: 0.0 };
        let mut state = self.lock();
        loop {
            if self.time_left_of(&state).is_some_and(|left| left <= 0.0) {
                let minutes = self.limits.max_minutes.unwrap_or_default();
                return Err(Failure::new(Why::Budget, format!("the budget is used up: max_minutes is {minutes}")));
            }
            self.passed(state.spent.plus(set_aside)).map_or(Ok(()), |limit| Err(exhausted(&limit)))?;
            if self.passed(state.spent.plus(state.held).plus(set_aside)).is_none() {
                state.held = state.held.plus(set_aside);
                return Ok(Hold { budget: self, set_aside, is_open: true });
            }
            state = self.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Refuses, kind `Usage`, a run that cannot finish even what it needs at least (`what`: "one step"), and says
    /// how much that is. Call it before anything is paid.
    pub fn check_minimum(&self, need: Spent, what: &str) -> Result<()> {
        let Some((name, limit)) = self.passed(self.spent().plus(need)) else {
            return Ok(());
        };
        let needed = match name {
            "max_usd" => need.money.to_string(),
            "max_tokens" => format!("{} tokens", need.tokens),
            "max_calls" => format!("{} calls", need.calls),
            _ => format!("{:.1} minutes", need.seconds / 60.0),
        };
        let gone = if self.spent().calls > 0 { ", of which some is spent" } else { "" };
        Err(Error::usage(format!("the budget does not suffice: {what} needs {needed}, {name} is {limit}{gone}"))
            .hint(format!("raise {name}, or make the run smaller")))
    }

    /// The limit that this would pass: its key and its value.
    fn passed(&self, total: Spent) -> Option<(&'static str, String)> {
        let limits = &self.limits;
        let over = |limit: Option<u64>, value: u64| limit.filter(|limit| value > *limit).map(|limit| limit.to_string());
        let money = limits.max_usd.filter(|limit| total.money > Money::usd(*limit));
        let minutes = limits.max_minutes.filter(|limit| total.seconds > limit * 60.0);
        let money = money.map(|limit| ("max_usd", Money::usd(limit).to_string()));
        money
            .or_else(|| over(limits.max_tokens, total.tokens).map(|limit| ("max_tokens", limit)))
            .or_else(|| over(limits.max_calls, total.calls).map(|limit| ("max_calls", limit)))
            .or_else(|| minutes.map(|limit| ("max_minutes", limit.to_string())))
    }

    fn time_left_of(&self, state: &State) -> Option<f64> {
        let run = self.clock.now().saturating_sub(self.began).as_secs_f64();
        Some(self.limits.max_minutes? * 60.0 - state.spent.seconds - run)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn exhausted((name, limit): &(&'static str, String)) -> Failure {
    Failure::new(Why::Budget, format!("the budget is used up: the next call could pass {name} = {limit}"))
}

/// A call's bound, set aside. One that is dropped without a word counts as spent whole.
#[derive(Debug)]
#[must_use]
pub struct Hold<'a> {
    budget: &'a Budget,
    set_aside: Spent,
    is_open: bool,
}

impl Hold<'_> {
    /// The call took this; none means that nobody knows, and counts as all that was set aside.
    pub fn settle(mut self, tokens: Option<u64>, money: Option<Money>) {
        let tokens = tokens.unwrap_or(self.set_aside.tokens);
        let money = money.unwrap_or(self.set_aside.money);
        self.close(Spent { money, tokens, calls: 1, seconds: 0.0 });
    }

    /// The call took nothing: it was not made, or not answered.
    pub fn release(mut self) {
        self.close(Spent::default());
    }

    fn close(&mut self, took: Spent) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let mut state = self.budget.lock();
        state.held = state.held.minus(self.set_aside);
        state.spent = state.spent.plus(took);
        drop(state);
        self.budget.settled.notify_all();
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.close(self.set_aside);
    }
}

#[cfg(test)]
mod tests;
