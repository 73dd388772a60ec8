//! `skilltrain lint`: all problems of a pool, and the pre-commit hook of a checkout.

use std::path::Path;

use super::locate::{PoolArg, profile_on_disk};
use super::{Answer, Call};
use crate::ground::error::{Error, Result};
use crate::pool::lint::Report;
use crate::pool::{disk_lint, staged};

/// Check every card of the pool and report all problems at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain lint --pool pool
  skilltrain lint --json | jq '.problems[].code'

Exit code 0: no problem; 1: problems, listed on standard output.")]
pub struct Args {
    #[command(flatten)]
    pool: PoolArg,

    /// Check what is staged in the git repository of this folder: for a pre-commit hook
    #[arg(long, conflicts_with = "pool")]
    staged: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Lints.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let report = if args.staged {
        let here = std::env::current_dir().map_err(|error| Error::failed(error).context("cannot tell this folder"))?;
        staged::lint(&here, call.env)?
    } else {
        of_folder(&args.pool.find_here()?, call)?
    };
    let json = serde_json::to_value(&report).map_err(Error::failed)?;
    let count = report.problems.len();
    let text = match count {
        0 => format!("{} cards, no problems\n", report.cards),
        _ => format!("{report}{} cards, {count} problem{}\n", report.cards, if count == 1 { "" } else { "s" }),
    };
    Ok(Answer { text, json, exit: u8::from(count > 0) })
}

/// The lint of the files as they lie on disk, committed or not.
fn of_folder(pool: &Path, call: &Call<'_>) -> Result<Report> {
    let pool = crate::ground::files::canonical(pool)?;
    disk_lint::lint(&pool, &profile_on_disk(&pool, call.env)?)
}
