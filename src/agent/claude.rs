//! Claude Code, headless: `claude -p` with its events as JSON lines.

mod stream;

use std::path::PathBuf;

use serde_json::Value;

use super::credentials::{self, Credentials};
use super::variables::{Variables, passed_by_user};
use super::{Client, Launch, Reader, Turn};
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};

const LOGIN: &str = "run `claude` once and log in, or set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN from \
                     `claude setup-token`";
const INSTALL: &str = "install it with `npm install -g @anthropic-ai/claude-code`, or choose another agent";

/// Variables by which a user chooses and pays a provider, and tunes the client.
const PASSED: [&str; 27] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_VERTEX_BASE_URL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "ANTHROPIC_FOUNDRY_BASE_URL",
    "ANTHROPIC_FOUNDRY_RESOURCE",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_CLIENT_CERT",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "MAX_THINKING_TOKENS",
    "API_TIMEOUT_MS",
    "DISABLE_PROMPT_CACHING",
    "CLOUD_ML_REGION",
];

/// Keys of cloud providers, handed on only where the client is told to use that provider.
const BEDROCK: [&str; 9] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
];
const VERTEX: [&str; 3] = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"];

/// What the client need not do in a training run.
const QUIET: [&str; 11] = [
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS",
    "CLAUDE_CODE_DISABLE_CRON",
    "CLAUDE_CODE_DISABLE_FEEDBACK_SURVEY",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
];

/// Commands that may be run without asking where no sandbox holds the client.
const ALLOWED: [&str; 9] = [
    "Bash(git add:*)",
    "Bash(git commit:*)",
    "Bash(git diff:*)",
    "Bash(git log:*)",
    "Bash(git mv:*)",
    "Bash(git restore:*)",
    "Bash(git rm:*)",
    "Bash(git show:*)",
    "Bash(git status:*)",
];

/// Seconds of waiting grow with each retry: ten of them, the client's own number, take three minutes.
const RETRIES: &str = "6";

/// Characters of the list of skills that the client shows its model.
const SKILLS_SHOWN: &str = "1000000";

pub(super) fn make(model: Option<&str>) -> Result<Box<dyn Client>> {
    Ok(Box::new(Claude { model: super::model(model)? }))
}

#[derive(Debug)]
struct Claude {
    model: Option<String>,
}

impl Client for Claude {
    fn name(&self) -> String {
        self.model.as_ref().map_or("claude".to_owned(), |model| format!("claude:{model}"))
    }

    fn find(&self, env: &Env) -> Result<PathBuf> {
        env.which("claude").ok_or_else(|| Error::unreachable("claude is not on PATH").hint(INSTALL))
    }

    fn launch(&self, env: &Env, turn: &Turn, inside: bool) -> Result<Launch> {
        let program = self.find(env)?;
        let readable = super::program_folders(&program);
        let secrets = login(env, turn)?;
        Ok(Launch {
            program,
            args: self.arguments(turn, inside),
            variables: variables(env, turn, inside),
            readable,
            secrets,
        })
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(stream::Stream::default())
    }

    fn skills(&self) -> Option<&'static str> {
        Some(".claude/skills")
    }

    fn keeps_folder(&self) -> bool {
        true
    }

    fn credentials(&self, env: &Env) -> Credentials {
        const KEYS: [&str; 6] = [
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ];
        let file = login_file(env).filter(|path| path.is_file()).map(|path| path.display().to_string());
        match credentials::variable(env, &KEYS).or(file) {
            Some(place) => Credentials::Found(place),
            None => Credentials::Missing(LOGIN.to_owned()),
        }
    }
}

impl Claude {
    fn arguments(&self, turn: &Turn, inside: bool) -> Vec<std::ffi::OsString> {
        let mut args: Vec<String> =
            ["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config"].map(String::from).into();
        let mut add = |flag: &str, value: &str| args.extend([flag.to_owned(), value.to_owned()]);
        if turn.skills {
            add("--setting-sources", "user,project");
            add("--tools", "Bash,Edit,Read,Write,Skill");
        } else {
            // A seventh of the usual request, and nothing in the pool can steer its own optimizer.
            add("--setting-sources", "user");
            add("--tools", "Bash,Edit,Read,Write");
        }
        if let Some(model) = self.model.as_ref().or(turn.model.as_ref()) {
            add("--model", model);
        }
        if let Some(session) = &turn.resume {
            add("--resume", &session.id);
        }
        if inside {
            args.push("--dangerously-skip-permissions".into());
        } else {
            args.extend(["--permission-mode".into(), "acceptEdits".into(), "--allowedTools".into()]);
            args.extend(ALLOWED.map(String::from));
            // Two slashes mean a path from the root.
            args.extend(turn.readable.iter().map(|path| format!("Read(/{}/**)", path.display())));
            args.extend(turn.readable.iter().map(|path| format!("Read(/{})", path.display())));
            args.push("--".into());
        }
        args.into_iter().map(Into::into).collect()
    }
}

fn variables(env: &Env, turn: &Turn, inside: bool) -> Variables {
    let mut variables = Variables::of_turn(env, turn, "claude");
    variables.pass(env, PASSED);
    let home = env.get_os("HOME").map(PathBuf::from).unwrap_or_default();
    if env.get("CLAUDE_CODE_USE_BEDROCK").is_some() {
        variables.set_default("AWS_CONFIG_FILE", home.join(".aws/config"));
        variables.set_default("AWS_SHARED_CREDENTIALS_FILE", home.join(".aws/credentials"));
        variables.pass(env, BEDROCK);
    }
    if env.get("CLAUDE_CODE_USE_VERTEX").is_some() {
        let file = home.join(".config/gcloud/application_default_credentials.json");
        if file.is_file() {
            variables.set("GOOGLE_APPLICATION_CREDENTIALS", file);
        }
        variables.pass(env, VERTEX);
    }
    QUIET.iter().for_each(|name| variables.set(*name, "1"));
    // Instructions in folders above the working folder are nobody's business here.
    variables.set("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1");
    if turn.skills {
        // By itself the client cuts the list of skills to a share of its model's context.
        variables.set("SLASH_COMMAND_TOOL_CHAR_BUDGET", SKILLS_SHOWN);
    }
    variables.set_default("CLAUDE_CODE_MAX_RETRIES", RETRIES);
    variables.set("CLAUDE_CODE_TMPDIR", &turn.tmp);
    if inside {
        // Without this the client refuses to go without prompts as root.
        variables.set("IS_SANDBOX", "1");
    }
    variables.pass(env, passed_by_user(env));
    variables
}

fn login_file(env: &Env) -> Option<PathBuf> {
    Some(credentials::settings_folder(env, "CLAUDE_CONFIG_DIR", ".claude")?.join(".credentials.json"))
}

/// Copies a login into the private home, where no key in a variable takes its place.
fn login(env: &Env, turn: &Turn) -> Result<Vec<PathBuf>> {
    let keys = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];
    let folder = turn.home.join(".claude");
    credentials::private_folder(&folder)?;
    let to = folder.join(".credentials.json");
    match login_file(env) {
        Some(from) if credentials::variable(env, &keys).is_none() => {
            credentials::copy_json(&from, &to, &[("refreshToken", Value::Null)])?;
        }
        _ => {}
    }
    Ok(vec![to])
}
