//! A recording: one JSON line a call, with its question, its failed attempts and its end.
//!
//! A call is found again by its place, its question's digest, and how often that question was asked there before,
//! none of which depends on the order in which calls end.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::backend::{Answered, Call};
use super::failure::Failure;
use super::ledger::{Account, Role};
use super::reply::{Reply, Used};
use super::request::Request;
use crate::ground::error::{Error, Result};
use crate::ground::files;

/// The kind of line that this layer writes and reads; others in the same file are someone else's.
const KIND: &str = "chat";
/// Raised when an older reader would misunderstand a line.
const VERSION: u32 = 1;

/// One call, as it is written down.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    kind: String,
    version: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    place: String,
    digest: String,
    occurrence: u32,
    model: String,
    /// On whose behalf, and in which stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    stage: String,
    /// For people, and never read again: an answer is found by its digest.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    request: Option<Request>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failure>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<Reply>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<Failure>,
}

impl Exchange {
    pub(super) fn new(call: &Call<'_>, occurrence: u32, model: &str, answered: &Answered, question: bool) -> Exchange {
        let (reply, failure) = match &answered.outcome {
            Ok(reply) => (Some(reply.clone()), None),
            Err(failure) => (None, Some(failure.clone())),
        };
        Exchange {
            kind: KIND.to_owned(),
            version: VERSION,
            place: call.place.to_owned(),
            digest: call.digest.to_owned(),
            occurrence,
            model: model.to_owned(),
            role: Some(call.meter.account.role),
            stage: call.meter.account.stage.clone(),
            request: question.then(|| call.request.clone()),
            failed: answered.failed.clone(),
            reply,
            failure,
        }
    }

    /// What the call took.
    fn paid(&self) -> Option<Paid> {
        let account = Account { role: self.role?, stage: self.stage.clone(), model: self.model.clone() };
        let of = |failure: &Failure| (failure.usage.as_deref().copied(), failure.lost);
        let failed = self.failed.iter().chain(&self.failure).map(of).collect();
        Some(Paid { account, failed, answered: self.reply.as_ref().map(|reply| reply.usage) })
    }

    /// How the call ended; none for a line that holds neither an answer nor a failure.
    pub(super) fn answered(self) -> Option<Answered> {
        let outcome = match (self.reply, self.failure) {
            (Some(reply), _) => Ok(reply),
            (None, Some(failure)) => Err(failure),
            (None, None) => return None,
        };
        Some(Answered { outcome, failed: self.failed })
    }
}

/// What a recorded call took.
#[derive(Debug)]
pub(super) struct Paid {
    /// Who paid.
    pub(super) account: Account,
    /// The attempts that failed: what they took where that is known, and whether a reply was lost.
    pub(super) failed: Vec<(Option<Used>, bool)>,
    /// The answer, when there is one: what it took, where the server said so.
    pub(super) answered: Option<Option<Used>>,
}

/// Where a call stands on a tape: place, digest, occurrence from 1.
pub(super) type Mark = (String, String, u32);

/// What a recording holds, and how often each question was asked since it was opened.
#[derive(Debug, Default)]
pub(super) struct Tape {
    calls: HashMap<Mark, Answered>,
    asked: Mutex<HashMap<(String, String), u32>>,
    models: Vec<String>,
    /// What each line took, in the order of the lines.
    pub(super) paid: Vec<Paid>,
}

impl Tape {
    /// Reads a recording. A last line without its end is one that was being written when its program died: it is
    /// as if it were not there. Kind `Usage`, naming the line, for one that cannot be understood.
    pub(super) fn read(path: &Path) -> Result<Tape> {
        let mut tape = Tape::default();
        let bytes = files::read(path)?;
        for (n, line) in whole_lines(&bytes).enumerate() {
            let wrong = |what: String| {
                Error::usage(what).context(format!("{}, line {}", path.display(), n + 1)).hint("is it a recording?")
            };
            tape.take(line).map_err(wrong)?;
        }
        Ok(tape)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            kind: String,
            #[serde(default)]
            version: u32,
        }
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let head: Head = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        if head.kind != KIND {
            return Ok(());
        }
        if head.version > VERSION {
            return Err(format!("written by a newer skilltrain (format {})", head.version));
        }
        let exchange: Exchange = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        self.paid.extend(exchange.paid());
        if !self.models.contains(&exchange.model) {
            self.models.push(exchange.model.clone());
        }
        let mark = (exchange.place.clone(), exchange.digest.clone(), exchange.occurrence);
        let answered = exchange.answered().ok_or("the line holds neither an answer nor a failure")?;
        // A call that failed and was made again after a resume: the answer counts, whichever line is first.
        let is_kept = self.calls.get(&mark).is_some_and(|old| old.outcome.is_ok());
        if answered.outcome.is_ok() || !is_kept {
            self.calls.insert(mark, answered);
        }
        Ok(())
    }

    /// The mark of a call that begins now.
    pub(super) fn mark(&self, call: &Call<'_>) -> Mark {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.entry((call.place.to_owned(), call.digest.to_owned())).or_default();
        *count += 1;
        (call.place.to_owned(), call.digest.to_owned(), *count)
    }

    /// What a recording holds of a call.
    pub(super) fn find(&self, mark: &Mark) -> Option<&Answered> {
        self.calls.get(mark)
    }

    /// The models that were asked, in the order of their first call.
    pub(super) fn models(&self) -> &[String] {
        &self.models
    }
}

/// The lines that have their end.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = whole_length(bytes);
    bytes[..whole].split(|byte| *byte == b'\n')
}

/// How many bytes of a recording are whole lines.
pub(super) fn whole_length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}
