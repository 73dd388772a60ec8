//! The optimizer's private checkout: the pool's files and history in a repository of its own.
//!
//! Objects are borrowed from the pool (`alternates`), nothing can be pushed back. Its `.git` is made anew for every
//! attempt; its files are only brought up to date, so that the next micro-step costs what changed.

mod settings;

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::{Oid, Repository, RepositoryInitOptions};

use super::commit::Author;
use super::folder::{self, StatCache, Stats};
use super::repo::{Changes, Files, PLAIN, Pool, changes_between, wrap};
use super::worktree::{index_entry, remove_if_empty};
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// A private checkout of one commit of the pool.
#[derive(Debug)]
pub struct Checkout {
    folder: PathBuf,
    before: Oid,
    objects: Vec<PathBuf>,
    program: PathBuf,
}

/// Where the checkout's history stands after the optimizer is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// Its repository cannot be read any more; why.
    Broken(String),
    /// Still where it began: no commit was made.
    Unmoved,
    /// On a commit that does not come after the one it began at.
    Unrelated,
    /// On a commit after the one it began at; what that commit changes.
    Advanced(Changes),
}

/// What the optimizer left in the checkout.
#[derive(Debug)]
pub struct Edited {
    /// Its history.
    pub head: Head,
    /// How its files differ from those it began with, committed or not.
    pub changes: Changes,
    /// Paths that are no files git can store.
    pub odd: Vec<String>,
}

impl Checkout {
    /// Makes the checkout, or brings one that is there up to `before`. `program` is the skilltrain binary that the
    /// pre-commit hook calls.
    pub fn prepare(pool: &Pool, folder: &Path, before: Oid, program: &Path, cache: &mut StatCache) -> Result<Checkout> {
        let wanted = pool.files(before)?;
        let stats = match refresh(pool, folder, &wanted, cache) {
            Ok(stats) => stats,
            Err(_) => {
                files::remove_dir(folder)?;
                refresh(pool, folder, &wanted, cache)?
            }
        };
        crash::point("checkout-files");
        let checkout = Checkout::at(pool, folder, before, program);
        checkout.make_repository(pool, &wanted, &stats)?;
        Ok(checkout)
    }

    /// The checkout that an earlier process made, as it was left; none when it is not there, or a link is.
    pub fn reopen(pool: &Pool, folder: &Path, before: Oid, program: &Path) -> Option<Checkout> {
        is_folder(folder).then(|| Checkout::at(pool, folder, before, program))
    }

    fn at(pool: &Pool, folder: &Path, before: Oid, program: &Path) -> Checkout {
        let objects = settings::object_folders(&pool.git_dir().join("objects"));
        Checkout { folder: folder.to_owned(), before, objects, program: program.to_owned() }
    }

    /// The pool's object folder and those that it borrows from: git has to read them when it works here.
    pub fn borrowed_objects(&self) -> &[PathBuf] {
        &self.objects
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The pool's commit that it began at.
    pub fn before(&self) -> Oid {
        self.before
    }

    /// Reads what was done here. Only call this once no process of the optimizer is left.
    ///
    /// The hook and the settings of its repository are as we made them again afterwards.
    pub fn edited(&self, pool: &Pool, cache: &mut StatCache) -> Result<Edited> {
        if !is_folder(&self.folder) {
            let head = Head::Broken("the checkout is gone, or is no folder any more".into());
            return Ok(Edited { head, changes: Changes::new(), odd: Vec::new() });
        }
        let here = folder::read(&self.folder, cache)?;
        let base = pool.files(self.before)?;
        let changes = difference(&base, &here.files);
        Ok(Edited { head: self.head(), changes, odd: here.odd })
    }

    /// The bytes of one of its files.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        let place = self.folder.join(path);
        match std::fs::read_link(&place) {
            Ok(target) => Ok(target.as_os_str().as_bytes().to_vec()),
            Err(_) => files::read(&place),
        }
    }

    /// Commits all that is in the folder, as an optimizer without a shell does.
    pub fn commit_all(&self, message: &str, author: &Author, cache: &mut StatCache) -> Result<Oid> {
        let fail = |error| wrap(error, "cannot commit in the checkout");
        let repo = Repository::open(&self.folder).map_err(fail)?;
        let here = folder::read(&self.folder, cache)?;
        let changes = difference(&super::repo::files_of(&repo, self.before)?, &here.files);
        for (path, _) in changes.iter().filter(|(_, entry)| entry.is_some()) {
            repo.blob(&self.read(path)?).map_err(fail)?;
        }
        let base = repo.find_commit(self.before).and_then(|before| before.tree()).map_err(fail)?;
        // After a repair turn there is a commit of the first one's already.
        let parent = repo.head().and_then(|head| head.peel_to_commit()).map_err(fail)?;
        let tree = super::commit::updated_tree(&repo, &base, &changes).map_err(fail)?;
        let tree = repo.find_tree(tree).map_err(fail)?;
        let who = author.signature()?;
        repo.commit(Some("HEAD"), &who, &who, message, &tree, &[&parent]).map_err(fail)
    }

    /// Takes away the locks that a git killed in here left: no process of the optimizer is alive when this is called.
    pub fn unlock(&self) -> Result<()> {
        let git = self.folder.join(".git");
        if !git.symlink_metadata().is_ok_and(|data| data.is_dir()) {
            return Ok(());
        }
        let walk = walkdir::WalkDir::new(&git).follow_links(false).into_iter();
        let inside = walk.filter_entry(|entry| !(entry.depth() == 1 && entry.file_name() == "objects")).flatten();
        let locks = inside.filter(|entry| entry.file_type().is_file() && entry.path().extension().is_some_and(is_lock));
        locks.map(walkdir::DirEntry::into_path).try_for_each(|path| files::remove(&path))
    }

