//! Progress for people, on standard error: a spinner on a terminal, plain lines elsewhere. What others wrote is shown,
//! never obeyed.

use std::collections::HashMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::ground::text::printable;
use crate::run::event::{Event, StepReport, StepState, spent};

/// A reader of events.
pub(super) struct Progress {
    quiet: bool,
    terminal: bool,
    bars: MultiProgress,
    running: Mutex<HashMap<String, ProgressBar>>,
}

impl Progress {
    /// `quiet` shows warnings only.
    pub(super) fn new(quiet: bool) -> Progress {
        Progress {
            quiet,
            terminal: std::io::stderr().is_terminal(),
            bars: MultiProgress::new(),
            running: Mutex::default(),
        }
    }

    /// Shows an event.
    pub(super) fn on(&self, event: &Event) {
        match event {
            Event::Warning { text } => self.say(&format!("warning: {text}")),
            _ if self.quiet => {}
            Event::Note { text } => self.say(text),
            Event::ReduceStarted { label, samples } => {
                self.begin(label, &format!("{label}: reducing {samples} loss reports to one"));
            }
            Event::ReduceDone { label, reused } => {
                self.finish(label);
                if *reused {
                    self.say(&format!("{label}: reduced before, reused"));
                }
            }
            Event::StepStarted { label, group, groups, works } => {
                // On a terminal the spinner's line is for the newest action: the works stand above it, once.
                let step = format!("{label} [{group}/{groups}]");
                let works = format!("{step} learning from {}", works.join(", "));
                self.say(&works);
                if self.terminal {
                    self.begin(label, &step);
                }
            }
            Event::Action { label, text, tokens } => self.action(label, text, *tokens),
            Event::AttemptFailed { label, attempt, reasons, next } => {
                let reasons: String =
                    reasons.iter().map(|reason| format!("\n  {}", reason.replace('\n', "\n  "))).collect();
                self.say(&format!("{label}: attempt {attempt} was not taken, {next}:{reasons}"));
            }
            Event::RolloutsStarted { what, total } => self.begin(what, &format!("{what}: attempting {total} tasks")),
            Event::RolloutDone { what, done, failed, reused, total } => {
                // Off a terminal a line a tenth is enough.
                let is_due = self.terminal || done * 10 / total != (done - 1) * 10 / total;
                if is_due && done < total {
                    self.action(what, &tally(*done, *failed, *reused, *total), 0);
                }
            }
            Event::RolloutsDone { what, done, failed, reused, total } => {
                self.finish(what);
                self.say(&format!("{what}: {}", tally(*done, *failed, *reused, *total)));
            }
            Event::RunStarted { .. } | Event::CycleStarted { .. } | Event::CycleDone { .. } | Event::RunDone { .. } => {
            }
            Event::StepDone { step } => {
                self.finish(&step.label);
                if step.state == StepState::Trained {
                    let line = one_line(step);
                    self.say(&line);
                }
            }
        }
    }

    /// Takes every spinner away.
    pub(super) fn end(&self) {
        self.running
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .drain()
            .for_each(|(_, bar)| bar.finish_and_clear());
    }

    fn begin(&self, label: &str, text: &str) {
        if !self.terminal {
            return self.say(text);
        }
        let bar = self.bars.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} · {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(printable(text).into_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(old) = running.insert(label.to_owned(), bar) {
            old.finish_and_clear();
        }
    }

    fn action(&self, label: &str, text: &str, tokens: u64) {
        let tokens = if tokens == 0 { String::new() } else { format!(" ({tokens} tokens)") };
        if !self.terminal {
            return self.say(&format!("{label}: {text}{tokens}"));
        }
        let running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bar) = running.get(label) {
            bar.set_message(printable(&format!("· {text}{tokens}")).into_owned());
        }
    }

    fn finish(&self, label: &str) {
        let bar = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(label);
        bar.into_iter().for_each(|bar| bar.finish_and_clear());
    }

    fn say(&self, text: &str) {
        // Talk is worth nothing when nobody can hear it; the work goes on.
        self.bars.suspend(|| writeln!(std::io::stderr().lock(), "{}", printable(text)).ok());
    }
}

/// "12/40 done, 1 failed, 5 reused".
fn tally(done: usize, failed: usize, reused: usize, total: usize) -> String {
    let some = |count: usize, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
    format!("{done}/{total} done{}{}", some(failed, "without a score"), some(reused, "reused"))
}

/// A step on one line, told when it ends.
fn one_line(step: &StepReport) -> String {
    let counts =
        [("+", step.created.len()), ("~", step.changed.len()), ("»", step.merged.len()), ("−", step.deleted.len())];
    let counts: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(mark, n)| format!("{mark}{n}")).collect();
    let cards = if counts.is_empty() { "no card changed".to_owned() } else { format!("{} cards", counts.join(" ")) };
    format!("{} · {cards} · {} · {}", step.label, &step.after[..9], spent(std::slice::from_ref(step)))
}
