//! `skilltrain reduce`: one commonality report.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::{Answer, Call};
use crate::batch::{Batch, Sample};
use crate::ground::error::{AtPath as _, Result};
use crate::ground::files;
use crate::ground::process::Sandbox;
use crate::ground::prompts::Prompts;
use crate::optimizer::{Host, registry};
use crate::stages::reduce;

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

    /// Who reads: extractive, claude[:MODEL], codex[:MODEL], command:PROGRAM [default: extractive]
    #[arg(long, env = "SKILLTRAIN_OPTIMIZER", value_name = "NAME")]
    optimizer: Option<String>,

    /// The optimizer's model, where its name gives none
    #[arg(long)]
    model: Option<String>,

    /// Wall-clock seconds for each attempt
    #[arg(long, value_name = "SECONDS", default_value_t = 5400, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,

    /// Fresh attempts after the first one failed
    #[arg(long, value_name = "N", default_value_t = 2)]
    retries: usize,

    /// What contains an agent: the best there is, one insisted on, or none
    #[arg(long, value_enum, default_value_t = Sandbox::Auto)]
    sandbox: Sandbox,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reduces the whole batch.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let batch = Batch::load(&args.batch)?;
    let optimizer = registry::find(args.optimizer.as_deref().unwrap_or("extractive"), args.model.as_deref())?;
    let evidence = batch.samples.iter().map(Sample::load).collect::<Result<Vec<_>>>()?;
    let out = std::path::absolute(&args.out).at("find", &args.out)?;
    let mut folder = out.clone().into_os_string();
    folder.push(".reduce");
    let group = reduce::Group { label: "reduce".into(), evidence: &evidence, desk: reduce::desk(folder.into()) };
    let watch = super::watch("reduce", call.observer);
    let host = Host {
        env: call.env,
        cancel: call.cancel,
        prompts: &Prompts::default(),
        timeout: Duration::from_secs(args.timeout),
        sandbox: args.sandbox,
        watch: &watch,
    };
    let turn = reduce::reduce(optimizer.as_ref(), &group, args.retries, &host)?;
    files::write(&out, &turn.report)?;
    let text = format!("{} ({} works, {} tokens)\n", out.display(), evidence.len(), turn.usage.tokens());
    Ok(Answer::new(text, json!({ "report": out, "works": evidence.len(), "usage": turn.usage })))
}
