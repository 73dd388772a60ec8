//! An optimizer that starts programs, taped: a backward pass is a line with what it left in the checkout, a question one with
//! its answer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::edits::Left;
use super::{Call, Tape};
use crate::batch::Evidence;
use crate::edit::Edit;
use crate::ground::digest;
use crate::ground::error::{Kind, Result};
use crate::ground::files;
use crate::optimizer::tasks::{Seat, Sight};
use crate::optimizer::{
    AnalyseTask, BackwardTask, Desk, Host, MergeTask, MetaTask, Optimizer, RankTask, Ranking, ReduceTask, RepairTask,
    RewriteTask, Said, Session, SlowTask, Turn,
};
use crate::pool::checkout::Checkout;
use crate::pool::repo::{Pool, parse_id};

/// The optimizer, on tape where it starts programs. `pool` is the folder of the run's pool.
pub fn optimizer(inner: Box<dyn Optimizer>, tape: &Arc<Tape>, pool: PathBuf) -> Box<dyn Optimizer> {
    if !inner.starts_programs() {
        return inner;
    }
    Box::new(Taped { inner, tape: Arc::clone(tape), pool, asked: Mutex::default() })
}

struct Taped {
    inner: Box<dyn Optimizer>,
    tape: Arc<Tape>,
    pool: PathBuf,
    /// Reduces that were played, by their calls: the same reports may have been reduced more than once.
    asked: Mutex<HashMap<Call, usize>>,
}

/// What a turn came to.
#[derive(Serialize, Deserialize)]
struct Done {
    turn: Turn,
    /// What it left; none for a turn without a checkout.
    left: Option<Left>,
}

/// A turn that is under way, noted beside its other files: if its program ends and we die before the line is written, the
/// line is written when the turn is recalled.
#[derive(Serialize, Deserialize)]
struct Begun {
    call: Call,
    number: usize,
    before: Option<String>,
}

impl Taped {
    fn call(&self, what: &str, place: &str, inputs: &[String]) -> Call {
        let name = self.inner.name();
        let parts = std::iter::once(name.as_bytes()).chain(inputs.iter().map(String::as_bytes));
        Call { what: what.to_owned(), place: place.to_owned(), digest: digest::of_parts(parts) }
    }

    /// A question without a checkout.
    fn ask<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        seat: &Seat<'_>,
        inputs: Vec<String>,
        make: impl FnOnce() -> Result<Said<T>>,
    ) -> Result<Said<T>> {
        let mut inputs = inputs;
        inputs.extend([seat.memory.rejected.to_owned(), seat.memory.meta_skill.to_owned()]);
        self.tape.ask(&self.call(what, &seat.place, &inputs), make)
    }

    /// Runs a turn and writes its line.
    fn record(
        &self,
        desk: &Desk,
        begun: &Begun,
        checkout: Option<&Checkout>,
        make: impl FnOnce() -> Result<Turn>,
    ) -> Result<Turn> {
        files::write_json(&note(desk), begun)?;
        let turn = make()?;
        self.finish(desk, begun, checkout, &turn)?;
        Ok(turn)
    }

    fn finish(&self, desk: &Desk, begun: &Begun, checkout: Option<&Checkout>, turn: &Turn) -> Result<()> {
        if turn.outcome != crate::optimizer::Outcome::Cancelled {
            let left = checkout.map(|checkout| Left::read(&Pool::open(&self.pool)?, checkout)).transpose()?;
            self.tape.write(&begun.call, begun.number, &Done { turn: turn.clone(), left })?;
        }
        files::remove(&note(desk))
    }

    /// The line of a turn that was recalled, unless it is there.
    fn make_good(&self, desk: &Desk, folder: &Path, turn: &Turn) -> Result<()> {
        let Some(bytes) = files::read_if_there(&note(desk))? else { return Ok(()) };
        let Ok(begun) = serde_json::from_slice::<Begun>(&bytes) else { return Ok(()) };
        let before = begun.before.as_deref().and_then(parse_id);
        let checkout = match before {
            // Its hook is ours again as soon as the attempt is judged.
            Some(before) => Checkout::reopen(&Pool::open(&self.pool)?, folder, before, Path::new("skilltrain")),
            None => None,
        };
        self.finish(desk, &begun, checkout.as_ref(), turn)
    }

    fn backward_call(&self, task: &BackwardTask<'_>) -> Call {
        let mut inputs = vec![
            task.checkout.before().to_string(),
            format!("{:?}", task.bounds),
            task.memory.rejected.to_owned(),
            task.memory.meta_skill.to_owned(),
            task.summary.unwrap_or_default().to_owned(),
            task.repair.as_ref().map(|repair| repair.problems.to_owned()).unwrap_or_default(),
        ];
        inputs.extend(task.evidence.iter().map(told));
        let what = if task.repair.is_some() { "repair" } else { "backward" };
        self.call(what, task.label, &inputs)
    }
}

impl Optimizer for Taped {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn is_deterministic(&self) -> bool {
        self.inner.is_deterministic()
    }

