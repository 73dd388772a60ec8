//! The end of a run: the final check, the test split opened once, the best pool exported, all of it summed up.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::rollouts::measurement;
use super::state::{State, record};
use super::{Run, account};
use crate::ground::crash;
use crate::ground::error::{AtPath as _, Result};
use crate::ground::files;
use crate::llm::{Ledger, Line};
use crate::pool::Oid;
use crate::run::cycle::{Measurement, Outcome, Rollouts, VERSION};
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::task::Task;

/// What a run came to, as `summary.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The record's version.
    pub version: u32,
    /// The run's name.
    pub run: String,
    /// Steps that were made.
    pub steps: usize,
    /// Of these, by what became of their candidates: accepted, rejected, undecided, unchanged.
    pub accepted: usize,
    /// See `accepted`.
    pub rejected: usize,
    /// See `accepted`.
    pub undecided: usize,
    /// See `accepted`.
    pub unchanged: usize,
    /// Steps without a candidate, because nothing of the optimizer's work could be taken.
    #[serde(default)]
    pub failed: usize,
    /// The first pool's commit, the best one's, the last one's.
    pub commits: [String; 3],
    /// These pools on the selection split, each on all of it; none without one.
    pub selection: [Option<Measurement>; 3],
    /// The same on the test split, which nothing saw before.
    pub test: [Option<Measurement>; 3],
    /// Tokens of the pool's cards after each step.
    pub pool_tokens: Vec<usize>,
    /// Rollouts that were made, and that were not.
    pub rollouts: Rollouts,
    /// What was paid, by role, stage and model.
    pub usage: Vec<Line>,
}

/// What the end of a run found, as `final.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Final {
    /// Steps when it was made; a run that went on is ended anew.
    steps: usize,
    commits: [String; 3],
    selection: [Option<Measurement>; 3],
    test: [Option<Measurement>; 3],
}

impl Final {
    fn is_tested(&self) -> bool {
        self.test.iter().any(Option::is_some)
    }

    /// Whether each pool that was measured has a mean. Where too many scores are missing, the end is gone through again,
    /// and what was lost is asked for again.
    fn is_whole(&self) -> bool {
        self.selection.iter().chain(&self.test).flatten().all(|measured| measured.means.is_some())
    }
}

/// Whether the test split is to be opened. The key may change on a finished run, which is then ended anew; a test that was
/// made already stays.
fn is_tested(run: &Run<'_>) -> bool {
    run.config().evaluation.eval_test && !run.split.test.is_empty()
}

/// Ends a run, or tells how it ended.
pub(super) fn finish(run: &Run<'_>, state: &State) -> Result<Summary> {
    let stretch = Stretch::Final;
    let known = record::<Final>(&run.setup.folder, stretch)?;
    let holds =
        |end: &Final| end.steps == state.reports.len() && end.is_whole() && (end.is_tested() || !is_tested(run));
    let end = match known.filter(holds) {
        Some(end) => end,
        None => measure(run, state)?,
    };
    let best = super::state::id(&end.commits[1])?;
    run.pool.tag("best", best)?;
    export(run, best)?;
    let summary = summary(run, state, end)?;
    files::write_json(&run.setup.folder.summary(), &summary)?;
    crash::point("summed-up");
    run.tell(&Event::RunDone { folder: run.setup.folder.path().to_string_lossy().into_owned() });
    Ok(summary)
}

/// The final check and the test.
fn measure(run: &Run<'_>, state: &State) -> Result<Final> {
    let stretch = Stretch::Final;
    // What stands there is of a run that was shorter.
    files::remove(&run.setup.folder.record(&stretch))?;
    run.begin_stretch(stretch)?;
    let (seed, last) = (run.begun.seed()?, state.current);
    let candidates = [seed, likely_best(run, state)?, last];
    let selection = on(run, "final check", candidates, &run.split.selection)?;
    let score = |measured: &Option<Measurement>| {
        let means = measured.as_ref()?.means?;
        Some(run.metric().of_means(means.hard, means.soft))
    };
    let best = best_of(selection.each_ref().map(score));
    let commits = [seed, candidates[best], last];
    let selection = [selection[0].clone(), selection[best].clone(), selection[2].clone()];
    let test = if is_tested(run) { on(run, "test", commits, &run.split.test)? } else { [None, None, None] };
    let end = Final { steps: state.reports.len(), commits: commits.map(|commit| commit.to_string()), selection, test };
    run.end_stretch(stretch)?;
    files::write_json(&run.setup.folder.record(&stretch), &end)?;
    crash::point("stretch-done");
    Ok(end)
}

/// The place of the highest score; of equals the first: a longer training that gained nothing is no reason for more cards.
/// Where one has no mean, the likely best one stays: what the gate said stands.
fn best_of(scores: [Option<f64>; 3]) -> usize {
    let [Some(_), Some(_), Some(_)] = scores else { return 1 };
    (1..3).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
}

