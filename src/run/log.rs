//! `events.jsonl`: everything that happened in a run, one JSON object a line, for whoever looks at it later.
//!
//! It vouches for nothing, so it is not flushed, and a line that was being written when its program died is passed over.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::event::Event;
use crate::ground::error::Result;
use crate::ground::files;

/// A run's events on disk.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    /// Opened at the first event: a call that is refused before anything happens leaves nothing.
    file: Mutex<Option<File>>,
    /// Whether the last line of an earlier process has no end.
    is_torn: bool,
    began: Instant,
    /// Seconds that earlier processes ran.
    earlier: f64,
}

/// One line.
#[derive(Serialize)]
struct Line<'e> {
    /// Seconds since the process began.
    seconds: f64,
    #[serde(flatten)]
    event: &'e Event,
}

impl EventLog {
    /// Opens a run's events, to be gone on with.
    ///
    /// # Errors
    /// Of I/O, naming the path.
    pub fn open(path: &Path) -> Result<EventLog> {
        let old = files::read_if_there(path)?.unwrap_or_default();
        let is_torn = old.last().is_some_and(|last| *last != b'\n');
        let (path, file, began) = (path.to_owned(), Mutex::default(), Instant::now());
        Ok(EventLog { path, file, is_torn, began, earlier: seconds(&old) })
    }

    /// Appends an event. What cannot be written is left out: the run does not depend on it.
    pub fn write(&self, event: &Event) {
        let line = Line { seconds: self.began.elapsed().as_secs_f64(), event };
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            self.append(text.as_bytes());
        }
    }

    fn append(&self, line: &[u8]) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = File::options().create(true).append(true).open(&self.path).ok();
            if let Some(file) = file.as_mut().filter(|_| self.is_torn) {
                file.write_all(b"\n").ok();
            }
        }
        if let Some(file) = file.as_mut() {
            file.write_all(line).ok();
        }
    }

    /// Seconds that earlier processes of the run took, as far as their events tell.
    pub fn earlier_seconds(&self) -> f64 {
        self.earlier
    }
}

/// The sum of what each process took: its last line's time. Another one begins where the time falls.
fn seconds(text: &[u8]) -> f64 {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let (mut total, mut last) = (0.0, 0.0);
    for now in lines.filter_map(|line| line["seconds"].as_f64()) {
        if now < last {
            total += last;
        }
        last = now;
    }
    total + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_all_processes_is_summed_and_a_torn_line_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let lines = "{\"seconds\":1.0}\n{\"seconds\":4.5}\n{\"seconds\":0.5}\n{\"seconds\":2.0}\n{\"seconds\":9";
        files::write(&path, lines).unwrap();
        let log = EventLog::open(&path).unwrap();
        assert_eq!(log.earlier_seconds(), 6.5);
        log.write(&Event::Note { text: "x".into() });
        let text = files::read_text(&path).unwrap();
        assert!(text.lines().last().unwrap().contains("\"event\":\"note\""), "{text}");
    }
}
