//! A backend that writes down every exchange before its answer is used, and answers from what is written already.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::backend::{Answered, Backend, Call};
use super::failure::{Failure, Why};
use super::journal::Journal;
use super::key::Key;
use super::replay::count_again;
use super::tape::{Exchange, Paid, Tape, whole_length};
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// A recording that is being made; several backends may write into one.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    file: Mutex<Written>,
    flushed: Condvar,
    tape: Tape,
}

#[derive(Debug)]
struct Written {
    file: Arc<File>,
    /// How many lines were appended, and how many of them are on the disk.
    lines: u64,
    durable: u64,
    /// Whether someone flushes right now.
    is_flushing: bool,
    /// After an error nothing is appended: a torn line may stand at the end.
    broken: Option<String>,
}

impl Recording {
    /// Opens or begins a recording. What it holds already answers the same calls again (they count as reused), so
    /// that a run which died between an answer and its use does not pay twice; failures in it are tried again.
    /// Kind `Usage` for a file that is no recording.
    pub fn open(path: &Path) -> Result<Arc<Recording>> {
        if path.exists() && !path.is_file() {
            return Err(Error::usage(format!("{} is not a file that can hold a recording", path.display())));
        }
        let old = files::read_if_there(path)?;
        let tape = if old.is_some() { Tape::read(path)? } else { Tape::default() };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            files::create_dir(folder)?;
        }
        let file = File::options().create(true).append(true).open(path).at("open", path)?;
        if let Some(bytes) = old {
            file.set_len(whole_length(&bytes) as u64).at("mend", path)?;
        }
        file.sync_all().at("flush", path)?;
        files::sync_dir(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
        let written = Written { file: Arc::new(file), lines: 0, durable: 0, is_flushing: false, broken: None };
        Ok(Arc::new(Recording { path: path.to_owned(), file: Mutex::new(written), flushed: Condvar::new(), tape }))
    }

    /// What the calls took that it held when it was opened.
    pub(super) fn paid(&self) -> &[Paid] {
        &self.tape.paid
    }

    /// Appends someone else's exchange: a JSON object whose `kind` is not `chat`. Returns when it is on the disk.
    pub fn write(&self, exchange: &serde_json::Value) -> Result<()> {
        self.append(format!("{exchange}\n").as_bytes()).at("write", &self.path)
    }

    /// Appends a line and returns when it is on the disk. Those who wait together are flushed together.
    fn append(&self, line: &[u8]) -> std::io::Result<()> {
        let mut written = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &written.broken {
            return Err(std::io::Error::other(why.clone()));
        }
        if let Err(error) = (&*written.file).write_all(line) {
            written.broken = Some(error.to_string());
            return Err(error);
        }
        written.lines += 1;
        let own = written.lines;
        while written.durable < own {
            if let Some(why) = &written.broken {
                return Err(std::io::Error::other(why.clone()));
            }
            if written.is_flushing {
                written = self.flushed.wait(written).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            written.is_flushing = true;
            let (file, upto) = (Arc::clone(&written.file), written.lines);
            drop(written);
            let result = file.sync_data();
            written = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            written.is_flushing = false;
            match result {
                Ok(()) => written.durable = upto,
                Err(error) => written.broken = Some(error.to_string()),
            }
            self.flushed.notify_all();
        }
        Ok(())
    }
}

/// Writes down what another backend answers.
#[derive(Debug)]
pub struct Recorder {
    inner: Arc<dyn Backend>,
    to: To,
    secrets: Vec<Key>,
    questions: bool,
}

/// Where answers are written.
#[derive(Debug)]
enum To {
    /// Into one file; an answer that it held counts as reused.
    Recording(Arc<Recording>),
    /// Into one file beside a run's journal; an answer that it alone holds was paid by this run.
    Tape(Arc<Recording>),
    /// Into the file of the run's stretch; what it held is counted as this run's own.
    Journal(Arc<Journal>),
}

impl Recorder {
    /// Records what `inner` answers; `secrets` are keys that must not be written, should anyone have said one.
    pub fn new(inner: Arc<dyn Backend>, recording: Arc<Recording>, secrets: Vec<Key>) -> Recorder {
        Recorder { inner, to: To::Recording(recording), secrets, questions: true }
    }

    /// As `new`, for a run with a journal: what the journal lost when the run was killed, the recording has, and it counts as
    /// paid now.
    pub fn of_tape(inner: Arc<dyn Backend>, recording: Arc<Recording>, secrets: Vec<Key>) -> Recorder {
        Recorder { inner, to: To::Tape(recording), secrets, questions: true }
    }

    /// The same, but only answers are written. An answer is found by its question's digest; the questions are for
    /// people, and hold the pool again and again.
    #[must_use]
    pub fn without_questions(self) -> Recorder {
        Recorder { questions: false, ..self }
    }

