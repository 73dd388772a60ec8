//! Models by name: `KIND[:MODEL][@BASE_URL]`, as a user writes them in a flag or a configuration file.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use super::key::Key;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};

/// What a name may look like, for hints.
pub const NAMES: &str = "openai:MODEL[@URL], anthropic:MODEL[@URL], ollama:MODEL[@URL]";

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI, or any server with its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter, Azure.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama, through its OpenAI-compatible endpoint: its own one takes no JSON schema beside tools.
    Ollama,
}

/// A model and where it is served. Holds no key; its `Display` is the name that parses to it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Who is asked.
    pub provider: Provider,
    /// The model's name at its provider.
    pub model: String,
    /// The base URL as the user gave it; none means the provider's own.
    pub url: Option<String>,
}

impl Spec {
    /// Parses a name; `None` when its kind is not a chat model's. Kind `Usage` for a model that is missing, a URL
    /// that is none, and a URL with a user name, a password or a query that may hold a key.
    pub fn parse(name: &str) -> Result<Option<Spec>> {
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        let provider = match kind {
            "openai" => Provider::OpenAi,
            "anthropic" => Provider::Anthropic,
            "ollama" => Provider::Ollama,
            _ => return Ok(None),
        };
        // A model's name may hold an @ itself, so only one before a scheme divides.
        let at = ["@http://", "@https://"].iter().filter_map(|mark| rest.find(mark)).min();
        let (model, url) = match at {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let wrong =
            |what: &str| Error::usage(format!("model `{}`: {what}", shown(name))).hint(format!("models are: {NAMES}"));
        if model.is_empty() || model.starts_with('-') || model.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("the name of a model is missing"));
        }
        if let Some((_, after)) =
            model.rsplit_once('@').filter(|(_, after)| after.contains([':', '/']) || after.is_empty())
        {
            return Err(wrong(&format!("the base URL `{}` must begin with http:// or https://", shown(after))));
        }
        if let Some(url) = url {
            check_url(url).map_err(|what| wrong(&what))?;
        }
        let url = url.map(|url| url.trim_end_matches('/').to_owned());
        Ok(Some(Spec { provider, model: model.to_owned(), url }))
    }

    /// Where requests go: the base URL given, else the one of the provider's usual variable (`OPENAI_BASE_URL`,
    /// `ANTHROPIC_BASE_URL`, `OLLAMA_HOST`), else the provider's own. Kind `Usage` for a variable that is no URL.
    pub fn endpoint(&self, env: &Env) -> Result<Endpoint> {
        let (variable, default) = match self.provider {
            Provider::OpenAi => ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
            Provider::Anthropic => ("ANTHROPIC_BASE_URL", "https://api.anthropic.com"),
            Provider::Ollama => ("OLLAMA_HOST", "http://127.0.0.1:11434"),
        };
        let base = match (&self.url, env.get(variable)) {
            (Some(url), _) => url.clone(),
            (None, Some(value)) if self.provider == Provider::Ollama => ollama_host(value),
            (None, Some(value)) => value.trim_end_matches('/').to_owned(),
            (None, None) => default.to_owned(),
        };
        let uri = check_url(&base).map_err(|what| Error::usage(what).context(variable))?;
        Ok(Endpoint::new(self.provider, &uri))
    }

    /// The key for an endpoint: from the variable `named`, else from the provider's usual one. None on loopback and
    /// over plain HTTP when none is set or named; kind `Unreachable` with the variable to set elsewhere.
    pub fn key(&self, env: &Env, endpoint: &Endpoint, named: Option<&str>) -> Result<Option<Key>> {
        let usual: &[&str] = match self.provider {
            Provider::OpenAi if endpoint.is_azure => &["AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"],
            Provider::OpenAi => &["OPENAI_API_KEY"],
            Provider::Anthropic => &["ANTHROPIC_API_KEY"],
            Provider::Ollama => &["OLLAMA_API_KEY"],
        };
        if let Some(name) = named {
            let key = env.get(name).map(Key::new);
            return key.map(Some).ok_or_else(|| {
                Error::unreachable(format!("no key for {self}: the variable {name} is not set"))
                    .hint(format!("set {name} to the key, or name another variable"))
            });
        }
        // A key that happens to be set must not cross a network in the clear to a host that may not be its own.
        if !endpoint.is_tls && !endpoint.is_loopback {
            return Ok(None);
        }
        let key = usual.iter().find_map(|name| env.get(name)).map(Key::new);
        if key.is_none() && !endpoint.is_loopback && self.provider != Provider::Ollama {
            return Err(Error::unreachable(format!("no key for {self}")).hint(format!("set {} to the key", usual[0])));
        }
        Ok(key)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.provider {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Ollama => "ollama",
        };
        write!(f, "{kind}:{}", self.model)?;
        self.url.as_ref().map_or(Ok(()), |url| write!(f, "@{url}"))
    }
}

