//! A target that starts programs, taped: each attempt is a line.

use std::sync::Arc;

use serde_json::Value;

use super::{Call, Tape};
use crate::ground::digest;
use crate::ground::error::{Kind, Result};
use crate::target::{Host, Outcome, Ready, Target, View};
use crate::task::Task;

/// The target, on tape where it starts programs.
pub fn target(inner: Box<dyn Target>, tape: &Arc<Tape>) -> Box<dyn Target> {
    if inner.asks_models() { inner } else { Box::new(Taped { inner, tape: Arc::clone(tape) }) }
}

struct Taped {
    inner: Box<dyn Target>,
    tape: Arc<Tape>,
}

impl Target for Taped {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn told(&self, task: &Task) -> Value {
        self.inner.told(task)
    }

    fn wants_folder(&self) -> bool {
        self.inner.wants_folder() && !self.tape.replays()
    }

    fn ready<'a>(&'a self, view: &'a View) -> Result<Box<dyn Ready + 'a>> {
        Ok(Box::new(AtHand { taped: self, inner: self.inner.ready(view)? }))
    }
}

struct AtHand<'a> {
    taped: &'a Taped,
    inner: Box<dyn Ready + 'a>,
}

impl Ready for AtHand<'_> {
    fn sees(&self) -> String {
        self.inner.sees()
    }

    fn remarks(&self) -> Vec<String> {
        self.inner.remarks()
    }

    fn attempt(&self, task: &Task, host: &Host<'_>) -> Result<Outcome> {
        let Taped { inner, tape } = self.taped;
        let inputs = [inner.name(), inner.told(task).to_string(), self.inner.sees(), host.sample.to_string()];
        let digest = digest::of_parts(inputs.iter().map(String::as_bytes));
        let call = Call { what: "target".into(), place: host.place.to_owned(), digest };
        let known = tape.nth::<Outcome>(&call, tape.count(&call))?;
        match known {
            // An attempt that was lost is made again, unless nobody may be started.
            Some(Outcome::Lost(_)) if !tape.replays() => {}
            Some(known) => return Ok(known),
            None if tape.replays() => return Err(tape.unknown(&call, Kind::Failed)),
            None => {}
        }
        let made = self.inner.attempt(task, host)?;
        tape.write(&call, tape.count(&call) + 1, &made)?;
        Ok(made)
    }
}
