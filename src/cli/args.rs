//! The top of the command line.

use crate::commands::{backward, calibrate, config, doctor, eval, init, lint, log, reduce, shells, status, train};

/// Trains the Markdown skill files that LLM agents read: evidence in, one git commit a step out.
#[derive(Debug, clap::Parser)]
#[command(name = "skilltrain", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Start here:
  skilltrain backward --batch runs/example/batch.json   train an example pool, no key and no network
  skilltrain doctor                                     what works on this machine

Exit codes: 0 done, 1 the step or check failed (nothing lost), 2 wrong usage or input,
3 a model or agent could not be used, 130 interrupted. The same command resumes.")]
pub(super) struct Cli {
    /// Print results and errors only, no progress
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,

    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    Init(init::Args),
    Backward(backward::Args),
    Reduce(reduce::Args),
    Train(train::Args),
    Eval(Box<eval::Args>),
    Config(config::Args),
    Calibrate(Box<calibrate::Args>),
    Lint(lint::Args),
    Status(status::Args),
    Log(log::Args),
    Doctor(doctor::Args),
    Completions(shells::CompletionsArgs),
    Man(shells::ManArgs),
}

impl Command {
    /// Whether the result is wanted as JSON.
    pub(super) fn json(&self) -> bool {
        match self {
            Command::Init(args) => args.json,
            Command::Backward(args) => args.json,
            Command::Reduce(args) => args.json,
            Command::Train(args) => args.json,
            Command::Eval(args) => args.json,
            Command::Config(args) => args.json(),
            Command::Calibrate(args) => args.json,
            Command::Lint(args) => args.json,
            Command::Status(args) => args.json,
            Command::Log(args) => args.json,
            Command::Doctor(args) => args.json,
            Command::Completions(_) | Command::Man(_) => false,
        }
    }
}
