//! Whoever edits the pool: an agent client or the built-in extractive one.
//!
//! An optimizer is handed a private checkout and evidence. It edits and commits there; whether that is taken is not
//! its decision.

pub mod agent;
pub mod analyst;
pub mod chat;
pub mod extractive;
pub mod prompt;
pub mod registry;
pub mod tasks;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use crate::agent::{Outcome, Session};
use crate::batch::{Evidence, Sample};
use crate::edit::Edit;
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::process::Sandbox;
use crate::ground::prompts::Prompts;
use crate::ground::signals::Cancel;
use crate::pool::card::Card;
use crate::pool::checkout::Checkout;
use crate::pool::history::Record;
use crate::pool::profile::Profile;
use crate::trajectory::{Event, Usage};
pub use tasks::{AnalyseTask, Memory, MergeTask, MetaTask, RankTask, Ranking, RepairTask, RewriteTask, Said, SlowTask};

/// What one micro-step may do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Cards that may be created, changed or deleted together; none means no bound.
    pub learning_rate: Option<usize>,
    /// Cards that may be deleted.
    pub max_deletions: usize,
}

/// What every call of an optimizer needs of its surroundings.
pub struct Host<'a> {
    /// The environment.
    pub env: &'a Env,
    /// Asked to stop?
    pub cancel: &'a Cancel,
    /// The prompts in force.
    pub prompts: &'a Prompts,
    /// Wall-clock time for one call.
    pub timeout: Duration,
    /// The containment wanted.
    pub sandbox: Sandbox,
    /// Hears of each action as it happens.
    pub watch: &'a (dyn Fn(&Event) + Sync),
}

/// Where one call leaves its files.
#[derive(Debug, Clone)]
pub struct Desk {
    /// The micro-step's folder.
    pub folder: PathBuf,
    /// The stem of its files: `backward`, `repair`, `reduce`.
    pub stem: &'static str,
    /// A private folder for home and temporary files, kept between the turns of one attempt.
    pub private: PathBuf,
    /// Locked for as long as a process of the call may live.
    pub hold: PathBuf,
}

impl Desk {
    /// The prompt as it was sent.
    pub fn prompt(&self) -> PathBuf {
        self.folder.join(format!("{}_prompt.md", self.stem))
    }

    /// The raw events as they came.
    pub fn events(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.stem))
    }

    /// What was said on standard error.
    pub fn stderr(&self) -> PathBuf {
        self.folder.join(format!("{}_stderr.txt", self.stem))
    }

    /// How the call ended: there once it is over.
    pub fn end(&self) -> PathBuf {
        self.folder.join(format!("{}_end.json", self.stem))
    }

    /// Moves an earlier call's files aside, as `<stem>_attempt<n>…` with the first free number.
    pub fn put_aside(&self) -> Result<()> {
        let files = [self.prompt(), self.events(), self.stderr(), self.end()];
        let aside = |path: &Path, n: usize| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            path.with_file_name(name.replacen(self.stem, &format!("{}_attempt{n}", self.stem), 1))
        };
        let free = (1..).find(|n| files.iter().all(|path| !aside(path, *n).exists())).unwrap_or(1);
        for path in files.iter().filter(|path| path.exists()) {
            crate::ground::files::rename(path, &aside(path, free))?;
        }
        Ok(())
    }
}

/// What a call leaves besides its edits.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Turn {
    /// How it ended.
    pub outcome: Outcome,
    /// The session that a repair turn can resume.
    pub session: Option<Session>,
    /// What it took; none when the optimizer does not tell.
    pub usage: Option<Usage>,
    /// Files that it opened, relative to the checkout, in order.
    pub reads: Vec<String>,
    /// Its last words: for `reduce` the report itself, for `backward` what it did and left.
    pub report: String,
    /// The readable transcript, Markdown.
    pub trajectory: String,
    /// The containment that was in force; empty for an optimizer that starts no process.
    pub sandbox: String,
    /// What that containment does not do, for the user.
    pub warning: Option<String>,
    /// Tool calls that the client's own permissions refused: work may be missing for it.
    pub denied: Vec<String>,
}

impl Turn {
    /// A finished call that cost nothing.
    pub fn done(report: String) -> Turn {
        Turn {
            outcome: Outcome::Done,
            session: None,
            usage: Some(Usage { cost_usd: Some(0.0), ..Usage::default() }),
            reads: Vec::new(),
            trajectory: report.clone(),
            report,
            sandbox: String::new(),
            warning: None,
            denied: Vec::new(),
        }
    }
}

/// The inputs of a reduce.
pub struct ReduceTask<'a> {
    /// The group's label.
    pub label: &'a str,
    /// The group's evidence.
    pub evidence: &'a [Evidence],
    /// Where the call leaves its files.
    pub desk: Desk,
}

