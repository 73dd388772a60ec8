//! `skilltrain reduce`: one commonality report.

use std::path::PathBuf;

use serde_json::json;

use super::args::{Found, OptimizerArgs};
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

    /// Where the report goes [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reduces the whole batch.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let batch = Batch::load(&args.batch)?;
    let evidence = batch.samples.iter().map(Sample::load).collect::<Result<Vec<_>>>()?;
    // An agent's call leaves its files beside the report, so that a call that ended is not paid again.
    let place = args.out.clone().unwrap_or_else(|| batch.path.with_extension("summary.md"));
    let mut folder = std::path::absolute(&place).at("find", &place)?.into_os_string();
    folder.push(".reduce");
    let folder = PathBuf::from(folder);
    let prompts = args.optimizer.prompts()?;
    let Found { optimizer, .. } = args.optimizer.find(call, &prompts, &folder.join("calls.jsonl"))?;
    let group = reduce::Group { label: "reduce".into(), evidence: &evidence, desk: reduce::desk(folder) };
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
    let mut json = json!({ "works": evidence.len(), "usage": turn.usage });
    let Some(out) = &args.out else {
        json["text"] = turn.report.clone().into();
        return Ok(Answer::new(turn.report, json));
    };
    files::write(out, &turn.report)?;
    json["report"] = out.to_string_lossy().into();
    Ok(Answer::new(format!("{} ({} works)\n", out.display(), evidence.len()), json))
}
