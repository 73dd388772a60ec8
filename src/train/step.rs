//! A micro-step: attempts until one passes its guards, then one commit of ours, then the marker.

use crate::ground::crash;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::text::shell_quoted;
use crate::ground::{files, process};
use crate::optimizer::Outcome;
use crate::pool::Oid;
use crate::pool::checkout::Checkout;
use crate::pool::history::{self, trailer};
use crate::run::event::{Event, StepReport, StepState};
use crate::run::layout::StepDir;
use crate::run::marker::Marker;
use crate::stages::guard::{self, Finding};
use crate::stages::overlap::Quoted;
use crate::train::attempt::{Attempted, Setting, as_text, attempt_failed};
use crate::train::context::Context;
use crate::train::evidence::Group;
use crate::train::started::{Left, Started};
use crate::train::{keep, record};

/// How long a resumed step waits for an earlier call's processes to be gone.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Commits that the optimizer is shown.
const HISTORY: usize = 12;

/// Trains on one group: from evidence to a commit and its marker.
///
/// Errors: kind `Failed` when no attempt passed, `Unreachable` when none could reach its model, `Interrupted`.
pub fn train(context: &Context<'_>, group: &Group, dir: &StepDir, summary: Option<&str>) -> Result<StepReport> {
    let seconds = match context.options.seconds {
        Some(seconds) => seconds,
        None => crate::pool::commit::commit_time(context.env)?,
    };
    process::wait_until_free(&dir.hold(), PATIENCE)?;
    let before = context.pool.tip()?;
    let pool_files = context.pool.files(before)?;
    let originals = group.originals()?;
    let evidence = group.evidence()?;
    let setting = Setting {
        context,
        group,
        dir,
        evidence: &evidence,
        originals: &originals,
        quoted: &Quoted::of(&evidence),
        files: &pool_files,
        cards: &context.checker.cards(&context.pool, &pool_files)?,
        history: &context.pool.history(HISTORY, true)?,
        summary,
        seconds,
    };
    let (checkout, attempted) = attempts(&setting, before)?;
    commit(&setting, &checkout, &attempted)
}

/// Attempts until one may be taken; what an earlier call left is gone on with first.
fn attempts(setting: &Setting<'_>, before: Oid) -> Result<(Checkout, Attempted)> {
    let (context, dir) = (setting.context, setting.dir);
    let mut number = dir.last_attempt().max(keep::last_attempt(&context.pool, &setting.group.label)?) + 1;
    let mut tries = 0;
    let left = match Started::read(&dir.started())? {
        Left::Nothing => None,
        // What it began from cannot be told: its edits are kept as if it had begun from here.
        Left::Unknown => Some(Started { optimizer: String::new(), ..started(setting, number, before) }),
        Left::Attempt(left) => Some(left),
    };
    if let Some(left) = left {
        let same = left.goes_on_as(&started(setting, left.attempt, before));
        if same && (context.optimizer.is_deterministic() || (context.optimizer.is_replayed() && !left.refused)) {
            // What was half done will be done again, to the same bytes; answers that were paid are on disk.
            number = left.attempt;
        } else {
            if let Some(passed) = resume(setting, &left, before, &mut tries)? {
                return Ok(passed);
            }
            number = number.max(left.attempt + 1);
        }
    }
    loop {
        let checkout = prepare(setting, before, number)?;
        let Some(attempted) = setting.run(&checkout, number, false)? else {
            return Err(Error::failed("an attempt that was just begun cannot be gone"));
        };
        if attempted.findings.is_empty() {
            return Ok((checkout, attempted));
        }
        tries += 1;
        refuse(setting, &checkout, attempted, number, tries)?;
        number += 1;
    }
}

/// Takes up what an earlier call left; gives it when it may be taken. What may not be is kept and out of the way then.
fn resume(
    setting: &Setting<'_>,
    left: &Started,
    before: Oid,
    tries: &mut usize,
) -> Result<Option<(Checkout, Attempted)>> {
    if left.refused {
        *tries += 1;
        put_aside(setting, left.attempt)?;
        return Ok(None);
    }
    match go_on(setting, left, before)? {
        Some((checkout, attempted)) if attempted.findings.is_empty() => Ok(Some((checkout, attempted))),
        Some((checkout, attempted)) => {
            *tries += 1;
            refuse(setting, &checkout, attempted, left.attempt, *tries)?;
            Ok(None)
        }
        None => clear_interrupted(setting, left).map(|()| None),
    }
}

