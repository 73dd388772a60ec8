//! A tree's paths and modes: only plain files, only where cards belong.

use std::collections::BTreeMap;

use super::codes::{MAX_NAME_BYTES, is_reserved, odd_character};
use super::hidden::{self, printable};
use super::{Entry, Found, Problem};
use crate::pool::profile::{PROFILE_FILE, Profile, nearest};

/// git's mode of a plain file.
const PLAIN: u32 = 0o100_644;
/// Of one that can be executed.
const EXECUTABLE: u32 = 0o100_755;
/// Of a symbolic link.
const LINK: u32 = 0o120_000;
/// Of a submodule.
const SUBMODULE: u32 = 0o160_000;

/// Files that tell git what to do.
const GIT_FILES: &[&str] = &[".gitattributes", ".gitignore", ".gitmodules", ".gitkeep", ".mailmap", ".lfsconfig"];

/// Whether this mode is a file's, so that there are bytes to read.
pub(super) fn is_file(mode: u32) -> bool {
    mode & 0o170_000 == 0o100_000
}

/// All problems of the paths and modes, in no order.
pub(super) fn check(profile: &Profile, entries: &[Entry<'_>]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in entries {
        let Ok(path) = std::str::from_utf8(entry.path) else {
            let shown = entry.path.escape_ascii().to_string();
            let mut found = Found::new(&shown);
            mode(entry.mode, &mut found);
            found.add(
                "path-not-utf8",
                None,
                "the path is not UTF-8",
                "name the file in letters that every system can show",
            );
            problems.extend(found.into_sorted());
            continue;
        };
        if entry.mode == PLAIN && (path == PROFILE_FILE || is_clean(profile, path)) {
            continue;
        }
        let mut found = Found::new(path);
        mode(entry.mode, &mut found);
        if path != PROFILE_FILE {
            names(path, &mut found);
            place(profile, path, &mut found);
        }
        problems.extend(found.into_sorted());
    }
    collisions(entries, &mut problems);
    problems
}

/// The common case: a card whose name is plain ASCII.
fn is_clean(profile: &Profile, path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
    path.bytes().all(plain)
        && profile.is_card_path(path)
        && path.split('/').all(|name| !is_reserved(name) && name.len() <= MAX_NAME_BYTES)
}

fn mode(mode: u32, found: &mut Found<'_>) {
    match mode {
        PLAIN => {}
        EXECUTABLE => found.add("executable", None, "the executable bit is set", "clear it with `chmod -x`"),
        LINK => found.add("symlink", None, "a symbolic link", "put a plain file in its place"),
        SUBMODULE => found.add("submodule", None, "a submodule (a repository inside the pool)", "remove it"),
        other => {
            found.add("odd-mode", None, format!("the mode is {other:o}, not 100644"), "put a plain file in its place")
        }
    }
}

fn names(path: &str, found: &mut Found<'_>) {
    for name in path.split('/') {
        if is_git_folder(name) {
            found.add(
                "git-folder",
                None,
                "git keeps its own files under this name",
                "remove it: no repository inside the pool",
            );
        } else if GIT_FILES.iter().any(|file| name.eq_ignore_ascii_case(file)) {
            found.add(
                "git-file",
                None,
                format!("`{}` changes what git does", printable(name)),
                "remove it: a pool holds cards only",
            );
        } else if name.starts_with('.') {
            found.add(
                "hidden-file",
                None,
                format!("the name `{}` begins with a dot", printable(name)),
                "remove or rename it",
            );
        }
        if name.is_empty() {
            found.add("odd-path", None, "the path has an empty part", "remove it");
        } else if let Some(what) = odd_character(name) {
            found.add("odd-path", None, format!("{what} is not possible everywhere, or not seen"), "rename it");
        }
        if is_reserved(name) {
            found.add(
                "reserved-name",
                None,
                format!("Windows keeps the name `{}` for a device", printable(name)),
                "rename it",
            );
        }
        if name.len() > MAX_NAME_BYTES {
            let message = format!("a name of {} bytes; file systems hold {MAX_NAME_BYTES}", name.len());
            found.add("name-too-long", None, message, "give it a shorter name");
        }
    }
}

/// Whether git, or a file system with its own idea of equal names, takes this for `.git`.
fn is_git_folder(name: &str) -> bool {
    // HFS+ ignores hidden characters, NTFS case, trailing dots and spaces, and what follows a colon.
    let seen: String = name.chars().filter(|char| hidden::kind(*char).is_none()).collect();
    let stem = seen.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    stem.eq_ignore_ascii_case(".git") || stem.eq_ignore_ascii_case("git~1")
}

fn place(profile: &Profile, path: &str, found: &mut Found<'_>) {
    if profile.is_card_path(path) || ["git-folder", "git-file", "hidden-file"].iter().any(|code| found.has(code)) {
        return;
    }
    let folders = || profile.folders.iter().map(|folder| folder.path.as_str());
    let list = || folders().collect::<Vec<_>>().join(", ");
    let Some((folder, rest)) = path.split_once('/') else {
        let hint = format!("cards lie in {}; nothing but them and {PROFILE_FILE} belongs in a pool", list());
        return found.add("outside-layout", None, "a file at the pool's root", hint);
    };
    if !folders().any(|known| known == folder) {
        let hint = match nearest(folder, folders()) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("cards lie in {}", list()),
        };
        found.add("outside-layout", None, format!("`{}` is not a folder of the profile", printable(folder)), hint);
    } else if rest.contains('/') {
        let hint = format!("move it to `{folder}/`");
        found.add("nested-too-deep", None, "a file in a folder of a folder", hint);
    } else {
        found.add("not-markdown", None, "not a .md file", "a card's name ends in `.md`; remove anything else");
    }
}

/// Paths that are one on some systems.
fn collisions(entries: &[Entry<'_>], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, &[u8]> = BTreeMap::new();
    for entry in entries {
        let folded = String::from_utf8_lossy(entry.path).to_lowercase();
        let Some(other) = seen.insert(folded, entry.path) else { continue };
        let shown = |path: &[u8]| match std::str::from_utf8(path) {
            Ok(path) => printable(path),
            Err(_) => path.escape_ascii().to_string(),
        };
        let path = shown(entry.path);
        let mut found = Found::new(&path);
        if other == entry.path {
            found.add("duplicate-path", None, "the path is in the tree twice", "write the tree anew with one of them");
        } else if std::str::from_utf8(entry.path).is_ok() && std::str::from_utf8(other).is_ok() {
            let message = format!("differs from `{}` only by case", shown(other));
            found.add("case-only-difference", None, message, "rename one: on many systems they are one file");
        }
        problems.extend(found.into_sorted());
    }
}
