//! The beginning of a run, and its taking up: configuration, splits and pool are what they were, or it is refused.

use std::cell::{Cell, RefCell};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::state::State;
use super::{Run, Setup, account};
use crate::config::{Config, Strategy};
use crate::ground::crash;
use crate::ground::error::{Context as _, Error, Result};
use crate::ground::files;
use crate::pool::folder::StatCache;
use crate::pool::repo::{Pool, parse_id};
use crate::pool::{Oid, seed};
use crate::run::cycle::VERSION;
use crate::run::event::Event;
use crate::run::folder::RunDir;
use crate::run::layout::slug;
use crate::run::lock;
use crate::stages::leak::Leaks;
use crate::stages::scheduler;
use crate::stages::split::{Ratio, Split};
use crate::task;
use crate::train::backward;
use crate::train::measure::Attempts;

/// What a run was begun with, as `run.json` holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// The record's version.
    pub version: u32,
    /// The run's name, of labels and references.
    pub name: String,
    /// The pool's first commit.
    pub seed: String,
    /// The pool's branch that is trained.
    #[serde(default)]
    pub branch: String,
    /// Steps as first planned, then of each extension.
    pub plans: Vec<usize>,
}

impl Begun {
    /// Reads what a run was begun with; none when nothing was.
    ///
    /// # Errors
    /// Of kind `Failed` for a record that is damaged or of a newer version.
    pub fn read(folder: &RunDir) -> Result<Option<Begun>> {
        let Some(bytes) = files::read_if_there(&folder.begun())? else { return Ok(None) };
        let begun: Begun = serde_json::from_slice(&bytes)
            .map_err(|error| Error::failed(error).context(format!("{} is damaged", folder.begun().display())))?;
        if begun.version > VERSION {
            return Err(Error::failed(format!("{} was written by a newer skilltrain", folder.begun().display())));
        }
        Ok(Some(begun))
    }

    /// The pool's first commit.
    pub(super) fn seed(&self) -> Result<Oid> {
        parse_id(&self.seed).ok_or_else(|| Error::failed("run.json names no commit as the seed"))
    }
}

/// Opens a run: a new one is begun, one that is there is taken up.
pub(super) fn open<'a>(setup: &'a Setup<'a>) -> Result<Run<'a>> {
    let (config, folder) = (setup.config, &setup.folder);
    if config.optimizer.strategy == Strategy::Patch && !setup.optimizer.returns_edits() {
        // Its first analysis would say so, after the first pool and a batch were paid.
        return Err(setup.optimizer.needs_a_checkout());
    }
    let begun = Begun::read(folder)?;
    let begun = if is_blank(setup)? { None } else { begun };
    if begun.is_none() {
        refuse_foreign(folder)?;
    }
    let split = splits(config, folder, begun.is_some())?;
    split.check(config.evaluation.use_gate)?;
    let tasks = split.all().into_iter().flat_map(|(_, tasks)| tasks);
    tasks.into_iter().try_for_each(|task| setup.evaluator.check(task))?;
    // The shelf's lock keeps another trainer out of the whole run, from before there is a pool; the pool's says who it is.
    lock::check(&folder.memory().join(".git"))?;
    let attempts = Attempts::open(folder.path())?;
    files::sweep(folder.path())?;
    files::sweep(&folder.split())?;
    let begun = match begun {
        Some(begun) => take_up(setup, begun, &split)?,
        None => begin(setup, &split)?,
    };
    let pool = Pool::open(&folder.memory())?;
    let lock = lock::take(pool.git_dir(), &begun.name)?;
    for path in pool.settle()? {
        (setup.observer)(&Event::left_alone(&path));
    }
    let (leaks, rollouts, proven) = (Leaks::of(&split), Cell::default(), Cell::default());
    Ok(Run {
        setup,
        leaks,
        split,
        begun,
        attempts,
        pool,
        rollouts,
        counted: RefCell::default(),
        paid: RefCell::default(),
        proven,
        warned: Cell::default(),
        _lock: lock,
    })
}

/// Refuses an optimizer that is not there, and a pool that the next backward pass would refuse, before a step's tasks are
/// attempted.
pub(super) fn check_update(run: &Run<'_>, state: &State) -> Result<()> {
    let config = run.config();
    let is_done = state.reports.len() >= run.steps() || state.is_out_of_patience(run);
    if is_done || config.train.freeze {
        return Ok(());
    }
    run.setup.optimizer.find(run.setup.env)?;
    if config.optimizer.strategy != Strategy::Backward {
        return Ok(());
    }
    let files = run.pool.files(run.pool.tip()?)?;
    backward::check_clean(&run.pool, &files, &mut StatCache::default()).map_err(|error| {
        // Not "commit them": the run would refuse a commit that is not its own.
        error.hint("move them out of the run's pool, or take them back with git; nothing was touched")
    })
}

