//! Steps that an earlier call finished, wholly or but for the marker.

use crate::ground::error::{Error, Result};
use crate::ground::text::shell_quoted;
use crate::pool::Oid;
use crate::pool::history::{Past, trailer};
use crate::pool::repo::{Changes, parse_id};
use crate::run::event::{Event, StepReport, StepState};
use crate::run::layout::StepDir;
use crate::run::marker::Marker;
use crate::train::check::Checker;
use crate::train::context::Context;
use crate::train::evidence::Group;
use crate::train::{record, step};

/// The step's report when its marker stands and its commit is in the branch's history; none when it has no marker.
///
/// Errors, kind `Failed`: the marker names a commit that is not in the history, or one made of other evidence.
pub fn done(context: &Context<'_>, past: &Past, group: &Group, dir: &StepDir) -> Result<Option<StepReport>> {
    let Some(marker) = Marker::read(&dir.marker())? else {
        return Ok(None);
    };
    let pool = &context.pool;
    let path = dir.marker();
    let ids = parse_id(&marker.before).zip(parse_id(&marker.after));
    let inside = ids.is_some_and(|(_, after)| past.has(after));
    let Some((before, after)) = ids.filter(|_| inside) else {
        if let Some(branch) = ids.map(|(_, after)| pool.branch_with(after)).transpose()?.flatten() {
            return Err(Error::failed(format!(
                "{} vouches for a commit of the branch {branch}, and the pool is on {}",
                path.display(),
                pool.branch().trim_start_matches("refs/heads/")
            ))
            .hint(format!(
                "git -C {} switch {branch}; or choose another --out and --label",
                shell_quoted(pool.root())
            )));
        }
        return Err(Error::failed(format!(
            "{} vouches for the commit {}, which is not in the history of the pool {} any more: someone rewrote the \
             pool, or this is another pool",
            path.display(),
            marker.after,
            pool.root().display()
        ))
        .hint(format!("to train on this evidence again, choose another --out, or remove {}", dir.path().display()))
        .hint("to get the step back, restore the pool's branch (git reflog in the pool shows where it was)"));
    };
    let trained = pool.record(after, false)?;
    if trained.trailer(trailer::EVIDENCE) != Some(group.digest.as_str()) {
        return Err(Error::usage(format!(
            "{} is finished, but it was trained on other evidence: the batch, its files, --summary or --group-size changed",
            dir.path().display()
        ))
        .hint("choose another --out and --label for the new evidence"));
    }
    record::report(context, group, dir, before, after, StepState::Skipped).map(Some)
}

/// Recognises the step's commit in the branch's history, checks it, and writes the marker that is missing.
pub fn adopt(context: &Context<'_>, past: &Past, group: &Group, dir: &StepDir) -> Result<Option<StepReport>> {
    let Some(after) = past.step(&group.label, &group.digest) else {
        return Ok(None);
    };
    let before = check(context, after)?;
    let text =
        format!("{}: its commit {} is in the pool already; recognised, not trained again", group.label, short(after));
    context.tell(&Event::Note { text });
    group.write_batch(dir)?;
    step::finish(context, group, dir, before, after, StepState::Adopted).map(Some)
}

/// A step's commit as we make them: one parent, a tree without lint problems.
fn check(context: &Context<'_>, after: Oid) -> Result<Oid> {
    let pool = &context.pool;
    let odd = |what: &str| {
        Error::failed(format!("the commit {after} carries this step's trailers, but {what}"))
            .hint("it was changed after it was made; look at it, and revert it if it is not what you want")
    };
    let before = pool.only_parent(after)?.ok_or_else(|| odd("it has not exactly one parent"))?;
    let files = pool.files(after)?;
    // The limits of its own day count: later ones may be tighter.
    let checker = Checker::of(pool, after, context.env)?;
    let problems = checker.problems(&files, &Changes::new(), |path| {
        files.get(path).map_or_else(|| Ok(Vec::new()), |entry| pool.blob(entry.id))
    })?;
    match problems.first() {
        None => Ok(before),
        Some(problem) => Err(odd(&format!("its cards do not pass the lint: {problem}"))),
    }
}

fn short(id: Oid) -> String {
    id.to_string()[..9].to_owned()
}
