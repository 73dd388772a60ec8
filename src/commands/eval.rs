//! `skilltrain eval`: scores any commit of a pool on tasks.

use super::measuring::MeasureArgs;
use super::scores::Scores;
use super::{Answer, Call};
use crate::ground::error::Result;
use crate::train::measure::Measure;

/// Score a commit of the pool on tasks: what an agent with these cards gets right
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain eval --tasks tasks.jsonl --target openai:qwen3@http://127.0.0.1:8080/v1
  skilltrain eval --split-dir tasks --split test --rev HEAD~3 --target command:./my-agent
  skilltrain eval --tasks tasks.jsonl --target claude --evaluator judge --judge anthropic:MODEL \\
    --rubric 'Answers the question, and names its source.'

A task is one JSON object a line: `id`, `input`, and `reference` or `checks`. Answers are kept
below --out and used again for every pool that has the same to show; the same command resumes.")]
pub struct Args {
    #[command(flatten)]
    measure: MeasureArgs,

    /// Attempts at each task; its score is their mean
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Measures and reports.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let (repeats, args) = (args.repeats, &args.measure);
    let setting = args.setting(call)?;
    let measure = Measure { repeats, ..args.measure(call, &setting)? };
    let measured = measure.run(&setting.view, &setting.tasks)?;
    setting.close(&measured)?;
    let scores = Scores {
        setting: &setting,
        target: args.target_name(),
        mode: args.mode_name()?,
        split: args.split_name(),
        repeats,
        measured: &measured,
    };
    scores.check_coverage(args.min_coverage())?;
    Ok(scores.answer())
}
