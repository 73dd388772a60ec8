//! Runs one outside program to its end, contained: whatever it started is gone before anything is read.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime};

use super::env::Env;
use super::error::{AtPath as _, Error, Result};
use super::inside::Agent;
use super::pipes::{self, Readers};
use super::sandbox::{self, Plan};
use super::signals::Cancel;
use super::supervise::{self, KILL, STOP, Spec};
use super::{digest, files, hold, tree};

pub use super::hold::wait_until_free;

/// How often a wish to stop is looked for.
const TICK: Duration = Duration::from_millis(50);
/// How long the pipes may stay open after the supervisor's end, when someone outside holds them.
const DRAIN: Duration = Duration::from_secs(2);
/// The longest time limit, which stands for none.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// How much longer than it should need the supervisor is given before it is ended itself.
const HANGING: Duration = Duration::from_secs(5);

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
    /// Its whole environment: nothing else is inherited, and only `SKILLTRAIN_JOB`, a mark, is added.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it starts in; it must exist.
    pub cwd: PathBuf,
    /// The file that it reads as standard input; none is an empty one.
    pub stdin: Option<PathBuf>,
    /// The only folders it may write to; `cwd` is one only when listed. `/tmp` is writable, and private, under
    /// bubblewrap alone: set `TMPDIR` to a folder listed here.
    pub writable: Vec<PathBuf>,
    /// Folders and files it must be able to read even when they lie where the sandbox hides things (`/tmp`).
    pub readable: Vec<PathBuf>,
    /// Containment wanted.
    pub sandbox: Sandbox,
    /// Elapsed time after which it is stopped; time in which the machine sleeps does not count.
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
    /// Processes that it had left running and that were ended for it; 0 when it was itself killed at once.
    pub leftovers: usize,
    /// The containment that was in force: "bwrap", "landlock", "supervisor".
    pub sandbox: String,
    /// What the containment does not do here, for the user; none when it is a full one.
    pub warning: Option<String>,
}

/// What the supervisor writes to `Job::report`: the proof that the agent ended and that nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// Processes that it had left running and that were ended for it.
    pub leftovers: usize,
    /// The containment that was in force.
    pub sandbox: String,
    /// Wall-clock time in milliseconds.
    pub elapsed_ms: u64,
}

impl Report {
    /// Reads a report; none when there is none, so that the agent cannot be said to have ended by itself.
    pub fn read(path: &Path) -> Result<Option<Report>> {
        let Some(bytes) = files::read_if_there(path)? else { return Ok(None) };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::failed(error).context(format!("{} is damaged", path.display())))
    }
}

/// Runs a job to its end. `on_line` gets each line of standard output as it comes (without its newline,
/// at most 16 MiB long, the rest of a longer one dropped, bad bytes replaced).
///
/// A first ask of `cancel` stops the agent politely, a second at once. An earlier report is removed first.
///
/// Errors: kind `Usage` when the sandbox insisted on is not to be had, `Failed` when a folder is missing or
/// the supervisor broke. How the program itself ended is never an error here.
pub fn run(env: &Env, job: &Job, cancel: &Cancel, on_line: &mut dyn FnMut(&str)) -> Result<Finished> {
    let plan = sandbox::plan(env, job.sandbox)?;
    let spec = spec(env, job, &plan)?;
    files::remove(&job.report)?;
    let mut running = Running::start(env, &spec)?;
    running.follow(cancel, on_line)?;
    let (status, stderr) = running.finish()?;
    match Report::read(&job.report)? {
        Some(Report { end, leftovers, sandbox, elapsed_ms }) => Ok(Finished {
            end,
            stderr,
            elapsed: Duration::from_millis(elapsed_ms),
            leftovers,
            sandbox,
            warning: plan.warning,
        }),
        None => {
            hold::end_marked(&spec.token, HANGING)?;
            let said = stderr.lines().last().unwrap_or("it said nothing");
            Err(Error::failed(format!("the supervisor of {} ended ({status}): {said}", job.program.display())))
        }
    }
}

/// Runs a short program, such as one that tells its version: its end, standard output and standard error.
/// It gets the few variables that any program needs, an empty standard input, and no sandbox.
///
/// Errors: `Failed` when it cannot be supervised.
pub fn capture(env: &Env, program: &Path, args: &[&str], timeout: Duration) -> Result<(End, String, String)> {
    let folder = tempfile::tempdir().map_err(|error| Error::failed(error).context("no temporary folder"))?;
    let kept = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SHELL"];
    let variable = |name: &str| Some((name.into(), env.get_os(name)?.to_owned()));
    let job = Job {
        program: program.to_owned(),
        args: args.iter().map(OsString::from).collect(),
        env: kept.into_iter().filter_map(variable).collect(),
        cwd: folder.path().to_owned(),
        stdin: None,
        writable: Vec::new(),
        readable: Vec::new(),
        sandbox: Sandbox::Off,
        timeout,
        grace: Duration::ZERO,
        report: folder.path().join("report.json"),
        hold: folder.path().join("hold"),
    };
    let mut stdout = String::new();
    let finished = run(env, &job, &Cancel::default(), &mut |line| {
        if stdout.len() + line.len() < 1 << 20 {
            stdout.push_str(line);
            stdout.push('\n');
        }
    })?;
    Ok((finished.end, stdout, finished.stderr))
}

