//! The models of a training run: one backend each, whoever asks; all pay from one budget and write into one journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::Call;
use crate::config::{self, Config};
use crate::ground::error::{Error, Result};
use crate::ground::prompts::Prompts;
use crate::llm::{
    Backend, Budget, Client, Http, Journal, Ledger, Limits, Price, Prices, Recorder, Recording, Replay, Replayer, Role,
    Settings, Shared, Spec, Spent, SystemClock,
};
use crate::run::folder::RunDir;
use crate::train::cycle;

/// Where answers come from, besides the run's own journal.
enum Tape {
    /// Servers.
    Live,
    /// Servers, written down whole.
    Record(Arc<Recording>),
    /// A recording alone.
    Replay(Arc<Replay>),
}

/// The models of a run.
pub(super) struct Clients<'a> {
    config: &'a Config,
    call: &'a Call<'a>,
    shared: Shared,
    journal: Arc<Journal>,
    tape: Tape,
    prices: Prices,
    made: Mutex<BTreeMap<String, Arc<dyn Backend>>>,
}

impl<'a> Clients<'a> {
    /// Makes ready. `seconds` were run by earlier processes, and what finished stretches took is off the budget.
    ///
    /// # Errors
    /// As [`Recording::open`] and [`Replay::open`]; of kind `Usage` for prices that are none.
    pub(super) fn new(
        config: &'a Config,
        call: &'a Call<'a>,
        folder: &RunDir,
        prompts: Prompts,
        tapes: [Option<&Path>; 2],
        seconds: f64,
    ) -> Result<Clients<'a>> {
        let past = cycle::past(folder)?.total();
        let spent = Spent { money: past.money, tokens: past.tokens(), calls: past.calls + past.lost, seconds };
        let config::Budget { max_usd, max_tokens, max_calls, max_minutes } = config.budget.clone();
        let limits = Limits { max_usd, max_tokens, max_calls, max_minutes };
        let budget = Arc::new(Budget::new(limits, spent, Arc::new(SystemClock::default())));
        let ledger = Arc::<Ledger>::default();
        let tape = match tapes {
            [_, Some(path)] => Tape::Replay(Replay::open(path)?),
            [Some(path), None] => Tape::Record(Recording::open(path)?),
            [None, None] => Tape::Live,
        };
        let prices = serde_json::to_value(&config.prices).and_then(serde_json::from_value::<Prices>);
        let prices = prices.map_err(|error| Error::usage(error).context("prices"))?;
        prices.check()?;
        Ok(Clients {
            config,
            call,
            shared: Shared { budget, ledger, cancel: call.cancel.clone(), prompts },
            journal: Arc::default(),
            tape,
            prices,
            made: Mutex::default(),
        })
    }

    /// What all callers share.
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Where the run's answers are written.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// A model's price.
    pub(super) fn price(&self, model: &str) -> Option<Price> {
        self.prices.of(model)
    }

    /// The recording that is being made, when one is.
    pub(super) fn recording(&self) -> Option<Arc<Recording>> {
        match &self.tape {
            Tape::Record(recording) => Some(Arc::clone(recording)),
            Tape::Live | Tape::Replay(_) => None,
        }
    }

    /// A client of the model of this name, on a role's behalf.
    ///
    /// # Errors
    /// As [`Http::new`]; of kind `Usage` for a model without a price where a budget counts dollars.
    pub(super) fn client(&self, name: &str, spec: &Spec, role: Role) -> Result<Client> {
        if self.config.budget.max_usd.is_some() && self.price(&spec.model).is_none() {
            return Err(Error::usage(format!("budget.max_usd is set, and the price of {} is not known", spec.model))
                .hint(format!("for instance: --set 'prices.\"{}\"={{input=0.25,output=2}}'", spec.model))
                .hint("{input=0,output=0} for a model that costs nothing"));
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let backend = match made.get(name) {
            Some(backend) => Arc::clone(backend),
            None => {
                let backend = self.backend(name, spec)?;
                made.insert(name.to_owned(), Arc::clone(&backend));
                backend
            }
        };
        Ok(Client::new(backend, self.shared.clone(), self.price(&spec.model), role))
    }

    /// Calls of a model that may be under way at a time: as many as those who ask it have workers.
    fn most_at_once(&self, name: &str) -> u32 {
        let Config { train, gradient, optimizer, target, .. } = self.config;
        let target = if target.name.as_deref() == Some(name) { train.workers } else { 0 };
        let optimizer = if optimizer.name == name { gradient.analyst_workers } else { 0 };
        let judge = if self.config.evaluation.judge.as_deref() == Some(name) { train.workers } else { 0 };
        u32::try_from(target.max(optimizer).max(judge).max(1)).unwrap_or(u32::MAX)
    }

    fn backend(&self, name: &str, spec: &Spec) -> Result<Arc<dyn Backend>> {
        let journal = Arc::clone(&self.journal);
        if let Tape::Replay(replay) = &self.tape {
            let player = Arc::new(Replayer::new(&spec.model, Arc::clone(replay)));
            return Ok(Arc::new(Recorder::of_run(player, journal, Vec::new())));
        }
        let rates = self.config.rates.get(name).cloned().unwrap_or_default();
        let settings = Settings {
            key_env: rates.key_env,
            timeout: self.config.target.timeout,
            retries: u32::try_from(self.config.target.retries).unwrap_or(u32::MAX),
            requests_per_minute: rates.requests_per_minute,
            tokens_per_minute: rates.tokens_per_minute,
            max_in_flight: Some(rates.max_in_flight.unwrap_or(u32::MAX).min(self.most_at_once(name))),
            ..Settings::default()
        };
        let http = Http::new(spec, &settings, self.call.env, Arc::new(SystemClock::default()))?;
        let secrets: Vec<_> = http.key().cloned().into_iter().collect();
        let mut backend: Arc<dyn Backend> = Arc::new(http);
        if let Tape::Record(recording) = &self.tape {
            // The recording first: what the journal holds is in it for certain.
            backend = Arc::new(Recorder::of_tape(backend, Arc::clone(recording), secrets.clone()));
        }
        Ok(Arc::new(Recorder::of_run(backend, journal, secrets)))
    }
}
