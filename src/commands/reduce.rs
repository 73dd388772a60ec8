//! `skilltrain reduce`: one commonality report.

use std::path::PathBuf;

use serde_json::json;

use super::args::OptimizerArgs;
use super::{Answer, Call};
use crate::batch::{Batch, Sample};
use crate::ground::error::{AtPath as _, Result};
use crate::ground::files;
use crate::stages::reduce;
use crate::train::context::Seams;

/// Fold a batch's loss reports into one commonality report
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  skilltrain reduce --batch runs/example/batch.json --out summary.md")]
pub struct Args {
    /// The batch: a JSON list of samples
    #[arg(long, value_name = "FILE")]
    batch: PathBuf,

    /// Where the report goes
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reduces the whole batch.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let batch = Batch::load(&args.batch)?;
    let optimizer = args.optimizer.find()?;
    let evidence = batch.samples.iter().map(Sample::load).collect::<Result<Vec<_>>>()?;
    let out = std::path::absolute(&args.out).at("find", &args.out)?;
    let mut folder = out.clone().into_os_string();
    folder.push(".reduce");
    let group = reduce::Group { label: "reduce".into(), evidence: &evidence, desk: reduce::desk(folder.into()) };
    let prompts = args.optimizer.prompts()?;
    let seams = Seams {
        env: call.env,
        cancel: call.cancel,
        prompts: &prompts,
        timeout: args.optimizer.timeout(),
        sandbox: args.optimizer.sandbox(),
        observer: call.observer,
    };
    let retries = args.optimizer.retries;
    let turn = seams.with_host("reduce", |host| reduce::reduce(optimizer.as_ref(), &group, retries, host))?;
    files::write(&out, &turn.report)?;
    let text = format!("{} ({} works)\n", out.display(), evidence.len());
    Ok(Answer::new(text, json!({ "report": out.to_string_lossy(), "works": evidence.len(), "usage": turn.usage })))
}
