//! The pool's own files: compared with its commit, and brought up to a new one without touching anybody's work.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, IndexTime, Oid};
use serde::{Deserialize, Serialize};

use super::folder::{self, StatCache};
use super::leftovers::IndexLock;
use super::repo::{Changes, Entry, Files, Pool, parse_id, wrap};
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;
use crate::ground::text::shell_quoted;

/// A move of the branch under way: written before it, removed when the pool's files have followed.
#[derive(Serialize, Deserialize)]
struct Move {
    before: String,
    after: String,
}

impl Pool {
    /// What differs between the pool's files and `files`, one line each ("changed path", "new path", …). Ignored
    /// files count: a card on disk that git never had would be read by agents all the same.
    pub fn dirt(&self, files: &Files, cache: &mut StatCache) -> Result<Vec<String>> {
        let here = folder::read(self.root(), cache)?;
        let mut lines: Vec<String> = here.odd.iter().map(|path| format!("odd      {path}")).collect();
        for (path, entry) in &here.files {
            match files.get(path) {
                None => lines.push(format!("new      {}", outermost(path))),
                Some(known) if known.id != entry.id => lines.push(format!("changed  {path}")),
                Some(known) if known.mode != entry.mode => lines.push(format!("mode     {path}")),
                Some(_) => {}
            }
        }
        lines.dedup();
        lines
            .extend(files.keys().filter(|path| !here.files.contains_key(*path)).map(|path| format!("deleted  {path}")));
        if lines.is_empty() {
            lines = self.staged(files)?;
        }
        Ok(lines)
    }

    /// What is staged and differs from `files`. A missing index holds nobody's work: it is made anew later.
    fn staged(&self, files: &Files) -> Result<Vec<String>> {
        let path = self.index_file();
        if !path.exists() {
            return Ok(Vec::new());
        }
        let index = Index::open(&path).map_err(|error| {
            wrap(error, "the pool's index cannot be read").hint(format!(
                "make it anew, the cards are not touched: rm {} && git -C {} reset",
                shell_quoted(&path),
                shell_quoted(self.root())
            ))
        })?;
        let staged: Files = index
            .iter()
            .map(|entry| (String::from_utf8_lossy(&entry.path).into_owned(), Entry { id: entry.id, mode: entry.mode }))
            .collect();
        let differing = super::checkout::difference(files, &staged).into_keys();
        Ok(differing.map(|path| format!("staged   {path}")).collect())
    }

    /// Moves the branch to `after` and brings the pool's files along; killed in between, `settle` goes on. Gives the
    /// paths that were left alone because somebody changed them.
    ///
    /// Errors, kind `Failed`: the branch is no longer at `before`, or the pool was switched to another one.
    pub fn move_to(&self, before: Oid, after: Oid, why: &str) -> Result<Vec<String>> {
        self.check_branch()?;
        let note = Move { before: before.to_string(), after: after.to_string() };
        files::write_json(&self.move_file(), &note)?;
        crash::point("branch-moving");
        self.advance(before, after, why)?;
        crash::point("branch-moved");
        self.settle()
    }

    /// Finishes a move that was interrupted, and takes away what a killed trainer left. Gives the paths that it left
    /// alone because somebody changed them. Only call this while holding the pool's lock.
    pub fn settle(&self) -> Result<Vec<String>> {
        let bytes = files::read_if_there(&self.move_file())?;
        let note = bytes.as_ref().and_then(|bytes| serde_json::from_slice::<Move>(bytes).ok());
        self.clear_leftovers(note.as_ref().map(|note| note.after.as_str()))?;
        if bytes.is_none() {
            return Ok(Vec::new());
        }
        let ids = note.and_then(|note| Some((parse_id(&note.before)?, parse_id(&note.after)?)));
        let mut left = Vec::new();
        if let Some((before, after)) = ids.filter(|(_, after)| self.tip().is_ok_and(|tip| tip == *after)) {
            left = self.follow(before, after)?;
        }
        files::remove(&self.move_file())?;
        Ok(left)
    }

    /// Writes the files that changed between two commits, and the index with them. A file that is neither as it was
    /// before nor as it should be is somebody's work: it keeps its bytes.
    fn follow(&self, before: Oid, after: Oid) -> Result<Vec<String>> {
        let changes = self.changes(before, after)?;
        let old = self.files(before)?;
        let mut left = Vec::new();
        for (path, new) in &changes {
            let here = self.entry_on_disk(path)?;
            if here == *new {
                continue;
            }
            if here != old.get(path).copied() {
                left.push(path.clone());
                continue;
            }
            self.write_out(path, *new)?;
            crash::point("card-placed");
        }
        self.update_index(after, &changes, &old, &left)?;
        crash::point("index-updated");
        Ok(left)
    }

