//! The lint of a pool as it lies on disk, committed or not. What was clean once is remembered by its content.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use git2::Oid;
use rayon::prelude::*;

use super::folder;
use super::lint::{Entry, Linter, Problem, Report};
use super::profile::Profile;
use crate::ground::error::Result;
use crate::ground::files;

/// Bytes of an object id.
const ID: usize = 20;

/// Lints the files below `root`: each is read once, in parallel.
pub fn lint(root: &Path, profile: &Profile) -> Result<Report> {
    let linter = Linter::new(profile)?;
    let memory = Memory::open(root, &profile.digest());
    let (paths, odd) = folder::paths(root)?;
    let modes: Vec<u32> = paths.par_iter().map(|path| folder::mode(&root.join(path))).collect();
    let entries: Vec<Entry<'_>> =
        paths.iter().zip(&modes).map(|(path, mode)| Entry { path: path.as_bytes(), mode: *mode }).collect();
    let cards: Vec<(usize, &str)> =
        entries.iter().enumerate().filter_map(|(at, entry)| Some((at, linter.card_path(entry)?))).collect();
    let found: Vec<Result<(Option<Oid>, Vec<Problem>)>> = cards
        .par_iter()
        .map(|(_, path)| {
            let bytes = files::read(&root.join(path))?;
            let id = folder::hash(&bytes)?;
            if memory.is_clean(id) { Ok((Some(id), Vec::new())) } else { linter_card(&linter, path, &bytes, id) }
        })
        .collect();
    let mut problems = linter.tree(&entries);
    problems.extend(odd.into_iter().map(not_utf8));
    let mut clean = Vec::with_capacity(cards.len());
    for card in found {
        let (id, bad) = card?;
        clean.extend(id);
        problems.extend(bad);
    }
    problems.sort();
    memory.save(&clean);
    Ok(Report { problems, cards: cards.len() })
}

fn linter_card(linter: &Linter, path: &str, bytes: &[u8], id: Oid) -> Result<(Option<Oid>, Vec<Problem>)> {
    let problems = linter.card(path, bytes);
    Ok((problems.is_empty().then_some(id), problems))
}

fn not_utf8(path: String) -> Problem {
    Problem {
        path,
        line: None,
        code: "path-not-utf8".into(),
        message: "the path is not UTF-8".into(),
        hint: "rename the file".into(),
    }
}

/// The ids of cards that were clean, kept in the pool's git directory; another profile or lint has another file.
struct Memory {
    file: Option<PathBuf>,
    clean: HashSet<Oid>,
}

impl Memory {
    fn open(root: &Path, digest: &str) -> Memory {
        let folder = root.join(".git/skilltrain");
        let file = root.join(".git").is_dir().then(|| folder.join(format!("clean-{}", &digest[..16])));
        let bytes = file.as_ref().and_then(|file| files::read(file).ok()).unwrap_or_default();
        let ids = bytes.chunks_exact(ID).filter_map(|id| Oid::from_bytes(id).ok());
        Memory { clean: ids.collect(), file }
    }

    fn is_clean(&self, id: Oid) -> bool {
        self.clean.contains(&id)
    }

    /// Remembers exactly what is clean now, when it differs from what was known. A pool that cannot be written to is
    /// linted all the same.
    fn save(&self, clean: &[Oid]) {
        let Some(file) = self.file.as_ref().filter(|_| clean.iter().any(|id| !self.clean.contains(id))) else {
            return;
        };
        let mut bytes: Vec<u8> = Vec::with_capacity(clean.len() * ID);
        clean.iter().for_each(|id| bytes.extend_from_slice(id.as_bytes()));
        files::write(file, bytes).ok();
    }
}
