//! The dates of a run's commits: the clock's, written into a recording and read from it again, so that a replay makes the
//! same commits.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::llm::Recording;
use crate::pool::commit::commit_time;

/// The kind of line in a recording.
const KIND: &str = "date";

/// Where dates come from.
#[derive(Debug, Default)]
pub struct Dates {
    known: HashMap<String, i64>,
    recording: Option<Arc<Recording>>,
    /// Whether what is not known is refused.
    replays: bool,
}

impl Dates {
    /// The clock's, written into a recording; those that it holds already are used again.
    ///
    /// # Errors
    /// Of I/O.
    pub fn recorded(recording: Arc<Recording>, path: &Path) -> Result<Dates> {
        Ok(Dates { known: known(path)?, recording: Some(recording), replays: false })
    }

    /// Those of a recording alone.
    ///
    /// # Errors
    /// Of I/O.
    pub fn replayed(path: &Path) -> Result<Dates> {
        Ok(Dates { known: known(path)?, recording: None, replays: true })
    }

    /// The date of what is committed at a place of the run, Unix seconds.
    ///
    /// # Errors
    /// Of kind `Failed` when a replay does not know it.
    pub fn at(&self, place: &str, env: &Env) -> Result<i64> {
        if let Some(seconds) = self.known.get(place) {
            return Ok(*seconds);
        }
        if self.replays {
            return Err(Error::failed(format!("the recording holds no date for {place}"))
                .hint("replay with the configuration and version that it was recorded with"));
        }
        let seconds = commit_time(env)?;
        if let Some(recording) = &self.recording {
            recording.write(&json!({ "kind": KIND, "place": place, "seconds": seconds }))?;
        }
        Ok(seconds)
    }
}

fn known(path: &Path) -> Result<HashMap<String, i64>> {
    let bytes = files::read_if_there(path)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let dates = text.lines().filter(|line| line.contains("\"date\"")).filter_map(|line| {
        let value: Value = serde_json::from_str(line).ok()?;
        (value["kind"] == KIND).then_some(())?;
        Some((value["place"].as_str()?.to_owned(), value["seconds"].as_i64()?))
    });
    Ok(dates.collect())
}
