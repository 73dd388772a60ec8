//! How far a measurement is, told as it goes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::run::event::Event;
use crate::stages::rollout::{Ending, Measured};

/// How many rollouts are done, and how.
#[derive(Debug, Default)]
pub(super) struct Tally {
    what: String,
    done: AtomicUsize,
    failed: AtomicUsize,
    reused: AtomicUsize,
}

impl Tally {
    pub(super) fn of(what: &str) -> Tally {
        Tally { what: what.to_owned(), ..Tally::default() }
    }

    pub(super) fn count(&self, measured: &Measured, total: usize) -> Event {
        let is_missing = !matches!(measured.end, Ending::Scored(_));
        let add =
            |sum: &AtomicUsize, more: bool| sum.fetch_add(usize::from(more), Ordering::SeqCst) + usize::from(more);
        let (failed, reused) = (add(&self.failed, is_missing), add(&self.reused, measured.reused));
        Event::RolloutDone { what: self.what.clone(), done: add(&self.done, true), failed, reused, total }
    }

    pub(super) fn end(&self, total: usize) -> Event {
        let read = |sum: &AtomicUsize| sum.load(Ordering::SeqCst);
        Event::RolloutsDone {
            what: self.what.clone(),
            done: read(&self.done),
            failed: read(&self.failed),
            reused: read(&self.reused),
            total,
        }
    }
}
