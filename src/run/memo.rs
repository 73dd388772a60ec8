//! Artifacts by the digest of their inputs: what was made once for the same inputs is found, not made again.
//!
//! An attempt's inputs are what it was asked with (`key`), what it saw at once (`seen`) and the files that it opened
//! on the way (`reads`), which nobody knows before it is made. It is valid wherever the first two are the same and
//! every file that it opened still has the same content; a file that was not there must still not be.
//!
//! What is kept is known at once and on disk a little later ([`super::writer`]): many artifacts share the disk's flush.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::writer::Writer;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::{digest, files};

/// Raised when an older reader would misunderstand an entry.
const VERSION: u32 = 1;
/// An artifact without it is none.
const RESULT: &str = "result.json";
/// Where artifacts are written before they are moved to their places.
const DRAFTS: &str = ".drafts";

/// The inputs and the facts of an artifact, as `result.json` holds them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    version: u32,
    /// The name: a digest of all inputs.
    pub digest: String,
    /// The digest of what it was asked with.
    pub key: String,
    /// The digest of what it saw of the pool at once.
    pub seen: String,
    /// What it opened: path and blob, or none where there was no such file.
    pub reads: BTreeMap<String, Option<String>>,
    /// What the maker wants to know again.
    pub facts: Value,
    /// Whether it was there when the folder was opened.
    #[serde(skip)]
    pub was_there: bool,
}

impl Entry {
    /// An artifact's entry; its digest follows from its inputs.
    pub fn new(key: String, seen: String, reads: BTreeMap<String, Option<String>>, facts: Value) -> Entry {
        let mut parts = vec![b"rollout 1".to_vec(), key.clone().into_bytes(), seen.clone().into_bytes()];
        for (path, blob) in &reads {
            parts.push(path.clone().into_bytes());
            parts.push(blob.clone().unwrap_or_default().into_bytes());
        }
        let digest = digest::of_parts(parts.iter().map(Vec::as_slice));
        Entry { version: VERSION, digest, key, seen, reads, facts, was_there: false }
    }
}

/// Entries by key.
type Known = HashMap<String, Vec<Entry>>;

/// A folder of artifacts. One program at a time writes into it, with as many threads as it likes.
#[derive(Debug)]
pub struct Memo {
    folder: PathBuf,
    /// Read when it is first asked for: a run that has nothing left to measure need not look at all it ever made.
    known: OnceLock<Mutex<Known>>,
    writer: Writer,
    // Let go when the writer has ended.
    _lock: File,
}

/// Takes the lock. A process that is being started elsewhere in this program holds a copy of the file for a moment, so that a
/// lock that was just let go may seem taken.
fn take(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            taken => return taken,
        }
    }
    lock.try_lock()
}

