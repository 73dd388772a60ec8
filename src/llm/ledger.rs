//! Who used what: calls, tokens and money by role, stage and model; failed attempts and reused answers apart.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::prices::{Money, Price};
use super::reply::Used;

/// On whose behalf a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever attempts tasks.
    Target,
    /// Whoever edits the pool.
    Optimizer,
    /// Whoever judges an attempt.
    Judge,
}

/// What one line of the account is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Account {
    /// On whose behalf.
    pub role: Role,
    /// In which stage: `rollout`, `reflect`, `gate` and so on.
    pub stage: String,
    /// Which model.
    pub model: String,
}

/// The sums of one account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sums {
    /// Calls that were answered.
    pub calls: u64,
    /// Attempts that failed, those that a retry made good included.
    pub failed: u64,
    /// Of these, the ones whose reply was lost and that may have been billed.
    pub lost: u64,
    /// Answers that were taken from an earlier run's record.
    pub cached: u64,
    /// Answers whose tokens the server did not state.
    pub unmeasured: u64,
    /// Answers whose price is unknown; their money is not in `money`.
    pub unpriced: u64,
    /// Tokens sent, by answered calls.
    pub input_tokens: u64,
    /// Of these, the ones read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens received, by answered calls.
    pub output_tokens: u64,
    /// Tokens sent and received, by failed attempts (answers cut off, refused).
    pub failed_tokens: u64,
    /// Tokens sent and received that reused answers had taken.
    pub saved_tokens: u64,
    /// Money, of answered calls and failed attempts, as far as prices are known.
    pub money: Money,
}

impl Sums {
    /// Counts an answer.
    pub fn answer(&mut self, used: Option<&Used>, price: Option<&Price>) {
        self.calls += 1;
        match used {
            Some(used) => {
                self.input_tokens = self.input_tokens.saturating_add(used.usage.input_tokens);
                self.cached_tokens = self.cached_tokens.saturating_add(used.usage.cached_tokens);
                self.output_tokens = self.output_tokens.saturating_add(used.usage.output_tokens);
                self.pay(used, price);
            }
            None => {
                self.unmeasured += 1;
                self.unpriced += 1;
            }
        }
    }

    /// Counts an attempt that failed.
    pub fn failure(&mut self, used: Option<&Used>, lost: bool, price: Option<&Price>) {
        self.failed += 1;
        self.lost += u64::from(lost);
        if let Some(used) = used {
            self.failed_tokens = self.failed_tokens.saturating_add(used.usage.tokens());
            self.pay(used, price);
        }
    }

    /// Counts an answer that was there already.
    pub fn reuse(&mut self, used: Option<&Used>) {
        self.cached += 1;
        self.saved_tokens = self.saved_tokens.saturating_add(used.map_or(0, |used| used.usage.tokens()));
    }

    /// Tokens of answered calls and failed attempts.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens).saturating_add(self.failed_tokens)
    }

    fn pay(&mut self, used: &Used, price: Option<&Price>) {
        match money(used, price) {
            Some(money) => self.money = self.money.plus(money),
            None => self.unpriced += 1,
        }
    }

    fn add(&mut self, other: &Sums) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.calls, other.calls);
        add(&mut self.failed, other.failed);
        add(&mut self.lost, other.lost);
        add(&mut self.cached, other.cached);
        add(&mut self.unmeasured, other.unmeasured);
        add(&mut self.unpriced, other.unpriced);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.failed_tokens, other.failed_tokens);
        add(&mut self.saved_tokens, other.saved_tokens);
        self.money = self.money.plus(other.money);
    }
}

impl fmt::Display for Sums {
    /// `118 calls, 3 failed attempts, 61 reused · 120 k tokens · $0.42 and 2 calls of unknown price`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let some = |count: u64, text: String| if count > 0 { format!(", {text}") } else { String::new() };
        let failed = some(self.failed, many(self.failed, "failed attempt"));
        write!(f, "{}{failed}{}", many(self.calls, "call"), some(self.cached, format!("{} reused", self.cached)))?;
        let tokens = self.tokens();
        match tokens {
            0..10_000 => write!(f, " · {tokens} tokens")?,
            _ => write!(f, " · {} k tokens", tokens / 1_000)?,
        }
        match (self.unpriced, self.money == Money::default()) {
            (0, _) => write!(f, " · {}", self.money),
            (_, true) => write!(f, " · price unknown"),
            (unpriced, false) => write!(f, " · {} and {} of unknown price", self.money, many(unpriced, "call")),
        }
    }
}