/// Whether a run was begun and nothing came of it yet, so that another configuration makes no history untrue: it is begun
/// anew, with the pool that it has. What was answered stays on the shelf.
fn is_blank(setup: &Setup<'_>) -> Result<bool> {
    let folder = &setup.folder;
    if account::finished(folder).next().is_some() || !folder.config().is_file() || !folder.memory().is_dir() {
        return Ok(false);
    }
    let same_seed = Config::load(&folder.config(), &[])?.train.init_pool == setup.config.train.init_pool;
    let pool = Pool::open(&folder.memory())?;
    Ok(same_seed && pool.only_parent(pool.tip()?)?.is_none())
}

/// A folder that holds something else is nobody's run.
fn refuse_foreign(folder: &RunDir) -> Result<()> {
    let entries = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let ours = [
        "config.toml",
        "split",
        "memory",
        "rollouts",
        "events.jsonl",
        "run.json",
        "desk",
        "verdicts",
        "baseline",
        "epoch_00",
        "loss",
    ];
    let is_ours = |name: &String| ours.contains(&name.as_str()) || name.starts_with(".tmp-");
    match names.find(|name| !is_ours(name)) {
        Some(name) => Err(Error::usage(format!("{} is no run: it holds {name}", folder.path().display()))
            .hint("name another folder with --out, or train.out")),
        None => Ok(()),
    }
}

/// The run's splits. Those of a run that began are its own copy; tasks that differ from it now are refused.
fn splits(config: &Config, folder: &RunDir, began: bool) -> Result<Split> {
    let given = given(config);
    if !began {
        return given;
    }
    let kept = Split::read(&folder.split())?;
    match given {
        Ok(given) if given.files() != kept.files() => {
            Err(Error::usage(format!("the tasks are not those that {} was begun with", folder.path().display()))
                .hint("its own copy is in split/; give another train.out to train on the new ones"))
        }
        _ => Ok(kept),
    }
}

/// The splits that the configuration names.
fn given(config: &Config) -> Result<Split> {
    let data = &config.data;
    let mut split = match (&data.tasks, &data.split_dir) {
        (Some(file), _) => {
            let ratio: Ratio = data.split_ratio.parse()?;
            Split::by_ratio(task::load(file)?, ratio, data.split_seed)
        }
        (None, Some(folder)) => Split::read(folder)?,
        (None, None) => return Err(Error::usage("no tasks: set data.tasks or data.split_dir")),
    };
    if config.train.train_size > 0 {
        split.train.truncate(config.train.train_size);
    }
    Ok(split)
}

fn planned(config: &Config, split: &Split) -> usize {
    let train = &config.train;
    scheduler::steps_per_epoch(split.train.len(), train.batch_size, train.accumulation) * train.num_epochs
}

fn begin(setup: &Setup<'_>, split: &Split) -> Result<Begun> {
    let (config, folder) = (setup.config, &setup.folder);
    files::write(&folder.config(), config.render())?;
    split.write(&folder.split())?;
    let memory = folder.memory();
    if !memory.join(".git").exists() {
        files::sweep_named(folder.path(), crate::pool::init::DRAFT)?;
        plant(setup, &memory)?;
    }
    crash::point("run-planted");
    let pool = Pool::open(&memory)?;
    let (seed, branch) = (pool.tip()?.to_string(), pool.branch().to_owned());
    let begun = Begun {
        version: VERSION,
        name: config.train.name.as_deref().map_or_else(|| folder.name(), slug),
        seed,
        branch,
        plans: vec![planned(config, split)],
    };
    files::write_json(&folder.begun(), &begun)?;
    crash::point("run-begun");
    Ok(begun)
}

/// The run's pool: the cards that were given, or a profile without a card.
fn plant(setup: &Setup<'_>, memory: &Path) -> Result<()> {
    let seconds = setup.dates.at("begin", setup.env)?;
    let subject = "pool: begin a training run";
    match &setup.config.train.init_pool {
        Some(source) => seed::copy(source, memory, subject, seconds).context("train.init_pool"),
        None => seed::empty(memory, subject, seconds),
    }
    .map(drop)
}

/// Takes a run up under a configuration that its history can be true of.
fn take_up(setup: &Setup<'_>, begun: Begun, split: &Split) -> Result<Begun> {
    let (config, folder) = (setup.config, &setup.folder);
    let old = Config::load(&folder.config(), &[]).context("the configuration that the run was begun with")?;
    let changes = Config::changes_of_history(&old, config);
    if !changes.is_empty() {
        let lines: Vec<String> = changes.iter().map(|change| format!("\n  {change}")).collect();
        return Err(Error::usage(format!(
            "{} was begun with another configuration; what changed would make its history untrue:{}",
            folder.path().display(),
            lines.concat()
        ))
        .hint("set these back, or give another train.out for a new run"));
    }
    let mut begun = begun;
    let (planned, steps): (usize, usize) = (begun.plans.iter().sum(), planned(config, split));
    if steps > planned {
        begun.plans.push(steps - planned);
        files::write_json(&folder.begun(), &begun)?;
        crash::point("run-extended");
    }
    let text = config.render();
    if files::read_if_there(&folder.config())?.as_deref() != Some(text.as_bytes()) {
        files::write(&folder.config(), text)?;
    }
    Ok(begun)
}
