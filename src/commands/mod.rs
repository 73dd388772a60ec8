//! The subcommands: one file each, its arguments and one function.

pub mod args;
pub mod backward;
pub mod calibrate;
mod clients;
pub mod config;
pub mod doctor;
pub mod eval;
pub mod init;
pub mod judge;
pub mod lint;
pub mod locate;
pub mod log;
pub mod measuring;
pub mod model;
mod players;
pub mod reduce;
mod scores;
pub mod shells;
pub mod status;
mod told;
pub mod train;

use serde_json::Value;

use crate::ground::env::Env;
use crate::ground::signals::Cancel;
use crate::run::event::Observer;

/// What a command is given besides its arguments.
pub struct Call<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// Who listens to what happens.
    pub observer: Observer<'a>,
}

/// What a command answers; the command line prints one of the two.
#[derive(Debug, Default)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs (`--json`).
    pub json: Value,
    /// The exit code: 0, or 1 where a check found something.
    pub exit: u8,
}

impl Answer {
    /// An answer of exit code 0.
    pub fn new(text: impl Into<String>, json: Value) -> Answer {
        Answer { text: text.into(), json, exit: 0 }
    }
}
