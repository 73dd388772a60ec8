//! What is known of a commit only after it was made: notes that `git log` shows, and tags.

use git2::Oid;

use super::commit::Author;
use super::repo::{Pool, wrap};
use crate::ground::error::{Error, Result};

/// Where notes lie; a pool's own configuration makes `git log` show them.
pub const NOTES: &str = "refs/notes/skilltrain";

impl Pool {
    /// Puts a note on a commit, in the place of an earlier one. The same text again changes nothing.
    ///
    /// # Errors
    /// Of kind `Failed` when the pool cannot be written.
    pub fn annotate(&self, commit: Oid, text: &str, author: &Author) -> Result<()> {
        if self.note(commit).as_deref() == Some(text) {
            return Ok(());
        }
        let who = author.signature()?;
        self.repo
            .note(&who, &who, Some(NOTES), commit, text, true)
            .map_err(|error| wrap(error, &format!("cannot put a note on {commit}")))?;
        self.flush_reference(NOTES)
    }

    /// The note on a commit.
    pub fn note(&self, commit: Oid) -> Option<String> {
        let note = self.repo.find_note(Some(NOTES), commit).ok()?;
        note.message().ok().map(str::to_owned)
    }

    /// Puts a tag on a commit, and takes it from another that had it.
    ///
    /// # Errors
    /// Of kind `Failed` when the pool cannot be written.
    pub fn tag(&self, name: &str, commit: Oid) -> Result<()> {
        let name = format!("refs/tags/{name}");
        if self.repo.refname_to_id(&name).is_ok_and(|known| known == commit) {
            return Ok(());
        }
        self.repo
            .reference(&name, commit, true, "skilltrain")
            .map_err(|error| wrap(error, &format!("cannot write {name}")))?;
        self.flush_reference(&name)
    }

    /// The id of a commit's tree: two commits with the same one hold the same cards.
    ///
    /// # Errors
    /// Of kind `Failed` when there is no such commit.
    pub fn tree(&self, commit: Oid) -> Result<Oid> {
        let commit = self.repo.find_commit(commit).map_err(|error| wrap(error, "cannot read a commit"))?;
        Ok(commit.tree_id())
    }

    /// The commits from `from` (not included) to `to`, oldest first, along first parents.
    ///
    /// # Errors
    /// Of kind `Failed` when `from` is not in the history of `to`.
    pub fn between(&self, from: Oid, to: Oid) -> Result<Vec<Oid>> {
        let mut commits = Vec::new();
        let mut at = to;
        while at != from {
            commits.push(at);
            at = self
                .only_parent(at)?
                .ok_or_else(|| Error::failed(format!("the commit {from} is not in the history of {to}")))?;
        }
        commits.reverse();
        Ok(commits)
    }
}
