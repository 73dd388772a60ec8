//! `skilltrain status`: where the pool is, and what would happen next.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::locate::PoolArg;
use super::{Answer, Call, told};
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::pool::disk_lint;
use crate::pool::folder::StatCache;
use crate::pool::repo::Pool;
use crate::run::folder::RunDir;
use crate::run::layout::MEMORY;
use crate::run::lock;
use crate::train::cycle::{Standing, Summary};

/// Show where the pool is: its steps, its state, who trains it, and what to do next
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skilltrain status --pool runs/example/memory\n  skilltrain status --run runs/train"
)]
pub struct Args {
    /// A training run's folder; its pool is looked at
    #[arg(long, value_name = "DIR", conflicts_with = "pool")]
    run: Option<PathBuf>,

    #[command(flatten)]
    pool: PoolArg,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Looks, and changes nothing.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let pool = Pool::open(&place(args)?)?;
    let tip = pool.tip()?;
    let files = pool.files(tip)?;
    let dirt = pool.dirt(&files, &mut StatCache::default())?;
    let holder = lock::holder(pool.git_dir());
    let profile = super::locate::profile_on_disk(pool.root(), call.env)?;
    let lint = disk_lint::lint(pool.root(), &profile)?;
    let history = pool.history(usize::MAX, false)?;
    let steps: Vec<_> = history.iter().filter(|record| record.is_step()).collect();
    let failed = pool.kept("failed/")?;
    let idle = pool.check_idle().err();
    let next = match (&holder, &idle, dirt.is_empty(), lint.problems.is_empty()) {
        (Some(_), ..) => "wait for the trainer that is at work".to_owned(),
        (_, Some(why), ..) => why.to_string(),
        (_, _, false, _) => "commit or move away the changes; training refuses a pool that is not clean".to_owned(),
        (.., false) => "mend the lint's problems: skilltrain lint".to_owned(),
        _ => "ready to train: skilltrain backward --batch batch.json".to_owned(),
    };
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "{key:<10}{value}");
    };
    line("pool", pool.root().display().to_string());
    line("branch", format!("{} at {}", pool.branch().trim_start_matches("refs/heads/"), &tip.to_string()[..9]));
    line("cards", format!("{}, lint problems: {}", lint.cards, lint.problems.len()));
    let last =
        steps.first().map_or("none yet".into(), |record| format!("{} ({})", record.subject, &record.commit[..9]));
    line("steps", format!("{}; last: {last}", steps.len()));
    line("files", if dirt.is_empty() { "clean".into() } else { format!("{} uncommitted changes", dirt.len()) });
    dirt.iter().take(10).for_each(|change| line("", change.clone()));
    if !failed.is_empty() {
        line("kept", format!("{} failed attempts under refs/skilltrain/failed/", failed.len()));
    }
    if let Some(holder) = &holder {
        line("trainer", format!("process {} on {}, training `{}`", holder.pid, holder.host, holder.label));
    }
    let standing = pool.root().parent().map(|run| Standing::of(&RunDir::new(run))).transpose()?.flatten();
    let next = match &standing {
        Some(standing) if holder.is_none() && idle.is_none() && dirt.is_empty() => standing.next.clone(),
        _ => next,
    };
    if let Some(standing) = &standing {
        line("run", run_line(standing));
        for (name, scores) in ended(pool.root(), standing)? {
            line(name, scores);
        }
    }
    line("next", next.clone());
    let json = json!({
        "pool": pool.root().to_string_lossy(), "branch": pool.branch(), "tip": tip.to_string(), "cards": lint.cards,
        "lint_problems": lint.problems.len(), "steps": steps.len(), "last": steps.first(), "uncommitted": dirt,
        "failed_attempts": failed.iter().map(|(name, _)| name).collect::<Vec<_>>(), "trainer": holder, "run": standing, "next": next,
    });
    Ok(Answer::new(text, json))
}

/// The pool's folder.
fn place(args: &Args) -> Result<PathBuf> {
    match &args.run {
        Some(run) if !RunDir::new(run).begun().is_file() => {
            Err(Error::usage(format!("{} is no training run: it has no run.json", run.display()))
                .hint("name the folder that `skilltrain train` wrote (train.out, or its --out)"))
        }
        Some(run) => Ok(run.join(MEMORY)),
        None => args.pool.find_here(),
    }
}

/// "warehouse: 5 of 9 steps: 3 accepted, 1 rejected, 0 undecided, 1 unchanged, 0 failed".
fn run_line(standing: &Standing) -> String {
    let [accepted, rejected, undecided, unchanged, failed] = standing.counts();
    format!(
        "{}: {} of {} steps: {accepted} accepted, {rejected} rejected, {undecided} undecided, {unchanged} unchanged, {failed} failed",
        standing.name,
        standing.done.len(),
        standing.steps
    )
}

/// The scores that a run came to; nothing while it is under way.
fn ended(pool: &Path, standing: &Standing) -> Result<Vec<(&'static str, String)>> {
    let folder = pool.parent().map(RunDir::new).filter(|_| standing.is_finished);
    let bytes = folder.map_or(Ok(None), |folder| files::read_if_there(&folder.summary()))?;
    let Some(summary) = bytes.and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok()) else {
        return Ok(Vec::new());
    };
    let splits = [("selection", &summary.selection), ("test", &summary.test)];
    let measured = splits.into_iter().filter(|(_, split)| split.iter().any(Option::is_some));
    Ok(measured.map(|(name, split)| (name, told::scores(split))).collect())
}
