//! `started.json`: what an attempt began with, so that whoever resumes knows whether it can go on.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::ground::error::Result;
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
        }
    }

    /// What an earlier call began here; none when there is nothing, or nothing that this version understands.
    pub fn read(path: &Path) -> Result<Option<Started>> {
        let bytes = files::read_if_there(path)?;
        let started = bytes.and_then(|bytes| serde_json::from_slice::<Started>(&bytes).ok());
        Ok(started.filter(|started| started.version == VERSION))
    }

    /// Whether an attempt begun with `self` can be gone on with as `other`: all alike but the number.
    pub fn goes_on_as(&self, other: &Started) -> bool {
        let same = Started { attempt: other.attempt, ..self.clone() };
        same == *other
    }
}
