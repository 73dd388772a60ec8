//! The supervisor: a process of our own between the trainer and the agent, which outlives neither.
//!
//! It holds the job's lock, knows its deadline, hears from the trainer through a pipe that closes by itself when
//! the trainer dies, by `kill -9` too, and reports how the agent ended only once no process of it is left.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::error::{AtPath as _, Error, Result};
use super::inside::{self, Agent, Said};
use super::process::{End, Report};
use super::tree::{self, News};
use super::{files, hold};

/// The hidden subcommand that [`supervise_main`] serves.
pub const COMMAND: &str = "__supervise";
/// The part that runs inside the sandbox.
pub(super) const INSIDE: &str = "inside";
/// Only starts and ends: tells that the sandbox can be entered.
pub(super) const PROBE: &str = "probe";

/// Order: ask the agent to stop, and end everything after the grace period.
pub(super) const STOP: u8 = b'T';
/// Order: end everything now.
pub(super) const KILL: u8 = b'K';

/// Pause between two rounds of killing what is still there.
pub(super) const KILL_PAUSE: Duration = Duration::from_millis(2);
/// How long the inner process may take to be gone after it said that the agent ended.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long the lock of an earlier supervisor, just killed, may still be in the way.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// All that the supervisor is told, as the first line of its standard input.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Spec {
    /// The sandbox's program and its arguments, to put before ours; empty for none.
    pub(super) wrapper: Vec<OsString>,
    /// The name of the containment, for the report.
    pub(super) sandbox: String,
    pub(super) timeout: Duration,
    pub(super) grace: Duration,
    pub(super) cwd: OsString,
    pub(super) report: OsString,
    pub(super) hold: OsString,
    /// Marks every process of the job.
    pub(super) token: String,
    pub(super) agent: Agent,
}

/// The one place where a child process is made.
#[expect(clippy::disallowed_methods, reason = "every child of the program starts here")]
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// The main function of a supervising process; `args` are those after [`COMMAND`]. Returns the exit code: 0 when
/// a report was written, otherwise 1 with a line on standard error.
pub fn supervise_main(mut args: impl Iterator<Item = OsString>) -> u8 {
    match args.next() {
        Some(part) if part == INSIDE => inside::main(),
        Some(part) if part == PROBE => 0,
        _ => match supervise() {
            Ok(()) => 0,
            Err(error) => {
                writeln!(std::io::stderr(), "skilltrain: {error}").ok();
                1
            }
        },
    }
}

enum Event {
    News(News),
    Said(Said),
    /// The inner process is gone or closed its socket.
    Silent,
    Order(u8),
    /// The trainer is dead.
    Abandoned,
    /// Someone else's signal.
    Signal(i32),
}

fn supervise() -> Result<()> {
    tree::take_name();
    // A descriptor that the trainer itself was given would be a way for the agent to write where it may not.
    close_fds::set_fds_cloexec(3, &[]);
    let begun = Instant::now();
    let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(Error::failed)?;
    let mut lifeline = BufReader::new(File::from(input));
    let mut line = String::new();
    lifeline.read_line(&mut line).map_err(Error::failed)?;
    let spec: Spec = serde_json::from_str(&line).map_err(|error| Error::failed(error).context("bad job"))?;
    drop(line);
    let _held = take_hold(&spec)?;
    tree::adopt_orphans();
    let (sender, events) = channel();
    listen_for_signals(sender.clone())?;
    let socket = start(&spec, &sender)?;
    std::thread::spawn(move || hear_orders(lifeline, &sender));
    let mut watch = Watch {
        spec: &spec,
        socket,
        next: Some(begun + spec.timeout),
        ready: false,
        stop: None,
        said: None,
        killing: false,
        silent: false,
        abandoned: false,
        seen: BTreeSet::new(),
    };
    watch.until_none_is_left(&events);
    let Some((end, leftovers)) = watch.outcome() else {
        return Err(Error::failed("the trainer is gone: its agent was ended"));
    };
    let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let report = Report { end, leftovers, sandbox: spec.sandbox.clone(), elapsed_ms };
    files::write_json(spec.report.as_ref(), &report)
}

/// Locks the job's file for this process's life and writes the job's mark into it.
fn take_hold(spec: &Spec) -> Result<File> {
    let path = spec.hold.as_ref();
    let file = hold::open(path)?;
    hold::lock(&file, path, LOCK_PATIENCE)?;
    file.set_len(0).and_then(|()| (&file).write_all(spec.token.as_bytes())).at("write", path)?;
    Ok(file)
}

fn listen_for_signals(sender: Sender<Event>) -> Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Error::failed)?;
    std::thread::spawn(move || signals.forever().for_each(|signal| drop(sender.send(Event::Signal(signal)))));
    Ok(())
}

