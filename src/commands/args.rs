//! Arguments that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use crate::ground::error::Result;
use crate::ground::process::Sandbox;
use crate::ground::prompts::Prompts;
use crate::optimizer::{Optimizer, registry};

/// Who edits or reads, how long it may take and how often, and what contains it.
#[derive(Debug, clap::Args)]
pub struct OptimizerArgs {
    /// The optimizer: extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM [default: extractive]
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

    /// The optimizer.
    pub(super) fn find(&self) -> Result<Box<dyn Optimizer>> {
        registry::find(self.optimizer.as_deref().unwrap_or("extractive"), self.model.as_deref())
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
