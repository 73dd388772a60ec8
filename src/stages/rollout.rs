//! Rollout: every task attempted once with one commit of the pool, and scored; side by side, in any order, with the same
//! result.
//!
//! What was attempted before is taken from a shelf; what is attempted now is put there before anything uses it. An
//! attempt that its provider lost and a score that an evaluator could not give stay missing, each by its own name.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::evaluator::{self, Evaluator};
use crate::ground::digest;
use crate::ground::error::{Error, Kind, Result};
use crate::score::{self, Score};
use crate::target::{Attempt, Host, Outcome, Target, View};
use crate::task::Task;

/// Attempts in a row that must be lost, with none answered, before the provider is taken to be out of order.
const ALL_LOST: usize = 4;

/// What names an attempt before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The digest of target and task.
    pub key: String,
    /// The digest of what the target sees of the pool at once.
    pub seen: String,
}

/// An attempt that is on disk.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The digest of its inputs.
    pub digest: String,
    /// The answer, whole.
    pub answer: String,
    /// The readable transcript.
    pub trajectory: String,
    /// The tools that were called, by name.
    pub tools: Vec<String>,
    /// Why there is no answer, when that is the target's own fault.
    pub fault: Option<String>,
}

/// Where attempts and scores are kept.
pub trait Shelf: Sync {
    /// The attempt that holds for this pool, when there is one.
    ///
    /// # Errors
    /// Of I/O.
    fn find(&self, wanted: &Wanted, view: &View) -> Result<Option<Kept>>;

    /// Keeps an attempt, durably.
    ///
    /// # Errors
    /// Of I/O.
    fn keep(&self, wanted: &Wanted, task: &Task, view: &View, attempt: &Attempt) -> Result<Kept>;

    /// The score that was given to an attempt, by the digest of evaluator and task.
    ///
    /// # Errors
    /// Of I/O.
    fn score(&self, kept: &Kept, by: &str) -> Result<Option<Score>>;

    /// Keeps a score, durably.
    ///
    /// # Errors
    /// Of I/O.
    fn keep_score(&self, kept: &Kept, by: &str, score: &Score) -> Result<()>;
}

/// What is rolled out, and by whom.
#[derive(Clone, Copy)]
pub struct Rollout<'a> {
    /// Who attempts.
    pub target: &'a dyn Target,
    /// Who scores.
    pub evaluator: &'a dyn Evaluator,
    /// The pool.
    pub view: &'a View,
    /// Where attempts are kept.
    pub shelf: &'a dyn Shelf,
    /// The surroundings; its desk is the folder below which each task has one of its own.
    pub host: Host<'a>,
    /// Threads.
    pub workers: usize,
    /// Whether attempts on the shelf are passed over.
    pub fresh: bool,
}

/// What became of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The attempt's digest, when there is one.
    pub digest: Option<String>,
    /// Whether the attempt was there before.
    pub reused: bool,
    /// The score, or why there is none.
    pub end: Ending,
}

/// The score of a task, or why it has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// Its score.
    Scored(Score),
    /// The target's provider failed.
    Lost(String),
    /// The evaluator gave no score.
    Unscored(String),
}

impl Measured {
    /// The score, when there is one.
    pub fn score(&self) -> Option<&Score> {
        match &self.end {
            Ending::Scored(score) => Some(score),
            _ => None,
        }
    }
}

/// The means of what was measured: hard and soft; none when nothing was.
pub fn means(measured: &[Measured]) -> Option<(f64, f64)> {
    let scores = || measured.iter().filter_map(Measured::score);
    Some((score::mean(scores().map(|score| score.hard))?, score::mean(scores().map(|score| score.soft))?))
}