/// Goes on with an earlier call's attempt, when it began from the same pool, evidence and optimizer.
fn go_on(setting: &Setting<'_>, left: &Started, before: Oid) -> Result<Option<(Checkout, Attempted)>> {
    let wanted = started(setting, left.attempt, before);
    if !left.goes_on_as(&wanted) {
        return Ok(None);
    }
    let Some(checkout) = reopened(setting, before) else {
        return Ok(None);
    };
    let attempted = setting.run(&checkout, left.attempt, true)?;
    Ok(attempted.map(|attempted| (checkout, attempted)))
}

/// The checkout as an earlier call left it.
fn reopened(setting: &Setting<'_>, before: Oid) -> Option<Checkout> {
    let (context, folder) = (setting.context, setting.dir.checkout());
    Checkout::reopen(&context.pool, &folder, before, context.env.program())
}

/// Keeps what an interrupted attempt had edited, and puts its files aside.
fn clear_interrupted(setting: &Setting<'_>, left: &Started) -> Result<()> {
    let (pool, dir) = (&setting.context.pool, setting.dir);
    let base = crate::pool::repo::parse_id(&left.before);
    let checkout = base.and_then(|before| reopened(setting, before));
    let edited = checkout.and_then(|checkout| {
        let edited = checkout.edited(pool, &mut setting.context.cache.borrow_mut()).ok()?;
        Some((checkout, edited))
    });
    match edited {
        Some((checkout, edited)) => {
            // The label is a part of a reference's name, so it is ours, not what the note says.
            let label = &setting.group.label;
            keep::failed_attempt(pool, &checkout, &edited, label, left.attempt, "interrupted", setting.seconds)?;
        }
        // It cannot be told what was edited, for the pool does not have the commit that it began at any more.
        None if dir.checkout().is_dir() => {
            let aside = |n: usize| dir.file(&format!("checkout_attempt{}{}", left.attempt, "x".repeat(n)));
            let free = (0..).map(aside).find(|place| place.symlink_metadata().is_err());
            free.map_or(Ok(()), |free| files::rename(&dir.checkout(), &free))?;
        }
        None => {}
    }
    put_aside(setting, left.attempt)
}

/// Puts an attempt's files out of the way, its note last: killed in between, this is done again.
fn put_aside(setting: &Setting<'_>, attempt: usize) -> Result<()> {
    files::remove_dir(&setting.dir.private())?;
    setting.dir.put_aside(attempt)?;
    crash::point("put-aside");
    files::remove(&setting.dir.started())
}

fn prepare(setting: &Setting<'_>, before: Oid, number: usize) -> Result<Checkout> {
    let (context, dir) = (setting.context, setting.dir);
    context.cancel.check()?;
    let cache = &mut context.cache.borrow_mut();
    let checkout = Checkout::prepare(&context.pool, &dir.checkout(), before, context.env.program(), cache)?;
    crash::point("checkout-made");
    files::write_json(&dir.started(), &started(setting, number, before))?;
    crash::point("started");
    Ok(checkout)
}

fn started(setting: &Setting<'_>, attempt: usize, before: Oid) -> Started {
    let (group, optimizer) = (setting.group, setting.context.optimizer.name());
    Started::new(&group.label, attempt, &before.to_string(), &group.digest, &optimizer)
}

/// Keeps a refused attempt; the last one is the step's error.
fn refuse(setting: &Setting<'_>, checkout: &Checkout, attempted: Attempted, number: usize, tries: usize) -> Result<()> {
    let (context, dir, group) = (setting.context, setting.dir, setting.group);
    let Attempted { turn, edited, findings } = attempted;
    let why = findings.first().map_or("refused", |finding| finding.guard);
    record::turn(dir, &turn)?;
    record::usage(dir, number, &turn)?;
    let kept = keep::failed_attempt(&context.pool, checkout, &edited, &group.label, number, why, setting.seconds)?;
    if let Some((commit, _)) = &kept {
        record::snapshots(context, dir, checkout.before(), *commit)?;
    }
    files::write(&dir.file("guards.txt"), as_text(&findings))?;
    // From here on its files go: whoever resumes must not judge it again by what is left of them.
    let note = started(setting, number, checkout.before());
    files::write_json(&dir.started(), &Started { refused: true, ..note })?;
    crash::point("refused");
    put_aside(setting, number)?;
    let changed_evidence = findings.iter().any(|finding| finding.guard == guard::EVIDENCE_CHANGED);
    let originals = dir.file("evidence_as_read");
    if changed_evidence {
        keep::evidence(&originals, setting.originals, &group.changed())?;
    }
    let last = changed_evidence || tries > context.options.retries || context.optimizer.is_deterministic();
    let next = if last { "giving up" } else { "trying afresh" };
    context.tell(&attempt_failed(group, number, &findings, next));
    if !last {
        return Ok(());
    }
    let mut error = refusal(setting, &turn.outcome, &findings);
    if let Some((_, name)) = &kept {
        error = error.hint(kept_hint(setting, name));
    }
    if changed_evidence {
        let place = originals.display();
        error = error.hint(format!("the evidence as it was read is in {place}: put it back if you did not change it"));
    }
    Err(error
        .hint(format!("its transcript: {}", dir.file(&format!("backward_trajectory_attempt{number}.md")).display()))
        .hint("the pool is as it was; run the same command to try again"))
}

