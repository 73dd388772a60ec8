//! Pools measured on tasks, at a place of the run.

use super::Run;
use crate::ground::crash;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::pool::Oid;
use crate::run::cycle::{Measurement, Rollouts};
use crate::run::event::Event;
use crate::run::folder::Stretch;
use crate::stages::rollout::{Ending, Measured};
use crate::target::{self, View};
use crate::task::Task;
use crate::train::measure::Measure;

use super::state::record;

/// Tasks that all stay without a score when something other than these tasks is wrong.
const MANY: usize = 4;

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
        let place = stretch.name();
        let measured = self.told_apart(self.measuring(&place, what, samples).run(view, tasks)?);
        let sum = measurement(view, &measured, samples.repeats);
        self.count_rollouts(Rollouts { new: sum.new, reused: sum.reused, spared: 0 });
        self.count_target(&measured);
        self.check(what, &measured)?;
        Ok(measured)
    }

    /// What is known of a pool on tasks from earlier stretches, without asking anybody.
    pub(super) fn known(
        &self,
        stretch: Stretch,
        view: &View,
        tasks: &[Task],
        samples: Samples,
    ) -> Result<Vec<Option<Measured>>> {
        self.measuring(&stretch.name(), "", samples).known(view, tasks)
    }

    fn measuring<'m>(&'m self, place: &'m str, what: &'m str, samples: Samples) -> Measure<'m> {
        let setup = self.setup;
        Measure {
            target: setup.target,
            evaluator: setup.evaluator,
            attempts: &self.attempts,
            place,
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
        }
    }

    /// Marks as reused what an earlier measurement of this stretch has as well: two pools that show a task the same share its
    /// attempt, which counts as made once.
    fn told_apart(&self, mut measured: Vec<Measured>) -> Vec<Measured> {
        let mut counted = self.counted.borrow_mut();
        for one in &mut measured {
            one.reused |= one.digest.as_ref().is_some_and(|digest| !counted.insert(digest.clone()));
        }
        measured
    }

    /// Stops the run where no task has a score through no fault of the pool: nothing may be judged by that. A few tasks
    /// that stay without one, of a target or evaluator that is known to work, are missing and no more: a run whose batch
    /// is one task that hangs must come to its end.
    fn check(&self, what: &str, measured: &[Measured]) -> Result<()> {
        let scored = measured.iter().filter(|one| one.score().is_some()).count();
        let unscored =
            || measured.iter().filter_map(|one| if let Ending::Unscored(why) = &one.end { Some(why) } else { None });
        if let Some(why) = unscored().next() {
            let (count, all) = (unscored().count(), measured.len());
            self.tell(&Event::Warning { text: format!("{what}: {count} of {all} answers have no score: {why}") });
        }
        self.warn_of_cuts(what, measured);
        if scored > 0 {
            self.proven.set(true);
        }
        if scored > 0 || measured.is_empty() || (self.proven.get() && measured.len() < MANY) {
            return Ok(());
        }
        if let Some(why) = unscored().next() {
            return Err(Error::failed(why).hint(
                "nothing was judged, and the answers are kept: mend the evaluator, then run the same command again",
            ));
        }
        let lost = measured.iter().find_map(|one| if let Ending::Lost(why) = &one.end { Some(why) } else { None });
        let why = lost.map_or("", String::as_str);
        Err(Error::unreachable(format!("{what}: no attempt was answered, the first failed with: {why}"))
            .hint("nothing was judged; check the address and the provider, then run the same command again"))
    }

    /// Says, once a call, that answers are cut off: they count as wrong, and a higher limit may be what is missing.
    fn warn_of_cuts(&self, what: &str, measured: &[Measured]) {
        let is_cut = |one: &&Measured| {
            one.score().is_some_and(|score| score.feedback.first().is_some_and(|line| line == target::CUT_OFF))
        };
        let (cut, all) = (measured.iter().filter(is_cut).count(), measured.len());
        if cut * 10 > all && !self.warned.replace(true) {
            let limit = self.config().target.answer_tokens;
            let text = format!(
                "{what}: {cut} of {all} answers were cut off at target.answer_tokens = {limit}; they count as wrong, as an \
                 answer that rambles does"
            );
            self.tell(&Event::Warning { text });
        }
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
