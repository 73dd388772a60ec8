//! Work that is not taken is kept: an attempt's edits stay reachable under `refs/skilltrain/failed/`.

use crate::ground::error::Result;
use crate::pool::Oid;
use crate::pool::checkout::{Checkout, Edited};
use crate::pool::history;
use crate::pool::repo::{Changes, Pool};

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
    // A `.git` inside a subfolder cannot stand in a tree; it stays in the checkout on disk.
    let storable: Changes = edited
        .changes
        .iter()
        .filter(|(path, _)| !path.split('/').any(|part| part.eq_ignore_ascii_case(".git")))
        .map(|(path, entry)| (path.clone(), *entry))
        .collect();
    if storable.is_empty() {
        return Ok(None);
    }
    let changes = store(pool, checkout, &storable)?;
    let message = history::message(&format!("failed attempt {attempt} of {label}: {why}"), &[], &[]);
    let commit = pool.write_commit(checkout.before(), &changes, &message, &pool.author(seconds))?;
    let name = pool.keep(&format!("failed/{label}/{attempt}"), commit)?;
    Ok(Some((commit, name)))
}

/// The highest attempt of this label that is kept; 0 when there is none.
pub fn last_attempt(pool: &Pool, label: &str) -> Result<usize> {
    let kept = pool.kept(&format!("failed/{label}/"))?;
    let numbers = kept.iter().filter_map(|(name, _)| name.rsplit('/').next()?.parse().ok());
    Ok(numbers.max().unwrap_or(0))
}
