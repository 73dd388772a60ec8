//! Measures a commit of a pool on tasks: rollouts kept in a run's folder, and what they come to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evaluator::Evaluator;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::ground::signals::Cancel;
use crate::run::event::{Event, Observer};
use crate::run::memo::{Entry, Memo};
use crate::score::Score;
use crate::stages::rollout::{self, Ending, Kept, Measured, Rollout, Shelf, Wanted};
use crate::target::{Attempt, Host, Target, View};
use crate::task::Task;
use crate::trajectory::{self, Usage};

/// What is measured, by whom, and where it is kept.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// Who attempts.
    pub target: &'a dyn Target,
    /// Who scores.
    pub evaluator: &'a dyn Evaluator,
    /// The run's folder.
    pub out: &'a Path,
    /// Threads.
    pub workers: usize,
    /// Whether what is there already is made anew.
    pub fresh: bool,
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The containment wanted for programs.
    pub sandbox: Sandbox,
    /// Wall-clock time of one attempt by a program.
    pub timeout: std::time::Duration,
    /// Who listens.
    pub observer: Observer<'a>,
}

impl Measure<'_> {
    /// Measures a pool on tasks, each of which can be scored.
    ///
    /// # Errors
    /// Of kind `Usage` for a task that the evaluator cannot score, asked for all before the first attempt; as
    /// [`rollout::run`]; `Failed` when another program is at work in the same folder.
    pub fn run(&self, view: &View, tasks: &[Task]) -> Result<Vec<Measured>> {
        tasks.iter().try_for_each(|task| self.evaluator.check(task))?;
        for text in self.target.remarks(view)? {
            (self.observer)(&Event::Warning { text });
        }
        let shelf = Folder(Memo::open(&self.out.join("rollouts"))?);
        let desk = self.out.join("desk");
        files::remove_dir(&desk)?;
        let folder = self.folder(view, &desk)?;
        let Measure { env, cancel, sandbox, timeout, .. } = *self;
        let host = Host { env, cancel, sandbox, timeout, desk: &desk, folder: &folder };
        let Measure { target, evaluator, workers, fresh, .. } = *self;
        let rollout = Rollout { target, evaluator, view, shelf: &shelf, host, workers, fresh };
        let (total, tally) = (tasks.len(), Tally::default());
        (self.observer)(&Event::RolloutsStarted { total });
        let measured = rollout::run(&rollout, tasks, &|measured| (self.observer)(&tally.count(measured, total)));
        (self.observer)(&tally.end(total));
        files::remove_dir(&desk)?;
        measured
    }

    /// The pool's files as a folder, for a target that wants them so.
    fn folder(&self, view: &View, desk: &Path) -> Result<PathBuf> {
        let folder = desk.join("pool");
        if self.target.wants_folder() {
            view.write(&folder)?;
            return files::canonical(&folder);
        }
        Ok(folder)
    }
}

/// How many rollouts are done, and how.
#[derive(Debug, Default)]
struct Tally {
    done: AtomicUsize,
    failed: AtomicUsize,
    reused: AtomicUsize,
}

impl Tally {
    fn count(&self, measured: &Measured, total: usize) -> Event {
        let is_missing = !matches!(measured.end, Ending::Scored(_));
        let add =
            |sum: &AtomicUsize, more: bool| sum.fetch_add(usize::from(more), Ordering::SeqCst) + usize::from(more);
        let (failed, reused) = (add(&self.failed, is_missing), add(&self.reused, measured.reused));
        Event::RolloutDone { done: add(&self.done, true), failed, reused, total }
    }

    fn end(&self, total: usize) -> Event {
        let read = |sum: &AtomicUsize| sum.load(Ordering::SeqCst);
        Event::RolloutsDone { done: read(&self.done), failed: read(&self.failed), reused: read(&self.reused), total }
    }
}

/// What is kept of an attempt besides its files.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    task: String,
    /// The pool's commit that it was made with; others may have the same to show.
    pool: String,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// A score on disk.
#[derive(Debug, Serialize, Deserialize)]
struct Scored {
    by: String,
    score: Score,
}

/// The shelf in a run's folder.
#[derive(Debug)]
struct Folder(Memo);

const OUTPUT: &str = "output.txt";
const TRAJECTORY: &str = "trajectory.md";
const READS: &str = "reads.txt";

impl Folder {
    fn kept(&self, entry: &Entry) -> Result<Option<Kept>> {
        let Ok(facts) = serde_json::from_value::<Facts>(entry.facts.clone()) else { return Ok(None) };
        let place = self.0.place(entry);
        let text = |name: &str| -> Result<Option<String>> {
            Ok(files::read_if_there(&place.join(name))?.and_then(|bytes| String::from_utf8(bytes).ok()))
        };
        let (Some(answer), Some(trajectory)) = (text(OUTPUT)?, text(TRAJECTORY)?) else { return Ok(None) };
        let Facts { tools, fault, .. } = facts;
        Ok(Some(Kept { digest: entry.digest.clone(), answer, trajectory, tools, fault }))
    }

    fn score_place(&self, kept: &Kept, by: &str) -> PathBuf {
        self.0.place_of(&kept.digest).join(format!("score-{}.json", &by[..12]))
    }
}

impl Shelf for Folder {
    fn find(&self, wanted: &Wanted, view: &View) -> Result<Option<Kept>> {
        let found = self.0.find(&wanted.key, &wanted.seen, &|path| view.blob(path).map(str::to_owned));
        found.map_or(Ok(None), |entry| self.kept(&entry))
    }

    fn keep(&self, wanted: &Wanted, task: &Task, view: &View, attempt: &Attempt) -> Result<Kept> {
        let reads: BTreeMap<String, Option<String>> =
            attempt.reads.iter().map(|path| (path.clone(), view.blob(path).map(str::to_owned))).collect();
        let Attempt { answer, tools, fault, usage, .. } = attempt.clone();
        let facts = Facts { task: task.id.clone(), pool: view.commit.clone(), tools, fault, usage };
        let facts = serde_json::to_value(&facts).map_err(Error::failed)?;
        let entry = Entry::new(wanted.key.clone(), wanted.seen.clone(), reads, facts);
        let (trajectory, reads) = (trajectory::markdown(&attempt.events), trajectory::read_trace(&attempt.reads));
        self.0.keep(&entry, &[(OUTPUT, &answer), (TRAJECTORY, &trajectory), (READS, &reads)])?;
        let Attempt { tools, fault, .. } = attempt.clone();
        Ok(Kept { digest: entry.digest, answer, trajectory, tools, fault })
    }

    fn score(&self, kept: &Kept, by: &str) -> Result<Option<Score>> {
        let Some(bytes) = files::read_if_there(&self.score_place(kept, by))? else { return Ok(None) };
        let scored = serde_json::from_slice::<Scored>(&bytes).ok().filter(|scored| scored.by == by);
        // Whatever stands there, a score is in range or none.
        Ok(scored.and_then(|Scored { score, .. }| Score::new(score.hard, score.soft, score.feedback).ok()))
    }

    fn keep_score(&self, kept: &Kept, by: &str, score: &Score) -> Result<()> {
        let scored = Scored { by: by.to_owned(), score: score.clone() };
        files::write_json(&self.score_place(kept, by), &serde_json::to_value(&scored).unwrap_or(Value::Null))
    }
}
