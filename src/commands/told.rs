//! A training run's summary, for people.

use std::fmt::Write as _;
use std::path::Path;

use crate::ground::text::shell_quoted;
use crate::llm::Ledger;
use crate::run::cycle::{Measurement, Rollouts};
use crate::train::cycle::Summary;

/// What a run came to.
pub(super) fn summary(summary: &Summary, folder: &Path) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key:<11}{value}");
    };
    line("run", folder.display().to_string());
    let Summary { steps, accepted, rejected, undecided, unchanged, failed, .. } = summary;
    let parts = [
        (accepted, "accepted"),
        (rejected, "rejected"),
        (undecided, "undecided"),
        (unchanged, "unchanged"),
        (failed, "failed"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| **count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    line("steps", if parts.is_empty() { steps.to_string() } else { format!("{steps}: {}", parts.join(", ")) });
    for (name, split) in [("selection", &summary.selection), ("test", &summary.test)] {
        if split.iter().any(Option::is_some) {
            line(name, scores(split));
        }
    }
    line("cards", pool_tokens(&summary.pool_tokens));
    let Rollouts { new, reused, spared } = summary.rollouts;
    line("rollouts", format!("{new} made; {reused} used again and {spared} not needed, since the gate had decided"));
    line("calls", Ledger::of(summary.usage.clone()).total().to_string());
    let best = &summary.commits[1];
    line("best", format!("{} (tag `best`), exported to {}", &best[..9], folder.join("best").display()));
    let pool = shell_quoted(&folder.join("memory"));
    let _ = writeln!(text, "\nthe story:  git -C {pool} log --stat");
    text
}

/// Steps whose pools' sizes are told: the last ones.
const SIZES: usize = 12;

/// "118 tokens; after each step: 41, 80, 118".
fn pool_tokens(sizes: &[usize]) -> String {
    let shown: Vec<String> = sizes[sizes.len().saturating_sub(SIZES)..].iter().map(usize::to_string).collect();
    let which = if sizes.len() > SIZES { format!("the last {SIZES} steps") } else { "each step".to_owned() };
    let last = sizes.last().copied().unwrap_or(0);
    format!("{last} tokens, by estimate; after {which}: {}", shown.join(", "))
}

/// "baseline 0.0000 → best 0.5833, last 0.5833 (24 tasks)".
pub(super) fn scores(split: &[Option<Measurement>; 3]) -> String {
    let hard = |measured: &Option<Measurement>| {
        let means = measured.as_ref().and_then(|measured| measured.means);
        means.map_or("none".to_owned(), |means| format!("{:.4}", means.hard))
    };
    let tasks = split.iter().flatten().map(|measured| measured.tasks).next().unwrap_or(0);
    let least = split.iter().flatten().map(|measured| measured.measured).min().unwrap_or(0);
    let missing = if least < tasks { format!("; as few as {least} of them measured") } else { String::new() };
    let [first, best, last] = [0, 1, 2].map(|at| hard(&split[at]));
    format!("baseline {first} → best {best}, last {last} ({tasks} tasks, hard{missing})")
}
