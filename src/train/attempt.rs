//! One attempt: a first turn, and a repair turn in the same session when a guard did not let it pass.

use crate::batch::Evidence;
use crate::ground::crash;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::optimizer::{BackwardTask, Desk, Outcome, Repair, Session, Turn};
use crate::pool::card::Card;
use crate::pool::checkout::{Checkout, Edited, Head};
use crate::pool::history::Record;
use crate::pool::profile::PROFILE_FILE;
use crate::pool::repo::Files;
use crate::run::layout::StepDir;
use crate::stages::guard::{self, Exhibit, Finding};
use crate::stages::overlap::Quoted;
use crate::train::context::Context;
use crate::train::evidence::{Group, Original};

/// What every turn of a micro-step works on.
pub struct Setting<'a> {
    /// What the pass works with.
    pub context: &'a Context<'a>,
    /// The group.
    pub group: &'a Group,
    /// Its folder.
    pub dir: &'a StepDir,
    /// The pool's files before the step.
    pub files: &'a Files,
    /// Its cards.
    pub cards: &'a [Card],
    /// Its newest commits.
    pub history: &'a [Record],
    /// The group's evidence, in its samples' order.
    pub evidence: &'a [Evidence],
    /// Its files' bytes before anybody could write to them.
    pub originals: &'a [Original],
    /// What may not be copied from it.
    pub quoted: &'a Quoted,
    /// The commonality report.
    pub summary: Option<&'a str>,
    /// The time of the step's commit, Unix seconds.
    pub seconds: i64,
}

/// What an attempt came to.
pub struct Attempted {
    /// The last turn.
    pub turn: Turn,
    /// What it left in the checkout.
    pub edited: Edited,
    /// What speaks against it; empty when it may be taken.
    pub findings: Vec<Finding>,
}

