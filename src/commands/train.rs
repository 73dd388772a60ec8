//! `skilltrain train`: the whole loop, begun or taken up.

use std::path::PathBuf;
use std::sync::Arc;

use super::clients::Clients;
use super::{Answer, Call, players, told};
use crate::config::{CONFIG_FILE, Config};
use crate::ground::error::{AtPath as _, Error, Result};
use crate::ground::files;
use crate::ground::prompts::Prompts;
use crate::llm::Shared;
use crate::run::event::Event;
use crate::run::folder::RunDir;
use crate::run::log::EventLog;
use crate::train::cycle::dates::Dates;
use crate::train::cycle::{self, Setup};
use crate::train::taped::{self, Tape};

/// Train a pool on tasks: rollout, reflect, update, gate, step by step
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  skilltrain config init && skilltrain train
  skilltrain train --config skilltrain.toml --set train.num_epochs=2 --set target.name=openai:qwen3@http://127.0.0.1:8080/v1
  skilltrain train --replay recording.jsonl        the same training again, offline
The same command resumes: what is done is not done again, what was paid is not paid again. More epochs
(--set train.num_epochs=8) go on where a finished run ended.")]
pub struct Args {
    /// The configuration; `skilltrain config init` writes one
    #[arg(long, value_name = "FILE", default_value = CONFIG_FILE)]
    config: PathBuf,

    /// Sets a key, such as optimizer.learning_rate=8; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,

    /// The run's folder [default: train.out, which is runs/train beside the configuration]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Begin from the cards of this folder (train.init_pool)
    #[arg(long, value_name = "DIR")]
    init_pool: Option<PathBuf>,

    /// Go through the same loop with a pool that never changes: the control (train.freeze)
    #[arg(long)]
    freeze: bool,

    /// Write every exchange with a model into this file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Take every exchange from this file, without any network
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,

    /// Use no rollout again that an earlier step made
    #[arg(long)]
    fresh: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Trains.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    let config = configured(args)?;
    let folder = RunDir::new(&config.train.out);
    files::create_dir(folder.path())?;
    let log = EventLog::open(&folder.events())?;
    let prompts = Prompts::in_folder(config.train.prompts.as_deref())?;
    let tapes = [args.record.as_deref(), args.replay.as_deref()];
    let clients = Clients::new(&config, call, &folder, prompts, tapes, log.earlier_seconds())?;
    let target = players::target(&config, &clients)?;
    let evaluator = players::evaluator(&config, &clients)?;
    let optimizer = players::optimizer(&config, &clients)?;
    let (dates, tape) = match (tapes, clients.recording()) {
        ([_, Some(path)], _) => (Dates::replayed(path)?, Some(Tape::replayed(path)?)),
        ([Some(path), _], Some(recording)) => {
            (Dates::recorded(Arc::clone(&recording), path)?, Some(Tape::recorded(recording, path)?))
        }
        _ => (Dates::default(), None),
    };
    let (target, evaluator, optimizer) = match tape.map(Arc::new) {
        Some(tape) => (
            taped::target(target, &tape),
            taped::evaluator(evaluator, &tape),
            taped::optimizer(optimizer, &tape, folder.memory()),
        ),
        None => (target, evaluator, optimizer),
    };
    let observer = |event: &Event| {
        log.write(event);
        if matches!(event, Event::RolloutDone { .. }) {
            (call.observer)(&spent(clients.shared()));
        }
        (call.observer)(event);
    };
    let setup = Setup {
        config: &config,
        folder: folder.clone(),
        target: target.as_ref(),
        evaluator: evaluator.as_ref(),
        optimizer: optimizer.as_ref(),
        env: call.env,
        cancel: call.cancel,
        prompts: &clients.shared().prompts,
        observer: &observer,
        shared: clients.shared(),
        journal: clients.journal(),
        price: &|model| clients.price(model),
        dates: &dates,
        fresh: args.fresh,
    };
    let summary = cycle::train(&setup)?;
    let json = serde_json::to_value(&summary).map_err(Error::failed)?;
    Ok(Answer::new(told::summary(&summary, folder.path()), json))
}

/// What a run has taken so far.
fn spent(shared: &Shared) -> Event {
    let spent = shared.budget.spent();
    // The stretch's account says whether prices are known; the budget has the sums of all.
    let is_priced = shared.ledger.total().unpriced == 0;
    Event::Spent { calls: spent.calls, tokens: spent.tokens, usd: is_priced.then(|| spent.money.as_usd()) }
}

/// The configuration with the flags that stand for keys.
fn configured(args: &Args) -> Result<Config> {
    let mut sets = args.sets.clone();
    let mut path = |key: &str, path: &Option<PathBuf>| -> Result<()> {
        if let Some(path) = path {
            let path = std::path::absolute(path).at("find", path)?;
            sets.push(format!("{key}={}", toml::Value::String(path.to_string_lossy().into_owned())));
        }
        Ok(())
    };
    path("train.out", &args.out)?;
    path("train.init_pool", &args.init_pool)?;
    if args.freeze {
        sets.push("train.freeze=true".into());
    }
    Config::load(&args.config, &sets)
}
