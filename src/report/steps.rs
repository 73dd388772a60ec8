//! Steps for people: the end of a backward pass, and `skilltrain log`.

use std::fmt::Write as _;
use std::path::Path;

use crate::ground::text::shell_quoted;
use crate::pool::history::{Record, trailer};
use crate::run::event::{StepReport, StepState, spent};

/// The end of a backward pass: each step with its cards and works, and how to look closer.
pub fn summary(steps: &[StepReport], pool: &Path) -> String {
    let mut text = String::new();
    for step in steps {
        text.push_str(&step_lines(step));
    }
    let done = steps.iter().filter(|step| step.state != StepState::Skipped).count();
    let pool = shell_quoted(pool);
    let _ = match done {
        0 if steps.len() == 1 => writeln!(text, "\nnothing to do: the micro-step of this batch was done before"),
        0 => writeln!(text, "\nnothing to do: all {} of this batch were done before", micro_steps(steps.len())),
        _ => writeln!(text, "\n{} on the pool, {}", micro_steps(done), spent(steps)),
    };
    if let Some(last) = steps.last() {
        let _ = writeln!(text, "look at it:   git -C {pool} show {}", &last.after[..9]);
        let _ = writeln!(text, "the history:  skilltrain log --pool {pool}");
    }
    text
}

/// One step: what it did to which cards, and the works behind it.
pub fn step_lines(step: &StepReport) -> String {
    let state = match step.state {
        StepState::Trained => "",
        StepState::Adopted => "  (recognised: its commit was there)",
        StepState::Skipped => "  (done before)",
    };
    let mut text = format!("{}  {}{state}\n", &step.after[..9], step.subject);
    let mut line = |mark: &str, what: String| {
        let _ = writeln!(text, "  {mark} {what}");
    };
    step.created.iter().for_each(|path| line("+", path.clone()));
    step.changed.iter().for_each(|path| line("~", path.clone()));
    step.merged.iter().for_each(|(gone, into)| line("»", format!("{gone} merged into {into}")));
    step.deleted.iter().for_each(|path| line("-", path.clone()));
    if step.created.len() + step.changed.len() + step.merged.len() + step.deleted.len() == 0 {
        line("=", "no card changed; the report says what was left alone, and why".into());
    }
    line(" ", format!("works: {}", step.works.join(", ")));
    if let Some(reverted) = &step.reverted_by {
        line("!", format!("reverted since, by {}", &reverted[..9]));
    }
    if let Some(report) = &step.report {
        line(" ", format!("report: {report}"));
    }
    text
}

/// `skilltrain log`: the steps, newest first.
pub fn log(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let when = jiff::Timestamp::from_second(record.time).map(|time| time.strftime("%Y-%m-%d %H:%M").to_string());
        let reverted = record.reverted_by.as_ref().map_or(String::new(), |by| format!("  (reverted by {})", &by[..9]));
        let _ = writeln!(text, "{}  {}  {}{reverted}", &record.commit[..9], when.unwrap_or_default(), record.subject);
        for (letter, path) in &record.changed {
            let mark = match letter {
                'A' => '+',
                'D' => '-',
                _ => '~',
            };
            let _ = writeln!(text, "  {mark} {path}");
        }
        if record.is_step() {
            let value = |key| record.trailer(key).unwrap_or("?");
            let _ = writeln!(text, "    works: {}", record.works.join(", "));
            let _ = writeln!(
                text,
                "    by {}, tokens {}, cost {}",
                value(trailer::OPTIMIZER),
                value(trailer::TOKENS),
                value(trailer::COST),
            );
        }
    }
    text
}

fn micro_steps(n: usize) -> String {
    format!("{n} micro-step{}", if n == 1 { "" } else { "s" })
}
