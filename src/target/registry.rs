//! Targets by name, `KIND[:MODEL][@URL]`. A new one is one line here.

use super::{Mode, Target, agent, chat, command};
use crate::agent::{Client as AgentClient, CommandLine, client};
use crate::ground::error::{Error, Result};
use crate::ground::prompts::Prompts;
use crate::llm::{Client, NAMES, Spec};

/// What a target is made with besides its name.
#[derive(Debug, Clone)]
pub struct Options {
    /// The model to ask, for a name that is one's ([`needs_model`]).
    pub client: Option<Client>,
    /// How a chat model sees the pool.
    pub mode: Mode,
    /// What a chat model is told besides the pool.
    pub system: String,
    /// A seed for servers that take one.
    pub seed: Option<u64>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The most tokens of one answer.
    pub max_tokens: u32,
    /// The most tokens of cards in a prompt, by estimate.
    pub budget: usize,
    /// The most questions to a chat model for one task.
    pub max_turns: usize,
    /// The prompts in force.
    pub prompts: Prompts,
}

/// The model that a target's name stands for; none when the target is a program.
///
/// # Errors
/// Of kind `Usage`: no such target, a model or program that is missing, a URL that is none.
pub fn needs_model(name: &str) -> Result<Option<Spec>> {
    if let Some(rest) = program(name) {
        return CommandLine::parse(rest).map(|_| None);
    }
    if agent_client(name)?.is_some() {
        return Ok(None);
    }
    Spec::parse(name)?.map(Some).ok_or_else(|| unknown(name))
}

/// The target of this name.
///
/// # Errors
/// As [`needs_model`], and when a model is needed and not given.
pub fn find(name: &str, options: Options) -> Result<Box<dyn Target>> {
    if let Some(rest) = program(name) {
        return command::make(rest);
    }
    if let Some(client) = agent_client(name)? {
        return agent::make(client, options).ok_or_else(|| unknown(name));
    }
    let client = options.client.clone().ok_or_else(|| unknown(name))?;
    Ok(Box::new(chat::Chat::new(name, client, options)))
}

/// What stands behind `command:`; the outer none is for another kind of target.
fn program(name: &str) -> Option<Option<&str>> {
    let (kind, rest) = name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest)));
    (kind == "command").then_some(rest)
}

/// The agent client of this name; none for another kind of target.
fn agent_client(name: &str) -> Result<Option<Box<dyn AgentClient>>> {
    Ok(client(name)?.filter(|client| client.skills().is_some()))
}

fn unknown(name: &str) -> Error {
    Error::usage(format!("there is no target `{}`", name.split(['@', '?']).next().unwrap_or_default()))
        .hint(format!("targets are: {NAMES}, claude, codex, command:PROGRAM"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_models_or_programs_or_refused() {
        assert_eq!(needs_model("openai:m@http://127.0.0.1:1/v1").unwrap().unwrap().model, "m");
        assert!(needs_model("command:./run --fast").unwrap().is_none());
        assert!(needs_model("claude").unwrap().is_none() && needs_model("codex:gpt-5").unwrap().is_none());
        for wrong in ["claude:", "gpt", "opnai:m", "command", "command:", "openai", "openai:m@ftp://x"] {
            let error = needs_model(wrong).unwrap_err();
            assert_eq!(error.kind(), crate::ground::error::Kind::Usage, "{wrong}: {error}");
            assert!(!error.hints().is_empty());
        }
    }
}
