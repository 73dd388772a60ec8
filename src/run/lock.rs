//! One trainer at a time on a pool.
//!
//! The lock is the operating system's (flock), so a holder that died holds nothing; the file only says who it was.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// Who holds a pool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// The machine that it runs on.
    pub host: String,
    /// What it trains.
    pub label: String,
}

/// A held lock; let go when dropped.
#[derive(Debug)]
pub struct PoolLock {
    _file: File,
}

fn lock_path(git_dir: &Path) -> PathBuf {
    git_dir.join("skilltrain").join("lock")
}

/// Takes the pool's lock for `label`, or fails naming who has it.
pub fn take(git_dir: &Path, label: &str) -> Result<PoolLock> {
    let path = lock_path(git_dir);
    files::create_dir(path.parent().unwrap_or(git_dir))?;
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).at("open", &path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(held(read(&mut file).unwrap_or_else(unknown))),
        Err(TryLockError::Error(error)) => return Err(error).at("lock", &path),
    }
    let holder = Holder { pid: std::process::id(), host: host(), label: label.to_owned() };
    let text = serde_json::to_string(&holder).map_err(Error::failed)?;
    file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes())).at("write", &path)?;
    Ok(PoolLock { _file: file })
}

/// Who holds the pool now, if anyone does.
pub fn holder(git_dir: &Path) -> Option<Holder> {
    let mut file = File::open(lock_path(git_dir)).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(read(&mut file).unwrap_or_else(unknown)),
        _ => None,
    }
}

/// Fails, naming who has it, when the pool is held.
pub fn check(git_dir: &Path) -> Result<()> {
    holder(git_dir).map_or(Ok(()), |holder| Err(held(holder)))
}

fn held(Holder { pid, host, label }: Holder) -> Error {
    Error::failed(format!("another trainer works on this pool: process {pid} on {host}, training `{label}`"))
        .hint("wait for it to end (its work resumes and yours can follow), or stop it with Ctrl-C")
}

fn read(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn unknown() -> Holder {
    Holder { pid: 0, host: "an unknown host".into(), label: "?".into() }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "this machine".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_refused_naming_the_first_and_a_dropped_lock_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path(), "one").unwrap();
        let refused = take(folder.path(), "two").unwrap_err().to_string();
        assert!(refused.contains(&std::process::id().to_string()) && refused.contains("`one`"), "{refused}");
        assert_eq!(holder(folder.path()).unwrap().label, "one");
        drop(first);
        assert!(holder(folder.path()).is_none());
        take(folder.path(), "two").unwrap();
    }
}
