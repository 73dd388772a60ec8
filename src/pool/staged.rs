//! The lint of what is staged: the pre-commit hook of a checkout.
//!
//! git runs a hook with `GIT_INDEX_FILE` naming the index that it is about to commit, which need not be the usual
//! one (`git commit -- path`); this is the one variable of git's that counts here.

use std::collections::HashSet;
use std::path::Path;

use git2::{Index, Oid, Repository};

use super::lint::{Entry, Linter, Report};
use super::profile::{PROFILE_FILE, Profile};
use super::repo::wrap;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};

/// Lints the index of the repository at `root`. Cards that are as in HEAD were checked before and are not read.
pub fn lint(root: &Path, env: &Env) -> Result<Report> {
    let fail = |error| wrap(error, "cannot read what is staged");
    let repo = Repository::open(root).map_err(fail)?;
    let index = match env.get_os("GIT_INDEX_FILE") {
        Some(file) => Index::open(&root.join(file)).map_err(fail)?,
        None => repo.index().map_err(fail)?,
    };
    let staged: Vec<(Vec<u8>, u32, Oid)> = index.iter().map(|entry| (entry.path, entry.mode, entry.id)).collect();
    let profile = staged.iter().find(|(path, ..)| path == PROFILE_FILE.as_bytes());
    let (.., id) = profile.ok_or_else(|| Error::failed(format!("{PROFILE_FILE} is not staged: a pool keeps it")))?;
    let profile = repo.find_blob(*id).map_err(fail)?;
    let text =
        std::str::from_utf8(profile.content()).map_err(|_| Error::failed(format!("{PROFILE_FILE} is not UTF-8")))?;
    let linter = Linter::new(&Profile::parse(text, PROFILE_FILE)?.with_env(env)?)?;
    let known = committed(&repo);
    let entries: Vec<Entry<'_>> = staged.iter().map(|(path, mode, _)| Entry { path, mode: *mode }).collect();
    let mut loaded = std::collections::HashMap::new();
    for (at, (.., id)) in staged.iter().enumerate() {
        if !known.contains(id) && linter.card_path(&entries[at]).is_some() {
            loaded.insert(at, repo.find_blob(*id).map_err(fail)?.content().to_vec());
        }
    }
    let load = |at: usize| Ok(loaded.get(&at).map_or(&[][..], Vec::as_slice));
    linter.all(&entries, load, |at| !loaded.contains_key(&at))
}

/// The blobs of HEAD.
fn committed(repo: &Repository) -> HashSet<Oid> {
    let head = repo.head().and_then(|head| head.peel_to_commit());
    let files = head.ok().and_then(|commit| super::repo::files_of(repo, commit.id()).ok());
    files.unwrap_or_default().into_values().map(|entry| entry.id).collect()
}
