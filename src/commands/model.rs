//! Arguments of commands that ask models over HTTP: the budget, the price, the recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Call;
use crate::ground::error::{Error, Result};
use crate::ground::prompts::Prompts;
use crate::llm::{
    Backend, Budget, Client, Deferred, Http, Key, Ledger, Limits, Price, Recorder, Recording, Replay, Replayer, Role,
    Settings, Shared, Spec, Spent, SystemClock,
};

/// What models may take, and where their answers are written down or come from.
#[derive(Debug, clap::Args)]
pub struct SpendArgs {
    /// Calls of a model that this command may make at most
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,

    /// Tokens, sent and received, that this command may take at most
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// US dollars that this command may take at most; needs --price
    #[arg(long, value_name = "X")]
    max_usd: Option<f64>,

    /// The model's price in US dollars per million tokens sent and received, such as 0.25:2
    #[arg(long, value_name = "IN:OUT", value_parser = price)]
    price: Option<Price>,

    /// Write every exchange with a model into this file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Take every exchange from this file, without any network
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

/// What a model may take, how often and how long it is asked.
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    #[command(flatten)]
    spend: SpendArgs,

    /// Attempts after a call failed for a passing reason
    #[arg(long, value_name = "N", default_value_t = 5)]
    retries: u32,

    /// Wall-clock seconds for one call, or for one attempt of a program
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    timeout: f64,
}

/// Where answers are written down while a command runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Journal<'a> {
    /// The file, unless the user named one.
    pub(super) path: &'a Path,
    /// Whether answers that are there are not to be used.
    pub(super) is_fresh: bool,
    /// Whether the file is opened at the first call only, when its folder is known to be this command's own.
    pub(super) opens_late: bool,
}

fn price(text: &str) -> Result<Price, String> {
    let numbers: Option<Vec<f64>> = text.split(':').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[input, output]) if [input, output].iter().all(|price| (0.0..=1e6).contains(price)) => {
            Ok(Price { input, output, cached: None, written: None })
        }
        _ => Err("two numbers of 0 or more are wanted, such as 0.25:2".into()),
    }
}

impl SpendArgs {
    /// What all callers of a command share.
    ///
    /// # Errors
    /// Of kind `Usage` for a budget that is no number of 0 or more.
    pub(super) fn shared(&self, call: &Call<'_>, prompts: Prompts) -> Result<Shared> {
        if self.max_usd.is_some_and(|usd| !usd.is_finite() || usd < 0.0) {
            return Err(Error::usage("--max-usd is not a number of 0 or more"));
        }
        let Self { max_usd, max_tokens, max_calls, .. } = *self;
        let limits = Limits { max_usd, max_tokens, max_calls, max_minutes: None };
        let budget = Budget::new(limits, Spent::default(), Arc::new(SystemClock::default()));
        let ledger = Arc::<Ledger>::default();
        Ok(Shared { budget: Arc::new(budget), ledger, cancel: call.cancel.clone(), prompts })
    }

    /// A client of a model. Unless it is replayed, every answer is on disk before it is used: in the file of `--record`,
    /// else in the journal, so that a program that was killed does not pay for an answer twice.
    ///
    /// # Errors
    /// As [`Http::new`], [`Recording::open`] and [`Replay::open`]; of kind `Usage` for a fresh recording into a file that holds one.
    pub(super) fn client(
        &self,
        spec: &Spec,
        shared: Shared,
        call: &Call<'_>,
        settings: &Settings,
        journal: Journal<'_>,
    ) -> Result<Client> {
        if let Some(path) = &self.replay {
            let backend = Replayer::new(&spec.model, Replay::open(path)?);
            return Ok(Client::new(Arc::new(backend), shared, self.price, Role::Target));
        }
        let path = self.record.as_deref().unwrap_or(journal.path).to_owned();
        if journal.is_fresh && path.exists() {
            match &self.record {
                Some(_) => {
                    return Err(Error::usage(format!("--fresh --record: {} is there already", path.display()))
                        .hint("its answers would be used again: name a new file"));
                }
                None => crate::ground::files::remove(&path)?,
            }
        }
        let http = Http::new(spec, settings, call.env, Arc::new(SystemClock::default()))?;
        let secrets: Vec<Key> = http.key().cloned().into_iter().collect();
        let inner: Arc<dyn Backend> = Arc::new(http);
        let make = move || -> Result<Arc<dyn Backend>> {
            Ok(Arc::new(Recorder::new(Arc::clone(&inner), Recording::open(&path)?, secrets.clone())))
        };
        let backend = if journal.opens_late { Arc::new(Deferred::new(&spec.model, make)) } else { make()? };
        Ok(Client::new(backend, shared, self.price, Role::Target))
    }
}

impl ModelArgs {
    /// See [`SpendArgs::shared`].
    pub(super) fn shared(&self, call: &Call<'_>, prompts: Prompts) -> Result<Shared> {
        self.spend.shared(call, prompts)
    }

    /// Wall-clock time of one call or one attempt.
    ///
    /// # Errors
    /// Of kind `Usage` for what is no time.
    pub(super) fn timeout(&self) -> Result<std::time::Duration> {
        let time = std::time::Duration::try_from_secs_f64(self.timeout).ok().filter(|time| !time.is_zero());
        time.ok_or_else(|| Error::usage(format!("--timeout {} is no time", self.timeout)).hint("in seconds, above 0"))
    }

    /// See [`SpendArgs::client`].
    pub(super) fn client(
        &self,
        spec: &Spec,
        shared: Shared,
        call: &Call<'_>,
        journal: &Path,
        fresh: bool,
    ) -> Result<Client> {
        let settings =
            Settings { timeout: self.timeout()?.as_secs_f64(), retries: self.retries, ..Settings::default() };
        let journal = Journal { path: journal, is_fresh: fresh, opens_late: false };
        self.spend.client(spec, shared, call, &settings, journal)
    }
}
