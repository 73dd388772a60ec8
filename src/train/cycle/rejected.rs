//! The rejected buffer: what this epoch tried and did not take, told to whoever edits next. Rebuilt from the records and the
//! pool, so that a run that was killed remembers the same.

use std::fmt::Write as _;

use crate::ground::error::Result;
use crate::ground::text::clip;
use crate::pool::repo::{Pool, parse_id};
use crate::run::cycle::{CycleReport, Outcome};

/// Bytes of one step's edits that are told.
const EDITS: usize = 4_000;

/// Steps that are told: the newest.
const STEPS: usize = 8;

/// The rejected steps among these, newest last, Markdown; empty when there is none.
pub(super) fn buffer<'r>(pool: &Pool, reports: impl Iterator<Item = &'r CycleReport>) -> Result<String> {
    told(pool, reports.filter(|report| report.outcome == Outcome::Rejected))
}

/// Steps with their edits and scores, newest last, Markdown.
pub(super) fn told<'r>(pool: &Pool, reports: impl Iterator<Item = &'r CycleReport>) -> Result<String> {
    let steps: Vec<&CycleReport> = reports.collect();
    let mut text = String::new();
    for report in &steps[steps.len().saturating_sub(STEPS)..] {
        // Writing to a string cannot fail, here and below.
        writeln!(text, "## {}: {}", report.label, report.reason).ok();
        if let (Some(current), Some(candidate)) = (report.current_score, report.candidate_score) {
            writeln!(text, "Score {current:.4} before, {candidate:.4} with it.").ok();
        }
        for (what, tasks) in [("Fixed", &report.fixed), ("Broken", &report.broken)] {
            if !tasks.is_empty() {
                writeln!(text, "{what}: {}.", tasks.join(", ")).ok();
            }
        }
        let ids = parse_id(&report.before).zip(report.candidate.as_deref().and_then(parse_id));
        if let Some((before, candidate)) = ids {
            let patch = pool.patch(before, candidate)?;
            writeln!(text, "\n{}\n", clip(&String::from_utf8_lossy(&patch), EDITS)).ok();
        }
    }
    Ok(text)
}
