//! The command line: clap types, readers of events, errors as hints and exit codes. The only layer that prints.

mod args;
mod lines;
mod print;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::commands::{self, Answer, Call};
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::signals::Cancel;
use crate::ground::supervise;

use args::{Cli, Command};
use progress::Progress;

/// The whole program; the exit codes are 0, 1, 2, 3 and 130, see [`crate::ground::error::Kind`].
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|first| first == supervise::COMMAND) {
        return ExitCode::from(supervise::supervise_main(words));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print::usage(&error),
    };
    let env = Env::of_process();
    let progress = Progress::new(cli.quiet);
    let answer = run(&cli.command, &env, &progress);
    progress.end();
    match answer {
        Ok(answer) => print::answer(&answer, cli.command.json()),
        Err(error) => print::error(&error, cli.command.json()),
    }
}

fn run(command: &Command, env: &Env, progress: &Progress) -> Result<Answer> {
    let cancel = Cancel::on_signals()?;
    let observer = |event: &crate::run::event::Event| progress.on(event);
    let call = Call { env, cancel: &cancel, observer: &observer };
    match command {
        Command::Init(args) => commands::init::run(args, &call),
        Command::Backward(args) => commands::backward::run(args, &call),
        Command::Reduce(args) => commands::reduce::run(args, &call),
        Command::Train(args) => commands::train::run(args, &call),
        Command::Eval(args) => commands::eval::run(args, &call),
        Command::Config(args) => commands::config::run(args, &call),
        Command::Calibrate(args) => commands::calibrate::run(args, &call),
        Command::Lint(args) => commands::lint::run(args, &call),
        Command::Status(args) => commands::status::run(args, &call),
        Command::Log(args) => commands::log::run(args, &call),
        Command::Doctor(args) => commands::doctor::run(args, &call),
        Command::Completions(args) => Ok(commands::shells::completions::<Cli>(args)),
        Command::Man(args) => commands::shells::man::<Cli>(args),
    }
}