/// The money of one call: what the provider states, else by the price; none when neither is known.
pub(super) fn money(used: &Used, price: Option<&Price>) -> Option<Money> {
    price.map(|price| price.of(used)).or_else(|| used.usage.cost_usd.map(Money::usd))
}

/// A run's account, shared by all who ask.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<BTreeMap<Account, Sums>>);

/// One line of a ledger, as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What it is about.
    #[serde(flatten)]
    pub account: Account,
    /// Its sums.
    #[serde(flatten)]
    pub sums: Sums,
}

impl Ledger {
    /// A ledger that goes on from written lines, for a run that resumes.
    pub fn of(lines: impl IntoIterator<Item = Line>) -> Ledger {
        Ledger(Mutex::new(lines.into_iter().map(|line| (line.account, line.sums)).collect()))
    }

    /// Adds written lines to what is there.
    pub fn take_in(&self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            self.count(&line.account, |sums| sums.add(&line.sums));
        }
    }

    /// Takes all lines out: what is counted from here on begins at nothing.
    pub fn drain(&self) -> Vec<Line> {
        let lines = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        lines.into_iter().map(|(account, sums)| Line { account, sums }).collect()
    }

    /// All lines, in the order of role, stage and model.
    pub fn lines(&self) -> Vec<Line> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|(account, sums)| Line { account: account.clone(), sums: *sums }).collect()
    }

    /// The sum of all lines.
    pub fn total(&self) -> Sums {
        self.lines().iter().fold(Sums::default(), |mut total, line| {
            total.add(&line.sums);
            total
        })
    }

    /// Changes the sums of an account.
    pub fn count(&self, account: &Account, count: impl FnOnce(&mut Sums)) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.get_mut(account) {
            Some(sums) => count(sums),
            None => count(lines.entry(account.clone()).or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Usage;

    fn used(input: u64, output: u64) -> Used {
        let usage = Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
        Used { usage, written_tokens: 0 }
    }

    fn account(role: Role, stage: &str) -> Account {
        Account { role, stage: stage.into(), model: "m".into() }
    }

    #[test]
    fn accounts_are_kept_apart_and_survive_their_file() {
        let price = Price { input: 1.0, output: 2.0, cached: None, written: None };
        let ledger = Ledger::default();
        ledger.count(&account(Role::Target, "rollout"), |sums| sums.answer(Some(&used(1_000, 500)), Some(&price)));
        ledger.count(&account(Role::Target, "rollout"), |sums| sums.failure(None, true, Some(&price)));
        ledger.count(&account(Role::Target, "rollout"), |sums| sums.reuse(Some(&used(70, 7))));
        ledger.count(&account(Role::Judge, "gate"), |sums| sums.answer(Some(&used(1, 1)), None));
        ledger.count(&account(Role::Judge, "gate"), |sums| sums.answer(None, Some(&price)));
        let text = serde_json::to_string(&ledger.lines()).unwrap();
        let back = Ledger::of(serde_json::from_str::<Vec<Line>>(&text).unwrap());
        assert_eq!(back.lines(), ledger.lines());
        let total = back.total();
        assert_eq!((total.calls, total.failed, total.lost, total.cached, total.saved_tokens), (3, 1, 1, 1, 77));
        assert_eq!((total.unmeasured, total.unpriced, total.money), (1, 2, Money::usd(0.002)));
        insta::assert_snapshot!(total, @"3 calls, 1 failed attempt, 1 reused · 1502 tokens · $0.0020 and 2 calls of unknown price");
        insta::assert_snapshot!(back.lines()[1].sums, @"2 calls · 2 tokens · price unknown");
        insta::assert_snapshot!(Sums::default(), @"0 calls · 0 tokens · $0.00");
    }
}
