//! Events as lines for people.

use crate::run::cycle::{CycleReport, Outcome};
use crate::run::event::{self, Event, StepReport};

/// "12/40 done, 1 without a score, 5 reused".
pub(super) fn tally(done: usize, failed: usize, reused: usize, total: usize) -> String {
    format!("{done}/{total} done{}", some(failed, reused))
}

/// ", 1 without a score, 5 reused"; nothing for none.
pub(super) fn some(failed: usize, reused: usize) -> String {
    let some = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    format!("{}{}", some(failed, "without a score"), some(reused, "reused"))
}

/// " · 118 calls, 20 k tokens, $0.42".
pub(super) fn spent(calls: u64, tokens: u64, usd: Option<f64>) -> String {
    let money = usd.map_or_else(|| ", price unknown".to_owned(), |usd| format!(", ${usd:.2}"));
    format!(" · {calls} calls, {} k tokens{money}", tokens / 1_000)
}

/// A micro-step on one line, told when it ends.
pub(super) fn micro_step(step: &StepReport) -> String {
    let counts =
        [("+", step.created.len()), ("~", step.changed.len()), ("»", step.merged.len()), ("−", step.deleted.len())];
    format!("{} · {} · {} · {}", step.label, cards(&counts), &step.after[..9], event::spent(std::slice::from_ref(step)))
}

/// "a, b, c and 5 more".
pub(super) fn works(works: &[String]) -> String {
    const SHOWN: usize = 6;
    match works.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        None => works.join(", "),
        Some(more) => format!("{} and {more} more", works[..SHOWN].join(", ")),
    }
}

/// "+2 −1 cards".
fn cards(counts: &[(&str, usize)]) -> String {
    let counts: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(mark, n)| format!("{mark}{n}")).collect();
    if counts.is_empty() { "no card changed".to_owned() } else { format!("{} cards", counts.join(" ")) }
}

/// What a training run says of itself: its beginning, a step's beginning, a step's end.
pub(super) fn of_run(event: &Event) -> Option<String> {
    match event {
        Event::RunStarted { run, folder, target, optimizer, splits: [train, selection, test], steps, done } => {
            let from = if *done > 0 { format!("; {done} of {steps} steps are done") } else { String::new() };
            Some(format!(
                "run {run} in {folder}: {steps} steps on {train} tasks, {selection} to select by, {test} to test with; \
                 target {target}, optimizer {optimizer}{from}"
            ))
        }
        Event::CycleStarted { number, steps, tasks, .. } => {
            Some(format!("step {}/{steps} · attempting {tasks} tasks", number + 1))
        }
        Event::CycleDone { report } => Some(cycle(report)),
        _ => None,
    }
}

/// "step 3/8 · batch 40 · score 0.62 → 0.71 · +2 −1 cards · accepted · 118 calls, 61 saved · $0.42".
fn cycle(report: &CycleReport) -> String {
    let CycleReport { number, steps, batch, outcome, reason, calls, usd, .. } = report;
    let score = match (report.current_score, report.candidate_score) {
        (Some(current), Some(candidate)) => {
            format!("score {current:.2} → {candidate:.2} on {} tasks · ", report.compared)
        }
        _ => String::new(),
    };
    let counts = [("+", report.cards.created), ("~", report.cards.changed), ("−", report.cards.deleted)];
    let why = if *outcome == Outcome::Accepted { String::new() } else { format!(" ({reason})") };
    let saved = report.batch.reused + report.gate_saved;
    let money = usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("${usd:.2}"));
    let lost = if report.failed_calls > 0 { format!(" and {} failed", report.failed_calls) } else { String::new() };
    format!(
        "step {}/{steps} · batch {} · {score}{} · {}{why} · {calls} calls{lost}, {saved} rollouts saved · {money}",
        number + 1,
        batch.tasks,
        cards(&counts),
        outcome.name()
    )
}
