//! What `doctor` says of a client: is it there, which version, can it pay.

use std::path::PathBuf;
use std::time::Duration;

use super::{Client, Credentials};
use crate::ground::env::Env;
use crate::ground::process::{self, End};

/// How long a client may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is known of one client. Holds names of variables and files, never what is in them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Health {
    /// The client's name.
    pub name: String,
    /// Where its program lies.
    pub program: Option<PathBuf>,
    /// What it says its version is.
    pub version: Option<String>,
    /// Whether it seems to be able to pay.
    pub credentials: Credentials,
    /// What to do, in the order in which to do it; empty when all seems well.
    pub fixes: Vec<String>,
}

impl Health {
    /// Whether a turn with it can be expected to start.
    pub fn is_well(&self) -> bool {
        self.fixes.is_empty()
    }
}

/// Looks at a client; starts its program once, to ask for its version.
pub fn health(env: &Env, client: &dyn Client) -> Health {
    let credentials = client.credentials(env);
    let mut fixes = Vec::new();
    let program = match client.find(env) {
        Ok(program) => Some(program),
        Err(error) => {
            fixes.extend(error.hints().iter().cloned());
            None
        }
    };
    // A program that is only given by its name need not know the question.
    let asked = program.as_ref().filter(|_| credentials != Credentials::NotNeeded);
    let version = asked.and_then(|program| match process::capture(env, program, &["--version"], PATIENCE) {
        Ok((End::Exited(0), out, _)) => out.lines().next().map(str::to_owned),
        Ok((end, out, err)) => {
            let said = err.lines().chain(out.lines()).next().unwrap_or("nothing").to_owned();
            fixes.push(format!("{} --version failed ({end:?}), it said: {said}; install it again", program.display()));
            None
        }
        Err(error) => {
            fixes.push(error.to_string());
            None
        }
    });
    if let Credentials::Missing(fix) = &credentials {
        fixes.push(fix.clone());
    }
    Health { name: client.name(), program, version, credentials, fixes }
}
