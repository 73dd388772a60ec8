//! One turn of an agent: started, watched, recorded; and the same again from its files, with nothing run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::credentials::private_folder;
use super::gather::Gather;
use super::{Client, Conclusion, Outcome, Reader};
use crate::ground::env::Env;
use crate::ground::error::{AtPath as _, Result};
use crate::ground::files;
use crate::ground::process::{self, Finished, Job, Report, Sandbox};
use crate::ground::sandbox;
use crate::ground::signals::Cancel;
use crate::trajectory::{Event, Usage};

/// One turn to run. All paths are absolute; each turn has events, report and error files of its own.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The private checkout: where the agent works.
    pub workdir: PathBuf,
    /// Holds the prompt, which goes to the client's standard input.
    pub prompt_file: PathBuf,
    /// The private home folder; made when it is missing. Sessions live in it: keep it for a repair turn.
    pub home: PathBuf,
    /// The private temporary folder; made when it is missing.
    pub tmp: PathBuf,
    /// Gets the client's standard output as it comes, raw.
    pub events_file: PathBuf,
    /// Gets the last part of the client's standard error.
    pub stderr_file: PathBuf,
    /// Gets the end of the process; its presence means that the turn is over.
    pub report: PathBuf,
    /// Locked while any process of the turn may live.
    pub hold: PathBuf,
    /// What the agent must be able to read besides: the evidence.
    pub readable: Vec<PathBuf>,
    /// The model, when the client's name gives none.
    pub model: Option<String>,
    /// The session to go on with; none starts a new one.
    pub resume: Option<Session>,
    /// Whether the client may load skills that it finds in its working folder: right for a target that uses a pool,
    /// wrong for an optimizer, to which the pool is data.
    pub skills: bool,
    /// Wall-clock limit.
    pub timeout: Duration,
    /// Time between the polite signal and the end.
    pub grace: Duration,
    /// Containment wanted.
    pub sandbox: Sandbox,
}

impl Turn {
    /// A turn whose files all lie in one folder, under their usual names; times are an hour and ten seconds.
    pub fn in_folder(folder: &Path) -> Turn {
        Turn {
            workdir: folder.join("checkout"),
            prompt_file: folder.join("backward_prompt.md"),
            home: folder.join("home"),
            tmp: folder.join("tmp"),
            events_file: folder.join("backward.jsonl"),
            stderr_file: folder.join("backward_stderr.txt"),
            report: folder.join("agent_end.json"),
            hold: folder.join("agent.lock"),
            readable: Vec::new(),
            model: None,
            resume: None,
            skills: false,
            timeout: Duration::from_secs(3600),
            grace: Duration::from_secs(10),
            sandbox: Sandbox::Auto,
        }
    }
}

/// A client's conversation, which a later turn can go on with.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Session {
    /// The client's own name for it.
    pub id: String,
    /// What the client had counted when the turn ended.
    pub counted: Usage,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// How it went.
    pub outcome: Outcome,
    /// The session, for [`Turn::resume`].
    pub session: Option<Session>,
    /// What this turn alone took.
    pub usage: Usage,
    /// What the agent did, bounded: of a flood the start and the end.
    pub events: Vec<Event>,
    /// The files it read, in order, relative to the checkout or absolute.
    pub reads: Vec<String>,
    /// The last thing that the agent said.
    pub last_message: String,
    /// Tool calls that the client's own permissions refused: work may be missing though all went "well".
    pub denied: Vec<String>,
    /// The containment that was in force.
    pub sandbox: String,
    /// What that containment does not do here, to be told to the user when the turn was run just now.
    pub warning: Option<String>,
    /// Processes that it had left running.
    pub leftovers: usize,
    /// Wall-clock time.
    pub elapsed: Duration,
}

/// Runs one turn to its end; `watch` gets each event as it comes. Files that an interrupted turn left under the
/// same names are kept beside as `*_interrupted<n>`.
///
/// Errors: `Unreachable` when the program is missing, `Usage` for a sandbox that is not to be had or a broken
/// client configuration, `Failed` for I/O. How the agent fared is never an error here.
pub fn run_turn(
    env: &Env,
    client: &dyn Client,
    turn: &Turn,
    cancel: &Cancel,
    watch: &mut dyn FnMut(&Event),
) -> Result<TurnEnd> {
    for path in [&turn.events_file, &turn.stderr_file, &turn.report] {
        set_aside(path)?;
    }
    private_folder(&turn.home)?;
    private_folder(&turn.tmp)?;
    let inside = sandbox::plan(env, turn.sandbox)?.limits_writes();
    let launch = client.launch(env, turn, inside)?;
    let secrets = Secrets(launch.secrets);
    let mut writable = vec![turn.workdir.clone(), turn.home.clone(), turn.tmp.clone()];
    writable.dedup();
    let mut readable = launch.readable;
    readable.extend(turn.readable.iter().cloned());
    let job = Job {
        program: launch.program,
        args: launch.args,
        env: launch.variables.into_pairs(),
        cwd: turn.workdir.clone(),
        stdin: Some(turn.prompt_file.clone()),
        writable,
        readable,
        sandbox: turn.sandbox,
        timeout: turn.timeout,
        grace: turn.grace,
        report: turn.report.clone(),
        hold: turn.hold.clone(),
    };
    let mut record = Record::create(&turn.events_file)?;
    let mut listener = Listener::new(client, turn);
    let finished = process::run(env, &job, cancel, &mut |line| {
        record.line(line);
        listener.line(line, watch);
    })?;
    drop(secrets);
    record.finish()?;
    files::write(&turn.stderr_file, &finished.stderr)?;
    Ok(listener.end(client, turn, finished))
}