/// Starts the inner process, in its sandbox, and the threads that hear of it.
fn start(spec: &Spec, sender: &Sender<Event>) -> Result<UnixStream> {
    let (mut ours, theirs) = UnixStream::pair().map_err(Error::failed)?;
    let own = std::env::current_exe().map_err(Error::failed)?.into_os_string();
    let words = [own, COMMAND.into(), INSIDE.into()];
    let mut words = spec.wrapper.iter().chain(&words);
    let program = words.next().ok_or_else(|| Error::failed("no program"))?;
    command(program)
        .args(words)
        .stdin(OwnedFd::from(theirs))
        .current_dir(&spec.cwd)
        .spawn()
        .map_err(|error| Error::failed(error).context(format!("cannot start {}", program.display())))?;
    let news = sender.clone();
    tree::watch(move |what| drop(news.send(Event::News(what))));
    let mut line = serde_json::to_string(&spec.agent).map_err(Error::failed)?;
    line.push('\n');
    // A broken pipe here means that the sandbox did not come up, which its silence will tell.
    ours.write_all(line.as_bytes()).ok();
    let hearing = BufReader::new(ours.try_clone().map_err(Error::failed)?);
    let heard = sender.clone();
    std::thread::spawn(move || {
        for said in hearing.lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()) {
            heard.send(Event::Said(said)).ok();
        }
        heard.send(Event::Silent).ok();
    });
    Ok(ours)
}

fn hear_orders(mut lifeline: BufReader<File>, sender: &Sender<Event>) {
    let mut order = [0];
    loop {
        match lifeline.read(&mut order) {
            Ok(1) => drop(sender.send(Event::Order(order[0]))),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return drop(sender.send(Event::Abandoned)),
        }
    }
}

/// One agent under watch.
struct Watch<'a> {
    spec: &'a Spec,
    socket: UnixStream,
    /// When to act next if nothing is heard: the deadline, then the end of grace, then the next round of killing.
    next: Option<Instant>,
    ready: bool,
    /// Why we made it stop; none while it runs freely.
    stop: Option<End>,
    said: Option<Said>,
    killing: bool,
    /// Nothing more will be said.
    silent: bool,
    abandoned: bool,
    seen: BTreeSet<i32>,
}

impl Watch<'_> {
    fn until_none_is_left(&mut self, events: &Receiver<Event>) {
        loop {
            let wait = self.next.map_or(Duration::MAX, |next| next.saturating_duration_since(Instant::now()));
            match events.recv_timeout(wait) {
                Ok(Event::News(News::NoneLeft)) => break,
                Ok(Event::News(News::Ended(..))) => {}
                Ok(Event::Said(Said::Ready)) => self.ready = true,
                Ok(Event::Said(said)) => {
                    self.said = Some(said);
                    self.next = Some(Instant::now() + FAREWELL);
                }
                Ok(Event::Silent) => {
                    self.silent = true;
                    if self.said.is_none() {
                        self.kill();
                    }
                }
                Ok(Event::Order(STOP)) => self.stop(End::Cancelled),
                Ok(Event::Order(_)) => self.kill_for(End::Cancelled),
                Ok(Event::Signal(signal)) => self.stop(End::Signaled(signal)),
                Ok(Event::Abandoned) => {
                    self.abandoned |= self.said.is_none();
                    self.kill();
                }
                Err(RecvTimeoutError::Timeout) if self.runs_freely() => self.stop(End::TimedOut),
                Err(_) => self.kill(),
            }
        }
        // What the inner process said just before it went may still be on its way to us.
        while !self.silent {
            match events.recv_timeout(FAREWELL) {
                Ok(Event::Silent) => self.silent = true,
                Ok(Event::Said(Said::Ready)) => self.ready = true,
                Ok(Event::Said(said)) => self.said = Some(said),
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    fn runs_freely(&self) -> bool {
        self.stop.is_none() && self.said.is_none() && !self.killing
    }

    /// Asks politely, once; the end of everything follows after the grace period.
    fn stop(&mut self, why: End) {
        if !self.runs_freely() {
            return;
        }
        self.stop = Some(why);
        self.next = Some(Instant::now() + self.spec.grace);
        self.socket.write_all(&[STOP]).ok();
    }

    fn kill_for(&mut self, why: End) {
        if self.said.is_none() && !self.killing {
            self.stop.get_or_insert(why);
        }
        self.kill();
    }

    /// Ends everything that is there now, and comes back for the rest.
    fn kill(&mut self) {
        self.killing = true;
        self.socket.write_all(&[KILL]).ok();
        tree::kill_all(None, &mut self.seen);
        self.next = Some(Instant::now() + KILL_PAUSE);
    }

    /// How it ended and what it left; none when the trainer died before the agent did.
    fn outcome(self) -> Option<(End, usize)> {
        if self.abandoned {
            return None;
        }
        let end = match (self.said, self.stop) {
            (Some(Said::NotStarted(why)), _) => return Some((End::NotStarted(why), 0)),
            (Some(Said::Ended { leftovers, .. }), Some(stop)) => return Some((stop, leftovers)),
            (Some(Said::Ended { code: Some(code), leftovers, .. }), None) => (End::Exited(code), leftovers),
            (Some(Said::Ended { signal, leftovers, .. }), None) => (End::Signaled(signal.unwrap_or(9)), leftovers),
            (_, Some(stop)) => (stop, 0),
            (_, None) if self.ready => (End::Signaled(9), self.seen.len()),
            (_, None) => (End::NotStarted(format!("the sandbox ({}) did not come up", self.spec.sandbox)), 0),
        };
        Some(end)
    }
}
