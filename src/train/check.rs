//! The lint as training uses it: each blob is read and checked once, each card parsed once.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::pool::Oid;
use crate::pool::card::Card;
use crate::pool::lint::{self, Linter, Problem};
use crate::pool::profile::{PROFILE_FILE, Profile};
use crate::pool::repo::{Changes, Entry, Files, Pool};

/// A pool's profile and lint, with what it has seen.
pub struct Checker {
    profile: Profile,
    linter: Linter,
    clean: RefCell<HashSet<Oid>>,
    cards: RefCell<HashMap<(String, Oid), Card>>,
}

impl Checker {
    /// The checker of the pool's profile as committed in `commit`.
    pub fn of(pool: &Pool, commit: Oid, env: &Env) -> Result<Checker> {
        let bytes = pool.file(commit, PROFILE_FILE)?.ok_or_else(|| {
            Error::usage(format!("the pool {} has no {PROFILE_FILE} in its newest commit", pool.root().display()))
                .hint("a pool says there what its cards look like; `skilltrain init` makes one")
        })?;
        let text = String::from_utf8(bytes).map_err(|_| Error::usage(format!("{PROFILE_FILE} is not UTF-8")))?;
        let profile = Profile::parse(&text, pool.root().join(PROFILE_FILE))?.with_env(env)?;
        let linter = Linter::new(&profile)?;
        Ok(Checker { profile, linter, clean: RefCell::default(), cards: RefCell::default() })
    }

    /// The pool's profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// All problems of a tree: `files` with `changes` applied. `bytes` reads a file by its path; a blob that passed
    /// before is not read again.
    pub fn problems(
        &self,
        files: &Files,
        changes: &Changes,
        bytes: impl Fn(&str) -> Result<Vec<u8>>,
    ) -> Result<Vec<Problem>> {
        let kept = files.iter().filter(|(path, _)| !changes.contains_key(*path)).map(|(path, entry)| (path, *entry));
        let new = changes.iter().filter_map(|(path, entry)| entry.map(|entry| (path, entry)));
        let all: Vec<(&String, Entry)> = kept.chain(new).collect();
        let entries: Vec<lint::Entry<'_>> =
            all.iter().map(|(path, entry)| lint::Entry { path: path.as_bytes(), mode: entry.mode }).collect();
        let mut clean = self.clean.borrow_mut();
        let mut loaded: HashMap<usize, Vec<u8>> = HashMap::new();
        for (index, (path, entry)) in all.iter().enumerate() {
            if self.linter.card_path(&entries[index]).is_some() && !clean.contains(&entry.id) {
                loaded.insert(index, bytes(path)?);
            }
        }
        let load = |index: usize| Ok(loaded.get(&index).map_or(&[][..], Vec::as_slice));
        let problems = self.linter.all(&entries, load, |index| !loaded.contains_key(&index))?.problems;
        let bad: HashSet<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        clean.extend(
            loaded
                .keys()
                .map(|index| all[*index])
                .filter(|(path, _)| !bad.contains(path.as_str()))
                .map(|(_, entry)| entry.id),
        );
        Ok(problems)
    }

    /// The pool's cards as of some files, in path order. Those that do not parse are left out: the lint has them.
    pub fn cards(&self, pool: &Pool, files: &Files) -> Result<Vec<Card>> {
        let mut cards = Vec::new();
        for (path, entry) in files.iter().filter(|(path, _)| self.profile.is_card_path(path)) {
            let key = (path.clone(), entry.id);
            let mut seen = self.cards.borrow_mut();
            if let Some(card) = seen.get(&key) {
                cards.push(card.clone());
            } else if let Ok(card) = Card::parse(path, &pool.blob(entry.id)?) {
                seen.insert(key, card.clone());
                cards.push(card);
            }
        }
        Ok(cards)
    }
}
