//! Optimizers by name: `KIND[:MODEL]`. A new one is one line here.

use super::Optimizer;
use super::agent::AgentOptimizer;
use super::extractive::Extractive;
use crate::ground::error::{Error, Result};

/// What `--optimizer` takes.
pub const NAMES: &str = "extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM";

/// The optimizer of this name. `model` is `--model`, which a model in the name overrides.
pub fn find(name: &str, model: Option<&str>) -> Result<Box<dyn Optimizer>> {
    if name == "extractive" {
        return Ok(Box::new(Extractive));
    }
    match crate::agent::client(name)? {
        Some(client) => Ok(Box::new(AgentOptimizer::new(client, model))),
        None => Err(Error::usage(format!("there is no optimizer `{name}`")).hint(format!("optimizers are: {NAMES}"))),
    }
}
