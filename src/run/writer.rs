//! Files that many threads keep, written and flushed together by one thread of its own, so that nobody waits for a disk.
//!
//! Each file or folder is first a draft. Once the drafts of a round are flushed they are moved to their places, in the
//! order in which they came: a place shows all of it or nothing, after a loss of power too. Who needs it on disk before
//! going on asks for a flush.

use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::{crash, files};

/// How long a round waits for more.
const LINGER: Duration = Duration::from_millis(250);
/// Files and folders that may wait to be written; who brings more waits.
const WAITING: usize = 4_096;
/// Files and folders of one round at most.
const ROUND: usize = 1_024;

/// Writes what it is given.
#[derive(Debug)]
pub struct Writer {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

/// What the thread and those who use it both know.
#[derive(Debug, Default)]
struct Shared {
    /// Places whose newest content is not there yet, and how often they were put.
    pending: Mutex<HashMap<PathBuf, usize>>,
    /// Why nothing more can be written.
    broken: Mutex<Option<String>>,
}

#[derive(Debug)]
enum Job {
    /// A folder of files: names and texts.
    Folder(PathBuf, Vec<(String, String)>),
    /// A file.
    File(PathBuf, String),
    /// Everything before this, at once; hears when it is done.
    Flush(SyncSender<()>),
}

impl Writer {
    /// Starts with an empty folder of drafts, which must be on the file system of the places.
    ///
    /// # Errors
    /// Of I/O.
    pub fn start(drafts: &Path) -> Result<Writer> {
        files::remove_dir(drafts)?;
        files::create_dir(drafts)?;
        let (jobs, queue) = mpsc::sync_channel(WAITING);
        let shared = Arc::<Shared>::default();
        let mut work = Work { drafts: drafts.to_owned(), count: 0, moves: Vec::new(), shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name("writer".into()).spawn(move || work.run(&queue));
        let thread = thread.at("start a thread for", drafts)?;
        Ok(Writer { jobs: Some(jobs), thread: Some(thread), shared })
    }

    /// Puts a folder of files in a place, instead of what is there.
    ///
    /// # Errors
    /// Of I/O, naming the path, when something put earlier could not be written.
    pub fn put_folder(&self, place: PathBuf, contents: Vec<(String, String)>) -> Result<()> {
        self.shared.announce(&place);
        self.send(Job::Folder(place, contents))
    }

    /// Puts a file in a place, whose folder is there or was put earlier.
    ///
    /// # Errors
    /// As [`Writer::put_folder`].
    pub fn put_file(&self, place: PathBuf, text: String) -> Result<()> {
        self.shared.announce(&place);
        self.send(Job::File(place, text))
    }

    /// Returns when all that was put before is in its place, durably.
    ///
    /// # Errors
    /// As [`Writer::put_folder`].
    pub fn flush(&self) -> Result<()> {
        let (done, end) = mpsc::sync_channel(1);
        self.send(Job::Flush(done))?;
        // A thread that died has said why, or will be taken for broken.
        let is_done = end.recv().is_ok();
        self.check()?;
        if is_done { Ok(()) } else { Err(died()) }
    }

    /// Returns when a place shows what was last put there.
    ///
    /// # Errors
    /// As [`Writer::put_folder`].
    pub fn wait_for(&self, place: &Path) -> Result<()> {
        let is_pending = self.shared.pending().contains_key(place);
        if is_pending { self.flush() } else { Ok(()) }
    }

    fn send(&self, job: Job) -> Result<()> {
        self.check()?;
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(died)
    }

    fn check(&self) -> Result<()> {
        let broken = self.shared.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.as_ref().map_or(Ok(()), |why| Err(Error::failed(why)))
    }
}

fn died() -> Error {
    Error::failed("the thread that writes files has ended")
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends with what it was given.
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, HashMap<PathBuf, usize>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, place: &Path) {
        *self.pending().entry(place.to_owned()).or_default() += 1;
    }

    fn done(&self, place: &Path) {
        let mut pending = self.pending();
        if let Some(count) = pending.get_mut(place) {
            *count -= 1;
            if *count == 0 {
                pending.remove(place);
            }
        }
    }
}

/// The thread's own side.
struct Work {
    drafts: PathBuf,
    /// Drafts so far, for their names.
    count: u64,
    /// This round's drafts and their places, in order.
    moves: Vec<(PathBuf, PathBuf)>,
    shared: Arc<Shared>,
}

impl Work {
    fn run(&mut self, queue: &Receiver<Job>) {
        while let Ok(first) = queue.recv() {
            let (waiting, result) = self.round(queue, first);
            if let Err(error) = result {
                let mut broken = self.shared.broken.lock().unwrap_or_else(PoisonError::into_inner);
                broken.get_or_insert(format!("{error:#}"));
                return;
            }
            // Nobody may be waiting any more.
            waiting.into_iter().for_each(|done| done.send(()).unwrap_or_default());
        }
        fs::remove_dir(&self.drafts).ok();
    }

