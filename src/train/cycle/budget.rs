//! What a run needs at least, said before anything is paid, and what it will need, said after its first step.

use super::Run;
use super::state::State;
use crate::ground::error::Result;
use crate::llm::{Money, Spent};
use crate::run::cycle::CycleReport;
use crate::run::event::Event;

/// Refuses a run whose budget does not suffice for its next step.
pub(super) fn check(run: &Run<'_>, state: &State) -> Result<()> {
    if state.reports.len() >= run.steps() {
        return Ok(());
    }
    let calls = u64::try_from(needed(run, state)).unwrap_or(u64::MAX);
    run.setup.shared.budget.check_minimum(Spent { calls, ..Spent::default() }, "one step")
}

/// Calls of models that the next step cannot do without: its batch and, once, the first pool on the selection split.
fn needed(run: &Run<'_>, state: &State) -> usize {
    let (train, split) = (&run.config().train, &run.split);
    let batch = split.train.len().min(train.batch_size * train.accumulation);
    let is_new = state.reports.is_empty() && !run.setup.folder.record(&crate::run::folder::Stretch::Baseline).is_file();
    let baseline = if is_new { split.selection.len() * run.config().evaluation.repeats } else { 0 };
    let target = if run.setup.target.asks_models() { batch + baseline } else { 0 };
    let optimizer = usize::from(run.setup.optimizer.is_accounted() && !train.freeze);
    target + optimizer
}

/// Says what the rest of the run will take if its steps are like the first.
pub(super) fn forecast(run: &Run<'_>, first: &CycleReport) {
    let left = run.steps().saturating_sub(1) as u64;
    if left == 0 || first.calls == 0 {
        return;
    }
    let money = match first.usd {
        Some(usd) if usd > 0.0 => format!(", {}", Money::usd(usd * left as f64)),
        Some(_) => String::new(),
        None => ", price unknown".into(),
    };
    let (calls, tokens) = (
        first.calls.saturating_add(first.failed_calls).saturating_mul(left),
        first.tokens.saturating_mul(left) / 1_000,
    );
    let text = format!(
        "forecast for the {left} steps to come: about {calls} calls, {tokens} k tokens{money}, if they are like this one"
    );
    run.tell(&Event::Note { text });
}