/// The step's error when its last attempt was refused.
fn refusal(setting: &Setting<'_>, outcome: &Outcome, findings: &[Finding]) -> Error {
    let kind = if matches!(outcome, Outcome::Unreachable(_)) { Kind::Unreachable } else { Kind::Refused };
    let reasons = as_text(findings);
    Error::new(kind, format!("no attempt passed; the last one:\n{}", reasons.trim_end()))
        .context(setting.group.label.clone())
}

fn kept_hint(setting: &Setting<'_>, name: &str) -> String {
    format!("its edits are kept: git -C {} show {name}", shell_quoted(setting.context.pool.root()))
}

/// Makes the pool's commit of what passed, moves the branch, writes the reports and the marker.
fn commit(setting: &Setting<'_>, checkout: &Checkout, attempted: &Attempted) -> Result<StepReport> {
    let (context, dir, group) = (setting.context, setting.dir, setting.group);
    let turn = &attempted.turn;
    record::turn(dir, turn)?;
    let attempt = match Started::read(&dir.started())? {
        Left::Attempt(started) => started.attempt,
        Left::Nothing | Left::Unknown => 1,
    };
    record::usage(dir, attempt, turn)?;
    let total = record::total_usage(dir)?;
    let changes = keep::store(&context.pool, checkout, &attempted.edited.changes)?;
    let trailers = [
        (trailer::RUN, context.options.run.clone()),
        (trailer::STEP, group.label.clone()),
        (trailer::OPTIMIZER, context.optimizer.name()),
        (trailer::EVIDENCE, group.digest.clone()),
        (trailer::TOKENS, total.map_or("unknown".to_owned(), |total| total.tokens().to_string())),
        (
            trailer::COST,
            total.and_then(|total| total.cost_usd).map_or("unknown".to_owned(), |cost| format!("${cost:.4}")),
        ),
    ];
    let subject = format!("train {}", group.label);
    let message = history::message(&subject, &group.works(), &trailers);
    let author = context.pool.author(setting.seconds);
    let before = checkout.before();
    crash::point("before-commit");
    let after = context.pool.write_commit(before, &changes, &message, &author)?;
    crash::point("commit-made");
    move_pool(setting, before, after, attempt)?;
    crash::point("pool-moved");
    finish(context, group, dir, before, after, StepState::Trained)
}

/// Moves the pool's branch to the step's commit. When somebody else moved it meanwhile the commit is kept, as what a
/// failed attempt edited is.
fn move_pool(setting: &Setting<'_>, before: Oid, after: Oid, attempt: usize) -> Result<()> {
    let (pool, label) = (&setting.context.pool, &setting.group.label);
    match pool.move_to(before, after, &format!("train {label}")) {
        Ok(left) => {
            left.iter().for_each(|path| setting.context.tell(&Event::left_alone(path)));
            Ok(())
        }
        // Where nobody moved it the same command goes on from here.
        Err(error) if pool.tip().is_ok_and(|tip| tip == after || tip == before) => Err(error),
        Err(error) => {
            let name = pool.keep(&format!("failed/{label}/{attempt}"), after)?;
            Err(error.context(label.clone()).hint(kept_hint(setting, &name)))
        }
    }
}

/// Writes all that a step leaves, its marker last. Also for a step whose commit an earlier call made.
pub fn finish(
    context: &Context<'_>,
    group: &Group,
    dir: &StepDir,
    before: Oid,
    after: Oid,
    state: StepState,
) -> Result<StepReport> {
    record::snapshots(context, dir, before, after)?;
    crash::point("snapshots");
    let subject = context.pool.record(after, false)?.subject;
    let marker = Marker { before: before.to_string(), after: after.to_string(), subject };
    crash::point("before-marker");
    marker.write(&dir.marker())?;
    crash::point("marker");
    files::remove_dir(&dir.private())?;
    record::report(context, group, dir, before, after, state)
}
