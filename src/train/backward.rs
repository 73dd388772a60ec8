//! The backward pass: from a batch of evidence to one commit a micro-step. Every line here is a point to resume at.

use std::cell::RefCell;
use std::path::Path;

use crate::batch::Batch;
use crate::ground::crash;
use crate::ground::env::Env;
use crate::ground::error::{Context as _, Error, Kind, Result};
use crate::ground::files;
use crate::ground::prompts::Prompts;
use crate::ground::signals::Cancel;
use crate::ground::text::shell_quoted;
use crate::optimizer::Optimizer;
use crate::pool::folder::StatCache;
use crate::pool::repo::{Changes, Files, Pool};
use crate::run::event::{Event, Observer, StepReport};
use crate::run::layout::StepDir;
use crate::run::lock;
use crate::stages::reduce;
use crate::train::check::Checker;
use crate::train::context::{Context, Options};
use crate::train::evidence::Group;
use crate::train::{adopt, record, step};

/// Trains on a batch; gives a report for each micro-step, those that were done before included.
pub fn backward(
    options: &Options,
    optimizer: &dyn Optimizer,
    env: &Env,
    cancel: &Cancel,
    prompts: &Prompts,
    observer: Observer<'_>,
) -> Result<Vec<StepReport>> {
    let pool = Pool::open(&options.pool)?;
    let evidence = load(options)?;
    keep_apart(&pool, &options.out, &evidence.0)?;
    let _lock = lock::take(pool.git_dir(), &options.label)?;
    for path in pool.settle()? {
        observer(&Event::left_alone(&path));
    }
    learn(options, pool, evidence, optimizer, (env, cancel, prompts, observer))
}

/// As [`backward`], for a caller that holds the pool's lock and has settled it.
pub fn pass(
    options: &Options,
    pool: Pool,
    optimizer: &dyn Optimizer,
    env: &Env,
    cancel: &Cancel,
    prompts: &Prompts,
    observer: Observer<'_>,
) -> Result<Vec<StepReport>> {
    learn(options, pool, load(options)?, optimizer, (env, cancel, prompts, observer))
}

/// Who is around: environment, wish to stop, prompts, listeners.
type Around<'a> = (&'a Env, &'a Cancel, &'a Prompts, Observer<'a>);

/// A pass over evidence that is loaded, with the pool locked.
fn learn(
    options: &Options,
    pool: Pool,
    (groups, summary): (Vec<Group>, Option<String>),
    optimizer: &dyn Optimizer,
    (env, cancel, prompts, observer): Around<'_>,
) -> Result<Vec<StepReport>> {
    let checker = Checker::of(&pool, pool.tip()?, env)?;
    let cache = RefCell::new(StatCache::default());
    let told = RefCell::default();
    let context = Context { options, env, cancel, prompts, optimizer, observer, pool, checker, cache, told };
    run(&context, &groups, summary.as_deref())
}

/// Refuses to write a micro-step's files into the pool, or to have the pool lie among them.
fn keep_apart(pool: &Pool, out: &Path, groups: &[Group]) -> Result<()> {
    let out = files::resolved(out)?;
    let root = pool.root();
    let swallows = |group: &Group| root.starts_with(StepDir::of_group(&out, group.number).path());
    if out.starts_with(root) || groups.iter().any(swallows) {
        return Err(Error::usage(format!(
            "--out {} and the pool {} lie in one another: the pool holds cards and nothing else",
            out.display(),
            root.display()
        ))
        .hint("choose an --out beside the pool"));
    }
    Ok(())
}

fn load(options: &Options) -> Result<(Vec<Group>, Option<String>)> {
    let batch = Batch::load(&options.batch)?;
    let summary = options.summary.as_deref().map(files::read_text).transpose();
    let summary = summary.map_err(|error| error.with_kind(Kind::Usage)).context("--summary")?;
    if summary.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Error::usage("--summary: the file is empty"));
    }
    let size = if summary.is_some() { 0 } else { options.group_size };
    let groups = batch.groups(size).into_iter().enumerate();
    let groups = groups.map(|(index, samples)| Group::hash(index + 1, &options.label, samples, summary.as_deref()));
    Ok((groups.collect::<Result<Vec<_>>>()?, summary))
}