impl Setting<'_> {
    /// Runs an attempt, or goes on with one that an earlier call began (`resumed`): turns that ended are recalled.
    /// None means that its first turn did not end, so that there is nothing to go on with.
    pub fn run(&self, checkout: &Checkout, attempt: usize, resumed: bool) -> Result<Option<Attempted>> {
        let first = self.desk("backward");
        let repairing = self.dir.file("repair_prompt.md").exists();
        let turn = match self.recall(&first, checkout, None, resumed)? {
            Some(turn) => turn,
            None if resumed => return Ok(None),
            None => self.turn(first, checkout, attempt, None)?,
        };
        crash::point("optimizer-ended");
        let problems = files::read_if_there(&self.dir.file("guards.txt"))?.filter(|_| resumed && repairing);
        let (problems, findings) = match problems {
            Some(text) => (String::from_utf8_lossy(&text).into_owned(), None),
            None => {
                let (edited, findings) = self.judge(checkout, &turn)?;
                if findings.is_empty() || !self.can_repair(&turn, &edited, &findings) {
                    return Ok(Some(Attempted { turn, edited, findings }));
                }
                (as_text(&findings), Some(findings))
            }
        };
        if let Some(findings) = findings {
            files::write(&self.dir.file("guards.txt"), &problems)?;
            self.context.tell(&attempt_failed(self.group, attempt, &findings, "telling the optimizer"));
        }
        let second = self.desk("repair");
        let session = turn.session.clone();
        let repaired = match self.recall(&second, checkout, session.as_ref(), resumed)? {
            Some(repaired) => repaired,
            None => {
                checkout.unlock()?;
                self.turn(second, checkout, attempt, Some(Repair { problems: &problems, session: session.as_ref() }))?
            }
        };
        crash::point("repair-ended");
        let (edited, findings) = self.judge(checkout, &repaired)?;
        let mut reads = turn.reads;
        reads.extend(repaired.reads.iter().filter(|path| !reads.contains(path)).cloned().collect::<Vec<_>>());
        let trajectory = format!("{}\n{}", turn.trajectory, repaired.trajectory);
        // One of them that does not tell leaves the sum unknown.
        let usage = turn.usage.zip(repaired.usage).map(|(mut sum, second)| {
            sum += second;
            sum
        });
        Ok(Some(Attempted { turn: Turn { reads, trajectory, usage, ..repaired }, edited, findings }))
    }

    /// Whether telling the optimizer can help: without its repository it cannot commit, and evidence that it changed
    /// is no longer what the step is for.
    fn can_repair(&self, turn: &Turn, edited: &Edited, findings: &[Finding]) -> bool {
        turn.outcome == Outcome::Done
            && !self.context.optimizer.is_deterministic()
            && !matches!(edited.head, Head::Broken(_))
            && !findings.iter().any(|finding| finding.guard == guard::EVIDENCE_CHANGED)
    }

    fn desk(&self, stem: &'static str) -> Desk {
        Desk { folder: self.dir.path().to_owned(), stem, private: self.dir.private(), hold: self.dir.hold() }
    }

    fn recall(
        &self,
        desk: &Desk,
        checkout: &Checkout,
        session: Option<&Session>,
        resumed: bool,
    ) -> Result<Option<Turn>> {
        if !resumed {
            return Ok(None);
        }
        let turn = self.context.optimizer.recall(desk, checkout.folder(), session)?;
        Ok(turn.filter(|turn| turn.outcome != Outcome::Cancelled))
    }

    fn turn(&self, desk: Desk, checkout: &Checkout, attempt: usize, repair: Option<Repair<'_>>) -> Result<Turn> {
        self.context.cancel.check()?;
        let task = BackwardTask {
            label: &self.group.label,
            attempt,
            checkout,
            profile: self.context.checker.profile(),
            cards: self.cards,
            history: self.history,
            samples: &self.group.samples,
            evidence: self.evidence,
            summary: self.summary,
            summary_is_given: self.context.options.summary.is_some(),
            bounds: self.context.options.bounds,
            seconds: self.seconds,
            desk,
            memory: self.context.options.memory(),
            repair,
        };
        let turn = self.context.with_host(&self.group.label, |host| self.context.optimizer.backward(&task, host))?;
        self.context.tell_containment(&turn);
        if turn.outcome == Outcome::Cancelled {
            return Err(Error::interrupted());
        }
        Ok(turn)
    }

    /// Reads what was left, and holds every guard against it.
    fn judge(&self, checkout: &Checkout, turn: &Turn) -> Result<(Edited, Vec<Finding>)> {
        let context = self.context;
        let edited = checkout.edited(&context.pool, &mut context.cache.borrow_mut())?;
        let problems = context.checker.problems(self.files, &edited.changes, |path| {
            if edited.changes.contains_key(path) { checkout.read(path) } else { self.blob(path) }
        })?;
        let report: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        files::write(&self.dir.file("lint_report.txt"), if report.is_empty() { "no problems\n" } else { &report })?;
        let findings = guard::judge(&Exhibit {
            outcome: &turn.outcome,
            denied: &turn.denied,
            edited: &edited,
            problems: &problems,
            copied: &self.copied(checkout, &edited)?,
            changed_evidence: &self.group.changed(),
            bounds: context.options.bounds,
            cards_left: self.cards_left(&edited),
            fixed: &[PROFILE_FILE, &context.checker.profile().guidance_path()],
        });
        Ok((edited, findings))
    }

    /// How many cards the pool would have.
    fn cards_left(&self, edited: &Edited) -> usize {
        let is_card = |path: &&String| self.context.checker.profile().is_card_path(path);
        let kept = self.files.keys().filter(|path| !edited.changes.contains_key(*path)).filter(is_card).count();
        let new = edited.changes.iter().filter(|(_, new)| new.is_some()).map(|(path, _)| path).filter(is_card).count();
        kept + new
    }

    fn copied(&self, checkout: &Checkout, edited: &Edited) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        let old = || self.cards.iter().flat_map(|card| [card.description.as_str(), card.body.as_str()]);
        for (path, _) in edited.changes.iter().filter(|(_, new)| new.is_some()) {
            let text = String::from_utf8_lossy(&checkout.read(path)?).into_owned();
            if let Some(copied) = self.quoted.find(&text, old) {
                lines.push(format!(
                    "{path}:{}: a passage stands word for word in the evidence of {}: \"{} …\"; say it in words of its own, \
                     as a rule",
                    copied.line, copied.work, copied.passage
                ));
            }
        }
        Ok(lines)
    }

    fn blob(&self, path: &str) -> Result<Vec<u8>> {
        match self.files.get(path) {
            Some(entry) => self.context.pool.blob(entry.id),
            None => Err(Error::failed(format!("{path} is not in the pool"))),
        }
    }
}

/// Findings as the optimizer and the user read them.
pub fn as_text(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("- {} ({})\n", finding.message, finding.guard)).collect()
}

/// The event that tells of a failed attempt.
pub fn attempt_failed(group: &Group, attempt: usize, findings: &[Finding], next: &str) -> crate::run::event::Event {
    crate::run::event::Event::AttemptFailed {
        label: group.label.clone(),
        attempt,
        reasons: findings.iter().map(|finding| finding.message.clone()).collect(),
        next: next.to_owned(),
    }
}
