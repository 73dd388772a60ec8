//! Codex CLI, headless: `codex exec --json`.

mod settings;
mod stream;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::credentials::{self, Credentials};
use super::variables::{Variables, passed_by_user};
use super::{Client, Launch, Reader, Turn};
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use settings::Settings;

const LOGIN: &str = "run `codex login` once, or set OPENAI_API_KEY";
const INSTALL: &str = "install it with `npm install -g @openai/codex`, or choose another agent";

/// Settings of every turn: what is not needed is neither offered to the model nor paid for with each request.
/// A name that a version does not know only makes it say so.
const SETTINGS: [&str; 10] = [
    "approval_policy=\"never\"",
    // Instructions in folders above the working folder are nobody's business here.
    "project_doc_max_bytes=0",
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "web_search=\"disabled\"",
    "features.multi_agent=false",
    "features.goals=false",
    "features.apps=false",
    "features.plugins=false",
    "features.daemon_auto_start=false",
];

/// The same for an optimizer, to which skills in the pool are data.
const NO_SKILLS: &str = "skills.include_instructions=false";

pub(super) fn make(model: Option<&str>) -> Result<Box<dyn Client>> {
    Ok(Box::new(Codex { model: super::model(model)? }))
}

#[derive(Debug)]
struct Codex {
    model: Option<String>,
}

impl Client for Codex {
    fn name(&self) -> String {
        self.model.as_ref().map_or("codex".to_owned(), |model| format!("codex:{model}"))
    }

    fn find(&self, env: &Env) -> Result<PathBuf> {
        let found = env.which("codex").ok_or_else(|| Error::unreachable("codex is not on PATH").hint(INSTALL))?;
        Ok(native(&found).unwrap_or(found))
    }

    fn launch(&self, env: &Env, turn: &Turn, inside: bool) -> Result<Launch> {
        let program = self.find(env)?;
        let mut readable = super::program_folders(&program);
        // Beside the folder of the binary lie those of the tools that it brings along.
        readable.extend(program.parent().and_then(Path::parent).map(Path::to_owned));
        let home = turn.home.join(".codex");
        credentials::private_folder(&home)?;
        let settings = Settings::load(env)?;
        settings.write(&home.join("config.toml"))?;
        let login = home.join("auth.json");
        let logged_in = match login_file(env) {
            // An empty token is one that cannot renew the login; the client insists on the field.
            Some(from) => credentials::copy_json(&from, &login, &[("refresh_token", json!(""))])?,
            None => false,
        };
        let variables = variables(env, turn, &home, &settings, logged_in);
        let args = self.arguments(turn, inside, settings.keys());
        Ok(Launch { program, args, variables, readable, secrets: vec![login] })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }

    fn skills(&self) -> Option<&'static str> {
        Some(".agents/skills")
    }

    fn counts_session(&self) -> bool {
        true
    }

    fn credentials(&self, env: &Env) -> Credentials {
        let file = login_file(env).filter(|path| path.is_file()).map(|path| path.display().to_string());
        let provider = Settings::load(env).ok().and_then(|settings| {
            let names: Vec<&str> = settings.keys().iter().map(String::as_str).collect();
            credentials::variable(env, &names)
        });
        let key = credentials::variable(env, &["CODEX_API_KEY", "OPENAI_API_KEY"]);
        match provider.or(file).or(key) {
            Some(place) => Credentials::Found(place),
            None => Credentials::Missing(LOGIN.to_owned()),
        }
    }
}

impl Codex {
    fn arguments(&self, turn: &Turn, inside: bool, keys: &[String]) -> Vec<OsString> {
        let mut args: Vec<String> = vec!["exec".into()];
        if turn.resume.is_some() {
            args.push("resume".into());
        }
        args.extend(["--json".into(), "--skip-git-repo-check".into()]);
        if let Some(model) = self.model.as_ref().or(turn.model.as_ref()) {
            args.extend(["-m".into(), model.clone()]);
        }
        let mut settings: Vec<String> = SETTINGS.map(String::from).into();
        // Keys stay with the client: its shell commands do not get them. Its own list of patterns, if it were used,
        // would take `GIT_CONFIG_KEY_0` for a secret.
        let secrets = keys.iter().map(String::as_str).chain(["CODEX_API_KEY", "OPENAI_API_KEY"]);
        let secrets = toml::Value::Array(secrets.map(|name| toml::Value::String(name.to_owned())).collect());
        settings.push(format!("shell_environment_policy.exclude={secrets}"));
        if !turn.skills {
            settings.push(NO_SKILLS.to_owned());
        }
        if inside {
            args.push("--dangerously-bypass-approvals-and-sandbox".into());
        } else {
            settings.extend(own_sandbox(turn));
        }
        args.extend(settings.into_iter().flat_map(|setting| ["-c".into(), setting]));
        args.extend(turn.resume.as_ref().map(|session| session.id.clone()));
        args.push("-".into());
        args.into_iter().map(Into::into).collect()
    }
}