impl Memo {
    /// Opens a folder of artifacts, made when it is missing. What is damaged, half written or of a newer version is as
    /// if it were not there.
    ///
    /// # Errors
    /// Of kind `Failed` when another program is at work in it, and of I/O.
    pub fn open(folder: &Path) -> Result<Memo> {
        files::create_dir(folder)?;
        let place = folder.join(".lock");
        let options = File::options().read(true).write(true).create(true).truncate(false).open(&place);
        let lock = options.at("open", &place)?;
        match take(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::failed(format!("another skilltrain is at work in {}", folder.display()))
                    .hint("wait for it to end, or give this one another folder with --out"));
            }
            Err(TryLockError::Error(error)) => return Err(error).at("lock", &place),
        }
        let writer = Writer::start(&folder.join(DRAFTS))?;
        Ok(Memo { folder: folder.to_owned(), known: OnceLock::new(), writer, _lock: lock })
    }

    /// What there is, by key.
    fn known(&self) -> MutexGuard<'_, Known> {
        let known = self.known.get_or_init(|| Mutex::new(self.load()));
        known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self) -> Known {
        let mut known = Known::new();
        let walk =
            walkdir::WalkDir::new(&self.folder).min_depth(3).max_depth(3).follow_links(false).sort_by_file_name();
        for file in walk.into_iter().flatten().filter(|file| file.file_name() == RESULT) {
            let entry = files::read(file.path()).ok().and_then(|bytes| serde_json::from_slice::<Entry>(&bytes).ok());
            if let Some(entry) = entry.filter(|entry| entry.version == VERSION) {
                let entry = Entry { was_there: true, ..entry };
                known.entry(entry.key.clone()).or_default().push(entry);
            }
        }
        known
    }

    /// The artifacts that hold for these inputs; `blob` tells a file's content now. They are in the order of their
    /// digests, so that the answer does not depend on which was made first.
    pub fn find(&self, key: &str, seen: &str, blob: &dyn Fn(&str) -> Option<String>) -> Vec<Entry> {
        let known = self.known();
        let holds = |entry: &&Entry| {
            entry.seen == seen && entry.reads.iter().all(|(path, content)| blob(path).as_ref() == content.as_ref())
        };
        let mut found: Vec<Entry> = known.get(key).into_iter().flatten().filter(holds).cloned().collect();
        found.sort_by(|one, two| one.digest.cmp(&two.digest));
        found
    }

    /// The artifact of this digest; none when there is none that can be read.
    ///
    /// # Errors
    /// As [`Memo::read`].
    pub fn entry(&self, digest: &str) -> Result<Option<Entry>> {
        let bytes = self.read(digest, RESULT)?;
        let entry = bytes.and_then(|bytes| serde_json::from_slice::<Entry>(&bytes).ok());
        Ok(entry.filter(|entry| entry.version == VERSION))
    }

    /// A file of an artifact, when there is one.
    ///
    /// # Errors
    /// As [`Memo::flush`], for what is kept and not on disk yet; of I/O.
    pub fn read(&self, digest: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let place = self.place_of(digest);
        self.writer.wait_for(&place)?;
        let path = place.join(name);
        self.writer.wait_for(&path)?;
        files::read_if_there(&path)
    }

    /// The folder of the artifact of this digest.
    pub fn place_of(&self, digest: &str) -> PathBuf {
        self.folder.join(digest.get(..2).unwrap_or_default()).join(digest)
    }

    /// Keeps an artifact: its files and its entry, which appear together, before long. What was there under the same
    /// digest is replaced.
    ///
    /// # Errors
    /// Of I/O, naming the path, also when it befell something that was kept before.
    pub fn keep(&self, entry: &Entry, contents: &[(&str, &str)]) -> Result<()> {
        let mut files: Vec<(String, String)> =
            contents.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let result = serde_json::to_string_pretty(entry).map_err(Error::failed)?;
        files.push((RESULT.to_owned(), result + "\n"));
        self.writer.put_folder(self.place_of(&entry.digest), files)?;
        let mut known = self.known();
        let same = known.entry(entry.key.clone()).or_default();
        same.retain(|old| old.digest != entry.digest);
        same.push(entry.clone());
        Ok(())
    }

    /// Adds a file to an artifact, or replaces it, before long.
    ///
    /// # Errors
    /// As [`Memo::keep`].
    pub fn add(&self, digest: &str, name: &str, text: String) -> Result<()> {
        self.writer.put_file(self.place_of(digest).join(name), text)
    }

    /// Returns when all that was kept so far is on disk, durably.
    ///
    /// # Errors
    /// As [`Memo::keep`].
    pub fn flush(&self) -> Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(reads: &[(&str, Option<&str>)]) -> Entry {
        let reads = reads.iter().map(|(path, blob)| ((*path).to_owned(), blob.map(str::to_owned))).collect();
        Entry::new("k".into(), "s".into(), reads, Value::Null)
    }

    fn blobs(content: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |path| content.iter().find(|(known, _)| *known == path).map(|(_, blob)| (*blob).to_owned())
    }

    #[test]
    fn an_artifact_holds_where_all_that_it_opened_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let memo = Memo::open(folder.path()).unwrap();
        memo.keep(&entry(&[("a.md", Some("1")), ("gone.md", None)]), &[("output.txt", "x")]).unwrap();
        drop(memo);
        let memo = Memo::open(folder.path()).unwrap();
        assert_eq!(memo.find("k", "s", &blobs(&[("a.md", "1"), ("b.md", "9")])).len(), 1);
        assert!(memo.find("k", "s", &blobs(&[("a.md", "2")])).is_empty());
        assert!(memo.find("k", "s", &blobs(&[])).is_empty());
        assert!(memo.find("k", "s", &blobs(&[("a.md", "1"), ("gone.md", "3")])).is_empty());
        assert!(memo.find("k", "other", &blobs(&[("a.md", "1")])).is_empty());
        let found = memo.find("k", "s", &blobs(&[("a.md", "1")])).remove(0);
        assert_eq!(std::fs::read_to_string(memo.place_of(&found.digest).join("output.txt")).unwrap(), "x");
    }

    #[test]
    fn damage_is_absence_and_two_programs_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let memo = Memo::open(folder.path()).unwrap();
        memo.keep(&entry(&[]), &[]).unwrap();
        memo.flush().unwrap();
        assert!(Memo::open(folder.path()).unwrap_err().to_string().contains("another skilltrain"));
        files::write(&memo.place_of(&entry(&[]).digest).join(RESULT), "{\"version\": 1, ").unwrap();
        drop(memo);
        assert!(Memo::open(folder.path()).unwrap().find("k", "s", &blobs(&[])).is_empty());
    }
}
