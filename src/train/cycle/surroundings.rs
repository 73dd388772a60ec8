//! What an open run offers to its stretches: who listens, and what a call of an optimizer needs.

use std::path::Path;
use std::time::Duration;

use super::Run;
use super::state::State;
use crate::ground::error::Result;
use crate::optimizer::Desk;
use crate::pool::Oid;
use crate::pool::headers::estimate_tokens;
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::train::context::Seams;

impl Run<'_> {
    /// Tells everyone who listens.
    pub(super) fn tell(&self, event: &Event) {
        (self.setup.observer)(event);
    }

    /// The label of a stretch, of commits and references.
    pub(super) fn label(&self, stretch: Stretch) -> String {
        format!("{}-{}", self.begun.name, stretch.slug())
    }

    /// Tells that the run begins, or from where it goes on.
    pub(super) fn tell_beginning(&self, state: &State) {
        self.tell(&Event::RunStarted {
            run: self.begun.name.clone(),
            folder: self.setup.folder.path().to_string_lossy().into_owned(),
            target: self.setup.target.name(),
            optimizer: self.setup.optimizer.name(),
            splits: self.split.all().map(|(_, tasks)| tasks.len()),
            steps: self.steps(),
            done: state.reports.len(),
        });
    }

    /// What a call of the optimizer needs of its surroundings.
    pub(super) fn seams(&self) -> Seams<'_> {
        let setup = self.setup;
        Seams {
            env: setup.env,
            cancel: setup.cancel,
            prompts: setup.prompts,
            timeout: Duration::from_secs_f64(self.config().optimizer.timeout),
            sandbox: self.sandbox(),
            observer: setup.observer,
        }
    }

    /// A desk for one call of the optimizer in a stretch's folder.
    pub(super) fn desk(&self, folder: &Path, stem: &'static str) -> Desk {
        let (private, hold) = (folder.join(format!("private_{stem}")), folder.join(format!("{stem}.lock")));
        Desk { folder: folder.to_owned(), stem, private, hold }
    }

    /// Tokens of all cards of a pool, by estimate: what an inline prompt would hold.
    pub(super) fn pool_tokens(&self, commit: Oid) -> Result<usize> {
        let view = self.view(commit)?;
        let tokens = |card: &crate::pool::card::Card| {
            estimate_tokens(&card.path) + estimate_tokens(&card.description) + estimate_tokens(&card.body)
        };
        Ok(view.cards.iter().map(tokens).sum())
    }
}
