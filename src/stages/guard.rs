//! The guards: pure checks of what an optimizer left, each with its own message. All of them are told, not the first.

use crate::optimizer::{Bounds, Outcome};
use crate::pool::checkout::{Edited, Head};
use crate::pool::lint::Problem;
use crate::pool::repo::{Changes, PLAIN};

/// The guard that finds evidence changed: no other attempt can mend that.
pub const EVIDENCE_CHANGED: &str = "evidence-changed";

/// Problems of the lint that are told; a report of all of them is on disk.
const PROBLEMS: usize = 40;

/// Copied passages that are told.
const PASSAGES: usize = 10;

/// A guard that did not let a result pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The guard's stable name.
    pub guard: &'static str,
    /// What is wrong, and what would mend it.
    pub message: String,
}

/// What the guards look at.
pub struct Exhibit<'a> {
    /// How the optimizer ended.
    pub outcome: &'a Outcome,
    /// Tool calls that its own client refused.
    pub denied: &'a [String],
    /// What it left in the checkout.
    pub edited: &'a Edited,
    /// Lint problems of the resulting tree.
    pub problems: &'a [Problem],
    /// Passages copied from the evidence, as "path:line: …".
    pub copied: &'a [String],
    /// Evidence files whose bytes are not what they were.
    pub changed_evidence: &'a [String],
    /// What the step may do at most.
    pub bounds: Bounds,
    /// Cards that the result has.
    pub cards_left: usize,
    /// Paths that are part of the pool but no cards, such as its profile.
    pub fixed: &'a [&'a str],
}

/// All that speaks against a result; empty when it may be taken.
pub fn judge(exhibit: &Exhibit<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |guard, message: String| findings.push(Finding { guard, message });
    match exhibit.outcome {
        Outcome::Done => {}
        Outcome::Failed(why) => say("optimizer-ended-badly", format!("the optimizer ended badly: {why}")),
        Outcome::Unreachable(why) => say("optimizer-unreachable", why.clone()),
        Outcome::TimedOut => {
            say("deadline", "the optimizer did not end before its deadline (--timeout gives it longer)".into());
        }
        Outcome::Cancelled => say("cancelled", "the optimizer was stopped".into()),
    }
    if let Some((guard, mut message)) = history(exhibit.edited) {
        if !exhibit.denied.is_empty() {
            message.push_str(&format!("; its client refused it {}", list(exhibit.denied.iter())));
        }
        say(guard, message);
    }
    if !exhibit.edited.odd.is_empty() {
        let list = list(exhibit.edited.odd.iter());
        say(
            "only-cards",
            format!(
                "the checkout holds what cannot be a card (a pipe, a name that is not UTF-8, a file over 16 MiB, something \
                 that cannot be read); take it away: {list}"
            ),
        );
    }
    let touched: Vec<&String> =
        exhibit.edited.changes.keys().filter(|path| exhibit.fixed.contains(&path.as_str())).collect();
    if !touched.is_empty() {
        say("only-cards", format!("only cards may change, not {}", list(touched.into_iter())));
    }
    let special = exhibit.edited.changes.iter().filter(|(_, new)| new.is_some_and(|entry| entry.mode != PLAIN));
    let special: Vec<&String> = special.map(|(path, _)| path).collect();
    if !special.is_empty() {
        say("only-cards", format!("a card is a plain file, no link and not executable: {}", list(special.into_iter())));
    }
    if !exhibit.problems.is_empty() {
        say("lint", format!("the lint finds {}", problems(exhibit.problems)));
    }
    for (guard, message) in bounds(&exhibit.edited.changes, exhibit.bounds) {
        say(guard, message);
    }
    let some_deleted = exhibit.edited.changes.values().any(Option::is_none);
    if some_deleted && exhibit.cards_left == 0 {
        say("deletions", "no card would be left: a step may not empty the pool".into());
    }
    for copied in exhibit.copied.iter().take(PASSAGES) {
        say("copied", copied.clone());
    }
    if !exhibit.changed_evidence.is_empty() {
        let list = list(exhibit.changed_evidence.iter());
        say(EVIDENCE_CHANGED, format!("the evidence was changed while the optimizer ran: {list}"));
    }
    findings
}

/// "2 problems:" and a line each, the first ones where there are many.
fn problems(problems: &[Problem]) -> String {
    let shown: String = problems.iter().take(PROBLEMS).map(|problem| format!("\n- {problem}")).collect();
    let more = problems.len().saturating_sub(PROBLEMS);
    let more = if more == 0 { String::new() } else { format!("\n- … and {more} more") };
    format!("{}:{shown}{more}", count(problems.len(), "problem"))
}

fn history(edited: &Edited) -> Option<(&'static str, String)> {
    match &edited.head {
        Head::Broken(why) => {
            Some(("repository-broken", format!("the checkout's repository cannot be read any more: {why}")))
        }
        Head::Unmoved if edited.changes.is_empty() => Some((
            "no-commit",
            "nothing was changed and nothing committed; if nothing should change, say so with \
                                an empty commit (`git commit --allow-empty -m \"why\"`)"
                .into(),
        )),
        Head::Unmoved => Some(("no-commit", "cards were edited, but there is no commit: commit them".into())),
        Head::Unrelated => Some((
            "history-rewritten",
            "the commit does not come after the one that the checkout began at: history was rewritten, or another \
             branch was begun; commit on top of it instead"
                .into(),
        )),
        Head::Advanced(committed) if committed != &edited.changes => {
            let loose = differing(committed, &edited.changes);
            Some((
                "not-clean",
                format!("files differ from the commit; commit them or take them away: {}", list(loose.iter())),
            ))
        }
        Head::Advanced(_) => None,
    }
}

fn bounds(changes: &Changes, bounds: Bounds) -> Vec<(&'static str, String)> {
    let mut findings = Vec::new();
    let deleted: Vec<&String> = changes.iter().filter(|(_, new)| new.is_none()).map(|(path, _)| path).collect();
    if deleted.len() > bounds.max_deletions {
        let (n, most) = (count(deleted.len(), "card"), bounds.max_deletions);
        let list = list(deleted.into_iter());
        findings.push(("deletions", format!("{n} deleted, a step may delete {most} (--max-deletions): {list}")));
    }
    if let Some(most) = bounds.learning_rate.filter(|most| changes.len() > *most) {
        let list = list(changes.keys());
        let n = count(changes.len(), "card");
        findings.push(("edit-budget", format!("{n} touched, this step may touch {most} (--learning-rate): {list}")));
    }
    findings
}

fn differing(one: &Changes, two: &Changes) -> Vec<String> {
    let paths = one.keys().chain(two.keys().filter(|path| !one.contains_key(*path)));
    paths.filter(|path| one.get(*path) != two.get(*path)).cloned().collect()
}

fn list<'a>(paths: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<&str> = paths.map(String::as_str).collect();
    match all.len() {
        0..=12 => all.join(", "),
        n => format!("{} and {} more", all[..12].join(", "), n - 12),
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
