//! A backend that answers from a recording alone, without any network, and refuses a call that it does not know.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::backend::{Answered, Backend, Call};
use super::failure::{Failure, Why};
use super::tape::Tape;
use crate::ground::error::Result;
use crate::ground::text::first_line;

/// A recording that is being played.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    tape: Tape,
}

impl Replay {
    /// Opens a recording. Kind `Usage`, naming the line, for a file that is none.
    pub fn open(path: &Path) -> Result<Arc<Replay>> {
        Ok(Arc::new(Replay { path: path.to_owned(), tape: Tape::read(path)? }))
    }

    /// The models that were asked, in the order of their first call.
    pub fn models(&self) -> &[String] {
        self.tape.models()
    }
}

/// Answers as a recording does, with its failures, its retries (which take no time) and its usage.
#[derive(Debug)]
pub struct Replayer {
    model: String,
    replay: Arc<Replay>,
}

impl Replayer {
    /// Plays the part of one model; several may share a recording.
    pub fn new(model: impl Into<String>, replay: Arc<Replay>) -> Replayer {
        Replayer { model: model.into(), replay }
    }

    fn unknown(&self, call: &Call<'_>, occurrence: u32) -> Failure {
        let last = call.request.messages.last().map(|message| message.text()).unwrap_or_default();
        let again = if occurrence > 1 { format!(", asked for the {occurrence}th time") } else { String::new() };
        let place = if call.place.is_empty() { String::new() } else { format!(" at {}", call.place) };
        let digest = &call.digest[..12.min(call.digest.len())];
        let message = format!(
            "the recording {} holds no answer to the call {digest}{place}{again} (model {}): {}",
            self.replay.path.display(),
            self.model,
            first_line(last, 80)
        );
        Failure::new(Why::Unrecorded, message)
            .hint("replay with the configuration, prompts, data and version that it was recorded with")
    }
}

impl Backend for Replayer {
    fn model(&self) -> &str {
        &self.model
    }

    fn call(&self, call: &Call<'_>) -> Answered {
        if call.cancel.is_asked() {
            return Err(Failure::cancelled()).into();
        }
        let mark = self.replay.tape.mark(call);
        let Some(found) = self.replay.tape.find(&mark) else {
            return Err(self.unknown(call, mark.2)).into();
        };
        match count_again(found, call) {
            Ok(()) => found.clone(),
            Err(failure) => Err(failure).into(),
        }
    }
}

/// Counts a call whose exchange is known as if it was made now, so that a run which is played again, or taken up, ends with
/// the sums of the one that paid.
pub(super) fn count_again(found: &Answered, call: &Call<'_>) -> Result<(), Failure> {
    for failure in found.failed.iter().map(Some).chain([found.outcome.as_ref().err()]) {
        let attempt = call.open()?;
        match (failure, &found.outcome) {
            (Some(failure), _) => attempt.failed(failure),
            (None, Ok(reply)) => attempt.answered(reply),
            (None, Err(_)) => attempt.withdrawn(),
        }
    }
    Ok(())
}
