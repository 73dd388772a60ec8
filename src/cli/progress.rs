//! Progress for people, on standard error: a spinner on a terminal, plain lines elsewhere. What others wrote is shown,
//! never obeyed.

use std::collections::HashMap;
use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::lines;
use crate::ground::text::printable;
use crate::run::event::{Event, StepState};

/// Rollouts that are worth a line while they go on, off a terminal.
const MANY: usize = 100;

/// A reader of events.
pub(super) struct Progress {
    quiet: bool,
    terminal: bool,
    bars: MultiProgress,
    running: Mutex<HashMap<String, ProgressBar>>,
    /// What the run has taken, as it is shown behind a bar.
    spent: Mutex<String>,
}

impl Progress {
    /// `quiet` shows warnings only.
    pub(super) fn new(quiet: bool) -> Progress {
        Progress {
            quiet,
            terminal: std::io::stderr().is_terminal(),
            bars: MultiProgress::new(),
            running: Mutex::default(),
            spent: Mutex::default(),
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
                let works = format!("{step} learning from {}", lines::works(works));
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
            Event::RolloutsStarted { what, total } => self.begin_counting(what, *total),
            Event::RolloutDone { what, done, failed, reused, total } => {
                self.count(what, [*done, *failed, *reused, *total]);
            }
            Event::RolloutsDone { what, done, failed, reused, total } => {
                self.finish(what);
                // A gate looks many times; its step's line tells what came of it.
                if self.terminal || what != "gate" {
                    self.say(&format!("{what}: {}", lines::tally(*done, *failed, *reused, *total)));
                }
            }
            Event::Spent { calls, tokens, usd } => {
                let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
                *spent = lines::spent(*calls, *tokens, *usd);
            }
            Event::RunStarted { .. } | Event::CycleStarted { .. } | Event::CycleDone { .. } => {
                lines::of_run(event).into_iter().for_each(|line| self.say(&line));
            }
            Event::RunDone { .. } => {}
            Event::StepDone { step } => {
                self.finish(&step.label);
                if step.state == StepState::Trained {
                    let line = lines::micro_step(step);
                    self.say(&line);
                }
            }
        }
    }

    /// Takes every spinner away.
    pub(super) fn end(&self) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).drain().for_each(|(_, bar)| bar.finish_and_clear());
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
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = running.insert(label.to_owned(), bar) {
            old.finish_and_clear();
        }
    }

    /// A bar for so many rollouts; off a terminal, where each line stays, a line for many of them only.
    fn begin_counting(&self, what: &str, total: usize) {
        if !self.terminal {
            if total >= MANY {
                self.say(&format!("{what}: attempting {total} tasks"));
            }
            return;
        }
        let bar = self.bars.add(ProgressBar::new(total as u64));
        let form = "{prefix} {bar:24} {pos}/{len} · {per_sec} · {eta} left {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_prefix(printable(what).into_owned());
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = running.insert(what.to_owned(), bar) {
            old.finish_and_clear();
        }
    }

    fn count(&self, what: &str, [done, failed, reused, total]: [usize; 4]) {
        if !self.terminal {
            // A line a tenth is enough.
            let is_due = done * 10 / total != (done - 1) * 10 / total;
            if is_due && done < total && total >= MANY {
                self.say(&format!("{what}: {}", lines::tally(done, failed, reused, total)));
            }
            return;
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = running.get(what) {
            bar.set_position(done as u64);
            let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            bar.set_message(format!("{}{spent}", lines::some(failed, reused)));
        }
    }

    fn action(&self, label: &str, text: &str, tokens: u64) {
        let tokens = if tokens == 0 { String::new() } else { format!(" ({tokens} tokens)") };
        if !self.terminal {
            return self.say(&format!("{label}: {text}{tokens}"));
        }
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = running.get(label) {
            bar.set_message(printable(&format!("· {text}{tokens}")).into_owned());
        }
    }

    fn finish(&self, label: &str) {
        let bar = self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(label);
        bar.into_iter().for_each(|bar| bar.finish_and_clear());
    }

    fn say(&self, text: &str) {
        // Talk is worth nothing when nobody can hear it; the work goes on.
        self.bars.suspend(|| writeln!(std::io::stderr().lock(), "{}", printable(text)).ok());
    }
}
