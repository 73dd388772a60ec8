//! Which containment works here, which one a job gets, and how to get a better one.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::bwrap;
use super::confine::{self, Confine};
use super::env::Env;
use super::error::{Error, Result};
use super::process::{Job, Sandbox};
use super::supervise;

/// How long a trial of bubblewrap may take.
const TRIAL: Duration = Duration::from_secs(10);

/// The containment that a job gets.
#[derive(Debug, Clone)]
pub struct Plan {
    kind: Kind,
    /// What it does not do, for the user; none when it is a full one.
    pub warning: Option<String>,
}

#[derive(Debug, Clone)]
enum Kind {
    Bwrap(PathBuf),
    Landlock,
    Supervisor,
}

/// What a plan comes to for one job.
pub(super) struct Confinement {
    /// The sandbox's program and arguments, to put before ours.
    pub(super) wrapper: Vec<OsString>,
    pub(super) confine: Confine,
}

impl Plan {
    /// "bwrap", "landlock" or "supervisor".
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Bwrap(_) => "bwrap",
            Kind::Landlock => "landlock",
            Kind::Supervisor => "supervisor",
        }
    }

    /// Whether the agent can write only where its job says, so that it needs no permission prompts of its own.
    pub fn limits_writes(&self) -> bool {
        !matches!(self.kind, Kind::Supervisor)
    }

    pub(super) fn confinement(&self, env: &Env, job: &Job, cwd: &Path, writable: &[PathBuf]) -> Confinement {
        match &self.kind {
            Kind::Bwrap(bwrap) => Confinement {
                wrapper: bwrap::wrapper(bwrap, &bwrap::View::of_job(env, job, cwd, writable)),
                confine: Confine::Edges,
            },
            Kind::Landlock => Confinement {
                wrapper: Vec::new(),
                confine: Confine::Writes(writable.iter().map(|path| path.clone().into_os_string()).collect()),
            },
            Kind::Supervisor => Confinement { wrapper: Vec::new(), confine: Confine::None },
        }
    }
}

/// Chooses the containment. Trials are made once a process.
///
/// Errors: kind `Usage` when the one insisted on does not work here, with how to get it.
pub fn plan(env: &Env, wanted: Sandbox) -> Result<Plan> {
    let full = |kind| Plan { kind, warning: None };
    match wanted {
        Sandbox::Off => Ok(full(Kind::Supervisor)),
        Sandbox::Bwrap => try_bwrap(env).map(|path| full(Kind::Bwrap(path))).map_err(|why| refuse("bwrap", &why)),
        Sandbox::Landlock => try_landlock().map(|()| full(Kind::Landlock)).map_err(|why| refuse("landlock", &why)),
        Sandbox::Auto => Ok(best(env)),
    }
}

fn best(env: &Env) -> Plan {
    let bwrap = match try_bwrap(env) {
        Ok(path) => return Plan { kind: Kind::Bwrap(path), warning: None },
        Err(why) => why,
    };
    let landlock = match try_landlock() {
        Ok(()) => return Plan { kind: Kind::Landlock, warning: None },
        Err(why) => why,
    };
    let warning = format!(
        "no sandbox works here, the agent can write wherever you can (bubblewrap: {bwrap}; Landlock: {landlock})"
    );
    Plan { kind: Kind::Supervisor, warning: Some(warning) }
}

fn refuse(name: &str, why: &str) -> Error {
    let error = Error::usage(format!("--sandbox {name} does not work here: {why}"));
    fix(name).into_iter().fold(error, Error::hint)
}

/// How to get a sandbox that does not work.
fn fix(name: &str) -> Vec<String> {
    let last = "or let it choose with --sandbox auto".to_owned();
    if cfg!(target_os = "macos") {
        return vec!["macOS has neither: run skilltrain in a Linux container or virtual machine".to_owned(), last];
    }
    let how = match name {
        "bwrap" => {
            "install it: `apt install bubblewrap` (Debian, Ubuntu) or `dnf install bubblewrap` (Fedora); where user \
             namespaces are refused: `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container `--security-opt seccomp=unconfined`"
        }
        _ => {
            "it needs Linux 6.2 or later with `landlock` in the kernel's `lsm=` list (Debian 12 with a backported kernel, \
             Fedora 38 and Ubuntu 23.04 have it)"
        }
    };
    vec![how.to_owned(), last]
}

/// One containment and whether it works here.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SandboxStatus {
    /// "bwrap", "landlock" or "supervisor".
    pub kind: &'static str,
    /// Whether a trial went well.
    pub works: bool,
    /// What the trial said.
    pub detail: String,
    /// How to make it work; none when it does.
    pub fix: Option<String>,
}

/// Tries every containment, the best first, for `doctor`.
pub fn survey(env: &Env) -> Vec<SandboxStatus> {
    let status = |kind, trial: Result<String, String>| SandboxStatus {
        kind,
        works: trial.is_ok(),
        fix: trial.is_err().then(|| fix(kind).swap_remove(0)),
        detail: trial.unwrap_or_else(|why| why),
    };
    let orphans = if cfg!(target_os = "linux") {
        "ends every process of an agent, but limits no writes"
    } else {
        "ends the agent's process group, and limits no writes"
    };
    vec![
        status("bwrap", try_bwrap(env).map(|path| format!("{} works", path.display()))),
        status("landlock", try_landlock().map(|()| "the kernel limits writes".to_owned())),
        status("supervisor", Ok(orphans.to_owned())),
    ]
}

fn try_landlock() -> Result<(), String> {
    static TRIED: OnceLock<Result<(), String>> = OnceLock::new();
    TRIED.get_or_init(confine::probe).clone()
}

/// The path of a bubblewrap that works here; the error says why there is none.
fn try_bwrap(env: &Env) -> Result<PathBuf, String> {
    static TRIED: OnceLock<Mutex<HashMap<PathBuf, Result<(), String>>>> = OnceLock::new();
    if !cfg!(target_os = "linux") {
        return Err("it is a part of Linux".to_owned());
    }
    let path = env.which("bwrap").ok_or("it is not installed")?;
    let mut tried = TRIED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    tried.entry(path.clone()).or_insert_with(|| enter_bwrap(env, &path)).clone().map(|()| path)
}

/// Enters the sandbox once, with our own program, as a job would.
fn enter_bwrap(env: &Env, path: &Path) -> Result<(), String> {
    let words = bwrap::wrapper(path, &bwrap::View::of_probe(env));
    let mut child = supervise::command(path)
        .args(&words[1..])
        .arg(env.program())
        .args([supervise::COMMAND, supervise::PROBE])
        .env_clear()
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let until = Instant::now() + TRIAL;
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                let mut said = String::new();
                child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut said));
                return Err(said.lines().last().map_or_else(|| status.to_string(), str::to_owned));
            }
            None if Instant::now() > until => {
                child.kill().ok();
                child.wait().ok();
                return Err("it hangs".to_owned());
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}
