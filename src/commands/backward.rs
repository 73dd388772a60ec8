//! `skilltrain backward`: from a batch of evidence to one commit a micro-step.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::{Found, OptimizerArgs};
use super::locate::PoolArg;
use super::{Answer, Call};
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::optimizer::Bounds;
use crate::report::steps;
use crate::run::event::Event;
use crate::run::layout::{run_of, slug};
use crate::train::backward;
use crate::train::context::Options;

/// Where a model's answers are written down until their steps are done.
const JOURNAL: &str = "calls.jsonl";

/// Train the pool on a batch of evidence: one commit a micro-step
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain backward --batch runs/example/batch.json
  skilltrain backward --batch batch.json --pool pool --optimizer claude --timeout 1800
  skilltrain backward --batch batch.json --optimizer openai:qwen3@http://127.0.0.1:8080/v1 --max-calls 60

A batch is a JSON list; each sample names its evidence (paths are relative to the batch):
  [{\"work\": \"shift-mon\", \"first\": 1, \"last\": 6, \"loss_report\": \"loss/shift-mon.md\",
    \"reads\": \"reads/shift-mon.txt\", \"trajectory\": \"trajectory/shift-mon.md\"}]

The same command resumes: what is done is not done again, what was paid is not paid again.")]
pub struct Args {
    /// The batch: a JSON list of samples
    #[arg(long, value_name = "FILE")]
    batch: PathBuf,

    #[command(flatten)]
    pool: PoolArg,

    /// Where the micro-steps' folders go [default: backward/ beside the batch]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The step's name in commits and refs [default: derived from where the batch lies]
    #[arg(long)]
    label: Option<String>,

    /// A commonality report of your own: one micro-step with that
    #[arg(long, value_name = "FILE")]
    summary: Option<PathBuf>,

    /// Samples a micro-step; 0 puts all in one
    #[arg(long, value_name = "N", default_value_t = 4)]
    group_size: usize,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Cards that a micro-step may change at most [default: no limit]
    #[arg(long, value_name = "N")]
    learning_rate: Option<usize>,

    /// Cards that a micro-step may delete at most
    #[arg(long, value_name = "N", default_value_t = 2)]
    max_deletions: usize,

    /// What memory_before/ and memory_after/ hold: the cards touched, or the whole pool
    #[arg(long, value_enum, default_value_t = Snapshot::Touched)]
    snapshot: Snapshot,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Snapshot {
    /// The cards that the step touched
    Touched,
    /// Every card of the pool
    Full,
}

/// Trains.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let prompts = args.optimizer.prompts()?;
    args.optimizer.check()?;
    let batch = files::canonical(&args.batch)?;
    crate::batch::Batch::load(&batch)?;
    let options = options(args, batch, call)?;
    let journal = options.out.join(JOURNAL);
    let Found { optimizer, ledger } = args.optimizer.find(call, &prompts, &journal)?;
    if !args.optimizer.is_named() {
        let text = "optimizer: extractive (built in, no model and no cost; --optimizer claude or codex edits better)";
        (call.observer)(&Event::Note { text: text.into() });
    }
    let reports = backward::backward(&options, optimizer.as_ref(), call.env, call.cancel, &prompts, call.observer)?;
    // Every answer's work is in the pool now.
    files::remove(&journal)?;
    if optimizer.is_accounted() {
        (call.observer)(&Event::Note { text: format!("the model: {}", ledger.total()) });
    }
    let pool = files::canonical(&options.pool)?;
    let json = json!({ "pool": pool.to_string_lossy(), "out": options.out.to_string_lossy(), "label": &options.label, "steps": &reports });
    Ok(Answer::new(steps::summary(&reports, &pool), json))
}

fn options(args: &Args, batch: PathBuf, call: &Call<'_>) -> Result<Options> {
    let beside = batch.parent().unwrap_or(Path::new("/")).join("backward");
    let out = match &args.out {
        Some(out) => std::path::absolute(out).map_err(|error| Error::usage(error).context("--out"))?,
        None => beside,
    };
    let (run, derived) = names(&batch);
    let label = match &args.label {
        Some(label) if slug(label) == *label => label.clone(),
        Some(label) => {
            return Err(Error::usage(format!("--label: `{label}` cannot stand in a reference's name"))
                .hint(format!("for instance: {}", slug(label))));
        }
        None => derived,
    };
    Ok(Options {
        pool: args.pool.find_for(&batch, call.env, call.observer)?,
        batch,
        out,
        label,
        run,
        summary: args.summary.clone(),
        group_size: args.group_size,
        timeout: args.optimizer.timeout(),
        retries: args.optimizer.retries,
        bounds: Bounds { learning_rate: args.learning_rate, max_deletions: args.max_deletions },
        sandbox: args.optimizer.sandbox(),
        snapshot_full: args.snapshot == Snapshot::Full,
        rejected: String::new(),
        meta_skill: String::new(),
        seconds: None,
        reduce_workers: 8,
    })
}

/// The run's name and the step's label, from where the batch lies: `runs/x/epoch_00/step_01/batch.json` is
/// `x-epoch_00-step_01` of the run `x`; outside a run the folder's name stands for it.
pub(super) fn names(batch: &Path) -> (String, String) {
    let folder = batch.parent().unwrap_or(Path::new("/"));
    let base = run_of(batch).unwrap_or(folder);
    let name = base.file_name().map_or_else(|| "pool".into(), |name| name.to_string_lossy().into_owned());
    let mut parts = vec![name.clone()];
    let inside = folder.strip_prefix(base).unwrap_or(Path::new(""));
    parts.extend(inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned()));
    let stem = batch.file_stem().unwrap_or_default().to_string_lossy();
    if stem != "batch" {
        parts.push(stem.into_owned());
    }
    (slug(&name), slug(&parts.join("-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_from_where_the_batch_lies() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("my run");
        std::fs::create_dir_all(run.join("seed")).unwrap();
        std::fs::create_dir_all(run.join("epoch_00/step_01")).unwrap();
        let names = |path: &str| names(&run.join(path));
        assert_eq!(names("batch.json"), ("my-run".into(), "my-run".into()));
        assert_eq!(names("epoch_00/step_01/batch.json").1, "my-run-epoch_00-step_01");
        assert_eq!(names("other.json").1, "my-run-other");
    }
}
