//! Commits made in memory and made durable, and the only three ways in which a reference of the pool moves.

use std::collections::BTreeSet;
use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{ErrorCode, FileMode, Oid, Repository, Signature, Time};

use super::repo::{Changes, Pool, wrap};
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// Who a step's commit is by, when the pool's own config names nobody.
pub(super) const NAME: &str = "skilltrain";
pub(super) const EMAIL: &str = "skilltrain@localhost";

/// Objects above which one flush of the file system is cheaper than one of each.
const MANY: usize = 512;

/// Who a commit is by, and when.
#[derive(Debug, Clone)]
pub struct Author {
    name: String,
    email: String,
    seconds: i64,
}

impl Author {
    /// The fixed identity; `seconds` is Unix time, UTC.
    pub fn fixed(seconds: i64) -> Author {
        Author { name: NAME.to_owned(), email: EMAIL.to_owned(), seconds }
    }

    pub(super) fn signature(&self) -> Result<Signature<'static>> {
        Signature::new(&self.name, &self.email, &Time::new(self.seconds, 0))
            .map_err(|error| wrap(error, "user.name or user.email in the pool's config cannot stand in a commit"))
    }
}

impl Pool {
    /// Stores a card's bytes, raw, and gives its id.
    pub fn store(&self, bytes: &[u8]) -> Result<Oid> {
        self.repo.blob(bytes).map_err(|error| wrap(error, "cannot store a card in the pool"))
    }

    /// Makes a commit on `parent` that holds `changes`, and makes it and all that it needs durable. No reference
    /// moves.
    pub fn write_commit(&self, parent: Oid, changes: &Changes, message: &str, author: &Author) -> Result<Oid> {
        let fail = |error| wrap(error, "cannot make the commit");
        let parent = self.repo.find_commit(parent).map_err(fail)?;
        let base = parent.tree().map_err(fail)?;
        let tree_id = updated_tree(&self.repo, &base, changes).map_err(fail)?;
        let tree = self.repo.find_tree(tree_id).map_err(fail)?;
        let who = author.signature()?;
        let commit = self.repo.commit(None, &who, &who, message, &tree, &[&parent]).map_err(fail)?;
        self.flush(changes, &tree, commit)?;
        Ok(commit)
    }

    /// Whether a tree can hold a file at this path: git refuses what a file system could take for a `.git`.
    pub fn can_hold(&self, path: &str) -> Result<bool> {
        let fail = |error| wrap(error, "cannot try a name");
        let empty = self.repo.blob(b"").map_err(fail)?;
        let mut builder = self.repo.treebuilder(None).map_err(fail)?;
        Ok(path.split('/').all(|name| builder.insert(name, empty, FileMode::Blob.into()).is_ok()))
    }

    /// Moves the branch from `before` to `after`, or fails when it is no longer at `before`.
    pub fn advance(&self, before: Oid, after: Oid, why: &str) -> Result<()> {
        for attempt in 0_u64.. {
            match self.repo.reference_matching(self.branch(), after, true, before, why) {
                Err(error) if error.code() == ErrorCode::Locked && attempt < 20 => {
                    std::thread::sleep(std::time::Duration::from_millis(10 * (attempt + 1)));
                }
                Err(error) => return Err(wrap(error, "cannot move the pool's branch")),
                Ok(_) => break,
            }
        }
        self.flush_reference(self.branch())
    }

    /// Keeps a commit reachable under `refs/skilltrain/`.
    pub fn keep(&self, name: &str, commit: Oid) -> Result<String> {
        let name = format!("refs/skilltrain/{name}");
        let write = || self.repo.reference(&name, commit, true, "kept").map(drop);
        let written = match write() {
            // These are ours alone, and we hold the pool's lock: a killed trainer left this one.
            Err(error) if error.code() == ErrorCode::Locked => {
                files::remove(&self.reference_lock(&name))?;
                write()
            }
            written => written,
        };
        written.map_err(|error| wrap(error, &format!("cannot write {name}")))?;
        self.flush_reference(&name)?;
        crash::point("kept");
        Ok(name)
    }

    /// The names below `refs/skilltrain/<prefix>`, with the commits that they keep, in name order.
    pub fn kept(&self, prefix: &str) -> Result<Vec<(String, Oid)>> {
        let pattern = format!("refs/skilltrain/{prefix}*");
        let fail = |error| wrap(error, "cannot list the kept work");
        let mut kept: Vec<(String, Oid)> = Vec::new();
        for reference in self.repo.references_glob(&pattern).map_err(fail)?.flatten() {
            if let (Ok(name), Some(id)) = (reference.name(), reference.target()) {
                kept.push((name.to_owned(), id));
            }
        }
        kept.sort();
        Ok(kept)
    }

