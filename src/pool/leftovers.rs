//! What a killed trainer leaves in the pool's git directory: locks that are told from a running git's, and drafts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::repo::Pool;
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// How long a lock must stay as it is before it is a dead process's: git holds a reference's for milliseconds.
const STALE: Duration = Duration::from_millis(500);
/// How often, and with what pause, a lock that a running git holds is waited for.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);

/// The index's lock, held; let go when dropped.
pub(super) struct IndexLock {
    lock: PathBuf,
    own: PathBuf,
}

impl IndexLock {
    /// Locks the pool's index as git does, in a way that shows later whose lock it was: the lock is a second name of
    /// a file of ours.
    pub(super) fn take(pool: &Pool) -> Result<IndexLock> {
        let (lock, own) = (pool.git_dir().join("index.lock"), pool.own("index.held"));
        files::write(&own, b"")?;
        crash::point("index-lock-drafted");
        for _ in 0..TRIES {
            let linked = match std::fs::hard_link(&own, &lock) {
                // A file system without second names: a lock like git's own.
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    std::fs::File::create_new(&lock).map(drop)
                }
                linked => linked,
            };
            match linked {
                Ok(()) => return Ok(IndexLock { lock, own }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => std::thread::sleep(PAUSE),
                Err(error) => return Err(error).at("lock", &lock),
            }
        }
        files::remove(&own)?;
        Err(locked("index", &lock))
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // What cannot be removed now is found and removed by the next call.
        files::remove(&self.lock).ok();
        files::remove(&self.own).ok();
    }
}

/// A lock of git's is in the way.
pub(super) fn locked(what: &str, lock: &Path) -> Error {
    Error::failed(format!("the pool's {what} is locked: {} exists", lock.display()))
        .hint("if no git command is running in the pool, a killed one left it: remove that file and run again")
}

impl Pool {
    /// A file of ours in the pool's git directory.
    pub(super) fn own(&self, name: &str) -> PathBuf {
        self.git_dir().join("skilltrain").join(name)
    }

    /// The lock of a reference.
    pub(super) fn reference_lock(&self, name: &str) -> PathBuf {
        self.git_dir().join(format!("{name}.lock"))
    }

    /// Takes away what a trainer that was killed left. Only call this while holding the pool's lock.
    ///
    /// `moving` is the commit to which it was about to move the branch. Another's lock is left alone.
    pub(super) fn clear_leftovers(&self, moving: Option<&str>) -> Result<()> {
        files::sweep(&self.own(""))?;
        files::remove(&self.own("index.new"))?;
        files::remove(&self.own("index.new.lock"))?;
        let (own, lock) = (self.own("index.held"), self.git_dir().join("index.lock"));
        if let Some(state) = state(&own) {
            if self::state(&lock) == Some(state) {
                files::remove(&lock)?;
            }
            files::remove(&own)?;
        }
        match moving {
            Some(after) => self.clear_branch_lock(after),
            None => Ok(()),
        }
    }

    /// Removes the branch's lock when it is what our own move left: empty, or holding the commit that we were about
    /// to write, and unchanged for a while.
    fn clear_branch_lock(&self, after: &str) -> Result<()> {
        let lock = self.reference_lock(self.branch());
        let is_ours = || -> Result<Option<(u64, u64, i64, i64)>> {
            let text = files::read_if_there(&lock)?;
            let ours = |text: Vec<u8>| text.is_empty() || text.strip_suffix(b"\n") == Some(after.as_bytes());
            Ok(if text.is_some_and(ours) { state(&lock) } else { None })
        };
        let Some(first) = is_ours()? else {
            return Ok(());
        };
        std::thread::sleep(STALE);
        if is_ours()? == Some(first) { files::remove(&lock) } else { Ok(()) }
    }
}

/// What tells one file from another, and one state of it from the next.
fn state(path: &Path) -> Option<(u64, u64, i64, i64)> {
    let data = path.symlink_metadata().ok()?;
    Some((data.dev(), data.ino(), data.mtime(), data.mtime_nsec()))
}
