//! `skilltrain doctor`: what works here, and how to make the rest work.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::{Answer, Call};
use crate::agent;
use crate::ground::env::Env;
use crate::ground::error::Result;
use crate::ground::process::{self, End};
use crate::ground::sandbox;

/// Check what works here: git, the sandbox, each optimizer, and how to fix what does not
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain doctor")]
pub struct Args {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Looks at everything, and changes nothing.
pub fn run(_args: &Args, call: &Call<'_>) -> Result<Answer> {
    let git = git_version(call.env);
    let sandboxes = sandbox::survey(call.env);
    let clients = agent::kinds()
        .filter(|(kind, _)| *kind != "command")
        .filter_map(|(kind, _)| agent::client(kind).ok().flatten())
        .map(|client| agent::health(call.env, client.as_ref()))
        .collect::<Vec<_>>();
    let mut text = String::new();
    let mut line = |works: bool, name: &str, detail: &str, fix: Option<&str>| {
        let _ = writeln!(text, "{} {name:<22}{detail}", if works { "ok  " } else { "miss" });
        if let Some(fix) = fix {
            let _ = writeln!(text, "       fix: {fix}");
        }
    };
    let git_fix = "install git: agents commit with it (skilltrain itself does not need it)";
    line(git.is_ok(), "git", git.as_deref().unwrap_or_else(|why| why), git.is_err().then_some(git_fix));
    for status in &sandboxes {
        line(status.works, &format!("sandbox {}", status.kind), &status.detail, status.fix.as_deref());
    }
    let best = sandboxes.iter().find(|status| status.works).map_or("none", |status| status.kind);
    line(true, "optimizer extractive", "built in: no model, no key, no network", None);
    for client in &clients {
        let program = client.program.as_ref().map_or("not found".into(), |path| path.display().to_string());
        let detail = format!("{} {program}", client.version.as_deref().unwrap_or_default());
        let fixes = client.fixes.join("; then: ");
        line(
            client.is_well(),
            &format!("optimizer {}", client.name),
            detail.trim(),
            Some(fixes.as_str()).filter(|fix| !fix.is_empty()),
        );
    }
    let _ = writeln!(text, "\nagents will be contained by: {best}");
    let json = json!({
        "git": git.as_ref().ok(), "sandbox": best, "sandboxes": sandboxes, "clients": clients,
    });
    Ok(Answer::new(text, json))
}

fn git_version(env: &Env) -> Result<String, String> {
    let git = env.which("git").ok_or("not on PATH")?;
    match process::capture(env, &git, &["--version"], Duration::from_secs(10)) {
        Ok((End::Exited(0), out, _)) => Ok(out.trim().to_owned()),
        Ok((end, _, err)) => Err(format!("{end:?}: {}", err.trim())),
        Err(error) => Err(error.to_string()),
    }
}