/// The inputs of a micro-step's backward pass.
pub struct BackwardTask<'a> {
    /// Its label.
    pub label: &'a str,
    /// The number of the attempt, from 1: an attempt that goes on after a crash keeps its number, a fresh one has another.
    pub attempt: usize,
    /// The private checkout.
    pub checkout: &'a Checkout,
    /// The pool's profile.
    pub profile: &'a Profile,
    /// The cards in the checkout as it began.
    pub cards: &'a [Card],
    /// The pool's newest commits.
    pub history: &'a [Record],
    /// The group's samples and their evidence, in the same order.
    pub samples: &'a [Sample],
    /// See `samples`.
    pub evidence: &'a [Evidence],
    /// The commonality report, when there is one.
    pub summary: Option<&'a str>,
    /// Whether the user gave that report: it then stands for the loss reports.
    pub summary_is_given: bool,
    /// What the step may do at most.
    pub bounds: Bounds,
    /// The time to put on commits, Unix seconds.
    pub seconds: i64,
    /// Where the call leaves its files.
    pub desk: Desk,
    /// What training remembers.
    pub memory: Memory<'a>,
    /// For a repair turn: what has to be mended, and the session to resume.
    pub repair: Option<Repair<'a>>,
}

/// What a repair turn is told.
pub struct Repair<'a> {
    /// The problems, Markdown.
    pub problems: &'a str,
    /// The session of the first turn, where the client can resume one.
    pub session: Option<&'a Session>,
}

/// The operations of training that an optimizer performs.
pub trait Optimizer: Sync + Send {
    /// Its name as the user gives it: `extractive`, `claude:opus`.
    fn name(&self) -> String;

    /// Looks for what it needs, before anything else is paid for.
    ///
    /// # Errors
    /// Of kind `Unreachable` for a client that is not there.
    fn find(&self, _env: &Env) -> Result<()> {
        Ok(())
    }

    /// Whether the same inputs give the same edits, so that neither a repair turn nor a second attempt can help.
    fn is_deterministic(&self) -> bool;

    /// Folds a group's loss reports into one commonality report (`Turn::report`).
    fn reduce(&self, task: &ReduceTask<'_>, host: &Host<'_>) -> Result<Turn>;

    /// Edits the checkout and commits there.
    fn backward(&self, task: &BackwardTask<'_>, host: &Host<'_>) -> Result<Turn>;

    /// What a call that ended before this process began has left on disk; none when it did not end. A call that is
    /// recalled is not paid again. `resumed` is the session that the call went on with: some clients count its earlier
    /// tokens again.
    fn recall(&self, desk: &Desk, checkout: &Path, resumed: Option<&Session>) -> Result<Option<Turn>>;

    /// Whether its calls are counted by the account of the run (a chat model's are), so that what its turns state must not
    /// be counted again.
    fn is_accounted(&self) -> bool {
        false
    }

    /// Whether it starts programs of others, whose work a recording has to hold.
    fn starts_programs(&self) -> bool {
        false
    }

    /// Whether a call that is made again takes its answers from disk, so that an attempt which a crash broke off can begin
    /// anew under its own number and repeats nothing that was paid.
    fn is_replayed(&self) -> bool {
        false
    }

    /// Whether it answers with edits ([`Optimizer::analyse`] and what follows it); one that does not can only work in a
    /// checkout.
    fn returns_edits(&self) -> bool {
        true
    }

    /// Says what a minibatch of attempts teaches, as edits.
    ///
    /// # Errors
    /// Here and below: kind `Usage` for an optimizer that only works in a checkout, `Unreachable`, `Interrupted`, and
    /// what a budget or a recording refuses. A reply that cannot be used even after one repair is no error: its result is
    /// empty and says so in `unread`.
    fn analyse(&self, _task: &AnalyseTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Err(self.needs_a_checkout())
    }

    /// Merges lists of edits: what several say becomes one with the support of all, and failures win over successes.
    fn merge(&self, _task: &MergeTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Err(self.needs_a_checkout())
    }

    /// Ranks edits, best first.
    fn rank(&self, _task: &RankTask<'_>, _host: &Host<'_>) -> Result<Said<Ranking>> {
        Err(self.needs_a_checkout())
    }

    /// Makes cards anew from suggestions.
    fn rewrite(&self, _task: &RewriteTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Err(self.needs_a_checkout())
    }

    /// Mends edits that did not fit; gives those that take their place.
    fn repair(&self, _task: &RepairTask<'_>, _host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        Err(self.needs_a_checkout())
    }

    /// Writes the guidance that the comparison of two epochs teaches: the body of the protected card, without heading.
    /// None leaves it as it is.
    fn slow_update(&self, _task: &SlowTask<'_>, _host: &Host<'_>) -> Result<Said<Option<String>>> {
        Ok(Said::free(None))
    }

    /// Writes the optimizer's own notes for the epochs to come. None leaves them as they are.
    fn meta_skill(&self, _task: &MetaTask<'_>, _host: &Host<'_>) -> Result<Said<Option<String>>> {
        Ok(Said::free(None))
    }

    /// The refusal of an operation that an optimizer does not have.
    fn needs_a_checkout(&self) -> Error {
        Error::usage(format!("the optimizer {} works in a checkout and returns no edits", self.name()))
            .hint("set optimizer.strategy to \"backward\", or name an optimizer that is a model or an agent client")
    }
}
