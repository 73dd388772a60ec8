//! What an agent did and what it cost: typed events, usage, and their readable forms.

use serde::{Deserialize, Serialize};

/// Tokens and money that calls took. Unknown is `None` or absent, never zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent, those read from a cache included.
    pub input_tokens: u64,
    /// Tokens sent that the provider read from its cache.
    pub cached_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// US dollars as the client itself states them: an estimate, not a bill.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Tokens sent and received.
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
    }
}

/// One thing that an agent did, whichever client it runs in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The client's session began; it can be resumed under this name.
    Session { id: String },
    /// The agent said something.
    Said { text: String },
    /// A file was read, as the client named it.
    Read { path: String },
    /// A file was written or edited.
    Wrote { path: String },
    /// A shell command ended.
    Ran { command: String, output: String, exit: Option<i32> },
    /// Any other tool was used.
    Used { tool: String, detail: String },
    /// The client asks its provider again after a failure.
    Retrying { reason: String },
    /// A tool call was refused by the client's own permissions.
    Denied { tool: String, detail: String },
    /// Tokens and money so far (a client may state them only at its end).
    Usage { usage: Usage },
}
