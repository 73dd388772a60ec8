//! What can go wrong with a call: a type of its own, so that no failure can pass for an answer.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::reply::Used;
use crate::ground::error::{Error, Kind};

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The provider could not be reached, or said that it is out of order.
    Outage,
    /// The provider asked us to slow down.
    Busy,
    /// The call's time was up.
    Timeout,
    /// What came is no reply, or not the answer that was asked for.
    Malformed,
    /// The answer reached its limit of tokens before its end.
    CutOff,
    /// The model or its provider declined to answer.
    Refused,
    /// The request itself is wrong (its key, its model, its size): asking again cannot help.
    Rejected,
    /// The budget does not allow the call.
    Budget,
    /// A recording holds no answer to this call.
    Unrecorded,
    /// The answer could not be put on disk, and so must not be used.
    Unkept,
    /// The user stopped the program.
    Cancelled,
}

/// A call without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Why there is no answer.
    pub why: Why,
    /// One line for a person; holds no key.
    pub message: String,
    /// The HTTP status, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What came of the answer before it was cut off, or what could not be read as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tokens that the call took all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Used>,
    /// Whether the request went out and its reply was lost: the provider may bill what we never saw.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// How long the server asked us to wait.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with a one-line message.
    pub fn new(why: Why, message: impl Into<String>) -> Failure {
        Failure {
            why,
            message: message.into(),
            status: None,
            text: None,
            usage: None,
            lost: false,
            retry_after: None,
            hint: None,
        }
    }

    /// The user stopped the program.
    pub fn cancelled() -> Failure {
        Failure::new(Why::Cancelled, "interrupted")
    }

    /// The same failure with what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// The same failure of a request whose reply was lost.
    #[must_use]
    pub fn lost(self) -> Failure {
        Failure { lost: true, ..self }
    }

    /// Whether the same request may succeed a moment later.
    pub fn is_passing(&self) -> bool {
        match self.why {
            Why::Outage | Why::Busy | Why::Timeout => true,
            // The provider's own garble passes; a model's answer of the wrong shape has usage and costs again.
            Why::Malformed => self.usage.is_none(),
            _ => false,
        }
    }

    /// Whether the provider failed, rather than the model, the budget or the user: never a score, and when every
    /// call ends so, a reason to stop.
    pub fn is_providers(&self) -> bool {
        matches!(self.why, Why::Outage | Why::Busy | Why::Timeout | Why::Rejected)
            || (self.why == Why::Malformed && self.usage.is_none())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        let kind = match failure.why {
            Why::Cancelled => return Error::interrupted(),
            Why::Outage | Why::Busy | Why::Timeout | Why::Rejected => Kind::Unreachable,
            Why::Malformed if failure.usage.is_none() => Kind::Unreachable,
            Why::Malformed | Why::CutOff | Why::Refused | Why::Budget | Why::Unrecorded | Why::Unkept => Kind::Failed,
        };
        let error = Error::new(kind, &failure.message);
        let usual = match failure.why {
            Why::Outage | Why::Timeout => Some("check the network and the base URL, then run the same command again"),
            Why::Busy => Some("the provider is busy: run the same command again later, or set requests_per_minute"),
            Why::Budget => Some("nothing is lost: raise the budget and run the same command again"),
            Why::CutOff => Some("raise max_tokens, or use a model that answers shorter"),
            _ => None,
        };
        match failure.hint.or(usual.map(str::to_owned)) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_end_in_their_exit_codes() {
        let code = |why| Error::from(Failure::new(why, "x")).kind().exit_code();
        assert_eq!([Why::Outage, Why::Busy, Why::Timeout, Why::Rejected, Why::Malformed].map(code), [3; 5]);
        assert_eq!([Why::CutOff, Why::Refused, Why::Budget, Why::Unrecorded, Why::Unkept].map(code), [1; 5]);
        assert_eq!(code(Why::Cancelled), 130);
    }

    #[test]
    fn what_passes_and_whose_fault_it_is() {
        let all = [Why::Outage, Why::Busy, Why::Timeout, Why::Malformed, Why::CutOff, Why::Refused, Why::Rejected];
        let passing = all.map(|why| Failure::new(why, "x").is_passing());
        assert_eq!(passing, [true, true, true, true, false, false, false]);
        let answered = Failure { usage: Some(Used::default()), ..Failure::new(Why::Malformed, "x") };
        assert!(!answered.is_passing() && !answered.is_providers());
        assert!(Failure::new(Why::Rejected, "x").is_providers());
    }
}
