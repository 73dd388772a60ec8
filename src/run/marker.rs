//! `commit.txt`: three lines, written last; it vouches for everything else of a micro-step.

use std::path::Path;

use crate::ground::error::{Error, Result};
use crate::ground::files;

/// What a marker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// The pool's commit before the step.
    pub before: String,
    /// The step's commit.
    pub after: String,
    /// Its subject.
    pub subject: String,
}

impl Marker {
    /// Reads a marker; none when there is no file. A file that is no marker is an error, kind `Failed`.
    pub fn read(path: &Path) -> Result<Option<Marker>> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes);
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).map(str::to_owned);
        match (value("before"), value("after"), value("subject")) {
            (Some(before), Some(after), Some(subject)) if is_id(&before) && is_id(&after) => {
                Ok(Some(Marker { before, after, subject }))
            }
            _ => Err(Error::failed(format!("{} is not a marker of ours", path.display()))
                .hint("it says before=, after= and subject=; if you did not edit it, remove it and run the same command again: \
                       the step is recognised by its commit")),
        }
    }

    /// Writes the marker whole and durable.
    pub fn write(&self, path: &Path) -> Result<()> {
        let Marker { before, after, subject } = self;
        files::write(path, format!("before={before}\nafter={after}\nsubject={subject}\n"))
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_reads_back_and_a_torn_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("commit.txt");
        assert_eq!(Marker::read(&path).unwrap(), None);
        let marker = Marker { before: "a".repeat(40), after: "b".repeat(40), subject: "train x = y".into() };
        marker.write(&path).unwrap();
        assert_eq!(Marker::read(&path).unwrap(), Some(marker));
        files::write(&path, "before=aaaa\n").unwrap();
        assert!(Marker::read(&path).is_err());
    }
}
