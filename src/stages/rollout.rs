//! Rollout: every task attempted with one commit of the pool, once or several times, and scored; side by side, in any
//! order, with the same result.
//!
//! What was attempted before is taken from a shelf; what is attempted now is put there before anything uses it. An
//! attempt that its provider lost and a score that an evaluator could not give stay missing, each by its own name.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::scoring::{Verdict, judged_by, scored};
use crate::evaluator::Evaluator;
use crate::ground::digest;
use crate::ground::error::{Error, Result};
use crate::ground::turns::Turns;
use crate::score::{self, Score};
use crate::target::{Attempt, Host, Outcome, Ready, Target, View};
use crate::task::Task;
use crate::trajectory::Usage;

/// Attempts in a row that must be lost, with none answered, before the provider is taken to be out of order.
const ALL_LOST: usize = 4;

/// What names an attempt before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The digest of target, task and sample.
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
    /// The files that were opened, in order.
    pub reads: Vec<String>,
    /// The tools that were called, by name.
    pub tools: Vec<String>,
    /// Why there is no answer, when that is the target's own fault.
    pub fault: Option<String>,
    /// Whether it was made elsewhere: not by, or for, the measurement that asks.
    pub reused: bool,
    /// What it took, where its target told.
    pub usage: Option<Usage>,
}

/// Where attempts and scores are kept.
pub trait Shelf: Sync {
    /// What is known of an answer, by the digest of evaluator, task and answer.
    ///
    /// # Errors
    /// Of I/O.
    fn verdict(&self, name: &str) -> Result<Verdict>;

    /// Keeps what is known of an answer, durably.
    ///
    /// # Errors
    /// Of I/O.
    fn keep_verdict(&self, name: &str, verdict: &Verdict) -> Result<()>;

    /// The turns of those who may come to want the same attempt at the same time: it is made once.
    fn turns(&self) -> &Turns;

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
    /// The target with its pool at hand.
    pub ready: &'a dyn Ready,
    /// The pool.
    pub view: &'a View,
    /// Where attempts are kept.
    pub shelf: &'a dyn Shelf,
    /// The surroundings; its desk is the folder below which each attempt has one of its own, its sample the first one.
    pub host: Host<'a>,
    /// Attempts at each task, under one sample each.
    pub repeats: u32,
    /// Threads.
    pub workers: usize,
}

/// What became of one attempt, or of a task's attempts together ([`run`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The attempt's digest, when there is one. Of several attempts the one with the least score, the first of equals:
    /// it has the most to teach.
    pub digest: Option<String>,
    /// Whether the attempt was made elsewhere ([`Kept::reused`]); of several, whether all that were answered were.
    pub reused: bool,
    /// What the attempts took that were not made elsewhere, one each where its target told.
    pub took: Vec<Usage>,
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

    /// A task's attempts together. Its score is the mean of those that have one, so that an attempt that was lost takes
    /// nothing from the task; without any, an evaluator that failed is told rather than a provider.
    fn of_repeats(repeats: Vec<Measured>) -> Option<Measured> {
        let scores: Vec<Score> = repeats.iter().filter_map(Measured::score).cloned().collect();
        let answered = || repeats.iter().filter(|attempt| attempt.digest.is_some());
        let points = |attempt: &Measured| attempt.score().map_or((f64::MAX, 0.0), |score| (score.hard, score.soft));
        let order = |one: &&Measured, two: &&Measured| {
            let ((hard, soft), (other_hard, other_soft)) = (points(one), points(two));
            hard.total_cmp(&other_hard).then(soft.total_cmp(&other_soft))
        };
        let digest = answered().min_by(order).and_then(|attempt| attempt.digest.clone());
        let took = repeats.iter().flat_map(|attempt| attempt.took.clone()).collect();
        let reused = digest.is_some() && answered().all(|attempt| attempt.reused);
        let end = match Score::mean(&scores) {
            Some(mean) => Ending::Scored(mean),
            None => {
                let unscored = repeats.iter().position(|attempt| matches!(attempt.end, Ending::Unscored(_)));
                repeats.into_iter().nth(unscored.unwrap_or(0))?.end
            }
        };
        Some(Measured { digest, reused, took, end })
    }
}

/// The means of what was measured: hard and soft; none when nothing was.
pub fn means(measured: &[Measured]) -> Option<(f64, f64)> {
    let scores = || measured.iter().filter_map(Measured::score);
    Some((score::mean(scores().map(|score| score.hard))?, score::mean(scores().map(|score| score.soft))?))
}

