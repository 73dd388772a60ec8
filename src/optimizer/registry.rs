//! Optimizers by name: `KIND[:MODEL][@URL]`. A new one is one line here.

use super::Optimizer;
use super::agent::AgentOptimizer;
use super::chat::{Chat, Options};
use super::extractive::Extractive;
use crate::ground::error::{Error, Result};
use crate::llm::{self, Client, Spec};

/// What `--optimizer` takes.
pub const NAMES: &str = "extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM";

/// The chat model that an optimizer's name stands for; none for an optimizer of another kind. `model` is `--model`, for a
/// kind that is named alone.
///
/// # Errors
/// Of kind `Usage`: no such optimizer, a model that is missing, a URL that is none.
pub fn needs_model(name: &str, model: Option<&str>) -> Result<Option<Spec>> {
    let whole = match model {
        Some(model) if matches!(name, "openai" | "anthropic" | "ollama") => format!("{name}:{model}"),
        _ => name.to_owned(),
    };
    let spec = Spec::parse(&whole)?;
    if spec.is_none() && name != "extractive" && crate::agent::client(name)?.is_none() {
        return Err(unknown(name));
    }
    Ok(spec)
}

/// The optimizer of this name, which it goes by without an address: commits name it, and the same model may move. `model` is `--model`, which a model in the name overrides; `client` asks the model that
/// [`needs_model`] names, with `options`.
///
/// # Errors
/// As [`needs_model`], and when a model is needed and not given.
pub fn find(name: &str, model: Option<&str>, client: Option<&Client>, options: Options) -> Result<Box<dyn Optimizer>> {
    if let Some(spec) = needs_model(name, model)? {
        let client = client.ok_or_else(|| Error::usage(format!("{spec} is a model, and nobody is there to ask it")))?;
        return Ok(Box::new(Chat::new(&Spec { url: None, ..spec }.to_string(), client, options)));
    }
    match crate::agent::client(name)? {
        Some(client) => Ok(Box::new(AgentOptimizer::new(client, model))),
        None => Ok(Box::new(Extractive)),
    }
}

fn unknown(name: &str) -> Error {
    Error::usage(format!("there is no optimizer `{}`", name.split(['@', '?']).next().unwrap_or_default()))
        .hint(format!("optimizers are: {NAMES}, {}", llm::NAMES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::error::Kind;

    #[test]
    fn names_are_models_clients_the_built_in_one_or_refused() {
        let find = |name: &str, model| find(name, model, None, Options::default()).map(|optimizer| optimizer.name());
        assert_eq!(find("extractive", None).unwrap(), "extractive");
        assert_eq!(find("claude", Some("opus")).unwrap(), "claude:opus");
        let url = "openai:m@http://127.0.0.1:1/v1";
        assert_eq!(needs_model(url, None).unwrap().unwrap().to_string(), url);
        assert_eq!(needs_model("anthropic", Some("m")).unwrap().unwrap().to_string(), "anthropic:m");
        assert!(needs_model("claude:opus", None).unwrap().is_none());
        for wrong in ["gpt", "opnai:m", "openai", "openai:m@ftp://x", "claude:", url] {
            let error = find(wrong, None).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{wrong}: {error}");
        }
    }
}
