//! What a pool took over from the tasks that it is examined by.

use std::collections::BTreeMap;

use super::Run;
use super::gate::Case;
use crate::ground::error::Result;
use crate::pool::Oid;
use crate::run::event::Event;

impl Run<'_> {
    /// What a candidate's new text took over from the tasks, a line each. What the cards said before is not at issue, nor
    /// is what the evidence says in its own voice.
    pub(super) fn leaks_of(&self, case: &Case<'_>) -> Result<Vec<String>> {
        let old: Vec<String> = self.texts(case.current)?.into_values().collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        let taught: Vec<&str> = case.taught.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        for (path, new) in self.pool.changes(case.current, case.candidate)? {
            let Some(new) = new else { continue };
            let text = String::from_utf8_lossy(&self.pool.blob(new.id)?).into_owned();
            found.extend(self.leaks.find(&path, &text, &old, &taught).iter().map(ToString::to_string));
        }
        Ok(found)
    }

    /// Says what the first pool took over from the tasks: its scores are then no measure of what it teaches.
    pub(super) fn warn_of_leaks(&self) -> Result<()> {
        if self.config().train.init_pool.is_none() {
            return Ok(());
        }
        let mut found = Vec::new();
        for (path, text) in self.texts(self.begun.seed()?)? {
            found.extend(self.leaks.find(&path, &text, &[], &[]).iter().map(ToString::to_string));
        }
        if let Some(first) = found.first() {
            let more = if found.len() > 1 { format!(", and {} more", found.len() - 1) } else { String::new() };
            let text = format!("the first pool copies from the tasks, so its scores say little: {first}{more}");
            self.tell(&Event::Warning { text });
        }
        Ok(())
    }

    /// A pool's files as text, by path.
    pub(super) fn texts(&self, commit: Oid) -> Result<BTreeMap<String, String>> {
        let text = |(path, entry): (&String, &crate::pool::repo::Entry)| {
            let bytes = self.pool.blob(entry.id)?;
            Ok((path.clone(), String::from_utf8_lossy(&bytes).into_owned()))
        };
        self.pool.files(commit)?.iter().map(text).collect()
    }
}
