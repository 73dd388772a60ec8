//! The pool that a run starts from: made of a folder of cards, or of nothing but a profile.

use std::collections::BTreeMap;
use std::path::Path;

use super::commit::Author;
use super::init;
use super::lint::{Entry, Linter};
use super::profile::{PROFILE_FILE, Profile, RULES_TEMPLATE};
use super::repo::{PLAIN, Pool};
use crate::ground::error::{Error, Result};
use crate::ground::files;

/// Makes a pool of a folder's files: a folder of cards, or another pool as it lies on disk. One without a profile gets the
/// default one. `seconds` is the date of its commit, Unix time.
///
/// # Errors
/// Of kind `Usage` for what cannot be part of a pool; of I/O.
pub fn copy(source: &Path, place: &Path, subject: &str, seconds: i64) -> Result<Pool> {
    let mut contents = BTreeMap::new();
    let is_git = |entry: &walkdir::DirEntry| entry.depth() == 1 && entry.file_name() == ".git";
    let walk = walkdir::WalkDir::new(source).min_depth(1).follow_links(false).into_iter();
    for entry in walk.filter_entry(|entry| !is_git(entry)) {
        let entry = entry
            .map_err(|error| Error::usage(error).context(format!("cannot read the cards in {}", source.display())))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let path = entry.path().strip_prefix(source).unwrap_or(entry.path());
        let name = path.to_str().filter(|_| entry.file_type().is_file()).ok_or_else(|| {
            Error::usage(format!(
                "{} cannot be part of a pool: it is a link, or its name is not UTF-8",
                entry.path().display()
            ))
        })?;
        contents.insert(name.to_owned(), files::read(entry.path())?);
    }
    contents.entry(PROFILE_FILE.to_owned()).or_insert_with(|| RULES_TEMPLATE.into());
    check(source, &contents)?;
    init::create(place, &contents, subject, &Author::fixed(seconds))
}

/// Refuses files that no step could go on from: each would be refused for what it was begun with.
fn check(source: &Path, contents: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let profile = String::from_utf8_lossy(&contents[PROFILE_FILE]).into_owned();
    let linter = Linter::new(&Profile::parse(&profile, source.join(PROFILE_FILE))?)?;
    let files: Vec<(&String, &Vec<u8>)> = contents.iter().collect();
    let entries: Vec<Entry<'_>> = files.iter().map(|(path, _)| Entry { path: path.as_bytes(), mode: PLAIN }).collect();
    let problems = linter.all(&entries, |index| Ok(files[index].1.as_slice()), |_| false)?.problems;
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    Err(Error::usage(format!("the cards in {} do not pass the lint:{}", source.display(), lines.concat())))
}

/// Makes a pool without a card.
///
/// # Errors
/// Of I/O, and when the place is taken.
pub fn empty(place: &Path, subject: &str, seconds: i64) -> Result<Pool> {
    let contents = BTreeMap::from([(PROFILE_FILE.to_owned(), RULES_TEMPLATE.as_bytes().to_vec())]);
    init::create(place, &contents, subject, &Author::fixed(seconds))
}
