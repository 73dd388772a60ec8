//! `skilltrain eval`: scores any commit of a pool on tasks.

use std::path::{Path, PathBuf};

use super::args::SandboxArg;
use super::locate::PoolArg;
use super::model::ModelArgs;
use super::scores::Scores;
use super::{Answer, Call};
use crate::evaluator::{self, Evaluator};
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::prompts::Prompts;
use crate::llm::Shared;
use crate::pool::repo::Pool;
use crate::run::layout::run_of;
use crate::stages::split::{NAMES, Split};
use crate::target::{self, Mode, Target, View};
use crate::task::{self, Task};
use crate::train::measure::{Attempts, Measure};

/// Where answers are written down while a command runs; removed when all is on disk in its own place.
const JOURNAL: &str = "calls.jsonl";

/// Score a commit of the pool on tasks: what an agent with these cards gets right
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain eval --tasks tasks.jsonl --target openai:qwen3@http://127.0.0.1:8080/v1
  skilltrain eval --split-dir tasks --split test --rev HEAD~3 --target command:./my-agent

A task is one JSON object a line: `id`, `input`, and `reference` or `checks`. Answers are kept
below --out and used again for every pool that has the same to show; the same command resumes.")]
pub struct Args {
    /// A file of tasks, one JSON object a line
    #[arg(long, value_name = "FILE", required_unless_present = "split_dir", conflicts_with = "split_dir")]
    tasks: Option<PathBuf>,

    /// A folder with train.jsonl, selection.jsonl and test.jsonl
    #[arg(long, value_name = "DIR", requires = "split")]
    split_dir: Option<PathBuf>,

    /// Which of the splits
    #[arg(long, value_name = "NAME", value_parser = NAMES, requires = "split_dir")]
    split: Option<String>,

    #[command(flatten)]
    pool: PoolArg,

    /// The commit to score: a hash, a branch, a tag, HEAD~2 [default: the pool's branch]
    #[arg(long, value_name = "REV")]
    rev: Option<String>,

    /// Who attempts the tasks: openai:MODEL@URL, anthropic:MODEL, ollama:MODEL, command:PROGRAM
    #[arg(long, env = "SKILLTRAIN_TARGET", value_name = "NAME")]
    target: String,

    /// How a model sees the pool: every card in its prompt, or headers and a tool that opens cards
    #[arg(long, value_enum, default_value_t = ModeArg::Inline)]
    mode: ModeArg,

    /// Who scores: auto, checks, exact, normalised, contains, numeric, regex, json_equal, token_f1, command:PROGRAM
    #[arg(long, value_name = "NAME", default_value = "auto")]
    evaluator: String,

    /// What a model is told besides the pool
    #[arg(long, value_name = "TEXT", default_value = "")]
    system: String,

    /// Tasks attempted at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: u16,

    /// The share of tasks that must get a score
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    min_coverage: f64,

    /// The folder for answers and scores [default: the pool's run, else `eval` beside the pool]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// A seed for servers that take one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// The sampling temperature
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,

    /// The most tokens of one answer
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    answer_tokens: u32,

    /// The most tokens of cards in a prompt
    #[arg(long, value_name = "N", default_value_t = 16_000)]
    pool_tokens: usize,

    /// The most questions to a model for one task, where it opens cards
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..))]
    max_turns: u16,

    #[command(flatten)]
    model: ModelArgs,

    /// What contains a program: the best that works here, one insisted on, or none
    #[arg(long, value_enum, default_value_t = SandboxArg::Auto)]
    sandbox: SandboxArg,

    /// A folder with prompts of your own, under the names of the built-in ones
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,

    /// Attempt and score everything anew
    #[arg(long)]
    fresh: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ModeArg {
    Inline,
    Routed,
}

