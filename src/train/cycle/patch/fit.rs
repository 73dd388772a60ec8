//! Edits fitted to the pool: applied, checked, and sent back once for repair where they do not fit.

use std::collections::BTreeMap;

use super::Desk;
use crate::batch::Evidence;
use crate::edit::Edit;
use crate::ground::error::{Error, Kind, Result};
use crate::optimizer::RepairTask;
use crate::pool::lint::{self, Linter};
use crate::pool::repo::PLAIN;
use crate::stages::overlap::Quoted;
use crate::stages::update::{self, Applied, Cards, Rules};

use super::super::step::Step;
use super::super::update::bounds;

/// What of the edits was made.
pub(super) struct Fitted {
    pub(super) made: Vec<Edit>,
    /// The cards that change, by path; none takes one away.
    pub(super) texts: BTreeMap<String, Option<String>>,
    /// Whether none was made and at least one was refused.
    pub(super) all_refused: bool,
}

/// Applies edits. What does not fit goes back once, and is recorded as skipped then.
///
/// # Errors
/// Of kind `Refused` when the cards cannot be taken even after the repair.
pub(super) fn fit(
    step: &Step<'_>,
    desk: &Desk<'_>,
    edits: Vec<Edit>,
    evidence: &[Evidence],
    skipped: &mut Vec<String>,
) -> Result<Fitted> {
    let bench = Bench::of(step, desk, evidence)?;
    let mut applied = bench.apply(&edits);
    let mut problems = bench.problems(&applied)?;
    let refused = !applied.refused.is_empty();
    if let Some(told) = told(&applied, &problems) {
        let sight = desk.sight;
        let task = RepairTask { seat: desk.seat("repair"), sight, edits: &edits, problems: &told, mode: desk.mode };
        let said = desk.ask("repair", |host| desk.optimizer.repair(&task, host))?;
        skipped.extend(said.unread.iter().map(|line| format!("repair: {line}")));
        let (again, left) = repaired(applied, &problems, said.value);
        skipped.extend(left);
        applied = bench.apply(&again);
        problems = bench.problems(&applied)?;
    }
    let unfit = applied.refused.iter().chain(&applied.dropped);
    skipped.extend(unfit.map(|skipped| format!("{}: {}", skipped.edit, skipped.why)));
    if !problems.is_empty() {
        return Err(Error::new(Kind::Refused, format!("the edited cards do not pass:\n{}", problems.join("\n"))));
    }
    let all_refused = applied.made.is_empty() && (refused || !applied.refused.is_empty());
    Ok(Fitted { made: applied.made, texts: applied.changes, all_refused })
}

/// What the optimizer is told to mend.
fn told(applied: &Applied, problems: &[String]) -> Option<String> {
    let lines: Vec<String> = applied.repair().into_iter().chain(problems.iter().cloned()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The edits to try after a repair: those that fitted, then what takes the place of the others. Where the result was
/// refused as a whole, the repaired edits stand for all of them, if there are any.
fn repaired(applied: Applied, problems: &[String], mended: Vec<Edit>) -> (Vec<Edit>, Vec<String>) {
    let left = applied.refused.iter().map(|skipped| format!("{}: {}", skipped.edit, skipped.why)).collect();
    if !problems.is_empty() && !mended.is_empty() {
        return (mended, left);
    }
    (applied.made.into_iter().chain(mended).collect(), left)
}

/// What edits are applied to and checked by.
struct Bench<'a> {
    step: &'a Step<'a>,
    desk: &'a Desk<'a>,
    cards: Cards,
    protected: [String; 1],
    quoted: Quoted,
    linter: Linter,
}

impl<'a> Bench<'a> {
    fn of(step: &'a Step<'a>, desk: &'a Desk<'a>, evidence: &[Evidence]) -> Result<Bench<'a>> {
        let profile = desk.sight.profile;
        let mut cards = step.run.texts(step.state.current)?;
        cards.retain(|path, _| profile.is_card_path(path));
        Ok(Bench {
            step,
            desk,
            cards,
            protected: [profile.guidance_path()],
            quoted: Quoted::of(evidence),
            linter: Linter::new(profile)?,
        })
    }

    fn apply(&self, edits: &[Edit]) -> Applied {
        let is_card = |path: &str| self.desk.sight.profile.is_card_path(path);
        update::apply(&self.cards, edits, &Rules { is_card: &is_card, protected: &self.protected, regions: &[] })
    }

    /// What speaks against the result as a whole, a line each.
    fn problems(&self, applied: &Applied) -> Result<Vec<String>> {
        if applied.changes.is_empty() {
            return Ok(Vec::new());
        }
        let result = applied.result(&self.cards);
        let mut lines: Vec<String> = self.lint(&result)?;
        let deleted = applied.changes.values().filter(|text| text.is_none()).count();
        let most = bounds(self.step).max_deletions;
        if deleted > most {
            lines.push(format!("- {deleted} cards are taken away, and a step may take away {most}"));
        }
        if result.is_empty() && deleted > 0 {
            lines.push("- no card would be left: a step may not empty the pool".into());
        }
        for (path, text) in applied.changes.iter().filter_map(|(path, text)| Some((path, text.as_ref()?))) {
            if let Some(copied) = self.quoted.find(text, || self.cards.values().map(String::as_str)) {
                lines.push(format!(
                    "- {path}:{}: a passage stands word for word in the evidence of {}: \"{} …\"; say it in words of its own",
                    copied.line, copied.work, copied.passage
                ));
            }
        }
        Ok(lines)
    }

    fn lint(&self, cards: &Cards) -> Result<Vec<String>> {
        let texts: Vec<(&String, &String)> = cards.iter().collect();
        let entries: Vec<lint::Entry<'_>> =
            texts.iter().map(|(path, _)| lint::Entry { path: path.as_bytes(), mode: PLAIN }).collect();
        let report = self.linter.all(&entries, |index| Ok(texts[index].1.as_bytes()), |_| false)?;
        Ok(report.problems.iter().map(|problem| format!("- {problem}")).collect())
    }
}
