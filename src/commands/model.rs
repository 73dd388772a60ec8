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

/// A price as a flag's value: two numbers with a colon between.
pub(super) fn price(text: &str) -> Result<Price, String> {
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

    /// Where exchanges come from or go to. Unless they are replayed, every answer is on disk before it is used: in the
    /// file of `--record`, else in the journal, so that a program that was killed does not pay for an answer twice.
    ///
    /// # Errors
    /// As [`Recording::open`] and [`Replay::open`]; of kind `Usage` for a fresh recording into a file that holds one.
    pub(super) fn exchanges(&self, journal: Journal<'_>) -> Result<Exchanges> {
        if let Some(path) = &self.replay {
            return Ok(Exchanges::Replayed(Replay::open(path)?));
        }
        let path = self.record.as_deref().unwrap_or(journal.path);
        if journal.is_fresh && path.exists() {
            match &self.record {
                Some(_) => {
                    return Err(Error::usage(format!("--fresh --record: {} is there already", path.display()))
                        .hint("its answers would be used again: name a new file"));
                }
                None => crate::ground::files::remove(path)?,
            }
        }
        // A journal is for us: in a talk the questions would hold each turn again and again.
        let questions = self.record.is_some();
        Ok(if journal.opens_late {
            Exchanges::Late { path: path.to_owned(), questions }
        } else {
            Exchanges::Recorded { recording: Recording::open(path)?, questions }
        })
    }

    /// A client of the model that edits.
    ///
    /// # Errors
    /// As [`Http::new`] and [`SpendArgs::exchanges`].
    pub(super) fn client(
        &self,
        spec: &Spec,
        shared: Shared,
        call: &Call<'_>,
        settings: &Settings,
        journal: Journal<'_>,
    ) -> Result<Client> {
        let backend = self.exchanges(journal)?.backend(spec, call, settings)?;
        Ok(Client::new(backend, shared, self.price, Role::Optimizer))
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

    /// Where exchanges come from or go to; see [`SpendArgs::exchanges`].
    pub(super) fn exchanges(&self, journal: &Path, fresh: bool) -> Result<Exchanges> {
        self.spend.exchanges(Journal { path: journal, is_fresh: fresh, opens_late: false })
    }

    /// A client of the model that attempts: at most `workers` calls are under way at a time.
    ///
    /// # Errors
    /// As [`Http::new`].
    pub(super) fn target(
        &self,
        spec: &Spec,
        shared: Shared,
        call: &Call<'_>,
        exchanges: &Exchanges,
        workers: u16,
    ) -> Result<Client> {
        let settings = Settings { max_in_flight: Some(u32::from(workers)), ..self.settings()? };
        Ok(Client::new(exchanges.backend(spec, call, &settings)?, shared, self.spend.price, Role::Target))
    }

    /// Whoever answers for a model.
    ///
    /// # Errors
    /// As [`Http::new`].
    pub(super) fn backend(&self, spec: &Spec, call: &Call<'_>, exchanges: &Exchanges) -> Result<Arc<dyn Backend>> {
        exchanges.backend(spec, call, &self.settings()?)
    }

    fn settings(&self) -> Result<Settings> {
        Ok(Settings { timeout: self.timeout()?.as_secs_f64(), retries: self.retries, ..Settings::default() })
    }
}

/// Where a command's exchanges with models come from or go to.
#[derive(Debug)]
pub(super) enum Exchanges {
    /// From a recording alone.
    Replayed(Arc<Replay>),
    /// Into a recording, with the questions or without.
    Recorded { recording: Arc<Recording>, questions: bool },
    /// Into one that is opened at the first call.
    Late { path: PathBuf, questions: bool },
}

impl Exchanges {
    /// Whoever answers for a model.
    ///
    /// # Errors
    /// As [`Http::new`].
    fn backend(&self, spec: &Spec, call: &Call<'_>, settings: &Settings) -> Result<Arc<dyn Backend>> {
        if let Exchanges::Replayed(replay) = self {
            return Ok(Arc::new(Replayer::new(&spec.model, Arc::clone(replay))));
        }
        let http = Http::new(spec, settings, call.env, Arc::new(SystemClock::default()))?;
        let secrets: Vec<Key> = http.key().cloned().into_iter().collect();
        let inner: Arc<dyn Backend> = Arc::new(http);
        let recorder = |inner, recording, secrets, questions| {
            let recorder = Recorder::new(inner, recording, secrets);
            if questions { recorder } else { recorder.without_questions() }
        };
        Ok(match self {
            Exchanges::Late { path, questions } => {
                let (path, questions) = (path.clone(), *questions);
                let make = move || -> Result<Arc<dyn Backend>> {
                    let recording = Recording::open(&path)?;
                    Ok(Arc::new(recorder(Arc::clone(&inner), recording, secrets.clone(), questions)))
                };
                Arc::new(Deferred::new(&spec.model, make))
            }
            Exchanges::Recorded { recording, questions } => {
                Arc::new(recorder(inner, Arc::clone(recording), secrets, *questions))
            }
            Exchanges::Replayed(_) => inner,
        })
    }
}