    fn is_accounted(&self) -> bool {
        self.inner.is_accounted()
    }

    fn starts_programs(&self) -> bool {
        true
    }

    fn is_replayed(&self) -> bool {
        self.tape.replays() || self.inner.is_replayed()
    }

    fn reduce(&self, task: &ReduceTask<'_>, host: &Host<'_>) -> Result<Turn> {
        let inputs: Vec<String> = task.evidence.iter().map(told).collect();
        let call = self.call("reduce", task.label, &inputs);
        if !self.tape.replays() {
            let begun = Begun { number: self.tape.count(&call) + 1, call, before: None };
            return self.record(&task.desk, &begun, None, || self.inner.reduce(task, host));
        }
        let nth = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            let nth = asked.entry(call.clone()).or_default();
            *nth += 1;
            *nth
        };
        let known = self.tape.nth::<Done>(&call, nth)?;
        known.map(|done| done.turn).ok_or_else(|| self.tape.unknown(&call, Kind::Failed))
    }

    fn backward(&self, task: &BackwardTask<'_>, host: &Host<'_>) -> Result<Turn> {
        let call = self.backward_call(task);
        if !self.tape.replays() {
            let before = Some(task.checkout.before().to_string());
            let begun = Begun { call, number: task.attempt, before };
            return self.record(&task.desk, &begun, Some(task.checkout), || self.inner.backward(task, host));
        }
        // Numbers of attempts that were killed are missing from the tape; a replay's own have no gaps.
        let known = self.tape.nth::<Done>(&call, task.attempt)?;
        let done = known.ok_or_else(|| self.tape.unknown(&call, Kind::Failed))?;
        if let Some(left) = &done.left {
            left.put(&Pool::open(&self.pool)?, task.checkout, task.seconds)?;
        }
        Ok(done.turn)
    }

    fn recall(&self, desk: &Desk, checkout: &Path, resumed: Option<&Session>) -> Result<Option<Turn>> {
        if self.tape.replays() {
            return Ok(None);
        }
        let recalled = self.inner.recall(desk, checkout, resumed)?;
        if let Some(turn) = &recalled {
            self.make_good(desk, checkout, turn)?;
        }
        Ok(recalled)
    }

    fn analyse(&self, task: &AnalyseTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let mut inputs = vec![seen(&task.sight), format!("{:?} {:?} {}", task.source, task.mode, task.most)];
        inputs.extend(task.evidence.iter().map(told));
        self.ask("analysis", &task.seat, inputs, || self.inner.analyse(task, host))
    }

    fn merge(&self, task: &MergeTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let inputs = vec![seen(&task.sight), format!("{:?} {:?}", task.source, task.mode), json(&task.lists)];
        self.ask("merge", &task.seat, inputs, || self.inner.merge(task, host))
    }

    fn rank(&self, task: &RankTask<'_>, host: &Host<'_>) -> Result<Said<Ranking>> {
        let inputs = vec![format!("{:?}", task.budget), json(&task.edits)];
        self.ask("ranking", &task.seat, inputs, || self.inner.rank(task, host))
    }

    fn rewrite(&self, task: &RewriteTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let inputs = vec![seen(&task.sight), json(&task.suggestions)];
        self.ask("rewrite", &task.seat, inputs, || self.inner.rewrite(task, host))
    }

    fn repair(&self, task: &RepairTask<'_>, host: &Host<'_>) -> Result<Said<Vec<Edit>>> {
        let inputs = vec![seen(&task.sight), format!("{:?}", task.mode), json(&task.edits), task.problems.to_owned()];
        self.ask("repair of edits", &task.seat, inputs, || self.inner.repair(task, host))
    }

    fn slow_update(&self, task: &SlowTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        let mut inputs = vec![seen(&task.sight), task.guidance.to_owned()];
        inputs.extend(task.pairs.iter().map(|pair| format!("{pair:?}")));
        self.ask("slow update", &task.seat, inputs, || self.inner.slow_update(task, host))
    }

    fn meta_skill(&self, task: &MetaTask<'_>, host: &Host<'_>) -> Result<Said<Option<String>>> {
        self.ask("meta skill", &task.seat, vec![task.story.to_owned()], || self.inner.meta_skill(task, host))
    }
}

/// The note of a turn that is under way.
fn note(desk: &Desk) -> PathBuf {
    desk.folder.join(format!("{}_taping.json", desk.stem))
}

/// What a sample says.
fn told(evidence: &Evidence) -> String {
    let reads = evidence.reads.join("\n");
    let parts = [&evidence.title, &evidence.loss_report, &evidence.trajectory, &reads];
    digest::of_parts(parts.iter().map(|part| part.as_bytes()))
}

/// The cards that a question shows.
fn seen(sight: &Sight<'_>) -> String {
    let parts = sight.cards.iter().flat_map(|card| [&card.path, &card.description, &card.body]);
    digest::of_parts(parts.map(|part| part.as_bytes()))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
