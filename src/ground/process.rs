//! Runs one outside program to its end, contained: whatever it started is gone before anything is read.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::env::Env;
use super::error::Result;
use super::signals::Cancel;

/// Which containment is wanted (`--sandbox`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    /// The best that works here.
    #[default]
    Auto,
    /// bubblewrap, or an error.
    Bwrap,
    /// Landlock, or an error.
    Landlock,
    /// Only the supervisor that ends every descendant.
    Off,
}

/// One program to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// The program's absolute path.
    pub program: PathBuf,
    /// Its arguments, its own name not among them.
    pub args: Vec<OsString>,
    /// Its whole environment: nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it starts in; it must exist.
    pub cwd: PathBuf,
    /// The file that it reads as standard input; none is an empty one.
    pub stdin: Option<PathBuf>,
    /// The only folders it may write to (besides `cwd`, when listed here).
    pub writable: Vec<PathBuf>,
    /// Folders and files it must be able to read even when they lie where the sandbox hides things (`/tmp`).
    pub readable: Vec<PathBuf>,
    /// Containment wanted.
    pub sandbox: Sandbox,
    /// Wall-clock time after which it is stopped.
    pub timeout: Duration,
    /// Time between the polite signal and the end of everything.
    pub grace: Duration,
    /// Where the supervisor writes how it ended, whole and durable, before anyone else hears of it.
    pub report: PathBuf,
    /// Locked (flock) by the supervisor for as long as any process of the job may live.
    pub hold: PathBuf,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal of someone else's ended it.
    Signaled(i32),
    /// It could not be started; why.
    NotStarted(String),
    /// Its time was up.
    TimedOut,
    /// The user asked to stop.
    Cancelled,
}

/// What a job left behind, besides its standard output, which went to the reader line by line.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// The last part of its standard error, at most 64 KiB, bad bytes replaced.
    pub stderr: String,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// Processes that it had left running and that were ended for it.
    pub leftovers: usize,
    /// The containment that was in force: "bwrap", "landlock", "supervisor".
    pub sandbox: String,
}

/// Runs a job to its end. `on_line` gets each line of standard output as it comes (without its newline,
/// at most 16 MiB long, the rest of a longer one dropped).
///
/// Errors: kind `Usage` when the sandbox insisted on is not to be had, `Failed` when the folder is missing or
/// the supervisor broke. How the program itself ended is never an error here.
pub fn run(_env: &Env, _job: &Job, _cancel: &Cancel, _on_line: &mut dyn FnMut(&str)) -> Result<Finished> {
    unimplemented!("being written")
}
