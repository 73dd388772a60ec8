//! Work that is not taken is kept: an attempt's edits stay reachable under `refs/skilltrain/failed/`.

use std::path::Path;

use crate::ground::error::Result;
use crate::ground::files;
use crate::pool::Oid;
use crate::pool::checkout::{Checkout, Edited};
use crate::pool::history;
use crate::pool::repo::{Changes, Pool};
use crate::train::evidence::Original;

/// Copies a checkout's changed files into the pool's objects, as they are, and gives the changes as stored.
pub fn store(pool: &Pool, checkout: &Checkout, changes: &Changes) -> Result<Changes> {
    let mut stored = Changes::new();
    for (path, entry) in changes {
        let entry = match entry {
            None => None,
            Some(entry) => Some(crate::pool::repo::Entry { id: pool.store(&checkout.read(path)?)?, mode: entry.mode }),
        };
        stored.insert(path.clone(), entry);
    }
    Ok(stored)
}

/// The commit that keeps a failed attempt's edits, and the reference that holds it. None when nothing was edited.
pub fn failed_attempt(
    pool: &Pool,
    checkout: &Checkout,
    edited: &Edited,
    label: &str,
    attempt: usize,
    why: &str,
    seconds: i64,
) -> Result<Option<(Oid, String)>> {
    let storable = storable(pool, &edited.changes)?;
    if storable.is_empty() {
        return Ok(None);
    }
    let changes = store(pool, checkout, &storable)?;
    let message = history::message(&format!("failed attempt {attempt} of {label}: {why}"), &[], &[]);
    let commit = pool.write_commit(checkout.before(), &changes, &message, &pool.author(seconds))?;
    let name = pool.keep(&format!("failed/{label}/{attempt}"), commit)?;
    Ok(Some((commit, name)))
}

/// The changes that a tree can hold. What lies in a folder named `.git`, or in one that could be taken for it, stays on
/// disk only, until the next attempt.
fn storable(pool: &Pool, changes: &Changes) -> Result<Changes> {
    let mut storable = Changes::new();
    for (path, entry) in changes {
        // A name of letters and the like is none of those, and asking for each of many costs time.
        let plain = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/.".contains(&byte));
        if (plain && !path.to_ascii_lowercase().contains(".git")) || pool.can_hold(path)? {
            storable.insert(path.clone(), *entry);
        }
    }
    Ok(storable)
}

/// Keeps evidence that an optimizer changed as it was read before, in `folder`, numbered in the group's order. Where it
/// came from it is not put back: it may be the user who changed it.
pub fn evidence(folder: &Path, originals: &[Original], changed: &[String]) -> Result<()> {
    let is_changed = |path: &Path| changed.iter().any(|other| *other == path.display().to_string());
    for (n, original) in originals.iter().enumerate().filter(|(_, original)| is_changed(&original.path)) {
        let name = original.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files::write(&folder.join(format!("{:02}-{name}", n + 1)), &original.bytes)?;
    }
    Ok(())
}

/// The highest attempt of this label that is kept; 0 when there is none.
pub fn last_attempt(pool: &Pool, label: &str) -> Result<usize> {
    let kept = pool.kept(&format!("failed/{label}/"))?;
    let numbers = kept.iter().filter_map(|(name, _)| name.rsplit('/').next()?.parse().ok());
    Ok(numbers.max().unwrap_or(0))
}