/// Measures and reports.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    if !(0.0..=1.0).contains(&args.min_coverage) {
        return Err(Error::usage(format!("--min-coverage {} is not a share from 0 to 1", args.min_coverage)));
    }
    if args.temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return Err(Error::usage("--temperature is not a number from 0 to 2"));
    }
    let tasks = tasks(args)?;
    let evaluator = evaluator::registry::find(&args.evaluator, &serde_json::Map::new())?;
    tasks.iter().try_for_each(|task| evaluator.check(task))?;
    let pool = Pool::open(&args.pool.find_here()?)?;
    let commit = args.rev.as_deref().map_or_else(|| pool.tip(), |revision| pool.resolve(revision))?;
    let view = View::of(&pool, commit)?;
    let out = out(args, pool.root())?;
    let prompts = Prompts::in_folder(args.prompts.as_deref())?;
    let shared = args.model.shared(call, prompts)?;
    let target = target(args, call, &shared, &out)?;
    let attempts = Attempts::open(&out)?;
    let measure = measure(args, call, target.as_ref(), evaluator.as_ref(), &attempts)?;
    let measured = measure.run(&view, &tasks)?;
    attempts.flush()?;
    let scores = Scores {
        pool: pool.root(),
        view: &view,
        target: args.target.as_str(),
        mode: target::needs_model(&args.target)?.map(|_| mode(args).name()),
        split: args.split.as_deref(),
        out: &out,
        tasks: &tasks,
        measured: &measured,
        sums: shared.ledger.total(),
    };
    scores.check_coverage(args.min_coverage)?;
    if measured.len() == scores.scored() {
        // Every answer lies in its own place now.
        files::remove(&out.join(JOURNAL))?;
    }
    Ok(scores.answer())
}

/// The tasks asked for.
fn tasks(args: &Args) -> Result<Vec<Task>> {
    if let Some(file) = &args.tasks {
        return task::load(file);
    }
    let folder = args.split_dir.as_deref().unwrap_or(Path::new("."));
    let split = Split::read(folder)?;
    split.check(false)?;
    let name = args.split.as_deref().unwrap_or_default();
    let tasks = split.all().into_iter().find(|(known, _)| *known == name).map(|(_, tasks)| tasks.to_vec());
    tasks.filter(|tasks| !tasks.is_empty()).ok_or_else(|| {
        Error::usage(format!("there is no task in {}", folder.join(format!("{name}.jsonl")).display()))
            .hint("name another split, or give it tasks")
    })
}

/// The folder for answers and scores, made when missing, with links resolved.
fn out(args: &Args, pool: &Path) -> Result<PathBuf> {
    let above = pool.parent().unwrap_or(pool);
    let usual = || run_of(pool).map_or_else(|| above.join("eval"), Path::to_owned);
    let out = files::resolved(&args.out.clone().unwrap_or_else(usual))?;
    if out.starts_with(pool) {
        return Err(Error::usage(format!("--out {} lies in the pool", out.display()))
            .hint("choose a folder beside it: a pool holds cards only"));
    }
    files::create_dir(&out)?;
    Ok(out)
}

fn mode(args: &Args) -> Mode {
    match args.mode {
        ModeArg::Inline => Mode::Inline,
        ModeArg::Routed => Mode::Routed,
    }
}

/// Who attempts.
fn target(args: &Args, call: &Call<'_>, shared: &Shared, out: &Path) -> Result<Box<dyn Target>> {
    let spec = target::needs_model(&args.target)?;
    let journal = out.join(JOURNAL);
    let client = |spec| args.model.client(&spec, shared.clone(), call, &journal, args.workers, args.fresh);
    let client = spec.map(client).transpose()?;
    let options = target::Options {
        client,
        mode: mode(args),
        system: args.system.clone(),
        seed: args.seed,
        temperature: args.temperature,
        max_tokens: args.answer_tokens,
        budget: args.pool_tokens,
        max_turns: usize::from(args.max_turns),
        prompts: shared.prompts.clone(),
    };
    target::find(&args.target, options)
}

fn measure<'a>(
    args: &Args,
    call: &'a Call<'_>,
    target: &'a dyn Target,
    evaluator: &'a dyn Evaluator,
    attempts: &'a Attempts,
) -> Result<Measure<'a>> {
    Ok(Measure {
        target,
        evaluator,
        attempts,
        place: "",
        sample: 0,
        repeats: 1,
        workers: usize::from(args.workers),
        fresh: args.fresh,
        env: call.env,
        cancel: call.cancel,
        sandbox: args.sandbox.sandbox(),
        timeout: args.model.timeout()?,
        observer: call.observer,
    })
}