/// Attempts and scores all tasks; the results are in their order. `told` hears of each attempt when it is done.
///
/// # Errors
/// Of kind `Unreachable` when the provider fails everything (nothing is then judged), `Interrupted`, and what the target,
/// the evaluator or the shelf cannot go on after. What was done by then is on the shelf.
pub fn run(rollout: &Rollout<'_>, tasks: &[Task], told: &(dyn Fn(&Measured) + Sync)) -> Result<Vec<Measured>> {
    let seen = rollout.ready.sees();
    let repeats = rollout.repeats.max(1) as usize;
    let total = tasks.len() * repeats;
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results: Mutex<Vec<Option<Measured>>> = Mutex::new(vec![None; total]);
    let failure: Mutex<Option<Error>> = Mutex::default();
    let lost = Lost::default();
    let work = || {
        while !stop.load(Ordering::SeqCst) {
            let number = next.fetch_add(1, Ordering::SeqCst);
            let Some(task) = tasks.get(number / repeats) else { return };
            let done = one(rollout, task, number, &seen).and_then(|(measured, is_new)| {
                lost.count(&measured, is_new, rollout.workers)?;
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
        for _ in 0..rollout.workers.clamp(1, total.max(1)) {
            scope.spawn(work);
        }
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        // A stop that the user asked for shows as many errors; it is one.
        return Err(if rollout.host.cancel.is_asked() { Error::interrupted() } else { error });
    }
    let results: Vec<Measured> =
        results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect();
    Ok(results.chunks(repeats).filter_map(|attempts| Measured::of_repeats(attempts.to_vec())).collect())
}

/// What is known of tasks without an attempt or an evaluation: those that were attempted elsewhere and scored, for this pool
/// or for one that has the same to show. None for the others.
///
/// # Errors
/// Of I/O.
pub fn known(rollout: &Rollout<'_>, tasks: &[Task]) -> Result<Vec<Option<Measured>>> {
    let seen = rollout.ready.sees();
    let one = |task: &Task, sample: u32| -> Result<Option<Measured>> {
        let wanted = Wanted { key: key(rollout.target, task, sample), seen: seen.clone() };
        let Some(kept) = rollout.shelf.find(&wanted, rollout.view)?.filter(|kept| kept.reused) else { return Ok(None) };
        let score = rollout.shelf.score(&kept, &judged_by(rollout, task))?;
        Ok(score.map(|score| Measured {
            digest: Some(kept.digest),
            reused: true,
            took: Vec::new(),
            end: Ending::Scored(score),
        }))
    };
    let all = |task| {
        let samples = (0..rollout.repeats.max(1)).map(|number| one(task, rollout.host.sample + number));
        let attempts = samples.collect::<Result<Option<Vec<_>>>>()?;
        Ok(attempts.and_then(Measured::of_repeats))
    };
    tasks.iter().map(all).collect()
}

/// One attempt, from its task to its score, and whether it was made just now; `number` counts all tasks' attempts.
fn one(rollout: &Rollout<'_>, task: &Task, number: usize, seen: &str) -> Result<(Measured, bool)> {
    let Rollout { target, ready, view, shelf, host, .. } = rollout;
    host.cancel.check()?;
    let sample = host.sample + number as u32 % rollout.repeats.max(1);
    let wanted = Wanted { key: key(*target, task, sample), seen: seen.to_owned() };
    // Another pool may be under measurement side by side: what holds for both is made once.
    let _turn = shelf.turns().take(&format!("{} {seen}", wanted.key));
    let desk = host.desk.join(format!("t{number:05}"));
    let found = shelf.find(&wanted, view)?;
    let is_new = found.is_none();
    let kept = match found {
        Some(kept) => kept,
        None => match ready.attempt(task, &Host { desk: &desk, sample, ..*host })? {
            Outcome::Lost(why) => {
                return Ok((
                    Measured { digest: None, reused: false, took: Vec::new(), end: Ending::Lost(why) },
                    is_new,
                ));
            }
            Outcome::Ended(attempt) => shelf.keep(&wanted, task, view, &attempt)?,
        },
    };
    let end = scored(rollout, task, &kept, is_new, &desk)?;
    let took = kept.usage.filter(|_| !kept.reused).into_iter().collect();
    Ok((Measured { digest: Some(kept.digest), reused: kept.reused, took, end }, is_new))
}

/// The digest of what an attempt is asked with. The first sample's is what it was before there were several.
fn key(target: &dyn Target, task: &Task, sample: u32) -> String {
    let (identity, told) = (target.identity(), target.told(task).to_string());
    let number = (sample > 0).then(|| format!("sample {sample}"));
    let parts = [Some(identity), Some(told), number];
    digest::of_parts(parts.iter().flatten().map(String::as_bytes))
}

/// Looks out for a provider that fails everything.
#[derive(Debug, Default)]
struct Lost {
    lost: AtomicUsize,
    answered: AtomicUsize,
}

impl Lost {
    fn count(&self, measured: &Measured, is_new: bool, workers: usize) -> Result<()> {
        let Ending::Lost(why) = &measured.end else {
            // What was on disk says nothing about the provider.
            self.answered.fetch_add(usize::from(is_new), Ordering::SeqCst);
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
