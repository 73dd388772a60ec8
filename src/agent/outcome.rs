//! How a turn went, and what the user can do about a client that could not be used.

use crate::ground::process::{End, Finished};
use crate::trajectory;

/// How a turn went. Whether the agent's work is any good is not for this layer to say.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The client ended well.
    Done,
    /// The agent or its client gave up; why.
    Failed(String),
    /// The client could not be started, or its provider could not be used; why, and what to do.
    Unreachable(String),
    /// Its time was up.
    TimedOut,
    /// The user stopped it.
    Cancelled,
}

impl Outcome {
    /// The outcome that an end has whatever the client said; `None` when that decides.
    pub(super) fn of_end(finished: &Finished) -> Option<Outcome> {
        match &finished.end {
            End::TimedOut => Some(Outcome::TimedOut),
            End::Cancelled => Some(Outcome::Cancelled),
            End::NotStarted(why) => Some(Outcome::Unreachable(why.clone())),
            End::Signaled(signal) => Some(Outcome::Failed(format!("ended by signal {signal}"))),
            End::Exited(_) => None,
        }
    }
}

/// "exit code 3: last words on standard error", for a client that said nothing better.
pub(super) fn last_words(finished: &Finished) -> String {
    let code = match finished.end {
        End::Exited(code) => format!("exit code {code}"),
        _ => "no exit code".to_owned(),
    };
    let words = finished.stderr.trim();
    let tail = words.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
    if tail.is_empty() { code } else { format!("{code}: {}", trajectory::clip(&tail, 2_000)) }
}

const REFUSED: &str = "the provider refused the request: check the model's name and the base URL";

/// What to do about a provider's failure, from its HTTP status and the client's own words.
pub(super) fn advice(status: Option<u64>, words: &str, login: &str) -> String {
    let low = words.to_lowercase();
    let any = |parts: &[&str]| parts.iter().any(|part| low.contains(part));
    let what = match status {
        Some(401 | 403) => login,
        _ if any(&["not logged in", "401 ", "403 ", "invalid api key", "/login", "unauthorized"]) => login,
        Some(429 | 529) => "the provider is busy: run the same command again later",
        _ if any(&["connectionrefused", "unable to connect", "connection refused", "dns", "waiting for network"]) => {
            "check the network, the proxy and the base URL, then run the same command again"
        }
        Some(400..=499) => REFUSED,
        _ if any(&["invalid_request_error"]) => REFUSED,
        _ => "usually temporary: run the same command again later",
    };
    format!("{} ({what})", trajectory::clip(words.trim(), 1_000))
}