    fn entry_on_disk(&self, path: &str) -> Result<Option<Entry>> {
        let place = self.root().join(path);
        if place.symlink_metadata().is_err() {
            return Ok(None);
        }
        match folder::mode(&place) {
            mode @ (super::repo::PLAIN | 0o100_755) => {
                Ok(Some(Entry { id: folder::hash(&files::read(&place)?)?, mode }))
            }
            mode => Ok(Some(Entry { id: Oid::ZERO_SHA1, mode })),
        }
    }

    fn write_out(&self, path: &str, entry: Option<Entry>) -> Result<()> {
        let place = self.root().join(path);
        if let Some(link) = first_link(self.root(), Path::new(path)) {
            return Err(Error::failed(format!("{} is a link; nothing is written through it", link.display()))
                .hint("put a real folder in its place, then run the same command again"));
        }
        match entry {
            Some(entry) => files::write_by_way_of(&self.own(""), &place, &self.blob(entry.id)?),
            None => {
                files::remove(&place)?;
                remove_if_empty(self.root(), &place);
                Ok(())
            }
        }
    }

    /// Brings the index along, locked as git locks it, written beside it and renamed; also for a file that was left alone: otherwise it would hold the old card as if somebody
    /// had staged the step's undoing. What somebody did stage stays.
    fn update_index(&self, after: Oid, changes: &Changes, old: &Files, left: &[String]) -> Result<()> {
        let fail = |error| {
            wrap(error, "the step is committed, but the pool's index could not follow")
                .hint(format!("git -C {} reset brings it up to date", shell_quoted(self.root())))
        };
        let (place, draft) = (self.index_file(), self.own("index.new"));
        let _lock = IndexLock::take(self)?;
        crash::point("index-locked");
        files::remove(&draft)?;
        let all: Changes;
        let there = place.exists();
        let changes = if there {
            std::fs::copy(&place, &draft).at("copy", &place)?;
            changes
        } else {
            all = self.files(after)?.iter().map(|(path, entry)| (path.clone(), Some(*entry))).collect();
            &all
        };
        let mut index = Index::open(&draft).map_err(fail)?;
        for (path, entry) in changes {
            let staged = index.get_path(Path::new(path), 0).map(|entry| entry.id);
            if there && staged != old.get(path).map(|entry| entry.id) {
                continue;
            }
            match entry {
                // Gone already when a killed call came this far.
                None if index.get_path(Path::new(path), 0).is_none() => {}
                None => index.remove(Path::new(path), 0).map_err(fail)?,
                Some(entry) => {
                    let place = self.root().join(path);
                    let data = if left.contains(path) { None } else { std::fs::symlink_metadata(place).ok() };
                    index.add(&index_entry(path, *entry, data.as_ref())).map_err(fail)?;
                }
            }
        }
        index.write().map_err(fail)?;
        crash::point("index-drafted");
        files::rename(&draft, &place)
    }

    fn index_file(&self) -> PathBuf {
        self.git_dir().join("index")
    }

    fn move_file(&self) -> PathBuf {
        self.own("move.json")
    }
}

/// A path to show; of a repository inside the pool only its `.git`, not the hundred files of that.
fn outermost(path: &str) -> &str {
    path.find("/.git/").map_or(path, |at| &path[..at + "/.git/".len()])
}

/// The first part of `path` below `root` that is a link.
fn first_link(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut place = root.to_owned();
    for part in path.parent()?.components() {
        place.push(part);
        if place.is_symlink() {
            return Some(place);
        }
    }
    None
}

/// Removes the folders above `place` that became empty; git knows no empty folder.
pub(super) fn remove_if_empty(root: &Path, place: &Path) {
    for folder in place.ancestors().skip(1).take_while(|folder| *folder != root) {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// An index entry with the file's own state, so that git need not read the file again.
pub(super) fn index_entry(path: &str, entry: Entry, data: Option<&std::fs::Metadata>) -> IndexEntry {
    let time = |seconds: i64, nanos: i64| {
        IndexTime::new(i32::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0))
    };
    // The index keeps the low 32 bits of each of these.
    let low = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(0);
    IndexEntry {
        ctime: data.map_or(time(0, 0), |data| time(data.ctime(), data.ctime_nsec())),
        mtime: data.map_or(time(0, 0), |data| time(data.mtime(), data.mtime_nsec())),
        dev: data.map_or(0, |data| low(data.dev())),
        ino: data.map_or(0, |data| low(data.ino())),
        mode: entry.mode,
        uid: data.map_or(0, MetadataExt::uid),
        gid: data.map_or(0, MetadataExt::gid),
        file_size: data.map_or(0, |data| low(data.size())),
        id: entry.id,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}
