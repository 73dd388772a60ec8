//! Files that appear whole: written beside their place, flushed, then renamed.
//!
//! A reader, or a run that resumes, sees either the old file or the new one. Every error names its path.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::crash;
use super::error::{AtPath as _, Error, Result};

/// How the temporary files begin that a killed write may leave.
const TEMPORARY: &str = ".tmp-";

/// Reads a whole file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).at("read", path)
}

/// Reads a whole file as UTF-8; a file that is not is the caller's input error (kind `Usage`).
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::usage(format!("{} is not UTF-8 (byte {at})", path.display())).hint("save the file as UTF-8")
    })
}

/// Reads a whole file as UTF-8, bad bytes replaced: for text that someone else wrote and we only show.
pub fn read_lossy(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&read(path)?).into_owned())
}

/// Reads a file that may not be there.
pub fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).at("read", path),
    }
}

/// Writes a file whole and durable, its folder made when missing.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    let folder = parent(path)?;
    create_dir(folder)?;
    let file = temporary(folder, bytes.as_ref(), path)?;
    crash::point("file-written");
    file.persist(path).map_err(|error| error.error).at("write", path)?;
    crash::point("file-placed");
    sync_dir(folder)
}

/// As `write`, but the temporary file lies in `drafts`: for a folder of the user's, where a killed write must leave
/// nothing. Where `drafts` is on another file system it lies beside its place after all.
pub fn write_by_way_of(drafts: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = parent(path)?;
    create_dir(folder)?;
    let file = temporary(drafts, bytes, path)?;
    crash::point("draft-written");
    match file.persist(path) {
        Err(error) if error.error.kind() == std::io::ErrorKind::CrossesDevices => return write(path, bytes),
        persisted => persisted.map_err(|error| error.error).at("write", path)?,
    };
    crash::point("draft-placed");
    sync_dir(folder)
}

/// A temporary file with these bytes, flushed, removed unless it is persisted; `path` is its place to be.
fn temporary(folder: &Path, bytes: &[u8], path: &Path) -> Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(permissions(0o644))
        .tempfile_in(folder)
        .at("create a file in", folder)?;
    file.write_all(bytes).at("write", path)?;
    file.as_file().sync_data().at("flush", path)?;
    Ok(file)
}

/// Removes the temporary files and folders that killed writes left in a folder of ours, which nobody else may be
/// writing to now. A folder that is not there is fine.
pub fn sweep(folder: &Path) -> Result<()> {
    sweep_named(folder, TEMPORARY)
}

/// Whether a name is one of a file that is being written.
pub fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with(TEMPORARY)
}

/// As `sweep`, for a folder and all below it but folders whose names begin like these: their content is not ours.
pub fn sweep_below(folder: &Path, but: &[&str]) -> Result<()> {
    sweep(folder)?;
    for entry in entries(folder)? {
        if entry.file_type().at("read", folder)?.is_dir()
            && !but.iter().any(|name| entry.file_name().to_string_lossy().starts_with(name))
        {
            sweep_below(&entry.path(), but)?;
        }
    }
    Ok(())
}

/// What lies in a folder; nothing when there is none.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<std::io::Result<_>>().at("read", folder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).at("read", folder),
    }
}

/// As `sweep`, for names that begin in a way of the caller's.
pub fn sweep_named(folder: &Path, prefix: &str) -> Result<()> {
    for entry in entries(folder)? {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let is_folder = entry.file_type().at("read", folder)?.is_dir();
            if is_folder { remove_dir(&entry.path())? } else { remove(&entry.path())? }
        }
    }
    Ok(())
}

/// Serialises a value as indented JSON with a newline at its end, and writes it whole.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::failed(error).context(format!("cannot write {}", path.display())))?;
    text.push('\n');
    write(path, text)
}

/// Makes a folder and those above it.
pub fn create_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).at("create the folder", path)
}

/// Removes a folder and all in it, or what stands in its place; when nothing does it is fine. Links are not followed.
pub fn remove_dir(path: &Path) -> Result<()> {
    crash::point("removing-folder");
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            remove_stubborn(path).map_err(|_| error).at("remove", path)
        }
        _ => Ok(()),
    }
}

