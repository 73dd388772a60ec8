//! The repository of a checkout: its own `.git`, the pool's objects borrowed, our hook, no setting of the user's.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::{Repository, RepositoryInitOptions};

use super::checkout::{Checkout, plain_write};
use super::folder::Stats;
use super::repo::{Files, Pool, wrap};
use super::worktree::index_entry;
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

impl Checkout {
    /// A new `.git`: the pool's branch at `before`, its objects borrowed, our hook, no setting of the user's.
    /// `stats` are the files' own, so that git need not read them to find them unchanged.
    pub(super) fn make_repository(&self, pool: &Pool, wanted: &Files, stats: &Stats) -> Result<()> {
        let fail = |error| wrap(error, "cannot make the checkout's repository");
        let git = self.folder.join(".git");
        files::remove_dir(&git)?;
        let mut options = RepositoryInitOptions::new();
        let branch = pool.branch().strip_prefix("refs/heads/").unwrap_or(pool.branch());
        options.no_reinit(true).external_template(false).initial_head(branch);
        Repository::init_opts(&self.folder, &options).map_err(fail)?;
        self.write_settings(&git)?;
        if let Some(shallow) = files::read_if_there(&pool.git_dir().join("shallow"))? {
            plain_write(&git.join("shallow"), &shallow)?;
        }
        crash::point("checkout-git");
        let repo = Repository::open(&self.folder).map_err(fail)?;
        repo.reference(pool.branch(), self.before, true, "checkout").map_err(fail)?;
        fill_index(&repo, wanted, stats).map_err(fail)
    }

    /// Writes anew what decides how the repository in `git` is read and what a commit there does.
    pub(super) fn write_settings(&self, git: &Path) -> Result<()> {
        let fail = |error| wrap(error, "cannot set up the checkout's repository");
        for name in ["config", "config.worktree", "commondir", "objects/info/alternates", "hooks/pre-commit"] {
            files::remove(&git.join(name))?;
        }
        plain_write(&git.join("objects/info/alternates"), &alternates(&self.objects)?)?;
        let hook_file = git.join("hooks/pre-commit");
        plain_write(&hook_file, &hook(&self.program))?;
        std::fs::set_permissions(&hook_file, files::permissions(0o755)).at("make executable", &hook_file)?;
        let config = git.join("config");
        plain_write(&config, b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfilemode = true\n")?;
        let mut config = git2::Config::open(&config).map_err(fail)?;
        for (key, value) in SETTINGS {
            config.set_str(key, value).map_err(fail)?;
        }
        Ok(())
    }
}

fn fill_index(repo: &Repository, wanted: &Files, stats: &Stats) -> Result<(), git2::Error> {
    let mut index = repo.index()?;
    for (path, entry) in wanted {
        index.add(&index_entry(path, *entry, stats.get(path)))?;
    }
    index.write()
}

/// Object folders that are followed at most; git itself follows five levels.
const MAX_ALTERNATES: usize = 32;

/// Settings of the checkout's own, so that the user's cannot change what a commit there does.
const SETTINGS: &[(&str, &str)] = &[
    ("user.name", super::commit::NAME),
    ("user.email", super::commit::EMAIL),
    ("commit.gpgsign", "false"),
    ("tag.gpgsign", "false"),
    ("core.autocrlf", "false"),
    ("core.safecrlf", "false"),
    ("core.excludesFile", "/dev/null"),
    ("core.attributesFile", "/dev/null"),
    ("core.fsmonitor", "false"),
    // Relative to the work tree's root, so that no odd path has to stand in a config.
    ("core.hooksPath", ".git/hooks"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// A pool's object folder and those that it borrows from itself, links resolved: git follows a relative path among
/// alternates at the first level only.
pub(super) fn object_folders(objects: &Path) -> Vec<PathBuf> {
    let mut folders = vec![objects.to_owned()];
    let mut next = 0;
    while let Some(here) = folders.get(next).filter(|_| next < MAX_ALTERNATES).cloned() {
        next += 1;
        // An unreadable list is git's to complain of: what it lends would be missing from the pool as well.
        let list = std::fs::read(here.join("info/alternates")).unwrap_or_default();
        let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let places = lines.filter_map(|line| here.join(OsStr::from_bytes(line)).canonicalize().ok());
        for place in places.collect::<Vec<_>>() {
            if !folders.contains(&place) {
                folders.push(place);
            }
        }
    }
    folders
}

fn alternates(folders: &[PathBuf]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for folder in folders {
        let path = folder.as_os_str().as_bytes();
        if path.contains(&b'\n') {
            return Err(Error::usage(format!("the pool's path {} holds a line break", folder.display()))
                .hint("git cannot borrow from such a path: move the pool"));
        }
        text.extend_from_slice(path);
        text.push(b'\n');
    }
    Ok(text)
}

/// The pre-commit hook; the program's path stands in single quotes, where the shell reads nothing else.
fn hook(program: &Path) -> Vec<u8> {
    let quoted: Vec<u8> = program.as_os_str().as_bytes().iter().fold(Vec::new(), |mut text, byte| {
        match byte {
            b'\'' => text.extend(b"'\\''"),
            _ => text.push(*byte),
        }
        text
    });
    [b"#!/bin/sh\nexec '".as_slice(), &quoted, b"' lint --staged\n"].concat()
}