/// The client's own sandbox, for where ours is off: it may write in the checkout, `.git` included, and nowhere
/// else; by itself it would keep `.git` closed and `/tmp` open.
fn own_sandbox(turn: &Turn) -> [String; 4] {
    let git = toml::Value::String(turn.workdir.join(".git").display().to_string());
    [
        "sandbox_mode=\"workspace-write\"".to_owned(),
        format!("sandbox_workspace_write.writable_roots=[{git}]"),
        "sandbox_workspace_write.exclude_slash_tmp=true".to_owned(),
        "sandbox_workspace_write.network_access=false".to_owned(),
    ]
}

fn variables(env: &Env, turn: &Turn, home: &Path, settings: &Settings, logged_in: bool) -> Variables {
    let mut variables = Variables::of_turn(env, turn, "codex");
    variables.set("CODEX_HOME", home);
    variables.pass(env, settings.keys());
    if settings.keys().is_empty() {
        variables.pass(env, ["CODEX_API_KEY"]);
        // The client takes a key from this variable alone.
        if let Some(key) = env.get_os("OPENAI_API_KEY").filter(|_| !logged_in) {
            variables.set_default("CODEX_API_KEY", key);
        }
    }
    variables.pass(env, passed_by_user(env));
    variables
}

fn login_file(env: &Env) -> Option<PathBuf> {
    Some(credentials::settings_folder(env, "CODEX_HOME", ".codex")?.join("auth.json"))
}

/// The binary behind the wrapper script that npm installs: signals must reach the client itself.
fn native(wrapper: &Path) -> Option<PathBuf> {
    let script = std::fs::canonicalize(wrapper).ok()?;
    if script.extension()? != "js" {
        return None;
    }
    // .../@openai/codex/bin/codex.js; platform packages lie beside or below.
    let package = script.parent()?.parent()?;
    let beside = package.parent()?;
    let mut roots = vec![package.to_owned()];
    for folder in [beside.to_owned(), package.join("node_modules/@openai")] {
        let packages = std::fs::read_dir(folder).into_iter().flatten().flatten();
        roots.extend(
            packages
                .map(|entry| entry.path())
                .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("codex-"))),
        );
    }
    let vendors = roots.iter().flat_map(|root| std::fs::read_dir(root.join("vendor")).into_iter().flatten().flatten());
    let triple = format!("{}-", std::env::consts::ARCH);
    let fitting = vendors.filter(|entry| entry.file_name().to_string_lossy().starts_with(&triple));
    let binaries = fitting.flat_map(|entry| ["bin/codex", "codex/codex"].map(|name| entry.path().join(name)));
    let mut found: Vec<PathBuf> = binaries.filter(|path| path.is_file()).collect();
    found.sort();
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_behind_the_wrapper_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        let vendor = format!("@openai/codex-x/vendor/{}-unknown-linux-musl/bin/codex", std::env::consts::ARCH);
        for name in ["@openai/codex/bin/codex.js", &vendor] {
            crate::ground::files::write(&root.join(name), "x").unwrap();
        }
        std::fs::create_dir_all(root.join(".bin")).unwrap();
        let link = root.join(".bin/codex");
        std::os::unix::fs::symlink("../@openai/codex/bin/codex.js", &link).unwrap();
        assert_eq!(native(&link).unwrap(), root.join(&vendor));
        assert_eq!(native(&root.join(&vendor)), None);
        std::fs::remove_file(root.join(&vendor)).unwrap();
        assert_eq!(native(&link), None);
    }

    #[test]
    fn arguments_name_the_session_and_never_the_prompt() {
        let mut turn = Turn::in_folder("/o ut".as_ref());
        let codex = Codex { model: Some("gpt-5".into()) };
        let joined = |turn: &Turn, inside| {
            let args = codex.arguments(turn, inside, &[]);
            args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert!(joined(&turn, true).starts_with("exec --json --skip-git-repo-check -m gpt-5 --dangerously-bypass"));
        assert!(joined(&turn, false).contains("writable_roots=[\"/o ut/checkout/.git\"]"));
        assert!(!joined(&turn, false).contains("dangerously"));
        turn.resume = Some(crate::agent::Session { id: "abc".into(), counted: Default::default() });
        let args = joined(&turn, true);
        assert!(args.starts_with("exec resume --json") && args.ends_with(" abc -"), "{args}");
    }
}