/// Removes a folder whose subfolders are shut, or nested deeper than a path can name or open files can follow: each
/// subfolder is first moved to the top.
fn remove_stubborn(root: &Path) -> std::io::Result<()> {
    if !fs::symlink_metadata(root)?.is_dir() {
        return fs::remove_file(root);
    }
    let mut folders = vec![root.to_owned()];
    let mut moved = 0_usize;
    while let Some(folder) = folders.pop() {
        // Where this does not help, the next line says so.
        fs::set_permissions(&folder, permissions(0o700)).ok();
        for entry in fs::read_dir(&folder)?.collect::<std::io::Result<Vec<_>>>()? {
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
            } else if folder == root {
                folders.push(entry.path());
            } else {
                moved += 1;
                let place = root.join(format!(".moved-{moved}"));
                fs::set_permissions(entry.path(), permissions(0o700)).ok();
                fs::rename(entry.path(), &place)?;
                folders.push(place);
            }
        }
        if folder != root {
            fs::remove_dir(&folder)?;
        }
    }
    fs::remove_dir(root)
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &Path) -> Result<()> {
    crash::point("removing-file");
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Renames a file or folder, durably.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    create_dir(parent(to)?)?;
    fs::rename(from, to).at("move", from)?;
    crash::point("file-moved");
    sync_dir(parent(to)?)
}

/// Makes what was renamed or removed in a folder, or a file's content, durable.
pub fn sync_dir(folder: &Path) -> Result<()> {
    fs::File::open(folder).and_then(|file| file.sync_all()).at("flush", folder)
}

/// Makes files and folders with the files in them durable; all lie on one file system. Where the system can flush that in
/// one call, a round of many costs what one costs.
pub fn sync_all(paths: &[PathBuf]) -> Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(path) = paths.first() {
        let sync = |file: fs::File| rustix::fs::syncfs(file).map_err(std::io::Error::from);
        return fs::File::open(path).and_then(sync).at("flush", path);
    }
    for path in paths {
        walkdir::WalkDir::new(path).into_iter().flatten().try_for_each(|entry| sync_dir(entry.path()))?;
    }
    Ok(())
}

/// The path with links resolved; kind `Usage` when nothing is there.
pub fn canonical(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).at("find", path).map_err(|error| error.with_kind(super::error::Kind::Usage))
}

/// The path with links resolved as far as it exists, for one that is yet to be made.
pub fn resolved(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).at("find", path)?;
    let mut place = path.as_path();
    loop {
        match (fs::canonicalize(place), place.parent()) {
            (Ok(real), _) => return Ok(path.strip_prefix(place).map_or(real.clone(), |rest| real.join(rest))),
            (Err(_), Some(parent)) => place = parent,
            (Err(error), None) => return Err(error).at("find", &path),
        }
    }
}

fn parent(path: &Path) -> Result<&Path> {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(folder) => Ok(folder),
        None => Err(Error::usage(format!("{} is not a file's path", path.display()))),
    }
}

/// Permission bits, for files that others may read too (a temporary file starts as private).
pub fn permissions(mode: u32) -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_file_is_whole_readable_by_others_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(read_text(&path).unwrap(), "two");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o644);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn folders_of_any_depth_and_shut_ones_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        // Deeper than the files that a process may have open; built from the inside out, as a path could not name it.
        let (inner, outer) = (folder.path().join("inner"), folder.path().join("outer"));
        write(&inner.join("x"), "x").unwrap();
        for _ in 0..2_000 {
            create_dir(&outer).unwrap();
            fs::rename(&inner, outer.join("deep")).unwrap();
            fs::rename(&outer, &inner).unwrap();
        }
        create_dir(&root.join("shut/in")).unwrap();
        fs::rename(&inner, root.join("inner")).unwrap();
        fs::set_permissions(root.join("shut"), permissions(0)).unwrap();
        remove_dir(&root).unwrap();
        assert!(!root.exists());
        remove_dir(&root).unwrap();
        write(&root, "a file in its place").unwrap();
        remove_dir(&root).unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn errors_name_the_path_and_the_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        assert!(read(&path).unwrap_err().to_string().contains(&path.display().to_string()));
        write(&path, b"ab\xff").unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("byte 2"));
    }
}