    /// Takes what comes until it is time, and brings it to its places. Who waits for that comes first.
    fn round(&mut self, queue: &Receiver<Job>, first: Job) -> (Option<SyncSender<()>>, Result<()>) {
        let until = Instant::now() + LINGER;
        let mut next = Ok(first);
        let waiting = loop {
            let drafted = match next {
                Ok(Job::Folder(place, contents)) => self.draft_folder(place, &contents),
                Ok(Job::File(place, text)) => self.draft_file(place, &text),
                Ok(Job::Flush(done)) => break Some(done),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break None,
            };
            if let Err(error) = drafted {
                return (None, Err(error));
            }
            if self.moves.len() >= ROUND {
                break None;
            }
            next = queue.recv_timeout(until.saturating_duration_since(Instant::now()));
        };
        (waiting, self.place())
    }

    fn draft(&mut self, place: PathBuf) -> PathBuf {
        self.count += 1;
        let draft = self.drafts.join(self.count.to_string());
        self.moves.push((draft.clone(), place));
        draft
    }

    fn draft_folder(&mut self, place: PathBuf, contents: &[(String, String)]) -> Result<()> {
        let draft = self.draft(place);
        fs::create_dir(&draft).at("create the folder", &draft)?;
        contents.iter().try_for_each(|(name, text)| {
            let path = draft.join(name);
            write(&path, text)
        })
    }

    fn draft_file(&mut self, place: PathBuf, text: &str) -> Result<()> {
        let draft = self.draft(place);
        write(&draft, text)
    }

    /// Flushes the round's drafts, moves them to their places and makes that durable.
    fn place(&mut self) -> Result<()> {
        let moves = std::mem::take(&mut self.moves);
        crash::point("round-drafted");
        files::sync_all(&moves.iter().map(|(draft, _)| draft.clone()).collect::<Vec<_>>())?;
        for (draft, place) in &moves {
            let folder = place.parent().unwrap_or(Path::new("."));
            files::create_dir(folder)?;
            if draft.is_dir() {
                // A folder cannot be replaced in one go; without it there is none, which is as good as before.
                files::remove_dir(place)?;
            }
            fs::rename(draft, place).at("move", draft)?;
            crash::point("file-placed");
        }
        files::sync_all(&moves.iter().filter_map(|(_, place)| place.parent().map(Path::to_owned)).collect::<Vec<_>>())?;
        moves.iter().for_each(|(_, place)| self.shared.done(place));
        Ok(())
    }
}

/// Writes a draft, which is flushed with its round.
fn write(path: &Path, text: &str) -> Result<()> {
    fs::File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes())).at("write", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(text: &str) -> Vec<(String, String)> {
        vec![("a".to_owned(), text.to_owned())]
    }

    #[test]
    fn what_is_put_is_there_after_a_flush_the_newest_last() {
        let root = tempfile::tempdir().unwrap();
        let writer = Writer::start(&root.path().join(".drafts")).unwrap();
        let place = root.path().join("x/y");
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let writer = &writer;
                let place = root.path().join(format!("t{thread}"));
                scope.spawn(move || {
                    (0..100).for_each(|n| writer.put_file(place.join(n.to_string()), n.to_string()).unwrap())
                });
            }
        });
        for text in ["one", "two"] {
            writer.put_folder(place.clone(), folder(text)).unwrap();
        }
        writer.put_file(place.join("score"), "1".to_owned()).unwrap();
        writer.wait_for(&place).unwrap();
        assert_eq!(files::read_text(&place.join("a")).unwrap(), "two");
        assert_eq!(files::read_text(&place.join("score")).unwrap(), "1");
        assert_eq!(files::read_text(&root.path().join("t7/99")).unwrap(), "99");
        writer.put_folder(place.clone(), folder("three")).unwrap();
        drop(writer);
        assert_eq!(files::read_text(&place.join("a")).unwrap(), "three");
        assert!(!place.join("score").exists() && !root.path().join(".drafts").exists());
    }

    #[test]
    fn what_cannot_be_written_is_an_error_for_all_after_it() {
        let root = tempfile::tempdir().unwrap();
        let writer = Writer::start(&root.path().join(".drafts")).unwrap();
        files::write(&root.path().join("file"), "x").unwrap();
        let below = root.path().join("file/below");
        writer.put_folder(below.clone(), folder("one")).unwrap();
        let error = writer.flush().unwrap_err().to_string();
        assert!(error.contains("file"), "{error}");
        assert!(writer.put_file(root.path().join("other"), String::new()).is_err());
        assert!(writer.wait_for(&below).is_err() && writer.flush().is_err());
    }
}
