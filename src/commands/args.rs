//! Arguments that several commands share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::Call;
use super::model::{Journal, SpendArgs};
use crate::ground::error::{Error, Result};
use crate::ground::process::Sandbox;
use crate::ground::prompts::Prompts;
use crate::llm::{Ledger, Settings};
use crate::optimizer::{Optimizer, chat, registry};

/// The longest time for one call of a model, where an attempt has more.
const CALL: Duration = Duration::from_secs(600);

/// Who edits or reads, how long it may take and how often, and what contains it.
#[derive(Debug, clap::Args)]
pub struct OptimizerArgs {
    /// The optimizer: extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM, openai:MODEL@URL, anthropic:MODEL,
    /// ollama:MODEL [default: extractive]
    #[arg(long, env = "SKILLTRAIN_OPTIMIZER", value_name = "NAME")]
    optimizer: Option<String>,

    /// The optimizer's model, where its name gives none
    #[arg(long)]
    model: Option<String>,

    /// Wall-clock seconds for each attempt
    #[arg(long, value_name = "SECONDS", default_value_t = 5400, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Fresh attempts after the first one failed
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(super) retries: usize,

    /// What contains an agent: the best that works here, one insisted on, or none
    #[arg(long, value_enum, default_value_t = SandboxArg::Auto)]
    sandbox: SandboxArg,

    /// A folder with prompts of your own, under the names of the built-in ones
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,

    /// The most tokens of one answer of a model
    #[arg(long, value_name = "N", default_value_t = 8192, value_parser = clap::value_parser!(u32).range(1..))]
    answer_tokens: u32,

    /// The most questions to a model for one attempt
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    max_turns: u16,

    /// Attempts after a call of a model failed for a passing reason
    #[arg(long, value_name = "N", default_value_t = 5)]
    call_retries: u32,

    /// A model's sampling temperature
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,

    #[command(flatten)]
    spend: SpendArgs,
}

/// An optimizer, and the account of its calls where it is a model over HTTP.
pub(super) struct Found {
    pub(super) optimizer: Box<dyn Optimizer>,
    pub(super) ledger: Arc<Ledger>,
}

/// Which containment is wanted, as a flag's value.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum SandboxArg {
    Auto,
    Bwrap,
    Landlock,
    Off,
}

impl OptimizerArgs {
    /// Whether the user named an optimizer.
    pub(super) fn is_named(&self) -> bool {
        self.optimizer.is_some()
    }

    /// Checks the optimizer's name before anything else is looked at.
    ///
    /// # Errors
    /// As [`registry::needs_model`].
    pub(super) fn check(&self) -> Result<()> {
        registry::needs_model(self.optimizer.as_deref().unwrap_or("extractive"), self.model.as_deref()).map(drop)
    }

    /// The optimizer. A model's answers go into `journal`, which is opened at its first call.
    ///
    /// # Errors
    /// As [`registry::find`] and [`SpendArgs::client`].
    pub(super) fn find(&self, call: &Call<'_>, prompts: &Prompts, journal: &Path) -> Result<Found> {
        if self.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            return Err(Error::usage("--temperature is not a number from 0 to 2"));
        }
        let (name, model) = (self.optimizer.as_deref().unwrap_or("extractive"), self.model.as_deref());
        let shared = self.spend.shared(call, prompts.clone())?;
        let ledger = Arc::clone(&shared.ledger);
        let settings = Settings {
            timeout: self.timeout().min(CALL).as_secs_f64(),
            retries: self.call_retries,
            ..Settings::default()
        };
        let journal = Journal { path: journal, is_fresh: false, opens_late: true };
        let spec = registry::needs_model(name, model)?;
        let client = spec.map(|spec| self.spend.client(&spec, shared, call, &settings, journal)).transpose()?;
        let options = chat::Options {
            max_tokens: self.answer_tokens,
            max_turns: usize::from(self.max_turns),
            temperature: self.temperature,
            seed: None,
        };
        Ok(Found { optimizer: registry::find(name, model, client.as_ref(), options)?, ledger })
    }

    /// The prompts in force.
    pub(super) fn prompts(&self) -> Result<Prompts> {
        Prompts::in_folder(self.prompts.as_deref())
    }

    /// Wall-clock time of one attempt.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// The containment wanted.
    pub(super) fn sandbox(&self) -> Sandbox {
        self.sandbox.sandbox()
    }
}

impl SandboxArg {
    /// The containment wanted.
    pub(super) fn sandbox(self) -> Sandbox {
        match self {
            SandboxArg::Auto => Sandbox::Auto,
            SandboxArg::Bwrap => Sandbox::Bwrap,
            SandboxArg::Landlock => Sandbox::Landlock,
            SandboxArg::Off => Sandbox::Off,
        }
    }
}
