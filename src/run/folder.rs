//! Where everything lies in a training run's folder, said once.

use std::path::{Path, PathBuf};

/// A training run's folder.
#[derive(Debug, Clone)]
pub struct RunDir(PathBuf);

impl RunDir {
    /// The run in this folder.
    pub fn new(folder: impl Into<PathBuf>) -> RunDir {
        RunDir(folder.into())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The run's name: its folder's, as a part of labels and references.
    pub fn name(&self) -> String {
        super::layout::slug(&self.0.file_name().unwrap_or_default().to_string_lossy())
    }

    /// The configuration as resolved.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// What the run was begun with; written last of what a beginning writes.
    pub fn begun(&self) -> PathBuf {
        self.0.join("run.json")
    }

    /// The pool.
    pub fn memory(&self) -> PathBuf {
        self.0.join(super::layout::MEMORY)
    }

    /// The splits.
    pub fn split(&self) -> PathBuf {
        self.0.join("split")
    }

    /// Rollouts.
    pub fn rollouts(&self) -> PathBuf {
        self.0.join("rollouts")
    }

    /// Everything that happened, one JSON object a line.
    pub fn events(&self) -> PathBuf {
        self.0.join("events.jsonl")
    }

    /// The best pool, exported.
    pub fn best(&self) -> PathBuf {
        self.0.join("best")
    }

    /// What the run came to.
    pub fn summary(&self) -> PathBuf {
        self.0.join("summary.json")
    }

    /// A stretch of the run that pays for itself.
    pub fn stretch(&self, stretch: &Stretch) -> PathBuf {
        self.0.join(stretch.name())
    }

    /// A stretch's record, written last: it vouches for the stretch.
    pub fn record(&self, stretch: &Stretch) -> PathBuf {
        let name = match stretch {
            Stretch::Baseline => "baseline.json",
            Stretch::Step(..) => "step.json",
            Stretch::SlowUpdate(_) => "slow_update.json",
            Stretch::MetaSkill(_) => "meta_skill.json",
            Stretch::Final => "final.json",
        };
        self.stretch(stretch).join(name)
    }

    /// The loss reports of a step: apart from what a target may see, since they quote references.
    pub fn loss(&self, epoch: usize, step: usize) -> PathBuf {
        self.0.join("loss").join(format!("epoch_{epoch:02}")).join(format!("step_{step:02}"))
    }
}

/// A stretch of a run with a folder, a journal and an account of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stretch {
    /// The first pool, measured.
    Baseline,
    /// A step: epoch and step, from 0.
    Step(usize, usize),
    /// An epoch's slow update.
    SlowUpdate(usize),
    /// An epoch's meta skill.
    MetaSkill(usize),
    /// The end: final check, test split.
    Final,
}

impl Stretch {
    /// Its folder below the run's, which names it in recordings too: `epoch_00/step_01`.
    pub fn name(self) -> String {
        match self {
            Stretch::Baseline => "baseline".into(),
            Stretch::Step(epoch, step) => format!("epoch_{epoch:02}/step_{step:02}"),
            Stretch::SlowUpdate(epoch) => format!("epoch_{epoch:02}/slow_update"),
            Stretch::MetaSkill(epoch) => format!("epoch_{epoch:02}/meta_skill"),
            Stretch::Final => "final".into(),
        }
    }

    /// Its name as a part of labels: `epoch_00-step_01`.
    pub fn slug(self) -> String {
        self.name().replace('/', "-")
    }
}