/// The end of a turn that was run earlier, from its files; `None` when it did not come to its end.
pub fn recall_turn(client: &dyn Client, turn: &Turn) -> Result<Option<TurnEnd>> {
    let Some(report) = Report::read(&turn.report)? else {
        return Ok(None);
    };
    let stderr = files::read_if_there(&turn.stderr_file)?.unwrap_or_default();
    let finished = Finished {
        end: report.end,
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        elapsed: Duration::from_millis(report.elapsed_ms),
        leftovers: report.leftovers,
        sandbox: report.sandbox,
        warning: None,
    };
    let mut listener = Listener::new(client, turn);
    read_lines(&turn.events_file, &mut |line| listener.line(line, &mut |_| {}))?;
    Ok(Some(listener.end(client, turn, finished)))
}

/// A client's output on its way to events.
struct Listener {
    reader: Box<dyn Reader>,
    gather: Gather,
}

impl Listener {
    fn new(client: &dyn Client, turn: &Turn) -> Self {
        Listener { reader: client.reader(), gather: Gather::new(&turn.workdir, client.keeps_folder()) }
    }

    fn line(&mut self, line: &str, watch: &mut dyn FnMut(&Event)) {
        let gather = &mut self.gather;
        self.reader.line(line, &mut |event| watch(&gather.take(event)));
    }

    fn end(mut self, client: &dyn Client, turn: &Turn, finished: Finished) -> TurnEnd {
        let Conclusion { mut outcome, message, usage } = self.reader.conclude(&finished);
        // A session that cannot be resumed is a failed attempt, not a client that cannot be used.
        if let (Outcome::Unreachable(why), Some(_), None) = (&outcome, &turn.resume, &self.gather.session) {
            outcome = Outcome::Failed(format!("the session could not be resumed: {why}"));
        }
        let counted = usage.unwrap_or(self.gather.usage);
        let usage = match &turn.resume {
            Some(session) if client.counts_session() => counted.since(&session.counted),
            _ => counted,
        };
        TurnEnd {
            outcome,
            session: self.gather.session.take().map(|id| Session { id, counted }),
            usage,
            reads: self.gather.reads(),
            last_message: message.unwrap_or_else(|| std::mem::take(&mut self.gather.message)),
            denied: std::mem::take(&mut self.gather.denied),
            events: self.gather.into_events(),
            sandbox: finished.sandbox,
            warning: finished.warning,
            leftovers: finished.leftovers,
            elapsed: finished.elapsed,
        }
    }
}

/// Removes copied secrets whichever way the turn ends.
struct Secrets(Vec<PathBuf>);

impl Drop for Secrets {
    fn drop(&mut self) {
        for path in &self.0 {
            // Nobody is left to tell; the home that holds them is private.
            files::remove(path).ok();
        }
    }
}

/// The file of raw output. A write that fails is told at the end: the agent is not stopped for it.
struct Record {
    path: PathBuf,
    file: std::fs::File,
    fault: Option<std::io::Error>,
}

impl Record {
    fn create(path: &Path) -> Result<Record> {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path).at("create", path)?;
        Ok(Record { path: path.to_owned(), file, fault: None })
    }

    fn line(&mut self, line: &str) {
        use std::io::Write as _;
        if self.fault.is_none() {
            let mut bytes = Vec::with_capacity(line.len() + 1);
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
            self.fault = self.file.write_all(&bytes).err();
        }
    }

    fn finish(self) -> Result<()> {
        match self.fault {
            Some(fault) => Err(fault),
            None => self.file.sync_data(),
        }
        .at("write", &self.path)
    }
}

/// Moves a file of an earlier, interrupted turn out of the way.
fn set_aside(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let end = path.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    let free = (1..).map(|n| path.with_file_name(format!("{stem}_interrupted{n}{end}"))).find(|path| !path.exists());
    free.map_or(Ok(()), |free| files::rename(path, &free))
}

/// The longest line that is read whole; the rest of a longer one is dropped, as when it came live.
const LINE: usize = 16 * 1024 * 1024;

/// Reads a file line by line, bad bytes replaced; one that is not there has none.
fn read_lines(path: &Path, take: &mut dyn FnMut(&str)) -> Result<()> {
    use std::io::{BufRead as _, Read as _};
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).at("read", path),
    };
    let mut file = std::io::BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE as u64).read_until(b'\n', &mut line).at("read", path)?;
        if read == 0 {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read == LINE {
            file.skip_until(b'\n').at("read", path)?;
        }
        take(&String::from_utf8_lossy(&line));
    }
}
