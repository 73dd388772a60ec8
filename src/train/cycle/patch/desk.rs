//! The questions of one update: where each is asked, what they share, what was said written down.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::ground::error::Result;
use crate::ground::files;
use crate::optimizer::tasks::{Seat, Sight, UpdateMode};
use crate::optimizer::{Host, Memory, Optimizer, Said};
use crate::train::context::Seams;
use crate::trajectory::Usage;

/// An agent client's private folder; it goes when the answer is on disk.
const PRIVATE: &str = "private";

/// What all questions of one update have in common; shared by threads.
pub(super) struct Desk<'a> {
    pub(super) seams: Seams<'a>,
    pub(super) optimizer: &'a dyn Optimizer,
    pub(super) label: String,
    /// The step's place in the run.
    pub(super) place: String,
    pub(super) folder: PathBuf,
    pub(super) sight: Sight<'a>,
    pub(super) rejected: &'a str,
    pub(super) meta_skill: &'a str,
    pub(super) mode: UpdateMode,
    /// Edits that an analysis may give.
    pub(super) most: usize,
    /// What each call took, for an optimizer whose calls do not count themselves.
    pub(super) spent: Mutex<Vec<Option<Usage>>>,
}

impl Desk<'_> {
    /// A seat of a question's own: its place in recordings, its folder for an agent's files.
    pub(super) fn seat(&self, name: &str) -> Seat<'_> {
        let folder = self.folder.join(name);
        let (private, hold) = (folder.join(PRIVATE), folder.join("agent.lock"));
        Seat {
            place: format!("{}/patch/{name}", self.place),
            desk: crate::optimizer::Desk { folder, stem: "call", private, hold },
            memory: Memory { rejected: self.rejected, meta_skill: self.meta_skill },
        }
    }

    /// Asks, and writes down what was said.
    pub(super) fn ask<T: serde::Serialize>(
        &self,
        name: &str,
        question: impl FnOnce(&Host<'_>) -> Result<Said<T>>,
    ) -> Result<Said<T>> {
        let said = self.seams.with_host(&self.label, question)?;
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).push(said.usage);
        let json = json!({ "value": &said.value, "unread": &said.unread });
        files::write_json(&self.folder.join(format!("{name}.json")), &json)?;
        files::remove_dir(&self.folder.join(name).join(PRIVATE))?;
        Ok(said)
    }
}