fn run(context: &Context<'_>, groups: &[Group], given: Option<&str>) -> Result<Vec<StepReport>> {
    let mut reports: Vec<Option<StepReport>> = Vec::with_capacity(groups.len());
    let mut last: Option<StepDir> = None;
    let past = context.pool.past()?;
    for group in groups {
        let dir = dir(context, group);
        let report = match adopt::done(context, &past, group, &dir)? {
            Some(report) => Some(report),
            None => adopt::adopt(context, &past, group, &dir)?,
        };
        dir.tidy(report.is_some())?;
        if let Some(report) = &report {
            context.tell(&Event::StepDone { step: Box::new(report.clone()) });
            // A call that was killed between two micro-steps left the finished one's checkout to the next one.
            if let Some(earlier) = last.take().filter(|_| there(&dir.checkout())) {
                files::remove_dir(&earlier.checkout())?;
            }
            last = Some(dir);
        }
        reports.push(report);
    }
    tell_of_done(context, &mut reports)?;
    let pending: Vec<&Group> =
        groups.iter().zip(&reports).filter(|(_, report)| report.is_none()).map(|(group, _)| group).collect();
    if pending.is_empty() {
        last.map_or(Ok(()), |last| files::remove_dir(&last.checkout()))?;
        return Ok(reports.into_iter().flatten().collect());
    }
    warn(context);
    validate(context)?;
    let summaries = reduces(context, &pending, given)?;
    for (group, summary) in pending.iter().zip(&summaries) {
        let report = one(context, groups.len(), group, summary.as_deref(), last.as_ref())?;
        last = Some(dir(context, group));
        reports[group.number - 1] = Some(report);
    }
    if let Some(last) = last {
        files::remove_dir(&last.checkout())?;
    }
    Ok(reports.into_iter().flatten().collect())
}

/// What the user should know of steps that were done before: by whom, and whether they were taken back since.
fn tell_of_done(context: &Context<'_>, reports: &mut [Option<StepReport>]) -> Result<()> {
    let mut done: Vec<&mut StepReport> = reports.iter_mut().flatten().collect();
    if done.is_empty() {
        return Ok(());
    }
    let reverts = context.pool.reverts()?;
    for report in &mut done {
        report.reverted_by = reverts.get(&report.after).cloned();
    }
    let again = "to train on the same evidence again, give another --out and --label";
    if done.iter().any(|report| report.reverted_by.is_some()) {
        let text = format!("a step of this batch was reverted since and stays done; {again}");
        context.tell(&Event::Warning { text });
    }
    let now = context.optimizer.name();
    if let Some(other) = done.iter().find(|report| report.optimizer != now).map(|report| &report.optimizer) {
        let text = format!("this batch was trained by {other}, not by {now}; {again}");
        context.tell(&Event::Warning { text });
    }
    Ok(())
}

/// One pending micro-step.
fn one(
    context: &Context<'_>,
    groups: usize,
    group: &Group,
    summary: Option<&str>,
    last: Option<&StepDir>,
) -> Result<StepReport> {
    context.cancel.check()?;
    let dir = dir(context, group);
    context.tell(&Event::StepStarted { label: group.label.clone(), group: group.number, groups, works: group.works() });
    take_over(context, last, &dir)?;
    let report = step::train(context, group, &dir, summary)?;
    context.tell(&Event::StepDone { step: Box::new(report.clone()) });
    Ok(report)
}

/// Moves the last micro-step's checkout to this one's place, so that only what changed is written anew.
fn take_over(context: &Context<'_>, last: Option<&StepDir>, dir: &StepDir) -> Result<()> {
    if let Some(last) = last.map(StepDir::checkout).filter(|folder| folder.is_dir() && !there(&dir.checkout())) {
        files::rename(&last, &dir.checkout())?;
        context.cache.borrow_mut().rename(&last, &dir.checkout());
    }
    Ok(())
}

/// What will go another way than the user may think.
fn warn(context: &Context<'_>) {
    let say = |text: &str| context.tell(&Event::Warning { text: text.to_owned() });
    if context.options.bounds.learning_rate == Some(0) {
        say(
            "a learning rate of 0 lets no card change: each step will be an empty commit, and its evidence counts as used",
        );
    }
    if context.pool.is_shallow() {
        say("the pool is a shallow clone: steps before its cut cannot be recognised (git fetch --unshallow)");
    }
}

