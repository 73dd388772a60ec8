//! A pool at one commit as targets see it: plain data, read once, shared by all threads.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ground::digest;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::pool::Oid;
use crate::pool::card::Card;
use crate::pool::profile::{PROFILE_FILE, Profile, Role};
use crate::pool::repo::{PLAIN, Pool};

/// A pool at one commit.
#[derive(Debug, Clone)]
pub struct View {
    /// The commit's full id.
    pub commit: String,
    /// Its profile.
    pub profile: Profile,
    /// Its cards: folders in the profile's order, within them by path.
    pub cards: Vec<Card>,
    /// All its plain files by path: the blob's id and the bytes.
    files: BTreeMap<String, (String, Vec<u8>)>,
}

impl View {
    /// Reads a commit of a pool.
    ///
    /// # Errors
    /// Of kind `Usage` when the commit has no profile or a bad one, `Failed` when a card of it cannot be read.
    pub fn of(pool: &Pool, commit: Oid) -> Result<View> {
        let mut contents = BTreeMap::new();
        for (path, entry) in pool.files(commit)?.iter().filter(|(_, entry)| entry.mode == PLAIN) {
            contents.insert(path.clone(), (entry.id.to_string(), pool.blob(entry.id)?));
        }
        let place = || format!("{} at {}", pool.root().display(), &commit.to_string()[..9]);
        let profile = contents.get(PROFILE_FILE).and_then(|(_, bytes)| std::str::from_utf8(bytes).ok());
        let profile = profile.ok_or_else(|| {
            Error::usage(format!("{} is no pool: it has no {PROFILE_FILE}", place()))
                .hint("name a commit since the pool was made; `skilltrain init DIR` makes a pool")
        })?;
        let profile = Profile::parse(profile, PROFILE_FILE).map_err(|error| error.context(place()))?;
        View::new(commit.to_string(), profile, contents).map_err(|error| error.context(place()))
    }

    fn new(commit: String, profile: Profile, files: BTreeMap<String, (String, Vec<u8>)>) -> Result<View> {
        let mut cards = Vec::new();
        for (path, (_, bytes)) in files.iter().filter(|(path, _)| profile.is_card_path(path)) {
            cards.push(Card::parse(path, bytes).map_err(|_| {
                Error::failed(format!("the card {path} cannot be read")).hint("skilltrain lint says what is wrong")
            })?);
        }
        let rank = |card: &Card| {
            let folder = card.path.split_once('/').map_or("", |(folder, _)| folder);
            profile.folders.iter().position(|known| known.path == folder)
        };
        cards.sort_by(|one, two| rank(one).cmp(&rank(two)).then_with(|| one.path.cmp(&two.path)));
        Ok(View { commit, profile, cards, files })
    }

    /// A view of these cards under the default profile, for tests.
    #[cfg(test)]
    pub(super) fn of_cards(cards: &[(&str, &str)]) -> View {
        let file = |(path, text): &(&str, &str)| ((*path).to_owned(), (digest::of(text), text.as_bytes().to_vec()));
        View::new("0".repeat(40), Profile::default_rules(), cards.iter().map(file).collect()).unwrap()
    }

    /// The id of a file's content; none when there is no such file.
    pub fn blob(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|(id, _)| id.as_str())
    }

    /// The card at a path.
    pub fn card(&self, path: &str) -> Option<&Card> {
        self.cards.iter().find(|card| card.path == path)
    }

    /// Whether a card's folder is always read.
    pub fn is_general(&self, card: &Card) -> bool {
        self.profile.folder_of(&card.path).is_some_and(|folder| folder.role == Role::General)
    }

    /// The digest of every file, for a target that may look at any of them.
    pub fn digest(&self) -> String {
        digest::of_parts(self.files.iter().flat_map(|(path, (id, _))| [path.as_bytes(), id.as_bytes()]))
    }

    /// Writes every file below a folder, which is emptied first.
    ///
    /// # Errors
    /// Of I/O, naming the path.
    pub fn write(&self, folder: &Path) -> Result<()> {
        files::remove_dir(folder)?;
        files::create_dir(folder)?;
        self.files.iter().try_for_each(|(path, (_, bytes))| files::write(&folder.join(path), bytes))
    }
}
