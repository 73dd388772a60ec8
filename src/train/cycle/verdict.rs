//! A verdict carried out on the pool: what is accepted stays on the branch; what is not is kept under a reference, and the
//! branch goes back to where it was.

use super::Run;
use super::gate::Judged;
use crate::ground::crash;
use crate::ground::error::Result;
use crate::pool::Oid;
use crate::run::cycle::Outcome;
use crate::run::event::Event;

/// Carries a verdict out, and gives the commit that the pool is at then. Doing it again changes nothing.
pub(super) fn carry_out(
    run: &Run<'_>,
    label: &str,
    current: Oid,
    candidate: Option<Oid>,
    judged: &Judged,
) -> Result<Oid> {
    let Some(candidate) = candidate.filter(|candidate| *candidate != current) else { return Ok(current) };
    run.pool.annotate(candidate, &note(label, judged), &run.pool.author(run.date_of(candidate)?))?;
    crash::point("noted");
    let kept = match judged.outcome {
        // Without a change of cards its commits still say what was looked at, and why nothing was done.
        Outcome::Accepted | Outcome::Unchanged | Outcome::Failed => return Ok(candidate),
        Outcome::Rejected => "rejected",
        Outcome::Undecided => "undecided",
    };
    run.pool.keep(&format!("{kept}/{label}"), candidate)?;
    if run.pool.tip()? != current {
        for path in run.pool.move_to(candidate, current, &format!("{kept} {label}"))? {
            run.tell(&Event::left_alone(&path));
        }
    }
    crash::point("taken-back");
    Ok(current)
}

/// What `git log` shows below a candidate's commit.
fn note(label: &str, judged: &Judged) -> String {
    let mut text = format!("{label}: {}: {}\n", judged.outcome.name(), judged.reason);
    if let (Some(current), Some(candidate)) = (judged.current, judged.candidate) {
        text.push_str(&format!("score: {current:.4} -> {candidate:.4}\n"));
    }
    for (what, tasks) in [("fixed", &judged.fixed), ("broken", &judged.broken)] {
        if !tasks.is_empty() {
            text.push_str(&format!("{what}: {}\n", tasks.join(", ")));
        }
    }
    text
}

impl Run<'_> {
    /// A commit's date, Unix seconds.
    fn date_of(&self, commit: Oid) -> Result<i64> {
        Ok(self.pool.record(commit, false)?.time)
    }
}
