//! What a stretch of a run takes: opened with what an earlier process paid in it, closed by writing it down.

use serde::{Deserialize, Serialize};

use crate::ground::error::Result;
use crate::ground::files;
use crate::llm::{Account, Ledger, Line, Role, Spent, Sums, Used};
use crate::run::cycle::Rollouts;
use crate::run::folder::{RunDir, Stretch};
use crate::stages::rollout::Measured;
use crate::trajectory::Usage;

use super::Run;

/// The file with what a stretch took.
const USAGE: &str = "usage.json";

/// The file with a stretch's answers.
const CALLS: &str = "calls.jsonl";

/// How the names of folders in a stretch begin that agents write into.
const OF_AGENTS: [&str; 2] = ["checkout", "private"];

/// What a stretch took, as `usage.json` holds it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Taken {
    /// Calls of models, by role, stage and model.
    pub(super) calls: Vec<Line>,
    pub(super) rollouts: Rollouts,
}

impl Run<'_> {
    /// Counts rollouts.
    pub(super) fn count_rollouts(&self, more: Rollouts) {
        let mut sum = self.rollouts.get();
        sum += more;
        self.rollouts.set(sum);
    }

    /// Opens a stretch: what an earlier process paid in it is counted.
    pub(super) fn begin_stretch(&self, stretch: Stretch) -> Result<()> {
        let folder = self.setup.folder.stretch(&stretch);
        files::create_dir(&folder)?;
        files::sweep_below(&folder, &OF_AGENTS)?;
        if let Stretch::Step(epoch, step) = stretch {
            files::sweep(&self.setup.folder.loss(epoch, step))?;
        }
        let shared = self.setup.shared;
        self.rollouts.set(Rollouts::default());
        self.counted.borrow_mut().clear();
        self.paid.borrow_mut().clear();
        shared.ledger.drain();
        self.setup.journal.turn_to(&folder.join(CALLS), &shared.ledger, &shared.budget, self.setup.price)
    }

    /// Writes down what a stretch took, and gives the sum.
    pub(super) fn end_stretch(&self, stretch: Stretch) -> Result<Sums> {
        // What the stretch's record vouches for is on the disk.
        self.attempts.flush()?;
        let taken = Taken { calls: self.setup.shared.ledger.drain(), rollouts: self.rollouts.get() };
        files::write_json(&self.setup.folder.stretch(&stretch).join(USAGE), &taken)?;
        Ok(Ledger::of(taken.calls).total())
    }

    /// Counts what an agent client took as target, unless its calls count themselves.
    pub(super) fn count_target(&self, measured: &[Measured]) {
        if self.setup.target.asks_models() {
            return;
        }
        for measured in measured {
            let took = &measured.took;
            match &measured.digest {
                Some(digest) => self.count_attempt(digest, took),
                None => took.iter().for_each(|usage| self.count(&self.target_account(), Some(*usage))),
            }
        }
    }

    /// Counts what an attempt took. Two pools that have the same to show share an attempt: it was paid once.
    pub(super) fn count_attempt(&self, digest: &str, took: &[Usage]) {
        if self.paid.borrow_mut().insert(digest.to_owned(), took.to_vec()).is_none() {
            took.iter().for_each(|usage| self.count(&self.target_account(), Some(*usage)));
        }
    }

    fn target_account(&self) -> Account {
        Account { role: Role::Target, stage: "rollout".into(), model: self.setup.target.name() }
    }

    /// Counts one call of an agent client that is the optimizer.
    pub(super) fn count_usage(&self, stage: &str, usage: Option<Usage>) {
        if self.setup.optimizer.is_accounted() || usage.is_some_and(|usage| usage.tokens() == 0) {
            return;
        }
        let account = Account { role: Role::Optimizer, stage: stage.to_owned(), model: self.setup.optimizer.name() };
        self.count(&account, usage);
    }

    /// Counts one call that its client paid by itself.
    fn count(&self, account: &Account, usage: Option<Usage>) {
        let used = usage.map(|usage| Used { usage, written_tokens: 0 });
        self.setup.shared.ledger.count(account, |sums| sums.answer(used.as_ref(), None));
        self.setup.shared.budget.take(Spent {
            tokens: usage.map_or(0, |usage| usage.tokens()),
            money: usage.and_then(|usage| usage.cost_usd).map(crate::llm::Money::usd).unwrap_or_default(),
            calls: 1,
            seconds: 0.0,
        });
    }
}

/// What the finished stretches of a run took, line by line. The end is not among them: it is gone through again when
/// epochs were added.
///
/// # Errors
/// Of I/O.
pub fn past(folder: &RunDir) -> Result<Ledger> {
    let ledger = Ledger::default();
    for stretch in finished(folder).filter(|stretch| *stretch != Stretch::Final) {
        ledger.take_in(taken(folder, stretch)?.calls);
    }
    Ok(ledger)
}

/// What a finished stretch took.
pub(super) fn taken(folder: &RunDir, stretch: Stretch) -> Result<Taken> {
    let bytes = files::read_if_there(&folder.stretch(&stretch).join(USAGE))?.unwrap_or_default();
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// The stretches that have a record.
pub(super) fn finished(folder: &RunDir) -> impl Iterator<Item = Stretch> {
    let epochs = (0..).take_while({
        let folder = folder.clone();
        move |epoch| folder.path().join(format!("epoch_{epoch:02}")).is_dir()
    });
    let of_epoch = {
        let folder = folder.clone();
        move |epoch| {
            let steps = (0..).map(move |step| Stretch::Step(epoch, step));
            let folder = folder.clone();
            let steps = steps.take_while(move |step| folder.stretch(step).is_dir());
            steps.chain([Stretch::SlowUpdate(epoch), Stretch::MetaSkill(epoch)])
        }
    };
    let folder = folder.clone();
    let all = [Stretch::Baseline].into_iter().chain(epochs.flat_map(of_epoch)).chain([Stretch::Final]);
    all.filter(move |stretch| folder.record(stretch).is_file())
}
