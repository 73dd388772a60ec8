//! Recordings of whoever is no chat model: programs and agents that attempt, score or edit. One line a call beside the models'
//! exchanges: of what kind, where, the digest of its inputs, what came of it. In a replay nobody is started.

mod edits;
mod evaluator;
mod optimizer;
mod target;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ground::crash;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::llm::Recording;

pub use evaluator::evaluator;
pub use optimizer::optimizer;
pub use target::target;

/// The kind of line in a recording.
const KIND: &str = "taped";
/// Raised when an older reader would misunderstand a line.
const VERSION: u32 = 1;

/// One call, as it is written down.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    kind: String,
    version: u32,
    #[serde(flatten)]
    call: Call,
    /// Which of several calls with the same inputs it is; later ones have greater numbers.
    number: usize,
    outcome: Value,
}

/// What names a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Call {
    /// `target`, `evaluator`, `reduce`, `backward` and so on.
    what: String,
    /// Where in the run; empty where the inputs say enough.
    place: String,
    /// The digest of all inputs.
    digest: String,
}

/// Calls by their names, and the outcomes of each by their numbers.
type Known = HashMap<Call, BTreeMap<usize, Value>>;

/// What was recorded of programs and agents, and where more is written.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    known: Mutex<Known>,
    /// Where to write; none in a replay, which refuses what it does not know.
    recording: Option<Arc<Recording>>,
}

impl Tape {
    /// A tape that is being made: what it holds already is used again.
    ///
    /// # Errors
    /// Of I/O; of kind `Usage` for a line of a newer version.
    pub fn recorded(recording: Arc<Recording>, path: &Path) -> Result<Tape> {
        Ok(Tape { path: path.to_owned(), known: Mutex::new(known(path)?), recording: Some(recording) })
    }

    /// A tape that is played.
    ///
    /// # Errors
    /// As [`Tape::recorded`].
    pub fn replayed(path: &Path) -> Result<Tape> {
        Ok(Tape { path: path.to_owned(), known: Mutex::new(known(path)?), recording: None })
    }

    /// Whether it is played, so that nobody may be started.
    fn replays(&self) -> bool {
        self.recording.is_none()
    }

    /// How many outcomes of a call there are.
    fn count(&self, call: &Call) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(call).map_or(0, BTreeMap::len)
    }

    /// The `nth` outcome of a call, from 1, in the order of their numbers.
    fn nth<T: DeserializeOwned>(&self, call: &Call, nth: usize) -> Result<Option<T>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(call).and_then(|all| all.values().nth(nth.checked_sub(1)?));
        let damaged = |error| Error::usage(error).context(format!("{}: {} at {}", self.name(), call.what, call.place));
        found.map(|value| serde_json::from_value(value.clone()).map_err(damaged)).transpose()
    }

    /// Writes an outcome down, durably, before anything uses it.
    fn write(&self, call: &Call, number: usize, outcome: &impl Serialize) -> Result<()> {
        let Some(recording) = &self.recording else { return Ok(()) };
        let outcome = serde_json::to_value(outcome).map_err(Error::failed)?;
        let line = Line { kind: KIND.into(), version: VERSION, call: call.clone(), number, outcome };
        recording.write(&serde_json::to_value(&line).map_err(Error::failed)?)?;
        crash::point("call-taped");
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(line.call).or_default().insert(number, line.outcome);
        Ok(())
    }

    /// What is known of a call, else what `make` makes of it. Calls with the same inputs have the same outcome.
    fn ask<T: Serialize + DeserializeOwned>(&self, call: &Call, make: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.nth(call, self.count(call))? {
            return Ok(known);
        }
        if self.replays() {
            return Err(self.unknown(call, Kind::Failed));
        }
        let made = make()?;
        self.write(call, 0, &made)?;
        Ok(made)
    }

    /// The refusal of a call that a replay does not know.
    fn unknown(&self, call: &Call, kind: Kind) -> Error {
        let place = if call.place.is_empty() { String::new() } else { format!(" at {}", call.place) };
        let (what, digest) = (&call.what, call.digest.get(..12).unwrap_or_default());
        Error::new(kind, format!("{} holds no answer to the call {digest} of the {what}{place}", self.name()))
            .hint("replay with the configuration, prompts, data and version that it was recorded with")
    }

    fn name(&self) -> String {
        format!("the recording {}", self.path.display())
    }
}

fn known(path: &Path) -> Result<Known> {
    let bytes = files::read_if_there(path)?.unwrap_or_default();
    let mut known = Known::new();
    for line in String::from_utf8_lossy(&bytes).lines().filter(|line| line.contains("\"taped\"")) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        if value["kind"] != KIND {
            continue;
        }
        if value["version"].as_u64().is_none_or(|version| version > u64::from(VERSION)) {
            return Err(Error::usage(format!("{} was written by a newer skilltrain", path.display())));
        }
        if let Ok(line) = serde_json::from_value::<Line>(value) {
            known.entry(line.call).or_default().insert(line.number, line.outcome);
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests;
