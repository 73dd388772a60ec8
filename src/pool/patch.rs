//! A step's diff as text, such as `git apply` takes.

use git2::{DiffFormat, DiffOptions, Oid};

use super::repo::{Pool, wrap};
use crate::ground::error::Result;

impl Pool {
    /// What changed between two commits, as a patch in git's format; empty when nothing did.
    pub fn patch(&self, before: Oid, after: Oid) -> Result<Vec<u8>> {
        let fail = |error| wrap(error, "cannot write the patch");
        let tree = |id| self.repo.find_commit(id).and_then(|commit: git2::Commit<'_>| commit.tree());
        let (old, new) = (tree(before).map_err(fail)?, tree(after).map_err(fail)?);
        let mut options = DiffOptions::new();
        // Said in full, so that neither `diff.noprefix` nor an attributes file of the user's changes the patch.
        options.show_binary(true).id_abbrev(40).old_prefix("a/").new_prefix("b/").context_lines(3).interhunk_lines(0);
        options.force_text(!self.holds_binary(before, after)?);
        let diff = self.repo.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).map_err(fail)?;
        let mut text = Vec::new();
        diff.print(DiffFormat::Patch, |_, _, line| {
            if matches!(line.origin(), '+' | '-' | ' ') {
                text.push(u8::try_from(line.origin()).unwrap_or(b' '));
            }
            text.extend_from_slice(line.content());
            true
        })
        .map_err(fail)?;
        Ok(text)
    }

    /// Whether a file that differs is binary as git sees it: it holds a zero byte.
    fn holds_binary(&self, before: Oid, after: Oid) -> Result<bool> {
        for (path, new) in self.changes(before, after)? {
            let new = new.filter(|entry| entry.mode != 0o160_000).map(|entry| self.blob(entry.id)).transpose()?;
            let old = self.file(before, &path)?;
            if old.into_iter().chain(new).any(|bytes| bytes.contains(&0)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