/// Checks what a job names and says it to the supervisor's taste, links resolved.
fn spec(env: &Env, job: &Job, plan: &Plan) -> Result<Spec> {
    let folder = |path: &Path| -> Result<PathBuf> {
        let real = std::fs::canonicalize(path).at("enter the folder", path)?;
        if real.is_dir() { Ok(real) } else { Err(Error::failed(format!("{} is not a folder", path.display()))) }
    };
    let cwd = folder(&job.cwd)?;
    let writable = job.writable.iter().map(|path| folder(path)).collect::<Result<Vec<_>>>()?;
    let absolute = |path: &Path| std::path::absolute(path).at("find", path);
    let hold = absolute(&job.hold)?;
    if let Some(parent) = hold.parent() {
        files::create_dir(parent)?;
    }
    let confinement = plan.confinement(env, job, &cwd, &writable);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let unique = format!("{} {} {}", std::process::id(), now.as_nanos(), hold.display());
    let token = digest::of(unique);
    let mut variables = job.env.clone();
    variables.retain(|(name, _)| name != tree::MARK);
    variables.push((tree::MARK.into(), token.clone().into()));
    Ok(Spec {
        wrapper: confinement.wrapper,
        sandbox: plan.name().to_owned(),
        timeout: job.timeout.min(FOREVER),
        grace: job.grace.min(FOREVER),
        cwd: cwd.into(),
        report: absolute(&job.report)?.into(),
        hold: hold.into(),
        token,
        agent: Agent {
            program: job.program.clone().into(),
            args: job.args.clone(),
            env: variables,
            stdin: job.stdin.as_deref().map(absolute).transpose()?.map(Into::into),
            confine: confinement.confine,
        },
    })
}

/// A supervisor at work.
struct Running {
    child: Child,
    /// Its closing, by our death too, ends everything.
    lifeline: Option<ChildStdin>,
    readers: Readers,
    /// Orders given: 0 none, 1 to stop, 2 to end at once.
    asked: u8,
    grace: Duration,
    /// When the supervisor must have ended by itself; it hangs otherwise.
    hanging: Instant,
}

impl Running {
    fn start(env: &Env, spec: &Spec) -> Result<Self> {
        let program = env.program();
        let broken = |error| Error::failed(error).context(format!("cannot start {}", program.display()));
        let mut line = serde_json::to_string(spec).map_err(Error::failed)?;
        line.push('\n');
        // Nothing of our environment reaches it; the agent's own travels inside the spec, where nobody sees it.
        let mut child = supervise::command(program)
            .arg(supervise::COMMAND)
            .env_clear()
            .env(tree::MARK, &spec.token)
            .current_dir(&spec.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(broken)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut lifeline), Some(stdout), Some(stderr)) = pipes else {
            return Err(Error::failed("the supervisor has no pipes"));
        };
        let readers = Readers::start(stdout, stderr).map_err(broken)?;
        // A supervisor that is gone already has said why on its standard error.
        lifeline.write_all(line.as_bytes()).ok();
        Ok(Running {
            child,
            lifeline: Some(lifeline),
            readers,
            asked: 0,
            grace: spec.grace,
            hanging: Instant::now() + spec.timeout + spec.grace + HANGING,
        })
    }

    /// Passes lines on and orders down until the pipe's end, which comes when nobody is left to write to it; or
    /// until the supervisor has ended and what may still be in the pipe was read; or until it hangs.
    fn follow(&mut self, cancel: &Cancel, on_line: &mut dyn FnMut(&str)) -> Result<()> {
        let (mut looked, mut ended) = (Instant::now(), false);
        let (mut waited, mut read) = (Duration::ZERO, 0);
        loop {
            self.pass_on(cancel);
            match self.readers.lines.recv_timeout(TICK) {
                Ok(lines) => {
                    lines.iter().for_each(|line| on_line(line));
                    read += usize::from(ended);
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if ended => waited += TICK,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if ended && (waited > DRAIN || read > pipes::MOST_IN_FLIGHT) {
                return Ok(());
            }
            if !ended && looked.elapsed() >= TICK {
                looked = Instant::now();
                ended = self.child.try_wait().map_err(Error::failed)?.is_some();
                if !ended && looked > self.hanging {
                    return Ok(());
                }
            }
        }
    }

    fn pass_on(&mut self, cancel: &Cancel) {
        let wanted = if cancel.is_urgent() { 2 } else { u8::from(cancel.is_asked()) };
        if wanted > self.asked {
            self.asked = wanted;
            let (order, grace) = if wanted == 2 { (KILL, Duration::ZERO) } else { (STOP, self.grace) };
            self.hanging = self.hanging.min(Instant::now() + grace + HANGING);
            if let Some(lifeline) = &mut self.lifeline {
                lifeline.write_all(&[order]).ok();
            }
        }
    }

    /// Waits for the supervisor's end, with limits; how it ended and the last part of standard error.
    fn finish(mut self) -> Result<(String, String)> {
        // The pipe's end means that it is about to go; no end by now means that it never will.
        let patience = self.hanging.max(Instant::now() + DRAIN);
        let status = loop {
            if let Some(status) = self.child.try_wait().map_err(Error::failed)? {
                break status.to_string();
            }
            if Instant::now() > patience {
                self.child.kill().ok();
                self.child.wait().ok();
                break "it hung and was killed".to_owned();
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        self.lifeline = None;
        Ok((status, self.readers.finish()))
    }
}