/// Attempts and scores all tasks; the results are in their order. `told` hears of each when it is done.
///
/// # Errors
/// Of kind `Unreachable` when the provider fails everything (nothing is then judged), `Interrupted`, and what the target,
/// the evaluator or the shelf cannot go on after. What was done by then is on the shelf.
pub fn run(rollout: &Rollout<'_>, tasks: &[Task], told: &(dyn Fn(&Measured) + Sync)) -> Result<Vec<Measured>> {
    let seen = rollout.target.sees(rollout.view)?;
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Mutex<Vec<Option<Measured>>> = Mutex::new(vec![None; tasks.len()]);
    let failure: Mutex<Option<Error>> = Mutex::default();
    let lost = Lost::default();
    let work = || {
        while !stop.load(Ordering::SeqCst) {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let Some(task) = tasks.get(number) else { return };
            let done = one(rollout, task, number, &seen).and_then(|measured| {
                lost.count(&measured, rollout.workers)?;
                told(&measured);
                Ok(measured)
            });
            match done {
                Ok(measured) => results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(measured),
                Err(error) => {
                    stop.store(true, Ordering::SeqCst);
                    // The first one tells; those of the calls that it ended say nothing new.
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rollout.workers.clamp(1, tasks.len().max(1)) {
            scope.spawn(work);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        // A stop that the user asked for shows as many errors; it is one.
        return Err(if rollout.host.cancel.is_asked() { Error::interrupted() } else { error });
    }
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(results.into_iter().flatten().collect())
}

/// One task, from its attempt to its score.
fn one(rollout: &Rollout<'_>, task: &Task, number: usize, seen: &str) -> Result<Measured> {
    let Rollout { target, view, shelf, .. } = rollout;
    rollout.host.cancel.check()?;
    let told = target.told(task).to_string();
    let key = digest::of_parts([target.identity().as_bytes(), told.as_bytes()]);
    let wanted = Wanted { key, seen: seen.to_owned() };
    let found = if rollout.fresh { None } else { shelf.find(&wanted, view)? };
    let reused = found.is_some();
    let desk = rollout.host.desk.join(format!("t{number:05}"));
    let kept = match found {
        Some(kept) => kept,
        None => match target.attempt(task, view, &Host { desk: &desk, ..rollout.host })? {
            Outcome::Lost(why) => return Ok(Measured { digest: None, reused: false, end: Ending::Lost(why) }),
            Outcome::Ended(attempt) => shelf.keep(&wanted, task, view, &attempt)?,
        },
    };
    let end = scored(rollout, task, &kept, &desk)?;
    Ok(Measured { digest: Some(kept.digest), reused, end })
}

/// The score of an attempt. One without an answer through the target's own fault has done nothing right; what the
/// evaluator misses in an empty answer is told with it, since that is what there is to learn.
fn scored(rollout: &Rollout<'_>, task: &Task, kept: &Kept, desk: &Path) -> Result<Ending> {
    let raw = serde_json::Value::Object(task.raw.clone()).to_string();
    let by = digest::of_parts([rollout.evaluator.identity().as_bytes(), raw.as_bytes()]);
    if let Some(score) = rollout.shelf.score(kept, &by)?.filter(|_| !rollout.fresh) {
        return Ok(Ending::Scored(score));
    }
    let Host { env, cancel, sandbox, timeout, .. } = rollout.host;
    let Kept { answer, trajectory, tools, fault, .. } = kept;
    let attempt = evaluator::Attempt { task, answer, trajectory, tools };
    let host = evaluator::Host { env, cancel, sandbox, timeout, desk };
    let score = match (rollout.evaluator.evaluate(&attempt, &host), fault) {
        (Ok(score), None) => score,
        (Ok(score), Some(fault)) => at_fault(fault, score.feedback),
        (Err(error), Some(fault)) if error.kind() == Kind::Failed => at_fault(fault, Vec::new()),
        (Err(error), None) if error.kind() == Kind::Failed => return Ok(Ending::Unscored(error.to_string())),
        (Err(error), _) => return Err(error),
    };
    rollout.shelf.keep_score(kept, &by, &score)?;
    Ok(Ending::Scored(score))
}

fn at_fault(fault: &str, more: Vec<String>) -> Score {
    Score { hard: 0.0, soft: 0.0, feedback: std::iter::once(fault.to_owned()).chain(more).collect() }
}

/// Looks out for a provider that fails everything.
#[derive(Debug, Default)]
struct Lost {
    lost: AtomicUsize,
    answered: AtomicUsize,
}

impl Lost {
    fn count(&self, measured: &Measured, workers: usize) -> Result<()> {
        let Ending::Lost(why) = &measured.end else {
            // What was on disk says nothing about the provider.
            self.answered.fetch_add(usize::from(!measured.reused), Ordering::SeqCst);
            return Ok(());
        };
        let lost = self.lost.fetch_add(1, Ordering::SeqCst) + 1;
        if lost >= ALL_LOST.max(workers) && self.answered.load(Ordering::SeqCst) == 0 {
            return Err(Error::unreachable(format!("the first {lost} attempts all failed, the last with: {why}"))
                .hint("nothing was judged; check the address and the provider, then run the same command again"));
        }
        Ok(())
    }
}
