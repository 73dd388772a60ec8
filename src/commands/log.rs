//! `skilltrain log`: what the training did, step by step.

use super::locate::PoolArg;
use super::{Answer, Call};
use crate::ground::error::{Error, Result};
use crate::pool::repo::Pool;
use crate::report::steps;

/// Show the training steps: subject, cards changed, works, optimizer, cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain log --pool runs/example/memory")]
pub struct Args {
    #[command(flatten)]
    pool: PoolArg,

    /// Commits to look at, newest first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Commits that are no training steps too
    #[arg(long)]
    all: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Lists the steps.
pub fn run(args: &Args, _call: &Call<'_>) -> Result<Answer> {
    let pool = Pool::open(&args.pool.find_here()?)?;
    let records = pool.history(args.limit, true)?;
    let shown: Vec<_> = records.into_iter().filter(|record| args.all || record.is_step()).collect();
    let json = serde_json::to_value(&shown).map_err(Error::failed)?;
    let text = if shown.is_empty() {
        "no training step yet; `skilltrain backward --batch batch.json` makes the first\n".to_owned()
    } else {
        steps::log(&shown)
    };
    Ok(Answer::new(text, json))
}