/// The address that a model's requests go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The whole URL of the request.
    pub url: String,
    /// The host, without the brackets of an IPv6 address.
    pub host: String,
    /// Whether it is this machine: no key is needed, no proxy is used.
    pub is_loopback: bool,
    /// Whether the connection is encrypted.
    pub is_tls: bool,
    /// Whether it is Azure, which wants its key in a header of its own.
    pub is_azure: bool,
    /// Whether it is OpenAI's or Azure's own server, which counts hidden reasoning into the output limit and
    /// therefore names that limit differently.
    pub is_openai: bool,
}

impl Endpoint {
    fn new(provider: Provider, base: &Uri) -> Endpoint {
        let host = base.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        let path = base.path().trim_end_matches('/');
        let tail = match provider {
            Provider::Anthropic if path.ends_with("/v1") => "/messages",
            Provider::Anthropic => "/v1/messages",
            Provider::Ollama if !path.ends_with("/v1") => "/v1/chat/completions",
            // A server's bare address: every one of this kind answers below /v1.
            Provider::OpenAi if path.is_empty() => "/v1/chat/completions",
            Provider::OpenAi | Provider::Ollama => "/chat/completions",
        };
        let authority = base.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let query = base.query().map(|query| format!("?{query}")).unwrap_or_default();
        let is_azure = [".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"]
            .iter()
            .any(|end| host.ends_with(end));
        Endpoint {
            url: format!("{}://{authority}{path}{tail}{query}", base.scheme_str().unwrap_or("https")),
            is_loopback: is_loopback(&host),
            is_tls: base.scheme_str() == Some("https"),
            is_azure: is_azure && provider == Provider::OpenAi,
            is_openai: provider == Provider::OpenAi && (is_azure || host == "api.openai.com"),
            host,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// A base URL, or what is wrong with it. A key in it would be printed, recorded and committed with the name.
fn check_url(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| "the base URL is not a URL".to_owned())?;
    let authority = uri.authority().ok_or("the base URL has no host")?;
    if authority.as_str().contains('@') {
        return Err("the base URL holds a user name or a password: put the key into a variable".to_owned());
    }
    if authority.host().is_empty() || !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("the base URL must begin with http:// or https:// and a host".to_owned());
    }
    let strange = uri.query().is_some_and(|query| query.split('&').any(|pair| !pair.starts_with("api-version=")));
    if strange {
        return Err("the base URL has a query (only api-version may be there): put the key into a variable".to_owned());
    }
    Ok(uri)
}

/// `OLLAMA_HOST` is an address to listen at as well: a host, a port, or both.
fn ollama_host(value: &str) -> String {
    let value = value.trim_end_matches('/');
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest };
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
    if has_port || value.contains("://") { format!("{scheme}://{rest}") } else { format!("{scheme}://{rest}:11434") }
}

/// A name for an error message, without what stands between `//` and `@`: it may be a password.
fn shown(name: &str) -> String {
    let hide = |at: usize| {
        let rest = &name[at + 3..];
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        rest[..end].rfind('@').map(|user| format!("{}://…{}", &name[..at], &rest[user..]))
    };
    let name = name.rfind("://").and_then(hide).unwrap_or_else(|| name.to_owned());
    name.split_once('?').map_or(name.clone(), |(before, _)| format!("{before}?…"))
}

#[cfg(test)]
mod tests;
