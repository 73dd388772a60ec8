//! Where a checkout's objects lie: in the pool, and in whatever the pool itself borrows from.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::ground::error::{Error, Result};

/// Object folders that are followed at most; git itself follows five levels.
const MAX_ALTERNATES: usize = 32;

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

/// The text of `objects/info/alternates`.
///
/// Errors, kind `Usage`: a path that cannot stand there.
pub(super) fn alternates(folders: &[PathBuf]) -> Result<Vec<u8>> {
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
