//! The innermost of our processes: takes rights from itself, starts the agent, and tells how that ended.
//!
//! It runs inside the sandbox, so that it sees what the supervisor cannot through it: why a program did not start,
//! which signal ended it, and what it left running. Its standard input is a socket to the supervisor; when that
//! closes, the supervisor is dead and everything here ends.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, WaitStatus};

use super::confine::{self, Confine};
use super::supervise::{KILL_PAUSE, STOP};
use super::tree::{self, News};

/// The agent to start, as the supervisor passes it on.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Agent {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) stdin: Option<OsString>,
    pub(super) confine: Confine,
}

/// What is told to the supervisor, one JSON line each.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// The sandbox is up; what comes next is the agent's doing.
    Ready,
    /// It could not be started; why.
    NotStarted(String),
    /// It ended, and nothing that it started is left.
    Ended { code: Option<i32>, signal: Option<i32>, leftovers: usize },
}

enum Event {
    News(News),
    Stop,
    Kill,
}

/// Starts the agent that standard input describes and stays until nothing of it is left; 0 when it could say so.
pub(super) fn main() -> u8 {
    tree::take_name();
    match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

fn serve() -> std::io::Result<()> {
    let mut socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut orders = BufReader::new(socket.try_clone()?);
    let mut line = String::new();
    orders.read_line(&mut line)?;
    let agent: Agent = serde_json::from_str(&line)?;
    drop(line);
    tree::adopt_orphans();
    // A session of its own: no terminal can be reached, and nobody's Ctrl-C reaches it but ours.
    rustix::process::setsid().ok();
    say(&mut socket, &Said::Ready)?;
    let started = confine::apply(&agent.confine)
        .map_err(|error| format!("the sandbox could not be set up: {error}"))
        .and_then(|()| start(&agent));
    match started {
        Ok(pid) => {
            let (sender, events) = channel();
            let news = sender.clone();
            tree::watch(move |what| drop(news.send(Event::News(what))));
            std::thread::spawn(move || listen(orders, &sender));
            let said = stay(pid, &events);
            say(&mut socket, &said)
        }
        Err(why) => say(&mut socket, &Said::NotStarted(why)),
    }
}

fn say(socket: &mut UnixStream, what: &Said) -> std::io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    socket.write_all(line.as_bytes())
}

/// Hears the supervisor's orders; its death is the order to end at once.
fn listen(mut orders: BufReader<UnixStream>, sender: &Sender<Event>) {
    let mut order = [0];
    while matches!(orders.read(&mut order), Ok(1)) && order[0] == STOP {
        sender.send(Event::Stop).ok();
    }
    sender.send(Event::Kill).ok();
}

fn start(agent: &Agent) -> Result<Pid, String> {
    let stdin = match &agent.stdin {
        Some(path) => std::fs::File::open(path)
            .map(Stdio::from)
            .map_err(|error| format!("cannot open {}, its standard input: {error}", Path::new(path).display()))?,
        None => Stdio::null(),
    };
    let child = super::supervise::command(&agent.program)
        .args(&agent.args)
        .env_clear()
        .envs(agent.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .process_group(0)
        .spawn()
        .map_err(|error| explain(&agent.program, &error))?;
    Pid::from_raw(child.id().cast_signed()).ok_or_else(|| "it has no process number".to_owned())
}

/// Why a program did not start, in words that tell a missing program from a missing interpreter.
fn explain(program: &OsStr, error: &std::io::Error) -> String {
    let path = Path::new(program);
    let shown = path.display();
    match (error.kind(), path.metadata()) {
        (_, Err(missing)) => format!("cannot start {shown}: {missing}"),
        (std::io::ErrorKind::NotFound, Ok(_)) => {
            format!("cannot start {shown}: the interpreter that its first line names, or its loader, is missing")
        }
        (std::io::ErrorKind::PermissionDenied, Ok(_)) => format!("cannot start {shown}: it is not executable"),
        (std::io::ErrorKind::ArgumentListTooLong, Ok(_)) => {
            format!("cannot start {shown}: its arguments are too long; long text belongs on standard input")
        }
        _ => format!("cannot start {shown}: {error}"),
    }
}

/// Waits for the agent, then ends what it left, until nobody is there.
fn stay(agent: Pid, events: &Receiver<Event>) -> Said {
    let mut ended: Option<WaitStatus> = None;
    let mut ending = false;
    let mut seen = BTreeSet::new();
    loop {
        let event = if ending {
            events.recv_timeout(KILL_PAUSE)
        } else {
            events.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match event {
            Ok(Event::News(News::Ended(pid, status))) if pid == agent => {
                ended = Some(status);
                ending = true;
            }
            // Somebody else's end changes nothing, but a new child may have come to us by it.
            Ok(Event::News(News::Ended(..))) => {}
            Ok(Event::News(News::NoneLeft)) => break,
            Ok(Event::Stop) => tree::interrupt(agent),
            Ok(Event::Kill) => ending = true,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(20)),
        }
        if ending {
            tree::kill_all(Some(agent).filter(|_| ended.is_none() || !cfg!(target_os = "linux")), &mut seen);
        }
    }
    seen.remove(&agent.as_raw_nonzero().get());
    Said::Ended {
        code: ended.and_then(WaitStatus::exit_status),
        signal: ended.and_then(WaitStatus::terminating_signal),
        leftovers: seen.len(),
    }
}
