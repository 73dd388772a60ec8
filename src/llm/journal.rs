//! The recording of a run that is under way: a file for each stretch, so that taking a run up again reads only the
//! stretch that it died in.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::budget::{Budget, Spent};
use super::failure::{Failure, Why};
use super::ledger::{Ledger, money};
use super::prices::Price;
use super::record::Recording;
use super::reply::Used;
use super::tape::Paid;
use crate::ground::error::Result;

/// Where a run's answers are written at the moment.
#[derive(Debug, Default)]
pub struct Journal(RwLock<Option<Arc<Recording>>>);

impl Journal {
    /// Turns to a stretch's file. What an earlier process paid there is counted now, into account and budget, as if it
    /// had been paid by this one: a run that was killed ends with the sums of one that was not. `price` tells a model's.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn turn_to(
        &self,
        path: &Path,
        ledger: &Ledger,
        budget: &Budget,
        price: &dyn Fn(&str) -> Option<Price>,
    ) -> Result<()> {
        let recording = Recording::open(path)?;
        for paid in recording.paid() {
            count(paid, ledger, budget, price(&paid.account.model).as_ref());
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(recording);
        Ok(())
    }

    /// The file in use.
    pub(super) fn now(&self) -> Result<Arc<Recording>, Failure> {
        let now = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        now.ok_or_else(|| Failure::new(Why::Unkept, "a model was asked before there was a place for its answer"))
    }
}

/// Counts one call of an earlier process. A reply that was lost counts as one call; what it took nobody knows any more.
fn count(paid: &Paid, ledger: &Ledger, budget: &Budget, price: Option<&Price>) {
    let spent = |used: Option<&Used>| Spent {
        money: used.and_then(|used| money(used, price)).unwrap_or_default(),
        tokens: used.map_or(0, |used| used.usage.tokens()),
        calls: 1,
        seconds: 0.0,
    };
    for (used, lost) in &paid.failed {
        ledger.count(&paid.account, |sums| sums.failure(used.as_ref(), *lost, price));
        if used.is_some() || *lost {
            budget.take(spent(used.as_ref()));
        }
    }
    if let Some(used) = &paid.answered {
        ledger.count(&paid.account, |sums| sums.answer(used.as_ref(), price));
        budget.take(spent(used.as_ref()));
    }
}
