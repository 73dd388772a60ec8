//! Agent clients: arguments in, typed events, reads and usage out.
//!
//! A client is an outside program that works in a folder of its own until it says that it is done. What it says
//! is foreign data: every parser here takes any bytes. A new client is one file and one line in [`KINDS`].

mod claude;
mod codex;
mod command;
mod command_line;
mod commands;
mod credentials;
mod gather;
mod globs;
mod health;
mod outcome;
mod programs;
mod reads;
mod shell;
#[cfg(test)]
mod testing;
mod turn;
mod variables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::process::Finished;
use crate::trajectory::{Event, Usage};

pub use command_line::CommandLine;
pub use credentials::Credentials;
pub use health::{Health, health};
pub use outcome::Outcome;
pub use turn::{Session, Turn, TurnEnd, recall_turn, run_turn};
pub use variables::Variables;

/// Makes a client from what stands behind `KIND:` in its name.
type Make = fn(Option<&str>) -> Result<Box<dyn Client>>;

/// The clients there are: kind, maker, and a line of help.
const KINDS: [(&str, Make, &str); 3] = [
    ("claude", claude::make, "Claude Code: claude or claude:MODEL"),
    ("codex", codex::make, "Codex CLI: codex or codex:MODEL"),
    ("command", command::make, "any program that reads its prompt on stdin: command:PROGRAM"),
];

/// One agent client.
pub trait Client: std::fmt::Debug + Send + Sync {
    /// Its name as the user writes it, with the model or program.
    fn name(&self) -> String;

    /// The program to start. Kind `Unreachable`, with the way to install it, when it is not there.
    fn find(&self, env: &Env) -> Result<PathBuf>;

    /// How to start one turn. Puts what the client needs (configuration, a login) into the turn's private home,
    /// which is there already. `inside` tells that a sandbox holds the client, so that it need not ask.
    fn launch(&self, env: &Env, turn: &Turn, inside: bool) -> Result<Launch>;

    /// A reader of one turn's output.
    fn reader(&self) -> Box<dyn Reader>;

    /// The folder of its working folder from which it takes skills by itself (`NAME/SKILL.md`); none for a client that
    /// takes none.
    fn skills(&self) -> Option<&'static str> {
        None
    }

    /// Whether a `cd` in one shell command holds for the next.
    fn keeps_folder(&self) -> bool {
        false
    }

    /// Whether the token counts of a resumed session go on from where they were.
    fn counts_session(&self) -> bool {
        false
    }

    /// Whether a login or a key seems to be there.
    fn credentials(&self, env: &Env) -> Credentials;
}

/// What to start.
#[derive(Debug)]
pub struct Launch {
    /// The program's absolute path.
    pub program: PathBuf,
    /// Its arguments; the prompt is not among them.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub variables: Variables,
    /// What it must be able to read to run at all.
    pub readable: Vec<PathBuf>,
    /// Files with secrets in the private home, to be removed after the turn.
    pub secrets: Vec<PathBuf>,
}

/// Turns a client's standard output into events, and at its end says how the turn went.
pub trait Reader {
    /// Takes one line, whatever is in it.
    fn line(&mut self, line: &str, emit: &mut dyn FnMut(Event));

    /// How the turn went.
    fn conclude(&mut self, finished: &Finished) -> Conclusion;
}

/// A reader's last word.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// How the turn went.
    pub outcome: Outcome,
    /// The agent's last message, when it differs from the last thing it said.
    pub message: Option<String>,
    /// What was used, for a turn that ended before its client said so.
    pub usage: Option<Usage>,
}

impl From<Outcome> for Conclusion {
    fn from(outcome: Outcome) -> Self {
        Conclusion { outcome, message: None, usage: None }
    }
}

/// The client of this name (`KIND` or `KIND:MODEL`); `None` when the kind is not an agent's. Kind `Usage` when
/// what stands behind the colon makes no sense.
pub fn client(name: &str) -> Result<Option<Box<dyn Client>>> {
    let (kind, rest) = match name.split_once(':') {
        Some((kind, rest)) => (kind, Some(rest.trim())),
        None => (name, None),
    };
    let Some((_, make, help)) = KINDS.iter().find(|(known, ..)| *known == kind) else {
        return Ok(None);
    };
    if rest == Some("") {
        return Err(Error::usage(format!("nothing stands behind the colon of {name:?}")).hint(*help));
    }
    make(rest).map(Some)
}

/// The kinds of client, each with a line of help.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|(kind, _, help)| (*kind, *help))
}

/// A model's name as a user gave it: one word that cannot pass for an option.
fn model(name: Option<&str>) -> Result<Option<String>> {
    match name {
        Some(name) if name.starts_with('-') || name.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            Err(Error::usage(format!("{name:?} is not the name of a model")))
        }
        name => Ok(name.map(str::to_owned)),
    }
}

/// The folders that hold a program and what lies beside it, links followed: a sandbox may hide them.
fn program_folders(program: &Path) -> Vec<PathBuf> {
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut folders: Vec<PathBuf> =
        [program, &real].iter().filter_map(|path| path.parent()).map(Path::to_owned).collect();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        for name in ["claude", "claude:opus", "codex:gpt-5", "command:./agent --flag 'a b'"] {
            assert_eq!(client(name).unwrap().unwrap().name(), name);
        }
        assert!(client("extractive").unwrap().is_none());
        for name in ["claude:", "claude:--flag", "command", "command:'open", "codex:a b"] {
            let error = client(name).unwrap_err();
            assert_eq!(error.kind(), crate::ground::error::Kind::Usage, "{name}: {error}");
        }
    }
}
