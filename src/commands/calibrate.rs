//! `skilltrain calibrate`: what a gate could see on these tasks, from the pool measured several times against itself.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::measuring::{MeasureArgs, Setting};
use super::{Answer, Call};
use crate::ground::error::{Error, Kind, Result};
use crate::llm::Role;
use crate::stages::calibrate::{self, Calibration, Repeats};
use crate::stages::gate::{Metric, Spending};
use crate::stages::rollout::{Ending, Measured};
use crate::train::measure::Measure;

/// Tasks that are named in one line.
const NAMED: usize = 12;

/// Measure the pool several times against itself: the noise, and the smallest gain that a gate could see
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  skilltrain calibrate --split-dir tasks --split selection --target ollama:qwen3

Each task is attempted --repeats times with the same cards. What differs between the attempts is
chance, and an edit whose gain is smaller than that cannot be told from none. Attempts are kept
below --out, as those of `skilltrain eval` are, and the same command resumes.")]
pub struct Args {
    #[command(flatten)]
    measure: MeasureArgs,

    /// Attempts at each task
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=1000))]
    repeats: u32,

    /// The score that the gate compares
    #[arg(long, value_enum, default_value_t = MetricArg::Hard)]
    metric: MetricArg,

    /// Steps of the run over which a sequential gate spreads its error budget
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,

    /// The chance at which a sequential gate may accept a worthless edit in the whole run
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    alpha: f64,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MetricArg {
    Hard,
    Soft,
}

impl MetricArg {
    fn metric(self) -> Metric {
        match self {
            MetricArg::Hard => Metric::Hard,
            MetricArg::Soft => Metric::Soft,
        }
    }

    fn name(self) -> &'static str {
        match self {
            MetricArg::Hard => "hard",
            MetricArg::Soft => "soft",
        }
    }
}

/// Measures and says what the gate could see.
pub fn run(args: &Args, call: &Call<'_>) -> Result<Answer> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        return Err(Error::usage(format!("--alpha {} is not a chance between 0 and 1", args.alpha)));
    }
    let setting = args.measure.setting(call)?;
    let measure = args.measure.measure(call, &setting)?;
    let mut samples: Vec<Vec<Measured>> = Vec::new();
    for sample in 0..args.repeats {
        samples.push(Measure { sample, ..measure }.run(&setting.view, &setting.tasks)?);
    }
    setting.close(samples.iter().flatten())?;
    let level = Spending { alpha: args.alpha, plans: vec![args.steps as usize] }.level(&[]);
    let repeats = repeats(&setting, &samples, args.metric.metric());
    let found = calibrate::calibrate(&repeats, 1, level);
    let found = found.filter(|found| found.tasks as f64 >= args.measure.min_coverage() * repeats.len() as f64);
    let found = found.ok_or_else(|| too_few(&repeats, &samples, args.measure.min_coverage()))?;
    Ok(Answer::new(text(args, &setting, &found)?, json(args, &setting, &found)?))
}

/// The scores of each task, one a sample that has one.
fn repeats(setting: &Setting, samples: &[Vec<Measured>], metric: Metric) -> Vec<Repeats> {
    let scores = |index: usize| {
        let scores = samples.iter().filter_map(move |sample| sample.get(index)?.score());
        scores.map(|score| metric.of(score)).collect()
    };
    let tasks = setting.tasks.iter().enumerate();
    tasks.map(|(index, task)| Repeats { task: task.id.clone(), scores: scores(index) }).collect()
}

/// Too few tasks have two scores: of kind `Unreachable` when it is the provider's doing, else `Failed`.
fn too_few(repeats: &[Repeats], samples: &[Vec<Measured>], least: f64) -> Error {
    let measured = repeats.iter().filter(|task| task.scores.len() >= 2).count();
    let why = |measured: &Measured| match &measured.end {
        Ending::Scored(_) => None,
        Ending::Lost(why) => Some((Kind::Unreachable, why.clone())),
        Ending::Unscored(why) => Some((Kind::Failed, why.clone())),
    };
    let (kind, why) = samples.iter().flatten().find_map(why).unwrap_or((Kind::Failed, "no task".to_owned()));
    let all = repeats.len();
    Error::new(kind, format!("{measured} of {all} tasks have two scores, and --min-coverage is {least}: {why}"))
        .hint("what was answered is kept: run the same command again, and only the rest is attempted")
}

fn text(args: &Args, setting: &Setting, found: &Calibration) -> Result<String> {
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key:<14}{value}");
    };
    let measure = &args.measure;
    line("pool", setting.described());
    line("target", measure.described()?);
    let split = measure.split_name().map(|split| format!(" of the {split} split")).unwrap_or_default();
    let all = setting.tasks.len();
    line("tasks", format!("{} of {all}{split}, {} attempts at each", found.tasks, args.repeats));
    line("score", format!("{:.4} {}", found.score, args.metric.name()));
    line("noise", format!("{:.4} of the score, {:.4} of one task", found.score_noise, found.task_noise));
    let gain = match found.smallest_effect {
        None => "any gain: no score moved".to_owned(),
        Some(gain) => {
            let averaged = gain / f64::from(args.repeats).sqrt();
            format!("a gain of {gain:.4} or more, of {averaged:.4} with {} attempts at each task", args.repeats)
        }
    };
    line("can be seen", gain);
    line("a null edit", format!("is taken by a strict gate {:.0} times of 100", found.null_acceptance * 100.0));
    let (wins, steps) = (found.sequential_wins, args.steps);
    line("sequential", format!("{wins} tasks fixed and none broken pass, in a run of {steps} steps"));
    let groups = [
        ("always right", &found.always_right),
        ("always wrong", &found.always_wrong),
        ("never moving", &found.never_moving),
        ("too few scores", &found.too_few),
    ];
    for (key, tasks) in groups.iter().filter(|(_, tasks)| !tasks.is_empty()) {
        line(key, named(tasks));
    }
    for (key, role) in [("calls", Role::Target), ("judge", Role::Judge)] {
        if let Some(sums) = setting.paid(role) {
            line(key, sums.to_string());
        }
    }
    Ok(text)
}

/// `3: a b c`, bounded.
fn named(tasks: &[String]) -> String {
    let shown: Vec<&str> = tasks.iter().take(NAMED).map(String::as_str).collect();
    let more = match tasks.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}: {}{more}", tasks.len(), shown.join(" "))
}

fn json(args: &Args, setting: &Setting, found: &Calibration) -> Result<Value> {
    let found = serde_json::to_value(found).map_err(Error::failed)?;
    Ok(json!({
        "pool": setting.pool.root().to_string_lossy(), "commit": setting.view.commit,
        "target": args.measure.target_name(), "mode": args.measure.mode_name()?, "split": args.measure.split_name(),
        "repeats": args.repeats, "metric": args.metric.name(), "steps": args.steps, "alpha": args.alpha,
        "calibration": found, "usage": setting.shared.ledger.total(),
    }))
}