/// The pool that did best at the gate so far: the last accepted one under a gate, the highest score without.
fn likely_best(run: &Run<'_>, state: &State) -> Result<Oid> {
    let config = run.config();
    if config.evaluation.use_gate && config.optimizer.slow_update_gate_with_selection {
        return Ok(state.current);
    }
    if config.evaluation.use_gate {
        // Guidance that no gate saw may have cost something: the pool before it is held against it.
        return state.reports.last().map_or_else(|| run.begun.seed(), |report| super::state::id(&report.after));
    }
    let mut best = (state.baseline_score(run), run.begun.seed()?);
    for report in &state.reports {
        let score = report.score_after();
        if score.is_some() && score > best.0 {
            best = (score, super::state::id(&report.after)?);
        }
    }
    Ok(if best.0.is_none() { state.current } else { best.1 })
}

/// Three pools on all tasks of a split; the same pool once.
fn on(run: &Run<'_>, what: &str, commits: [Oid; 3], tasks: &[Task]) -> Result<[Option<Measurement>; 3]> {
    let mut found: [Option<Measurement>; 3] = [None, None, None];
    if tasks.is_empty() {
        return Ok(found);
    }
    for at in 0..3 {
        if let Some(same) = (0..at).find(|earlier| commits[*earlier] == commits[at]) {
            found[at] = found[same].clone();
            continue;
        }
        let view = run.view(commits[at])?;
        let measured = run.measure(Stretch::Final, what, &view, tasks, run.repeats())?;
        let mut sum = measurement(&view, &measured, run.repeats().repeats);
        let least = run.config().evaluation.min_coverage;
        if (sum.measured as f64) < least * sum.tasks as f64 {
            // A mean over what happened to be measured would say nothing of the pool.
            sum.means = None;
            let (measured, tasks, least) = (sum.measured, sum.tasks, least * 100.0);
            let text = format!(
                "{what}: {measured} of {tasks} tasks have a score, and {least:.0} % must (evaluation.min_coverage): there is \
                 no mean; the same command asks again for what is missing"
            );
            run.tell(&Event::Warning { text });
        }
        found[at] = Some(sum);
    }
    Ok(found)
}

/// Writes the best pool's files to `best/`, which is replaced as a whole.
fn export(run: &Run<'_>, best: Oid) -> Result<()> {
    let place = run.setup.folder.best();
    let texts = run.texts(best)?;
    let is_there = |folder: &Path| {
        let same = |(path, text): (&String, &String)| {
            std::fs::read(folder.join(path)).is_ok_and(|bytes| bytes == text.as_bytes())
        };
        let files = walkdir::WalkDir::new(folder).into_iter().flatten().filter(|entry| entry.file_type().is_file());
        texts.iter().all(same) && files.count() == texts.len()
    };
    if is_there(&place) {
        return Ok(());
    }
    let parent = run.setup.folder.path();
    let draft = tempfile::Builder::new().prefix(".tmp-best-").tempdir_in(parent).at("create a folder in", parent)?;
    for (path, text) in &texts {
        files::write(&draft.path().join(path), text)?;
    }
    std::fs::set_permissions(draft.path(), files::permissions(0o755)).at("open up", draft.path())?;
    files::remove_dir(&place)?;
    files::rename(&draft.keep(), &place)
}

fn summary(run: &Run<'_>, state: &State, end: Final) -> Result<Summary> {
    let reports = &state.reports;
    let count = |outcome: Outcome| reports.iter().filter(|report| report.outcome == outcome).count();
    let (ledger, mut rollouts) = (Ledger::default(), Rollouts::default());
    for stretch in account::finished(&run.setup.folder) {
        let taken = account::taken(&run.setup.folder, stretch)?;
        ledger.take_in(taken.calls);
        rollouts += taken.rollouts;
    }
    Ok(Summary {
        version: VERSION,
        run: run.begun.name.clone(),
        steps: reports.len(),
        accepted: count(Outcome::Accepted),
        rejected: count(Outcome::Rejected),
        undecided: count(Outcome::Undecided),
        unchanged: count(Outcome::Unchanged),
        failed: count(Outcome::Failed),
        commits: end.commits,
        selection: end.selection,
        test: end.test,
        pool_tokens: reports.iter().map(|report| report.pool_tokens).collect(),
        rollouts,
        usage: ledger.lines(),
    })
}

#[cfg(test)]
mod tests {
    use super::best_of;

    #[test]
    fn the_best_is_the_first_of_the_highest() {
        assert_eq!(best_of([Some(0.2), Some(0.5), Some(0.5)]), 1);
        assert_eq!(best_of([Some(0.5), Some(0.5), Some(0.5)]), 0);
        assert_eq!(best_of([Some(0.0), None, Some(0.1)]), 1);
        assert_eq!(best_of([Some(0.0), Some(0.5), None]), 1);
        assert_eq!(best_of([None; 3]), 1);
    }
}
