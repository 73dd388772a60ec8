//! What happens in a run, typed once: the terminal, `--json` and, later, reports are readers of it.

use serde::Serialize;

use super::cycle::CycleReport;

/// One thing that happened. The names are stable: programs read them.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Something worth knowing that changes nothing: which optimizer, which sandbox, what was adopted.
    Note { text: String },
    /// Something that the user should look at.
    Warning { text: String },
    /// A group's reports are being folded into one.
    ReduceStarted { label: String, samples: usize },
    /// They were.
    ReduceDone { label: String, reused: bool },
    /// A micro-step begins.
    StepStarted { label: String, group: usize, groups: usize, works: Vec<String> },
    /// The optimizer's newest action.
    Action { label: String, text: String, tokens: u64 },
    /// An attempt failed a guard; it is told, or tried again.
    AttemptFailed { label: String, attempt: usize, reasons: Vec<String>, next: String },
    /// A training run begins, or is taken up: steps planned, steps done.
    RunStarted {
        run: String,
        folder: String,
        target: String,
        optimizer: String,
        /// Tasks to train on, to select by, to test with.
        splits: [usize; 3],
        steps: usize,
        done: usize,
    },
    /// A step of a run begins; its number is from 0.
    CycleStarted { label: String, number: usize, steps: usize, tasks: usize },
    /// A step of a run is done.
    CycleDone { report: Box<CycleReport> },
    /// What a run has taken so far; none where a price is unknown.
    Spent { calls: u64, tokens: u64, usd: Option<f64> },
    /// A run is done.
    RunDone { folder: String },
    /// Tasks are about to be attempted, for a purpose: `rollout`, `gate`, `test`.
    RolloutsStarted { what: String, total: usize },
    /// One more was: so many done, of these without a score, of these taken from disk.
    RolloutDone { what: String, done: usize, failed: usize, reused: usize, total: usize },
    /// All were, or the rest is left.
    RolloutsDone { what: String, done: usize, failed: usize, reused: usize, total: usize },
    /// A micro-step is done.
    StepDone { step: Box<StepReport> },
}

impl Event {
    /// The warning about a file of the pool that a step did not bring up to date.
    pub fn left_alone(path: &str) -> Event {
        let text = format!(
            "{path} was changed in the pool by someone while a step was under way; it was left alone, and differs from \
             the step's commit"
        );
        Event::Warning { text }
    }
}

/// A finished micro-step.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// Its label.
    pub label: String,
    /// How it came about in this call.
    pub state: StepState,
    /// Who edited.
    pub optimizer: String,
    /// The commit that took it back since, when one did.
    pub reverted_by: Option<String>,
    /// What the optimizer says it did and left, when that is there.
    pub report: Option<String>,
    /// The pool's commit before it.
    pub before: String,
    /// Its commit.
    pub after: String,
    /// Its subject.
    pub subject: String,
    /// The works behind it.
    pub works: Vec<String>,
    /// Cards that it made.
    pub created: Vec<String>,
    /// Cards that it changed.
    pub changed: Vec<String>,
    /// Cards that it merged into another: (gone, into).
    pub merged: Vec<(String, String)>,
    /// Cards that it deleted.
    pub deleted: Vec<String>,
    /// Tokens that it took, all attempts together, where the optimizer states them.
    pub tokens: Option<u64>,
    /// US dollars, where the optimizer states them.
    pub cost_usd: Option<f64>,
    /// The micro-step's folder.
    #[serde(serialize_with = "lossy")]
    pub folder: std::path::PathBuf,
}

/// A path as text: JSON knows no other bytes.
fn lossy<S: serde::Serializer>(path: &std::path::Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// How a micro-step came to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Trained in this call.
    Trained,
    /// Its commit was found in the pool, checked and recognised.
    Adopted,
    /// It was done before this call.
    Skipped,
}

/// Whoever listens; called from several threads.
pub type Observer<'a> = &'a (dyn Fn(&Event) + Sync);

/// "1200 tokens, $0.0210", as far as the optimizers tell.
pub fn spent(steps: &[StepReport]) -> String {
    let tokens: Option<u64> = steps.iter().map(|step| step.tokens).sum();
    let cost: Option<f64> = steps.iter().map(|step| step.cost_usd).sum();
    match (tokens, cost) {
        (Some(0), Some(0.0)) => "no cost".into(),
        (Some(tokens), Some(cost)) => format!("{tokens} tokens, ${cost:.4} by the client's own estimate"),
        (Some(tokens), None) => format!("{tokens} tokens, cost unknown"),
        (None, _) => "tokens and cost unknown".into(),
    }
}
