//! A candidate made of texts of ours: checked as a backward pass's result is, committed, the branch moved to it.

use std::collections::BTreeMap;

use super::Run;
use crate::ground::crash;
use crate::ground::error::Result;
use crate::pool::Oid;
use crate::pool::history::{self, trailer};
use crate::pool::repo::{Changes, Entry, PLAIN};
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::train::check::Checker;

/// What is to be committed.
pub(super) struct Draft {
    /// The step's label.
    pub(super) label: String,
    /// Where in the run.
    pub(super) stretch: Stretch,
    /// The works behind it, for the message.
    pub(super) works: Vec<String>,
    /// The digest of the evidence.
    pub(super) evidence: String,
    /// The cards that change, by path; none takes one away.
    pub(super) texts: BTreeMap<String, Option<String>>,
}

/// Commits a draft on `current` and moves the branch there, or gives what speaks against it, Markdown. A commit that an
/// earlier process made of the same evidence is recognised.
pub(super) fn commit(run: &Run<'_>, current: Oid, draft: &Draft) -> Result<Result<Oid, String>> {
    let pool = &run.pool;
    if let Some(known) = pool.past()?.step(&draft.label, &draft.evidence) {
        return Ok(Ok(known));
    }
    let changes = stored(run, draft)?;
    if let Some(problems) = problems(run, current, &changes)? {
        return Ok(Err(problems));
    }
    let setup = run.setup;
    let trailers = [
        (trailer::RUN, run.begun.name.clone()),
        (trailer::STEP, draft.label.clone()),
        (trailer::OPTIMIZER, setup.optimizer.name()),
        (trailer::EVIDENCE, draft.evidence.clone()),
    ];
    let message = history::message(&format!("train {}", draft.label), &draft.works, &trailers);
    let seconds = setup.dates.at(&draft.stretch.name(), setup.env)?;
    let commit = pool.write_commit(current, &changes, &message, &pool.author(seconds))?;
    crash::point("candidate-made");
    for path in pool.move_to(current, commit, &format!("train {}", draft.label))? {
        run.tell(&Event::left_alone(&path));
    }
    crash::point("candidate-placed");
    Ok(Ok(commit))
}

fn stored(run: &Run<'_>, draft: &Draft) -> Result<Changes> {
    let store = |(path, text): (&String, &Option<String>)| {
        let entry = match text {
            Some(text) => Some(Entry { id: run.pool.store(text.as_bytes())?, mode: PLAIN }),
            None => None,
        };
        Ok((path.clone(), entry))
    };
    draft.texts.iter().map(store).collect()
}

/// What the lint says against a pool with these changes; none when it passes.
fn problems(run: &Run<'_>, current: Oid, changes: &Changes) -> Result<Option<String>> {
    let checker = Checker::of(&run.pool, current, run.setup.env)?;
    let files = run.pool.files(current)?;
    let problems = checker.problems(&files, changes, |path| {
        match changes.get(path).copied().flatten().or_else(|| files.get(path).copied()) {
            Some(entry) => run.pool.blob(entry.id),
            None => Ok(Vec::new()),
        }
    })?;
    let lines: Vec<String> = problems.iter().map(|problem| format!("- {problem}")).collect();
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}
