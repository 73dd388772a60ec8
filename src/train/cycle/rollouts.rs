//! Pools measured on tasks, at a place of the run.

use super::Run;
use crate::ground::crash;
use crate::ground::error::Result;
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::pool::Oid;
use crate::run::cycle::{Measurement, Rollouts};
use crate::run::folder::Stretch;
use crate::stages::rollout::Measured;
use crate::target::View;
use crate::task::Task;
use crate::train::measure::Measure;

use super::state::record;

/// How often, and under which samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Samples {
    /// The first.
    pub(super) first: u32,
    /// How many.
    pub(super) repeats: u32,
}

impl Samples {
    /// One attempt, the usual one.
    pub(super) const ONE: Samples = Samples { first: 0, repeats: 1 };
}

impl Run<'_> {
    /// Measures a pool on tasks.
    pub(super) fn measure(
        &self,
        stretch: Stretch,
        what: &str,
        view: &View,
        tasks: &[Task],
        samples: Samples,
    ) -> Result<Vec<Measured>> {
        let setup = self.setup;
        let measure = Measure {
            target: setup.target,
            evaluator: setup.evaluator,
            attempts: &self.attempts,
            place: &stretch.name(),
            sample: samples.first,
            repeats: samples.repeats,
            workers: self.config().train.workers,
            fresh: setup.fresh,
            env: setup.env,
            cancel: setup.cancel,
            sandbox: self.sandbox(),
            timeout: std::time::Duration::from_secs_f64(self.config().target.timeout),
            observer: setup.observer,
            what,
        };
        let measured = measure.run(view, tasks)?;
        let sum = measurement(view, &measured, samples.repeats);
        self.count_rollouts(Rollouts { new: sum.new, reused: sum.reused, spared: 0 });
        Ok(measured)
    }

    /// A pool's commit as targets see it.
    pub(super) fn view(&self, commit: Oid) -> Result<View> {
        View::of(&self.pool, commit)
    }

    /// The containment that was configured.
    pub(super) fn sandbox(&self) -> Sandbox {
        use crate::config::Sandbox as Configured;
        match self.config().train.sandbox {
            Configured::Auto => Sandbox::Auto,
            Configured::Bwrap => Sandbox::Bwrap,
            Configured::Landlock => Sandbox::Landlock,
            Configured::Off => Sandbox::Off,
        }
    }

    /// Attempts at each task that is examined.
    pub(super) fn repeats(&self) -> Samples {
        Samples { first: 0, repeats: u32::try_from(self.config().evaluation.repeats).unwrap_or(u32::MAX) }
    }
}

/// What a measurement came to.
pub(super) fn measurement(view: &View, measured: &[Measured], repeats: u32) -> Measurement {
    let scores = measured.iter().filter_map(Measured::score);
    let attempts = measured.iter().filter(|measured| measured.digest.is_some());
    let reused = attempts.clone().filter(|measured| measured.reused).count() * repeats as usize;
    Measurement {
        commit: view.commit.clone(),
        means: Measurement::means_of(scores.clone()),
        tasks: measured.len(),
        measured: scores.count(),
        new: attempts.count() * repeats as usize - reused,
        reused,
    }
}

/// The first pool on the whole selection split: what every later one is held against. None without such a split.
pub(super) fn baseline(run: &Run<'_>) -> Result<Option<Measurement>> {
    if run.split.selection.is_empty() {
        return Ok(None);
    }
    let stretch = Stretch::Baseline;
    if let Some(known) = record(&run.setup.folder, stretch)? {
        return Ok(Some(known));
    }
    run.begin_stretch(stretch)?;
    let view = run.view(run.begun.seed()?)?;
    let measured = run.measure(stretch, "baseline", &view, &run.split.selection, run.repeats())?;
    let baseline = measurement(&view, &measured, run.repeats().repeats);
    run.end_stretch(stretch)?;
    files::write_json(&run.setup.folder.record(&stretch), &baseline)?;
    crash::point("stretch-done");
    Ok(Some(baseline))
}
