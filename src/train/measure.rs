//! Measures a commit of a pool on tasks: rollouts kept in a run's folder, and what they come to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::evaluator::Evaluator;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::ground::signals::Cancel;
use crate::ground::turns::Turns;
use crate::run::event::{Event, Observer};
use crate::run::memo::{Entry, Memo};
use crate::score::Score;
use crate::stages::rollout::{self, Kept, Measured, Rollout, Shelf, Wanted};
use crate::stages::scoring::Verdict;
use crate::target::{Attempt, Host, Target, View};
use crate::task::Task;
use crate::train::tally::Tally;
use crate::trajectory::{self, Usage};

/// One thread in so many more than there are workers.
const SPARE: usize = 4;

/// What is measured, by whom, and where it is kept.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// Who attempts.
    pub target: &'a dyn Target,
    /// Who scores.
    pub evaluator: &'a dyn Evaluator,
    /// The run's attempts; several measurements may share them, side by side too.
    pub attempts: &'a Attempts,
    /// Where in the run this is (`epoch_00/step_01`), free text, empty for one of its own. An attempt made at another place
    /// counts as used again, one made at this place does not, even by a call that was killed: a run that resumes counts
    /// as one that was not disturbed. At the empty place what counts is whether it was there when the folder was opened.
    pub place: &'a str,
    /// The first attempt's sample; 0 is the usual one.
    pub sample: u32,
    /// Attempts at each task, 1 or more: their samples follow each other, and the task's score is their mean.
    pub repeats: u32,
    /// Attempts under way at a time; of a chat model's, calls, which its client limits (`max_in_flight`).
    pub workers: usize,
    /// Whether attempts that were made elsewhere are passed over.
    pub fresh: bool,
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The containment wanted for programs.
    pub sandbox: Sandbox,
    /// Wall-clock time of one attempt by a program.
    pub timeout: std::time::Duration,
    /// What it is for, for those who listen: `rollout`, `gate`, `test`.
    pub what: &'a str,
    /// Who listens.
    pub observer: Observer<'a>,
}