/// Refuses a pool in whose folder somebody changed something, and lists it.
///
/// # Errors
/// Of kind `Failed`, for the caller to say what may be done; of I/O.
pub fn check_clean(pool: &Pool, files: &Files, cache: &mut StatCache) -> Result<()> {
    let dirt = pool.dirt(files, cache)?;
    if dirt.is_empty() {
        return Ok(());
    }
    let root = pool.root().display();
    Err(Error::failed(format!("the pool {root} holds uncommitted changes:\n  {}", shown(&dirt))))
}

/// Refuses a pool that is not clean, before anything is paid for.
fn validate(context: &Context<'_>) -> Result<()> {
    let pool = &context.pool;
    pool.check_idle()?;
    let files = pool.files(pool.tip()?)?;
    check_clean(pool, &files, &mut context.cache.borrow_mut())
        .map_err(|error| error.hint("commit them, or move them away; nothing was touched"))?;
    let problems = context.checker.problems(&files, &Changes::new(), |path| {
        files.get(path).map_or_else(|| Ok(Vec::new()), |entry| pool.blob(entry.id))
    })?;
    if !problems.is_empty() {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(Error::failed(format!(
            "the pool {} does not pass its own lint:\n  {}",
            pool.root().display(),
            shown(&lines)
        ))
        .hint(format!("mend and commit it first: skilltrain lint --pool {}", shell_quoted(pool.root()))));
    }
    Ok(())
}

fn shown(lines: &[String]) -> String {
    let more = lines.len().saturating_sub(20);
    let head = lines.iter().take(20).cloned().collect::<Vec<_>>().join("\n  ");
    if more == 0 { head } else { format!("{head}\n  … and {more} more") }
}

/// The commonality report of each pending group: the given one, one that is on disk, or a new one.
fn reduces(context: &Context<'_>, pending: &[&Group], given: Option<&str>) -> Result<Vec<Option<String>>> {
    for group in pending {
        group.write_batch(&dir(context, group))?;
    }
    if let Some(text) = given {
        for group in pending {
            files::write(&dir(context, group).summary(), text)?;
        }
        return Ok(pending.iter().map(|_| Some(text.to_owned())).collect());
    }
    let seams = context.seams();
    let (optimizer, retries, observer) = (context.optimizer, context.options.retries, context.observer);
    let out = &context.options.out;
    reduce::side_by_side(pending, context.options.reduce_workers, |group| {
        let dir = StepDir::of_group(out, group.number);
        if group.samples.len() == 1 {
            return Ok(None);
        }
        let stamp = dir.file("summary.json");
        let of_this = |bytes: &Vec<u8>| bytes.as_slice() == group.digest.as_bytes();
        if files::read_if_there(&stamp)?.as_ref().is_some_and(of_this) && dir.summary().is_file() {
            files::remove_dir(&dir.private_reduce())?;
            observer(&Event::ReduceDone { label: group.label.clone(), reused: true });
            return files::read_lossy(&dir.summary()).map(Some);
        }
        observer(&Event::ReduceStarted { label: group.label.clone(), samples: group.samples.len() });
        let job = reduce::Group {
            label: group.label.clone(),
            evidence: &group.evidence()?,
            desk: reduce::desk(dir.path().to_owned()),
        };
        let turn = seams.with_host(&group.label, |host| reduce::reduce(optimizer, &job, retries, host))?;
        record::spent(&dir, "reduce", turn.usage)?;
        files::write(&dir.summary(), &turn.report)?;
        crash::point("summary");
        files::write(&stamp, &group.digest)?;
        files::remove_dir(&job.desk.private)?;
        observer(&Event::ReduceDone { label: group.label.clone(), reused: false });
        Ok(Some(turn.report))
    })
    .into_iter()
    .collect()
}

/// Whether anything, a dangling link too, is at a place.
fn there(place: &Path) -> bool {
    place.symlink_metadata().is_ok()
}

fn dir(context: &Context<'_>, group: &Group) -> StepDir {
    StepDir::of_group(&context.options.out, group.number)
}