    fn head(&self) -> Head {
        let git = self.folder.join(".git");
        if !is_folder(&git) {
            return Head::Broken("its .git is gone or is no folder any more".into());
        }
        if let Some(path) = first_odd(&git) {
            return Head::Broken(format!("its .git holds {}, which is no plain file", path.display()));
        }
        // Its settings decide what is read: an include can be a pipe, the work tree or the objects another's.
        if let Err(error) = settings::write(&git, &self.objects, &self.program) {
            return Head::Broken(error.to_string());
        }
        let flags = git2::RepositoryOpenFlags::NO_SEARCH;
        let none: [&OsStr; 0] = [];
        let repo = match Repository::open_ext(&self.folder, flags, none) {
            Ok(repo) => repo,
            Err(error) => return Head::Broken(error.message().to_owned()),
        };
        let head = match repo.head().and_then(|head| head.peel_to_commit()) {
            Ok(head) => head.id(),
            Err(error) if error.code() == git2::ErrorCode::UnbornBranch => return Head::Unrelated,
            Err(error) => return Head::Broken(error.message().to_owned()),
        };
        if head == self.before {
            return Head::Unmoved;
        }
        match repo.graph_descendant_of(head, self.before) {
            Ok(true) => match changes_between(&repo, self.before, head) {
                Ok(changes) => Head::Advanced(changes),
                Err(error) => Head::Broken(error.to_string()),
            },
            _ => Head::Unrelated,
        }
    }

    /// A new `.git`: the pool's branch at `before`, its objects borrowed, our hook, no setting of the user's.
    /// `stats` are the files' own, so that git need not read them to find them unchanged.
    fn make_repository(&self, pool: &Pool, wanted: &Files, stats: &Stats) -> Result<()> {
        let fail = |error| wrap(error, "cannot make the checkout's repository");
        let git = self.folder.join(".git");
        files::remove_dir(&git)?;
        let mut options = RepositoryInitOptions::new();
        let branch = pool.branch().strip_prefix("refs/heads/").unwrap_or(pool.branch());
        options.no_reinit(true).external_template(false).initial_head(branch);
        Repository::init_opts(&self.folder, &options).map_err(fail)?;
        settings::write(&git, &self.objects, &self.program)?;
        if let Some(shallow) = files::read_if_there(&pool.git_dir().join("shallow"))? {
            plain_write(&git.join("shallow"), &shallow)?;
        }
        crash::point("checkout-git");
        let repo = Repository::open(&self.folder).map_err(fail)?;
        repo.reference(pool.branch(), self.before, true, "checkout").map_err(fail)?;
        fill_index(&repo, wanted, stats).map_err(fail)
    }
}

fn fill_index(repo: &Repository, wanted: &Files, stats: &Stats) -> Result<(), git2::Error> {
    let mut index = repo.index()?;
    for (path, entry) in wanted {
        index.add(&index_entry(path, *entry, stats.get(path)))?;
    }
    index.write()
}

/// Brings the folder's files to `wanted` and gives their stats. Fails, having changed little, where something odd is in the way.
fn refresh(pool: &Pool, root: &Path, wanted: &Files, cache: &mut StatCache) -> Result<Stats> {
    if root.symlink_metadata().is_ok_and(|data| !data.is_dir()) {
        files::remove(root)?;
    }
    files::create_dir(root)?;
    let mut here = folder::read(root, cache)?;
    let odd_file = |(path, entry): (&String, &super::repo::Entry)| entry.mode != PLAIN || path.contains("/.git/");
    if !here.odd.is_empty() || here.files.iter().any(odd_file) {
        return Err(Error::failed("something odd is in the checkout"));
    }
    for path in here.files.keys().filter(|path| !wanted.contains_key(*path)) {
        files::remove(&root.join(path))?;
        remove_if_empty(root, &root.join(path));
    }
    for (path, entry) in wanted.iter().filter(|(path, entry)| here.files.get(*path) != Some(entry)) {
        let place = root.join(path);
        files::remove(&place)?;
        plain_write(&place, &pool.blob(entry.id)?)?;
        here.stats.insert(path.clone(), place.symlink_metadata().at("read", &place)?);
        crash::point("checkout-file");
    }
    Ok(here.stats)
}

/// Writes a file that can be made again at any time: no flush, but never through a link.
pub(super) fn plain_write(place: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = place.parent() {
        files::create_dir(folder)?;
    }
    let mut file = std::fs::File::create_new(place).at("create", place)?;
    file.write_all(bytes).at("write", place)
}

/// How the files `now` differ from `before`.
pub fn difference(before: &Files, now: &Files) -> Changes {
    let mut changes: Changes =
        before.keys().filter(|path| !now.contains_key(*path)).map(|path| (path.clone(), None)).collect();
    let new = now.iter().filter(|(path, entry)| before.get(*path) != Some(entry));
    changes.extend(new.map(|(path, entry)| (path.clone(), Some(*entry))));
    changes
}

fn is_lock(extension: &OsStr) -> bool {
    extension == "lock"
}

/// Whether a folder is there; a link to one is none.
fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|data| data.is_dir())
}

/// The first thing below a folder that is neither a file nor a folder: opening a pipe would wait for ever.
fn first_odd(folder: &Path) -> Option<PathBuf> {
    let walk = walkdir::WalkDir::new(folder).follow_links(false).into_iter().flatten();
    walk.into_iter()
        .find(|entry| !entry.file_type().is_file() && !entry.file_type().is_dir())
        .map(walkdir::DirEntry::into_path)
}
