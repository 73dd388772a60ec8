//! What decides how a checkout's repository is read and what a commit there does: its settings, its hook, and where it
//! borrows objects. Written when it is made, and anew before it is read, since an optimizer may have changed all of it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::super::repo::wrap;
use super::plain_write;
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;

/// Writes them into the repository whose folder is `git`: `objects` are borrowed, the hook calls `program`.
pub(super) fn write(git: &Path, objects: &[PathBuf], program: &Path) -> Result<()> {
    let fail = |error| wrap(error, "cannot set up the checkout's repository");
    for name in ["config", "config.lock", "config.worktree", "commondir", "objects/info/alternates", "hooks/pre-commit"]
    {
        files::remove(&git.join(name))?;
    }
    plain_write(&git.join("objects/info/alternates"), &alternates(objects)?)?;
    let hook_file = git.join("hooks/pre-commit");
    plain_write(&hook_file, &hook(program))?;
    std::fs::set_permissions(&hook_file, files::permissions(0o755)).at("make executable", &hook_file)?;
    let config = git.join("config");
    plain_write(&config, b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfilemode = true\n")?;
    let mut config = git2::Config::open(&config).map_err(fail)?;
    for (key, value) in SETTINGS {
        config.set_str(key, value).map_err(fail)?;
    }
    Ok(())
}

/// Object folders that are followed at most; git itself follows five levels.
const MAX_ALTERNATES: usize = 32;

/// Settings of the checkout's own, so that the user's cannot change what a commit there does.
const SETTINGS: &[(&str, &str)] = &[
    ("user.name", super::super::commit::NAME),
    ("user.email", super::super::commit::EMAIL),
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
