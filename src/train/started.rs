//! `started.json`: what an attempt began with, so that whoever resumes knows whether it can go on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ground::error::{Error, Result};
use crate::ground::files;

/// The format's version.
const VERSION: u32 = 1;

/// One attempt of a micro-step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The file's format.
    pub version: u32,
    /// The micro-step's label.
    pub label: String,
    /// The attempt's number, from 1, over all calls.
    pub attempt: usize,
    /// The pool's commit that it edits.
    pub before: String,
    /// The evidence's digest.
    pub evidence: String,
    /// Who edits.
    pub optimizer: String,
    /// Whether it was refused, and its files are being put aside.
    #[serde(default)]
    pub refused: bool,
}

/// What lies where an attempt notes its beginning.
#[derive(Debug)]
pub enum Left {
    /// Nothing was begun.
    Nothing,
    /// Something was, but the note cannot be read.
    Unknown,
    /// This attempt.
    Attempt(Started),
}

impl Started {
    /// A new attempt.
    pub fn new(label: &str, attempt: usize, before: &str, evidence: &str, optimizer: &str) -> Started {
        Started {
            version: VERSION,
            label: label.to_owned(),
            attempt,
            before: before.to_owned(),
            evidence: evidence.to_owned(),
            optimizer: optimizer.to_owned(),
            refused: false,
        }
    }

    /// What an earlier call began here. A note of a later version's is an error: it knows more than we do.
    pub fn read(path: &Path) -> Result<Left> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(Left::Nothing);
        };
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if value["version"].as_u64().is_some_and(|version| version > u64::from(VERSION)) {
            return Err(Error::failed(format!("{} was begun by a later version of skilltrain", path.display()))
                .hint("go on with that version, or remove the file to begin the step anew"));
        }
        Ok(serde_json::from_value(value).map_or(Left::Unknown, Left::Attempt))
    }

    /// Whether an attempt begun with `self` can be gone on with as `other`: all alike but the number and how it fared.
    pub fn goes_on_as(&self, other: &Started) -> bool {
        let same = Started { attempt: other.attempt, refused: other.refused, ..self.clone() };
        same == *other
    }
}
