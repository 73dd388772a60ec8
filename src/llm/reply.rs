//! What a model answered, as plain data.

use serde::{Deserialize, Serialize};

use super::request::{Message, ToolCall};
use crate::trajectory::Usage;

/// A whole answer: one that was cut off, refused or garbled is a [`Failure`](super::Failure) instead.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What the model said.
    pub text: String,
    /// The tools that it called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it ended.
    pub stop: Stop,
    /// The tokens of this call; none when the server did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Used>,
}

/// Why an answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model was done, or wrote one of the stop texts.
    #[default]
    Done,
    /// It waits for the results of its tool calls.
    Tools,
    /// A reason that we do not know, as the server named it; empty when it named none.
    Other(String),
}

/// The tokens of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Tokens sent (those read from the provider's cache included) and received. The money is what the provider
    /// itself states, which few do.
    #[serde(flatten)]
    pub usage: Usage,
    /// Of the tokens sent, those that the provider wrote into its cache, which Anthropic bills dearer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written_tokens: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Reply {
    /// An answer of text alone, for scripts.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply { text: text.into(), ..Reply::default() }
    }

    /// The answer as the conversation's next turn.
    pub fn message(&self) -> Message {
        Message::Assistant { text: self.text.clone(), calls: self.calls.clone() }
    }
}
