//! A new pool: a folder of files in a repository of its own, its first commit made.

use std::collections::BTreeMap;
use std::path::Path;

use git2::{Repository, RepositoryInitOptions};

use super::commit::Author;
use super::repo::{Changes, Entry, PLAIN, Pool, wrap};
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// How the folder begins in which a pool is made before it is moved to its place.
pub const DRAFT: &str = ".tmp-pool-";

/// Makes a pool of `contents` (path → bytes) in `folder`, which must be missing or empty, and commits them.
///
/// The user's templates, hooks and default branch have no say: the branch is `main`. The pool is made beside its
/// place and renamed into it, so that it is there whole or not at all.
pub fn create(folder: &Path, contents: &BTreeMap<String, Vec<u8>>, subject: &str, author: &Author) -> Result<Pool> {
    refuse_used(folder)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    files::create_dir(parent)?;
    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(parent).at("create a folder in", parent)?;
    std::fs::set_permissions(draft.path(), files::permissions(0o755)).at("open up", draft.path())?;
    fill(draft.path(), contents, subject, author)?;
    files::rename(draft.path(), folder)?;
    Pool::open(folder)
}

fn fill(folder: &Path, contents: &BTreeMap<String, Vec<u8>>, subject: &str, author: &Author) -> Result<()> {
    let fail = |error| wrap(error, "cannot make the pool's repository");
    let mut options = RepositoryInitOptions::new();
    options.no_reinit(true).external_template(false).initial_head("main");
    let repo = Repository::init_opts(folder, &options).map_err(fail)?;
    let mut config = repo.config().and_then(|config| config.open_level(git2::ConfigLevel::Local)).map_err(fail)?;
    config.set_str("notes.displayRef", "refs/notes/skilltrain*").map_err(fail)?;
    let mut changes = Changes::new();
    for (path, bytes) in contents {
        files::write(&folder.join(path), bytes)?;
        let id = repo.blob(bytes).map_err(fail)?;
        changes.insert(path.clone(), Some(Entry { id, mode: PLAIN }));
    }
    first_commit(&repo, folder, &changes, subject, author)
}

fn first_commit(repo: &Repository, folder: &Path, changes: &Changes, subject: &str, author: &Author) -> Result<()> {
    let fail = |error| wrap(error, "cannot make the pool's first commit");
    let empty = repo.treebuilder(None).and_then(|builder| builder.write()).map_err(fail)?;
    let base = repo.find_tree(empty).map_err(fail)?;
    let tree = super::commit::updated_tree(repo, &base, changes).map_err(fail)?;
    let tree = repo.find_tree(tree).map_err(fail)?;
    let who = author.signature()?;
    repo.commit(Some("refs/heads/main"), &who, &who, &format!("{subject}\n"), &tree, &[]).map_err(fail)?;
    let mut index = repo.index().map_err(fail)?;
    for (path, entry) in changes {
        if let Some(entry) = entry {
            let data = std::fs::symlink_metadata(folder.join(path)).ok();
            index.add(&super::worktree::index_entry(path, *entry, data.as_ref())).map_err(fail)?;
        }
    }
    index.write().map_err(fail)
}

fn refuse_used(folder: &Path) -> Result<()> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(Error::usage(format!("{} is not empty", folder.display()))
                .hint("name a new folder; nothing in this one was touched")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::usage(format!("cannot use {}: {error}", folder.display()))),
    }
}
