//! A folder read as git would store it: raw bytes, no filter, no ignore rule, links not followed.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};
use walkdir::WalkDir;

use super::repo::{Entry, Files, PLAIN};
use crate::ground::error::{AtPath as _, Error, Result};

/// A file larger than this is no card and is not read into memory.
const MAX_BYTES: u64 = 16 << 20;

/// What a folder holds.
#[derive(Debug, Default, Clone)]
pub struct Folder {
    /// Its files; links too, as git stores them (mode 0o120000, the target as content).
    pub files: Files,
    /// Paths that are not taken: pipes, sockets, devices, names that are not UTF-8, files over 16 MiB, and what cannot
    /// be read.
    pub odd: Vec<String>,
    /// What the file system says of `files`.
    pub stats: Stats,
}

/// What the file system says of files, by path.
pub type Stats = HashMap<String, std::fs::Metadata>;

/// Files whose content was read before, by folder and path: one with the same inode, size and change time is not read
/// again.
#[derive(Debug, Default)]
pub struct StatCache(HashMap<PathBuf, HashMap<String, (Stat, Oid)>>);

/// What identifies a file's state. The change time cannot be set by a program, so an edit always shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Stat {
    fn of(data: &std::fs::Metadata) -> Stat {
        Stat { inode: data.ino(), size: data.size(), changed: (data.ctime(), data.ctime_nsec()) }
    }

    /// Whether the file changed so recently that an edit within the clock's tick could go unseen.
    fn is_fresh(&self) -> bool {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let changed = i128::from(self.changed.0) * 1_000_000_000 + i128::from(self.changed.1);
        i128::try_from(now.as_nanos()).unwrap_or(i128::MAX) - changed < 100_000_000
    }
}

impl StatCache {
    /// Carries what is known of the folder `from` over to `to`, after it was renamed.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        if let Some(known) = self.0.remove(from) {
            self.0.insert(to.to_owned(), known);
        }
    }
}

/// Reads every file below `root`, the repository's own `.git` at its top left out.
pub fn read(root: &Path, cache: &mut StatCache) -> Result<Folder> {
    let (paths, odd) = paths(root)?;
    let mut folder = Folder { odd, ..Folder::default() };
    let known = cache.0.entry(root.to_owned()).or_default();
    for path in paths {
        let place = root.join(&path);
        // A path can be listed and yet be too long to be opened.
        let data = std::fs::symlink_metadata(&place).ok();
        let found = data.and_then(|data| Some((id(&place, &data, &path, known).transpose()?, data)));
        match found {
            Some((id, data)) => {
                folder.files.insert(path.clone(), Entry { id: id?, mode: mode_of(&data) });
                folder.stats.insert(path, data);
            }
            None => folder.odd.push(name_of(root, &place)),
        }
    }
    Ok(folder)
}

/// The paths of all that is no folder below `root`, in name order, the repository's own `.git` at its top left out;
/// and apart from them those whose names are not UTF-8, made printable,
/// and what cannot be read.
pub fn paths(root: &Path) -> Result<(Vec<String>, Vec<String>)> {
    let (mut paths, mut odd) = (Vec::new(), Vec::new());
    let walk = WalkDir::new(root).min_depth(1).follow_links(false).sort_by_file_name();
    let inside = walk.into_iter().filter_entry(|entry| !(entry.depth() == 1 && entry.file_name() == ".git"));
    for item in inside {
        let item = match item {
            Ok(item) => item,
            // What cannot be read is part of nothing: a folder that is shut, or too deep for a path to name.
            Err(error) if error.depth() > 0 => {
                odd.push(name_of(root, error.path().unwrap_or(root)));
                continue;
            }
            Err(error) => return Err(Error::failed(&error).context(format!("cannot read {}", root.display()))),
        };
        if item.file_type().is_dir() {
            continue;
        }
        let relative = item.path().strip_prefix(root).unwrap_or(item.path());
        match relative.to_str() {
            Some(path) => paths.push(path.to_owned()),
            None => odd.push(name_of(root, item.path())),
        }
    }
    Ok((paths, odd))
}

/// A path below `root` for a message: shortened where it is longer than anybody reads.
fn name_of(root: &Path, path: &Path) -> String {
    crate::ground::text::first_line(&path.strip_prefix(root).unwrap_or(path).to_string_lossy(), 200)
}

/// The git mode of a file on disk, not following links; 0 for what git cannot store.
pub fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).map_or(0, |data| mode_of(&data))
}

fn mode_of(data: &std::fs::Metadata) -> u32 {
    match data {
        _ if data.is_symlink() => 0o120_000,
        _ if !data.is_file() || data.size() > MAX_BYTES => 0,
        _ if data.mode() & 0o100 != 0 => 0o100_755,
        _ => PLAIN,
    }
}

/// The id of a file's content; none for what git cannot store or we may not read.
fn id(
    place: &Path,
    data: &std::fs::Metadata,
    path: &str,
    known: &mut HashMap<String, (Stat, Oid)>,
) -> Result<Option<Oid>> {
    if data.is_symlink() {
        let target = std::fs::read_link(place).at("read", place)?;
        return hash(target.as_os_str().as_bytes()).map(Some);
    }
    if mode_of(data) == 0 {
        return Ok(None);
    }
    let stat = Stat::of(data);
    if let Some((_, id)) = known.get(path).filter(|(seen, _)| *seen == stat) {
        return Ok(Some(*id));
    }
    let bytes = match std::fs::read(place) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(None),
        bytes => bytes.at("read", place)?,
    };
    let id = hash(&bytes)?;
    if !stat.is_fresh() {
        known.insert(path.to_owned(), (stat, id));
    }
    Ok(Some(id))
}

/// The id that git gives these bytes as a blob.
pub fn hash(bytes: &[u8]) -> Result<Oid> {
    Oid::hash_object(ObjectType::Blob, bytes).map_err(|error| super::repo::wrap(error, "cannot hash a file"))
}
