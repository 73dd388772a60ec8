//! Where a run stands, rebuilt from the records of its stretches.

use super::Run;
use super::rejected;
use crate::ground::error::{Context as _, Error, Result};
use crate::ground::files;
use crate::ground::text::shell_quoted;
use crate::pool::Oid;
use crate::pool::repo::parse_id;
use crate::run::cycle::{CycleReport, Measurement, Outcome};
use crate::run::folder::{RunDir, Stretch};
use crate::stages::gate;

use super::meta::MetaReport;
use super::slow::SlowReport;

/// Where a run stands.
pub(super) struct State {
    /// The first pool on the selection split; none without such a split.
    pub(super) baseline: Option<Measurement>,
    /// The pool's commit: all steps so far.
    pub(super) current: Oid,
    /// The steps, in their order.
    pub(super) reports: Vec<CycleReport>,
    /// The slow updates, by epoch.
    pub(super) slow: Vec<SlowReport>,
    /// The pool at the end of each epoch.
    pub(super) ends: Vec<Oid>,
    /// The optimizer's notes; empty at first.
    pub(super) meta_skill: String,
}

impl State {
    /// The state that a run's records tell, checked against its pool.
    pub(super) fn of(run: &Run<'_>) -> Result<State> {
        let folder = &run.setup.folder;
        let mut state = State {
            baseline: record(folder, Stretch::Baseline)?,
            current: run.begun.seed()?,
            reports: Vec::new(),
            slow: Vec::new(),
            ends: Vec::new(),
            meta_skill: String::new(),
        };
        let per_epoch = run.steps_per_epoch();
        'epochs: for epoch in 0..run.config().train.num_epochs {
            for step in 0..per_epoch {
                let Some(report) = record::<CycleReport>(folder, Stretch::Step(epoch, step))? else { break 'epochs };
                state.took(report)?;
            }
            let slow = record::<SlowReport>(folder, Stretch::SlowUpdate(epoch))?;
            let meta = record::<MetaReport>(folder, Stretch::MetaSkill(epoch))?;
            let (Some(slow), Some(meta)) = (slow, meta) else { break };
            state.ended(slow, meta)?;
        }
        state.check(run)?;
        Ok(state)
    }

    /// Goes on by a step.
    pub(super) fn took(&mut self, report: CycleReport) -> Result<()> {
        self.current = id(&report.after)?;
        self.reports.push(report);
        Ok(())
    }

    /// Goes on by an epoch's end.
    pub(super) fn ended(&mut self, slow: SlowReport, meta: MetaReport) -> Result<()> {
        self.current = id(&slow.after)?;
        self.ends.push(self.current);
        self.slow.push(slow);
        self.meta_skill = meta.text;
        Ok(())
    }

    /// Whether so many steps in a row were not accepted that the run stops.
    pub(super) fn is_out_of_patience(&self, run: &Run<'_>) -> bool {
        let accepted: Vec<bool> = self.reports.iter().map(|report| report.outcome == Outcome::Accepted).collect();
        gate::out_of_patience(run.config().evaluation.patience, &accepted)
    }

    /// Whether an earlier call scored an attempt.
    pub(super) fn is_proven(&self) -> bool {
        let steps = self.reports.iter().map(|report| &report.batch);
        self.baseline.iter().chain(steps).any(|measured| measured.measured > 0)
    }

    /// What of an epoch was rejected, Markdown; empty when nothing was.
    pub(super) fn rejected(&self, run: &Run<'_>, epoch: usize) -> Result<String> {
        rejected::buffer(&run.pool, self.reports.iter().filter(|report| report.epoch == epoch))
    }

    /// The first pool's gate score.
    pub(super) fn baseline_score(&self, run: &Run<'_>) -> Option<f64> {
        let means = self.baseline.as_ref()?.means?;
        Some(run.metric().of_means(means.hard, means.soft))
    }

    /// Refuses a pool whose branch is somewhere else than this run left it.
    fn check(&self, run: &Run<'_>) -> Result<()> {
        let (branch, begun) = (run.pool.branch(), run.begun.branch.as_str());
        if !begun.is_empty() && branch != begun {
            let name = begun.trim_start_matches("refs/heads/");
            return Err(Error::failed(format!(
                "the run trains the branch {name} of its pool, and {} is checked out",
                branch.trim_start_matches("refs/heads/")
            ))
            .hint(format!("git -C {} switch {name}", shell_quoted(run.pool.root()))));
        }
        let tip = run.pool.tip()?;
        let step = format!("{}-", run.begun.name);
        let is_ours = |commit: &Oid| {
            let record = run.pool.record(*commit, false);
            record.is_ok_and(|record| {
                record.trailer(crate::pool::history::trailer::STEP).is_some_and(|label| label.starts_with(&step))
            })
        };
        let since = run.pool.between(self.current, tip);
        if since.as_ref().is_ok_and(|commits| commits.iter().all(is_ours)) {
            return Ok(());
        }
        let root = shell_quoted(run.pool.root());
        let current = &self.current.to_string()[..9];
        Err(Error::failed(format!(
            "the pool's branch is at {}, and this run left it at {current}: somebody else committed there or moved it",
            &tip.to_string()[..9]
        ))
        .hint(format!("keep that work on a branch of its own: git -C {root} branch mine"))
        .hint(format!("then put the run's own back: git -C {root} reset --hard {current}")))
    }
}

/// A commit's id in a record.
pub(super) fn id(text: &str) -> Result<Oid> {
    parse_id(text).ok_or_else(|| Error::failed(format!("a record of this run names {text:?} as a commit")))
}

/// A stretch's record, when it is there.
pub(super) fn record<T: serde::de::DeserializeOwned>(folder: &RunDir, stretch: Stretch) -> Result<Option<T>> {
    let path = folder.record(&stretch);
    let Some(bytes) = files::read_if_there(&path)? else { return Ok(None) };
    let damaged =
        || format!("{} is damaged; if you did not edit it, remove it and run the same command", path.display());
    serde_json::from_slice(&bytes).map(Some).map_err(Error::failed).context(damaged())
}
