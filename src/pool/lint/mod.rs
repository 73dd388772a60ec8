//! The lint: what a pool may hold, told as a list of all problems at once.
//!
//! Pure: it gets paths, modes and bytes and never touches a disk. A card's problems depend on its bytes and the
//! profile alone, so a blob that was clean once is clean for ever under that profile ([`Profile::digest`]).

mod body;
mod card;
pub mod codes;
pub(crate) mod fold;
pub(crate) mod forbidden;
pub(crate) mod front_matter;
pub(crate) mod hidden;
mod secrets;
#[cfg(test)]
mod tests;
pub(crate) mod text;
mod tree;

use std::fmt;

use rayon::prelude::*;
use serde::Serialize;

pub use self::codes::CODES;
use super::profile::Profile;
use crate::ground::error::Result;

/// Raised with every change of what the lint refuses: results remembered under an older one are worth nothing.
pub(crate) const VERSION: u32 = 1;

/// Problems of one code shown for one card; the rest are counted.
const SHOWN: usize = 5;

/// Below this many cards the threads cost more than they save.
const FEW: usize = 32;

/// One thing that is wrong, and what to do about it. Sorts by path, line and code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file's path in the pool, made printable.
    pub path: String,
    /// The line, counted from 1, where there is one.
    pub line: Option<usize>,
    /// A stable code in kebab case: one of [`CODES`] or of the profile's.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Problem {
    /// `path:line: code: message`, then the hint on a line of its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: {}", self.code, self.message)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "\n  hint: {}", self.hint) }
    }
}

/// The outcome of a lint: what `--json` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// All problems, sorted.
    pub problems: Vec<Problem>,
    /// How many cards the pool has, remembered ones included.
    pub cards: usize,
}

impl fmt::Display for Report {
    /// One problem after another, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problems.iter().try_for_each(|problem| writeln!(f, "{problem}"))
    }
}

/// A file of a tree, as git names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The whole path, with `/`, as bytes: git does not promise UTF-8.
    pub path: &'a [u8],
    /// git's mode, for instance `0o100644`.
    pub mode: u32,
}

/// A profile's rules, compiled at most once for any number of cards.
#[derive(Debug)]
pub struct Linter {
    profile: Profile,
    forbidden: forbidden::Patterns,
}

impl Linter {
    /// Makes a linter of a profile. Cheap: patterns are compiled with the first card that is not known to be clean.
    ///
    /// # Errors
    /// Of kind usage, when a pattern of the profile is not a regular expression (one that was parsed has none such).
    pub fn new(profile: &Profile) -> Result<Self> {
        Ok(Linter { profile: profile.clone(), forbidden: forbidden::Patterns::new(&profile.forbidden)? })
    }

    /// All problems of one card. Apart from the name in them they depend on the bytes alone.
    pub fn card(&self, path: &str, bytes: &[u8]) -> Vec<Problem> {
        let mut found = Found::new(path);
        card::check(self, bytes, &mut found);
        found.into_sorted()
    }

    /// All problems of a tree's paths and modes; the files' bytes are not needed.
    pub fn tree(&self, entries: &[Entry<'_>]) -> Vec<Problem> {
        let mut problems = tree::check(&self.profile, entries);
        problems.sort();
        problems
    }

    /// All problems of a tree and its cards, the cards in parallel, each read once.
    ///
    /// `load` gets an index into `entries` and gives that file's bytes; `known` says whether the blob at that index is
    /// already known to be clean under [`Profile::digest`], and is then not loaded.
    ///
    /// # Errors
    /// Those of `load`, the first one in the order of `entries`.
    pub fn all<B: AsRef<[u8]>>(
        &self,
        entries: &[Entry<'_>],
        load: impl Fn(usize) -> Result<B> + Sync,
        known: impl Fn(usize) -> bool + Sync,
    ) -> Result<Report> {
        let cards: Vec<(usize, &str)> =
            entries.iter().enumerate().filter_map(|(index, entry)| Some((index, self.card_path(entry)?))).collect();
        let one = |&(index, path): &(usize, &str)| -> Result<Vec<Problem>> {
            if known(index) { Ok(Vec::new()) } else { Ok(self.card(path, load(index)?.as_ref())) }
        };
        let found: Vec<Result<Vec<Problem>>> =
            if cards.len() < FEW { cards.iter().map(one).collect() } else { cards.par_iter().map(one).collect() };
        let mut problems = tree::check(&self.profile, entries);
        for card in found {
            problems.extend(card?);
        }
        problems.sort();
        Ok(Report { problems, cards: cards.len() })
    }

    /// The entry's path, when its bytes are a card's: a file at a card's place. Links and submodules have no bytes.
    pub fn card_path<'e>(&self, entry: &Entry<'e>) -> Option<&'e str> {
        let path = std::str::from_utf8(entry.path).ok()?;
        (tree::is_file(entry.mode) && self.profile.is_card_path(path)).then_some(path)
    }
}

/// All problems of one card; to check many, make a [`Linter`] once.
///
/// # Errors
/// Those of [`Linter::new`].
pub fn lint_card(profile: &Profile, path: &str, bytes: &[u8]) -> Result<Vec<Problem>> {
    Ok(Linter::new(profile)?.card(path, bytes))
}

/// All problems of a tree's paths and modes.
pub fn lint_tree(profile: &Profile, entries: &[Entry<'_>]) -> Vec<Problem> {
    let mut problems = tree::check(profile, entries);
    problems.sort();
    problems
}

/// The problems of one file, as they are found.
#[derive(Debug)]
pub(crate) struct Found<'p> {
    path: &'p str,
    problems: Vec<Problem>,
    unshown: Vec<(String, usize)>,
}

impl<'p> Found<'p> {
    pub(crate) fn new(path: &'p str) -> Self {
        Found { path, problems: Vec::new(), unshown: Vec::new() }
    }

    /// Adds a problem; of one code only the first few are kept, the others counted.
    pub(crate) fn add(
        &mut self,
        code: &str,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        if self.problems.iter().filter(|problem| problem.code == code).count() >= SHOWN {
            match self.unshown.iter_mut().find(|(other, _)| other == code) {
                Some((_, count)) => *count += 1,
                None => self.unshown.push((code.to_string(), 1)),
            }
            return;
        }
        self.problems.push(Problem {
            path: hidden::printable(self.path),
            line: line.into(),
            code: code.to_string(),
            message: message.into(),
            hint: hint.into(),
        });
    }

    /// Whether a problem of this code was found.
    pub(crate) fn has(&self, code: &str) -> bool {
        self.problems.iter().any(|problem| problem.code == code)
    }

    /// The problems by line and code; the last one of a code says how many more there are.
    pub(crate) fn into_sorted(mut self) -> Vec<Problem> {
        for (code, count) in self.unshown {
            if let Some(last) = self.problems.iter_mut().rfind(|problem| problem.code == code) {
                last.message = format!("{} (and {count} more like it)", last.message);
            }
        }
        self.problems.sort();
        self.problems
    }
}
