//! `skilltrain init`: a new pool.

use std::path::PathBuf;

use serde_json::json;

use super::{Answer, Call};
use crate::ground::error::Result;
use crate::ground::text::shell_quoted;
use crate::pool::commit::commit_time;
use crate::pool::seed;

/// Make a new pool: a git repository with a profile, its first commit made
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain init pool && skilltrain lint --pool pool")]
pub struct Args {
    /// The folder to make; it must be missing or empty
    #[arg(default_value = "pool", value_name = "DIR")]
    folder: PathBuf,

    /// What the pool looks like
    #[arg(long, value_enum, default_value_t = Template::Rules)]
    template: Template,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Template {
    /// Three folders of cards: principles, craft, and what holds in one kind of work
    Rules,
}

/// Makes the pool.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let Template::Rules = args.template;
    let pool = seed::empty(&args.folder, "pool: begin", commit_time(call.env)?)?;
    let tip = pool.tip()?.to_string();
    let text = format!(
        "made the pool {} ({})\n\nnext: write cards there and commit them, or let evidence write them:\n  \
         skilltrain backward --pool {} --batch batch.json\n",
        args.folder.display(),
        &tip[..9],
        shell_quoted(&args.folder)
    );
    Ok(Answer::new(text, json!({ "pool": pool.root().to_string_lossy(), "commit": tip })))
}
