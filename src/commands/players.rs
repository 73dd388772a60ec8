//! Who plays in a training run: the target, the evaluator, the optimizer, as the configuration names them.

use super::clients::Clients;
use crate::config::{Config, Mode};
use crate::evaluator::{self, Evaluator};
use crate::ground::error::{Error, Result};
use crate::llm::{Role, Spec};
use crate::optimizer::{self, Optimizer, chat};
use crate::target::{self, Target};

/// Who attempts.
///
/// # Errors
/// Of kind `Usage` for a name that is none, and as [`Clients::client`].
pub(super) fn target(config: &Config, clients: &Clients<'_>) -> Result<Box<dyn Target>> {
    let section = &config.target;
    let name = config.target_name()?;
    let spec = target::needs_model(name)?;
    let options = target::Options {
        client: spec.map(|spec| clients.client(name, &spec, Role::Target)).transpose()?,
        mode: match section.mode {
            Mode::Inline => target::Mode::Inline,
            Mode::Routed => target::Mode::Routed,
        },
        system: section.system.clone(),
        seed: section.seed,
        temperature: section.temperature,
        max_tokens: section.answer_tokens,
        budget: section.pool_tokens,
        max_turns: section.max_turns,
        prompts: clients.shared().prompts.clone(),
    };
    target::find(name, options)
}

/// Who scores.
///
/// # Errors
/// Of kind `Usage` for a name or an option that is none, a judge that is missing, and as [`Clients::client`].
pub(super) fn evaluator(config: &Config, clients: &Clients<'_>) -> Result<Box<dyn Evaluator>> {
    let section = &config.evaluation;
    let mut options = section.options.clone();
    if let Some(rubric) = &section.rubric {
        options.entry("rubric").or_insert_with(|| rubric.clone().into());
    }
    let judge = match section.judge.as_deref().filter(|_| evaluator::registry::needs_model(&section.evaluator)) {
        Some(name) => {
            let wrong = || Error::usage(format!("evaluation.judge: {name:?} is not the name of a model"));
            let spec = Spec::parse(name)?.ok_or_else(wrong)?;
            let prompts = clients.shared().prompts.clone();
            Some(evaluator::registry::Judge { client: clients.client(name, &spec, Role::Judge)?, prompts })
        }
        None => None,
    };
    evaluator::registry::find_judging(&section.evaluator, &options, judge.as_ref())
}

/// Who edits.
///
/// # Errors
/// Of kind `Usage` for a name that is none, and as [`Clients::client`].
pub(super) fn optimizer(config: &Config, clients: &Clients<'_>) -> Result<Box<dyn Optimizer>> {
    let section = &config.optimizer;
    let model = section.model.as_deref();
    let spec = optimizer::registry::needs_model(&section.name, model)?;
    let client = spec.map(|spec| clients.client(&spec.to_string(), &spec, Role::Optimizer)).transpose()?;
    let options = chat::Options {
        max_tokens: section.answer_tokens,
        max_turns: section.max_turns,
        temperature: section.temperature,
        seed: Some(config.train.seed),
    };
    optimizer::registry::find(&section.name, model, client.as_ref(), options)
}
