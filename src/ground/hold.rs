//! The lock that a job's supervisor holds while any process of the job may live, and what to do once it is free.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::{AtPath as _, Error, Result};
use super::{files, supervise, tree};

/// Waits until no process of an earlier job with this `hold` is alive, so that its folders may be touched.
/// What a killed supervisor left behind is ended.
///
/// Errors: `Failed` when it is still held after `patience`.
pub fn wait_until_free(hold: &Path, patience: Duration) -> Result<()> {
    if !hold.try_exists().at("find", hold)? {
        return Ok(());
    }
    let until = Instant::now() + patience;
    let file = open(hold)?;
    lock(&file, hold, patience)?;
    let token = files::read_lossy(hold)?;
    end_marked(&token, until.saturating_duration_since(Instant::now()))
}

/// Ends every process that carries a job's mark, for when its supervisor no longer can.
///
/// Errors: `Failed` when some are still there after `patience`.
pub(super) fn end_marked(token: &str, patience: Duration) -> Result<()> {
    let until = Instant::now() + patience;
    while !token.is_empty() && tree::kill_marked(token) > 0 {
        if Instant::now() > until {
            return Err(Error::failed("processes of an earlier agent cannot be ended")
                .hint(format!("look for processes with {}={token} in their environment", tree::MARK)));
        }
        std::thread::sleep(supervise::KILL_PAUSE);
    }
    Ok(())
}

/// Opens a job's lock file, made when missing.
pub(super) fn open(path: &Path) -> Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).open(path).at("open", path)
}

/// Locks it, with patience; the lock lasts as long as `file`.
pub(super) fn lock(file: &File, path: &Path, patience: Duration) -> Result<()> {
    let until = Instant::now() + patience;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(std::fs::TryLockError::Error(error)) => return Err(error).at("lock", path),
            Err(std::fs::TryLockError::WouldBlock) if Instant::now() >= until => {
                return Err(Error::failed(format!("an earlier agent still runs: {} is locked", path.display()))
                    .hint("wait for it, or end its \"skill-keeper\" process"));
            }
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