    /// Who commits in this pool are by: its own config's `user.name` and `user.email` where it names both, else the
    /// fixed identity. The user's global config has no say.
    pub fn author(&self, seconds: i64) -> Author {
        let own = git2::Config::open(&self.git_dir().join("config")).ok();
        let ask = |key: &str| own.as_ref().and_then(|config| config.get_string(key).ok());
        match (ask("user.name"), ask("user.email")) {
            (Some(name), Some(email)) => Author { name, email, seconds },
            _ => Author::fixed(seconds),
        }
    }

    /// Flushes the objects that a new commit brought. git2 does not flush what it writes, and a marker may only
    /// vouch for what a power cut leaves whole.
    fn flush(&self, changes: &Changes, tree: &git2::Tree<'_>, commit: Oid) -> Result<()> {
        let mut ids = BTreeSet::from([commit, tree.id()]);
        ids.extend(changes.values().flatten().map(|entry| entry.id));
        let folders: BTreeSet<&Path> = changes.keys().flat_map(|path| Path::new(path).ancestors().skip(1)).collect();
        let inner = folders.into_iter().filter(|folder| !folder.as_os_str().is_empty());
        ids.extend(inner.filter_map(|folder| tree.get_path(folder).ok()).map(|entry| entry.id()));
        let objects = self.git_dir().join("objects");
        if ids.len() > MANY {
            return flush_disk(&objects);
        }
        let places: Vec<(String, String)> = ids.iter().map(|id| split_id(*id)).collect();
        places.iter().try_for_each(|(folder, name)| flush_file(&objects.join(folder).join(name)))?;
        let folders: BTreeSet<&String> = places.iter().map(|(folder, _)| folder).collect();
        folders.into_iter().try_for_each(|folder| flush_file(&objects.join(folder)))
    }

    pub(super) fn flush_reference(&self, name: &str) -> Result<()> {
        let path = self.git_dir().join(name);
        flush_file(&path)?;
        path.parent().map_or(Ok(()), flush_file)
    }
}

/// Where a loose object lies: its folder and its name.
fn split_id(id: Oid) -> (String, String) {
    let mut folder = id.to_string();
    let name = folder.split_off(2);
    (folder, name)
}

/// Flushes the whole file system that a folder lies on.
fn flush_disk(folder: &Path) -> Result<()> {
    let file = std::fs::File::open(folder).at("open", folder)?;
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(&file).map_err(std::io::Error::from).at("flush", folder);
    #[cfg(not(target_os = "linux"))]
    file.sync_all().at("flush", folder)
}

/// The tree that `changes` make of `base`.
pub(super) fn updated_tree(repo: &Repository, base: &git2::Tree<'_>, changes: &Changes) -> Result<Oid, git2::Error> {
    if changes.is_empty() {
        return Ok(base.id());
    }
    // In two rounds: a file that became a folder has to be gone before anything can lie in it.
    let (mut gone, mut new) = (TreeUpdateBuilder::new(), TreeUpdateBuilder::new());
    for (path, entry) in changes {
        match entry {
            None => gone.remove(path.as_str()),
            Some(entry) => new.upsert(path.as_str(), entry.id, mode(entry.mode)),
        };
    }
    let left = gone.create_updated(repo, base)?;
    new.create_updated(repo, &repo.find_tree(left)?)
}

fn mode(mode: u32) -> FileMode {
    match mode {
        0o120_000 => FileMode::Link,
        0o160_000 => FileMode::Commit,
        0o100_755 => FileMode::BlobExecutable,
        _ => FileMode::Blob,
    }
}

/// Flushes a file or folder; one that is not there (an object that lies in a pack) was flushed by who made it.
fn flush_file(path: &Path) -> Result<()> {
    match std::fs::File::open(path) {
        Ok(file) => file.sync_all().at("flush", path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).at("flush", path),
    }
}

/// The time to put on commits, Unix seconds: `SOURCE_DATE_EPOCH` when set, for builds that must repeat, else now.
pub fn commit_time(env: &crate::ground::env::Env) -> Result<i64> {
    match env.get("SOURCE_DATE_EPOCH") {
        Some(text) => {
            text.parse().map_err(|_| Error::usage(format!("SOURCE_DATE_EPOCH: `{text}` is not a number of seconds")))
        }
        None => Ok(jiff::Timestamp::now().as_second()),
    }
}
