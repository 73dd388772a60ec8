//! The part of a user's Codex configuration that says which model to ask, and where. The rest stays behind:
//! tool servers, hooks and notifiers of the user's have no place in a training run.

use std::path::Path;

use toml::{Table, Value};

use crate::agent::credentials;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::files;

const KEPT: [&str; 17] = [
    "model",
    "model_provider",
    "model_providers",
    "model_reasoning_effort",
    "model_reasoning_summary",
    "model_verbosity",
    "model_context_window",
    "model_max_output_tokens",
    "model_auto_compact_token_limit",
    "model_supports_reasoning_summaries",
    "service_tier",
    "openai_base_url",
    "chatgpt_base_url",
    "oss_provider",
    "forced_login_method",
    "forced_chatgpt_workspace_id",
    "preferred_auth_method",
];

/// The settings to use.
#[derive(Debug, Default)]
pub(super) struct Settings {
    kept: Table,
    keys: Vec<String>,
}

impl Settings {
    /// Reads the user's `config.toml`; one that is not there is empty. Kind `Usage` when it is not TOML.
    pub(super) fn load(env: &Env) -> Result<Settings> {
        let Some(folder) = credentials::settings_folder(env, "CODEX_HOME", ".codex") else {
            return Ok(Settings::default());
        };
        let path = folder.join("config.toml");
        if !path.exists() {
            return Ok(Settings::default());
        }
        Self::parse(&files::read_text(&path)?)
            .map_err(|error| Error::usage(error).context(format!("cannot use {}", path.display())))
    }

    fn parse(text: &str) -> Result<Settings, toml::de::Error> {
        let mut kept: Table = text.parse()?;
        kept.retain(|name, _| KEPT.contains(&name));
        let chosen = kept.get("model_provider").and_then(Value::as_str);
        let provider = chosen.and_then(|name| kept.get("model_providers")?.get(name)).and_then(Value::as_table);
        let mut keys = Vec::new();
        if let Some(provider) = provider {
            keys.extend(provider.get("env_key").and_then(Value::as_str));
            let headers = provider.get("env_http_headers").and_then(Value::as_table);
            keys.extend(headers.into_iter().flat_map(Table::values).filter_map(Value::as_str));
        }
        let keys = keys.into_iter().filter(|name| !name.starts_with("GIT_")).map(str::to_owned).collect();
        Ok(Settings { kept, keys })
    }

    /// The variables in which the chosen provider's keys are.
    pub(super) fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Writes them for the run.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let mut table = self.kept.clone();
        // The copied login is a file; a keyring would not know the private home.
        table.insert("cli_auth_credentials_store".into(), Value::String("file".into()));
        credentials::private_file(path, table.to_string().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_and_its_provider_are_kept() {
        let settings = Settings::parse(
            "model = 'm'\nmodel_provider = 'local'\nnotify = ['evil']\n[mcp_servers.x]\ncommand = 'y'\n\
             [model_providers.local]\nenv_key = 'LOCAL_KEY'\nenv_http_headers = { A = 'HEADER_VAR', B = 'GIT_DIR' }\n\
             [model_providers.other]\nenv_key = 'OTHER_KEY'\n",
        )
        .unwrap();
        assert_eq!(settings.keys(), ["LOCAL_KEY", "HEADER_VAR"]);
        assert_eq!(settings.kept.keys().collect::<Vec<_>>(), ["model", "model_provider", "model_providers"]);
    }
}