impl Measure<'_> {
    /// Measures a pool on tasks, each of which can be scored. The results are in the tasks' order.
    ///
    /// # Errors
    /// Of kind `Usage` for a task that the evaluator cannot score, asked for all before the first attempt; as
    /// [`rollout::run`].
    pub fn run(&self, view: &View, tasks: &[Task]) -> Result<Vec<Measured>> {
        tasks.iter().try_for_each(|task| self.evaluator.check(task))?;
        let (total, tally) = (tasks.len() * self.repeats.max(1) as usize, Tally::of(self.what));
        self.with(view, true, |rollout| {
            for text in rollout.ready.remarks() {
                (self.observer)(&Event::Warning { text });
            }
            (self.observer)(&Event::RolloutsStarted { what: self.what.to_owned(), total });
            let measured = rollout::run(rollout, tasks, &|measured| (self.observer)(&tally.count(measured, total)));
            (self.observer)(&tally.end(total));
            measured
        })
    }

    /// What is known of tasks under a pool without asking anybody; see [`rollout::known`].
    ///
    /// # Errors
    /// Of I/O.
    pub fn known(&self, view: &View, tasks: &[Task]) -> Result<Vec<Option<Measured>>> {
        self.with(view, false, |rollout| rollout::known(rollout, tasks))
    }

    /// Sets a rollout up, on a desk of its own.
    fn with<R>(&self, view: &View, attempts_any: bool, job: impl FnOnce(&Rollout<'_>) -> Result<R>) -> Result<R> {
        let ready = self.target.ready(view)?;
        let desk = self.attempts.desk();
        let folder = if attempts_any { self.folder(view, &desk)? } else { desk.join("pool") };
        let Measure { env, cancel, sandbox, timeout, place, sample, .. } = *self;
        let host = Host { env, cancel, sandbox, timeout, desk: &desk, folder: &folder, place, sample };
        let Measure { attempts, target, evaluator, repeats, fresh, .. } = *self;
        let shelf = Folder { attempts, place, fresh, waits: !target.keeps_answers() };
        // Some more than may ask at a time: an answer that is being written down must not keep the model idle.
        let spare = if target.keeps_answers() { self.workers / SPARE } else { 0 };
        let workers = self.workers + spare;
        let rollout = Rollout { target, evaluator, ready: ready.as_ref(), view, shelf: &shelf, host, repeats, workers };
        let result = job(&rollout);
        files::remove_dir(&desk)?;
        result
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

/// What is kept of an attempt besides its files.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    task: String,
    /// The pool's commit that it was made with; others may have the same to show.
    pool: String,
    /// The place in the run that it was made at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    made_at: String,
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

/// A run's attempts, on disk: opened once, shared by all that measure.
#[derive(Debug)]
pub struct Attempts {
    memo: Memo,
    turns: Turns,
    /// What is known of answers.
    verdicts: PathBuf,
    desk: PathBuf,
    desks: AtomicUsize,
}

impl Attempts {
    /// Opens the attempts of a run by its folder, and holds them for this program until dropped.
    ///
    /// # Errors
    /// As [`Memo::open`].
    pub fn open(out: &Path) -> Result<Attempts> {
        let memo = Memo::open(&out.join("rollouts"))?;
        let desk = out.join("desk");
        files::remove_dir(&desk)?;
        Ok(Attempts { memo, turns: Turns::default(), verdicts: out.join("verdicts"), desk, desks: AtomicUsize::new(0) })
    }

    /// Returns when every attempt and score so far is on disk, durably. Answers that a client's recording holds are so
    /// before; who removes that recording flushes first. Dropping the attempts does the same, without telling of errors.
    ///
    /// # Errors
    /// Of I/O, naming the path.
    pub fn flush(&self) -> Result<()> {
        self.memo.flush()
    }

    /// An attempt's answer, transcript and reads, by its digest ([`Measured::digest`]).
    ///
    /// # Errors
    /// `Failed` when it is not there or not whole; of I/O.
    pub fn kept(&self, digest: &str) -> Result<Kept> {
        let entry = self.memo.entry(digest)?;
        let kept = entry.map_or(Ok(None), |entry| self.read(&entry, false))?;
        kept.ok_or_else(|| {
            let place = self.memo.place_of(digest);
            Error::failed(format!("the attempt in {} is gone or damaged", place.display()))
                .hint("run the same command again: it is made anew")
        })
    }

    /// The folder of an attempt's files.
    pub fn folder(&self, digest: &str) -> PathBuf {
        self.memo.place_of(digest)
    }

    fn verdict_place(&self, name: &str) -> PathBuf {
        self.verdicts.join(&name[..2]).join(format!("{name}.json"))
    }

    /// A folder of nobody else for one measurement.
    fn desk(&self) -> PathBuf {
        self.desk.join(self.desks.fetch_add(1, Ordering::SeqCst).to_string())
    }

    /// An artifact as an attempt; none when it is damaged.
    fn read(&self, entry: &Entry, reused: bool) -> Result<Option<Kept>> {
        let Some(facts) = facts(entry) else { return Ok(None) };
        let text = |name: &str| -> Result<Option<String>> {
            Ok(self.memo.read(&entry.digest, name)?.and_then(|bytes| String::from_utf8(bytes).ok()))
        };
        let (Some(answer), Some(trajectory), Some(reads)) = (text(OUTPUT)?, text(TRAJECTORY)?, text(READS)?) else {
            return Ok(None);
        };
        let reads = reads.lines().map(str::to_owned).collect();
        let Facts { tools, fault, usage, .. } = facts;
        Ok(Some(Kept { digest: entry.digest.clone(), answer, trajectory, reads, tools, fault, reused, usage }))
    }
}

impl Drop for Attempts {
    fn drop(&mut self) {
        // It is empty but for what a call that failed left; the next one clears it.
        files::remove_dir(&self.desk).ok();
    }
}

fn facts(entry: &Entry) -> Option<Facts> {
    serde_json::from_value(entry.facts.clone()).ok()
}

fn score_file(by: &str) -> String {
    format!("score-{}.json", &by[..12])
}

/// The run's attempts as one measurement uses them.
struct Folder<'a> {
    attempts: &'a Attempts,
    place: &'a str,
    fresh: bool,
    /// Whether an attempt must be on disk before it is used, since its answer is nowhere else.
    waits: bool,
}

const OUTPUT: &str = "output.txt";
const TRAJECTORY: &str = "trajectory.md";
const READS: &str = "reads.txt";

impl Folder<'_> {
    /// Whether an attempt was made elsewhere.
    fn is_foreign(&self, entry: &Entry, facts: &Facts) -> bool {
        if self.place.is_empty() { entry.was_there } else { facts.made_at != self.place }
    }
}

