//! What an optimizer left in its checkout, as a line holds it, and put there again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;
use crate::pool::checkout::{Checkout, Edited, Head};
use crate::pool::commit::Author;
use crate::pool::folder::StatCache;
use crate::pool::repo::{PLAIN, Pool};

/// The mode of a link.
const LINK: u32 = 0o120_000;

/// How a checkout differs from the commit that it began at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Left {
    /// Where its history stands.
    head: Stand,
    /// The files that changed; none was taken away.
    files: BTreeMap<String, Option<Content>>,
    /// Of these, the ones that were not committed as they are.
    loose: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stand {
    /// No commit.
    Unmoved,
    /// A commit that descends from where it began.
    Advanced,
    /// No repository that can be read, or another history.
    Broken,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Content {
    mode: u32,
    #[serde(flatten)]
    bytes: Bytes,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl Left {
    /// Reads what was done. Only once no process of the optimizer is left.
    pub(super) fn read(pool: &Pool, checkout: &Checkout) -> Result<Left> {
        let Edited { head, changes, .. } = checkout.edited(pool, &mut StatCache::default())?;
        let (head, committed) = match head {
            Head::Unmoved => (Stand::Unmoved, None),
            Head::Advanced(committed) => (Stand::Advanced, Some(committed)),
            Head::Broken(_) | Head::Unrelated => (Stand::Broken, None),
        };
        let is_loose = |path: &&String| committed.as_ref().is_some_and(|known| known.get(*path) != changes.get(*path));
        let loose = changes.keys().filter(is_loose).cloned().collect();
        let content = |path: &String, mode: u32| -> Result<Content> {
            let bytes = match String::from_utf8(checkout.read(path)?) {
                Ok(text) => Bytes::Text(text),
                Err(error) => Bytes::Raw(error.into_bytes()),
            };
            Ok(Content { mode, bytes })
        };
        let file = |(path, entry): (&String, &Option<crate::pool::repo::Entry>)| {
            Ok((path.clone(), entry.map(|entry| content(path, entry.mode)).transpose()?))
        };
        Ok(Left { head, files: changes.iter().map(file).collect::<Result<_>>()?, loose })
    }

    /// Makes a checkout look so, whatever an earlier turn left there.
    pub(super) fn put(&self, pool: &Pool, checkout: &Checkout, seconds: i64) -> Result<()> {
        let (root, base) = (checkout.folder(), pool.files(checkout.before())?);
        let now = checkout.edited(pool, &mut StatCache::default())?.changes;
        for path in now.keys().filter(|path| !self.files.contains_key(*path)) {
            let old = base
                .get(path)
                .map(|entry| Ok::<_, Error>(Content { mode: entry.mode, bytes: Bytes::Raw(pool.blob(entry.id)?) }));
            place(root, path, old.transpose()?.as_ref())?;
        }
        let put = |is_loose: bool| {
            let chosen = self.files.iter().filter(|(path, _)| self.loose.contains(path) == is_loose);
            chosen.into_iter().try_for_each(|(path, content)| place(root, path, content.as_ref()))
        };
        put(false)?;
        match self.head {
            Stand::Unmoved => {}
            Stand::Advanced => {
                checkout.commit_all("replayed\n", &Author::fixed(seconds), &mut StatCache::default())?;
            }
            Stand::Broken => files::remove_dir(&root.join(".git"))?,
        }
        put(true)
    }
}

/// Puts one file into a checkout, or takes it away.
fn place(root: &Path, path: &str, content: Option<&Content>) -> Result<()> {
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let through_link = |folder: &Path| root.join(folder).symlink_metadata().is_ok_and(|data| data.is_symlink());
    if !inside || path.is_empty() || folders.into_iter().any(through_link) {
        return Err(Error::failed(format!("the recording names {path:?} as a file of a checkout")));
    }
    let place = root.join(path);
    files::remove(&place)?;
    let Some(Content { mode, bytes }) = content else { return Ok(()) };
    let bytes = match bytes {
        Bytes::Text(text) => text.as_bytes(),
        Bytes::Raw(bytes) => bytes,
    };
    if let Some(folder) = place.parent() {
        files::create_dir(folder)?;
    }
    if *mode == LINK {
        let to = OsString::from_vec(std::ffi::OsStr::from_bytes(bytes).to_owned().into_vec());
        return std::os::unix::fs::symlink(to, &place).at("link", &place);
    }
    files::write(&place, bytes)?;
    if *mode != PLAIN {
        std::fs::set_permissions(&place, files::permissions(0o755)).at("set the mode of", &place)?;
    }
    Ok(())
}