    /// Writes the answers of `inner` into a run's journal, without the questions.
    pub fn of_run(inner: Arc<dyn Backend>, journal: Arc<Journal>, secrets: Vec<Key>) -> Recorder {
        Recorder { inner, to: To::Journal(journal), secrets, questions: false }
    }

    /// Writes an exchange, and gives back what was written: what is used now is what a replay will use.
    fn keep(&self, recording: &Recording, exchange: &Exchange) -> Result<Answered, String> {
        let line = serde_json::to_string(exchange).map_err(|error| error.to_string())?;
        let mut line = self.secrets.iter().fold(line, |line, key| key.scrub(line));
        let written: Exchange = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        line.push('\n');
        recording.append(line.as_bytes()).map_err(|error| error.to_string())?;
        crash::point("exchange-recorded");
        written.answered().ok_or_else(|| "the exchange has no end".to_owned())
    }
}

impl Backend for Recorder {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn call(&self, call: &Call<'_>) -> Answered {
        let recording = match &self.to {
            To::Recording(recording) | To::Tape(recording) => Arc::clone(recording),
            To::Journal(journal) => match journal.now() {
                Ok(recording) => recording,
                Err(failure) => return Err(failure).into(),
            },
        };
        let mark = recording.tape.mark(call);
        if let Some(found @ Answered { outcome: Ok(reply), .. }) = recording.tape.find(&mark) {
            match self.to {
                To::Recording(_) => call.meter.reused(reply),
                To::Tape(_) => {
                    if let Err(failure) = count_again(found, call) {
                        return Err(failure).into();
                    }
                }
                To::Journal(_) => {}
            }
            return found.clone();
        }
        let answered = self.inner.call(call);
        // What was never asked is no exchange: a replay comes to the same end by itself.
        let is_none = |failure: &Failure| matches!(failure.why, Why::Budget | Why::Cancelled | Why::Unrecorded);
        if answered.outcome.as_ref().is_err_and(is_none) {
            return answered;
        }
        let exchange = Exchange::new(call, mark.2, self.model(), &answered, self.questions);
        self.keep(&recording, &exchange).unwrap_or_else(|why| {
            let path = recording.path.display();
            let failure = Failure::new(Why::Unkept, format!("cannot record an answer in {path}: {why}"));
            Err(failure.hint("nothing was used: make room or mend the folder, then run the same command again")).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::prompts::Prompts;
    use crate::ground::signals::Cancel;
    use crate::llm::{Budget, Client, Limits, Message, Request, Role, Scripted, Shared, Spent, VirtualClock};

    fn client(recorder: Recorder) -> Client {
        let budget = Budget::new(Limits::default(), Spent::default(), Arc::new(VirtualClock::default()));
        let (ledger, cancel, prompts) = (Arc::default(), Cancel::default(), Prompts::default());
        let shared = Shared { budget: Arc::new(budget), ledger, cancel, prompts };
        Client::new(Arc::new(recorder), shared, None, Role::Target)
    }

    fn question() -> Request {
        Request::new(vec![Message::user("hi")], 9)
    }

    #[test]
    fn an_answer_that_cannot_be_written_is_an_error_for_all_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::open(&path).unwrap();
        recording.append(b"{}\n").unwrap();
        // Opened for reading: every write to it fails, as on a full disk.
        recording.file.lock().unwrap().file = Arc::new(File::open(&path).unwrap());
        recording.append(b"{}\n").unwrap_err();
        recording.file.lock().unwrap().file = Arc::new(File::options().append(true).open(&path).unwrap());
        recording.append(b"{}\n").unwrap_err();
        assert_eq!(files::read_text(&path).unwrap(), "{}\n");
        let script = Arc::new(Scripted::texts(["paid"]));
        let failure = client(Recorder::new(script, recording, Vec::new())).chat(&question()).unwrap_err();
        assert_eq!(failure.why, Why::Unkept);
        assert!(failure.message.contains("calls.jsonl"), "{failure}");
    }

    #[test]
    fn lines_of_many_threads_are_whole_and_durable_when_they_return() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let recording = Recording::open(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let recording = &recording;
                scope.spawn(move || {
                    for number in 0..20 {
                        recording.append(format!("{{\"line\":\"{thread}.{number}\"}}\n").as_bytes()).unwrap();
                        let written = recording.file.lock().unwrap();
                        assert!(written.durable > 0 && written.durable <= written.lines);
                    }
                });
            }
        });
        let text = files::read_text(&path).unwrap();
        assert_eq!(text.lines().count(), 320);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }

    #[test]
    fn only_a_file_can_hold_a_recording() {
        for path in [Path::new("/dev/null"), Path::new("/")] {
            let error = Recording::open(path).unwrap_err();
            assert_eq!(error.kind(), crate::ground::error::Kind::Usage, "{error}");
        }
    }
}
