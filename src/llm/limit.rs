//! One rate limiter a backend: requests and tokens in any minute, as the provider's plan has them, and less once
//! the provider says that it is too much.
//!
//! Callers are served in the order in which they came. Only the first of them waits for the time; the others wait
//! for their turn, without looking. A caller whose program is stopped leaves at its turn, which comes at once,
//! because the one before it leaves too.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::failure::Failure;
use crate::ground::signals::Cancel;

const MINUTE: Duration = Duration::from_secs(60);

/// The least share of a configured rate that repeated refusals can bring it down to.
const LEAST_SHARE: f64 = 1.0 / 64.0;

/// What a backend may be asked; a limit that is absent does not bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Requests in any 60 seconds.
    pub requests_per_minute: Option<u32>,
    /// Tokens in any 60 seconds, sent and received; estimated before a call, corrected after it.
    pub tokens_per_minute: Option<u64>,
    /// Requests at the same time.
    pub max_in_flight: Option<u32>,
}

/// A backend's rate limiter.
#[derive(Debug)]
pub struct Limiter {
    rates: Rates,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Debug)]
struct State {
    /// The next caller's number, and the number whose turn it is.
    next: u64,
    serving: u64,
    in_flight: u32,
    /// What began within the last minute, oldest first: when, and its tokens. `first` is the oldest one's number.
    window: VecDeque<(Duration, u64)>,
    first: u64,
    tokens: u64,
    /// The share of the configured rates that the provider bears.
    share: f64,
    /// How many may be in flight; infinite until the provider first refuses.
    width: f64,
    /// The width from which on we stop counting again.
    enough: f64,
    /// How often the rates were cut: calls that began before a cut say nothing about the rates after it.
    cuts: u64,
    paused_until: Duration,
}

impl Limiter {
    /// A limiter at its full rates.
    pub fn new(rates: Rates, clock: Arc<dyn Clock>) -> Limiter {
        let state = State {
            next: 0,
            serving: 0,
            in_flight: 0,
            window: VecDeque::new(),
            first: 0,
            tokens: 0,
            share: 1.0,
            width: rates.max_in_flight.map_or(f64::INFINITY, f64::from),
            enough: rates.max_in_flight.map_or(f64::INFINITY, f64::from),
            cuts: 0,
            paused_until: Duration::ZERO,
        };
        Limiter { rates, clock, state: Mutex::new(state), turn: Condvar::new() }
    }

    /// Waits until a request of about so many tokens may begin. The failure is that the user asked to stop.
    pub fn enter(&self, tokens: u64, cancel: &Cancel) -> Result<Pass<'_>, Failure> {
        let mut state = self.lock();
        let ticket = state.next;
        state.next += 1;
        loop {
            if state.serving != ticket {
                state = self.wait(state);
                continue;
            }
            if cancel.is_asked() {
                state.serving += 1;
                self.turn.notify_all();
                return Err(Failure::cancelled());
            }
            if state.in_flight > 0 && f64::from(state.in_flight) + 1.0 > state.width {
                state = self.wait(state);
                continue;
            }
            let now = self.clock.now();
            let Some(wait) = self.must_wait(&mut state, now, tokens) else {
                break;
            };
            drop(state);
            self.clock.sleep(wait, cancel);
            state = self.lock();
        }
        let number = state.first + state.window.len() as u64;
        state.window.push_back((self.clock.now(), tokens));
        state.tokens = state.tokens.saturating_add(tokens);
        state.in_flight += 1;
        state.serving += 1;
        let cuts = state.cuts;
        drop(state);
        self.turn.notify_all();
        Ok(Pass { limiter: self, number, cuts })
    }

    /// How long the next request must wait for the clock.
    fn must_wait(&self, state: &mut State, now: Duration, tokens: u64) -> Option<Duration> {
        if now < state.paused_until {
            return Some(state.paused_until - now);
        }
        while let Some(&(began, old)) = state.window.front().filter(|(began, _)| *began + MINUTE <= now) {
            debug_assert!(began <= now, "the clock does not go back");
            state.window.pop_front();
            state.first += 1;
            state.tokens = state.tokens.saturating_sub(old);
        }
        let mut must_go = 0;
        if let Some(most) = self.rates.requests_per_minute {
            let most = ((f64::from(most) * state.share) as usize).max(1);
            must_go = (state.window.len() + 1).saturating_sub(most);
        }
        if let Some(most) = self.rates.tokens_per_minute {
            let most = (most as f64 * state.share) as u64;
            // One that is larger than the whole rate goes when it is alone.
            let mut left = state.tokens;
            let old = state.window.iter().take_while(|(_, old)| {
                let stays = left.saturating_add(tokens) > most;
                left = left.saturating_sub(*old);
                stays
            });
            must_go = must_go.max(old.count());
        }
        let last = must_go.checked_sub(1).and_then(|last| state.window.get(last));
        last.map(|(began, _)| *began + MINUTE - now)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.turn.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leave to make one request; in flight until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct Pass<'a> {
    limiter: &'a Limiter,
    number: u64,
    cuts: u64,
}

impl Pass<'_> {
    /// The provider answered: the rates recover a little. `tokens` is what the call took, when that is known.
    pub fn answered(self, tokens: Option<u64>) {
        let mut state = self.limiter.lock();
        let at = self.number.checked_sub(state.first).and_then(|at| usize::try_from(at).ok());
        if let (Some(tokens), Some(at)) = (tokens, at)
            && let Some(entry) = state.window.get_mut(at)
        {
            let old = std::mem::replace(&mut entry.1, tokens);
            state.tokens = state.tokens.saturating_sub(old).saturating_add(tokens);
        }
        state.share = (state.share + 0.02).min(1.0);
        if state.width.is_finite() {
            state.width += 1.0 / state.width;
        }
        let most = self.limiter.rates.max_in_flight.map_or(f64::INFINITY, f64::from);
        if state.width >= state.enough {
            state.width = most;
        }
    }

    /// The provider said that it was too much: the rates are halved, once for all the calls that were in flight
    /// together, and nothing begins before `wait` is over.
    pub fn throttled(self, wait: Option<Duration>) {
        let mut state = self.limiter.lock();
        let now = self.limiter.clock.now();
        if let Some(wait) = wait {
            state.paused_until = state.paused_until.max(now.saturating_add(wait));
        }
        if state.cuts == self.cuts {
            state.cuts += 1;
            state.share = (state.share / 2.0).max(LEAST_SHARE);
            let width = state.width.min(f64::from(state.in_flight));
            // Back at twice of what was too much, there is no sign of a limit left.
            state.enough = self.limiter.rates.max_in_flight.map_or(width * 2.0, f64::from);
            state.width = (width / 2.0).max(1.0);
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.limiter.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        drop(state);
        self.limiter.turn.notify_all();
    }
}

#[cfg(test)]
mod tests;