impl Shelf for Folder<'_> {
    fn turns(&self) -> &Turns {
        &self.attempts.turns
    }

    fn find(&self, wanted: &Wanted, view: &View) -> Result<Option<Kept>> {
        let found = self.attempts.memo.find(&wanted.key, &wanted.seen, &|path| view.blob(path).map(str::to_owned));
        let mut held: Vec<(Entry, Facts)> =
            found.into_iter().filter_map(|entry| facts(&entry).map(|facts| (entry, facts))).collect();
        // This commit's own first: a measurement that is resumed must not come upon another one's.
        held.sort_by_key(|(_, facts)| facts.pool != view.commit);
        for (entry, facts) in held {
            let reused = self.is_foreign(&entry, &facts);
            if !(self.fresh && reused)
                && let Some(kept) = self.attempts.read(&entry, reused)?
            {
                return Ok(Some(kept));
            }
        }
        Ok(None)
    }

    fn keep(&self, wanted: &Wanted, task: &Task, view: &View, attempt: &Attempt) -> Result<Kept> {
        let opened: BTreeMap<String, Option<String>> =
            attempt.reads.iter().map(|path| (path.clone(), view.blob(path).map(str::to_owned))).collect();
        let Attempt { answer, reads, tools, fault, usage, events } = attempt.clone();
        let made_at = self.place.to_owned();
        let (task, pool) = (task.id.clone(), view.commit.clone());
        let facts = Facts { task, pool, made_at, tools: tools.clone(), fault: fault.clone(), usage };
        let facts = serde_json::to_value(&facts).map_err(Error::failed)?;
        let entry = Entry::new(wanted.key.clone(), wanted.seen.clone(), opened, facts);
        let (trajectory, trace) = (trajectory::markdown(&events), trajectory::read_trace(&reads));
        self.attempts.memo.keep(&entry, &[(OUTPUT, &answer), (TRAJECTORY, &trajectory), (READS, &trace)])?;
        if self.waits {
            self.attempts.memo.flush()?;
        }
        Ok(Kept { digest: entry.digest, answer, trajectory, reads, tools, fault, reused: false, usage })
    }

    fn verdict(&self, name: &str) -> Result<Verdict> {
        if self.fresh {
            return Ok(Verdict::default());
        }
        let bytes = files::read_if_there(&self.attempts.verdict_place(name))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    fn keep_verdict(&self, name: &str, verdict: &Verdict) -> Result<()> {
        files::write_json(&self.attempts.verdict_place(name), verdict)
    }

    fn score(&self, kept: &Kept, by: &str) -> Result<Option<Score>> {
        let Some(bytes) = self.attempts.memo.read(&kept.digest, &score_file(by))? else { return Ok(None) };
        let scored = serde_json::from_slice::<Scored>(&bytes).ok().filter(|scored| scored.by == by);
        // Whatever stands there, a score is in range or none.
        Ok(scored.and_then(|Scored { score, .. }| Score::new(score.hard, score.soft, score.feedback).ok()))
    }

    fn keep_score(&self, kept: &Kept, by: &str, score: &Score) -> Result<()> {
        let scored = Scored { by: by.to_owned(), score: score.clone() };
        let text = serde_json::to_string_pretty(&scored).map_err(Error::failed)?;
        self.attempts.memo.add(&kept.digest, &score_file(by), text + "\n")
    }
}
