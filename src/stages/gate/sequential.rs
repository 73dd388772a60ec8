//! The sequential policy: a paired test by betting, valid whenever it is looked at.
//!
//! Both sides of a pair must come from the same step: a task that the edit cannot reach shares one rollout and differs by 0,
//! any other is measured anew under both pools. A current score kept from an earlier step was lucky or unlucky once for all
//! the steps after it, and what bets on it bets on that luck.

use super::{Judged, Metric, Pair, Verdict, Wealth};
use crate::score::STEPS;

/// The level at which a candidate is called worse: it costs nothing of the run's budget, which is for accepting.
const WORSE: f64 = 0.05;

/// Both gamblers' purses after the differences so far: one bets that the candidate is better, one that it is worse.
#[derive(Debug, Clone, Copy, Default)]
struct Purses {
    better: Wealth,
    worse: Wealth,
}

impl Purses {
    fn bet(&mut self, difference: i64) {
        let difference = difference as f64 / STEPS as f64;
        self.better.bet(difference);
        self.worse.bet(-difference);
    }
}

/// Judges by the differences in the order of the pairs, up to the first pending one. None while the pending ones could
/// change the verdict. When all are in and neither gambler has won, a candidate whose mean is not higher is rejected, and
/// one whose mean is higher stays undecided.
pub(super) fn judge(pairs: &[Pair], metric: Metric, level: f64) -> Option<Judged> {
    let mut purses = Purses::default();
    let mut sum = 0;
    let mut rest = pairs;
    while let Some((pair, later)) = rest.split_first() {
        match pair.difference(metric) {
            Some(difference) => {
                purses.bet(difference);
                sum += difference;
            }
            None if pair.is_missing() => {}
            None => break,
        }
        rest = later;
        if purses.better.is() >= 1.0 / level {
            return Some(judged(Verdict::Accept, purses, "it is shown to be better"));
        }
        if purses.worse.is() >= 1.0 / WORSE {
            return Some(judged(Verdict::Reject, purses, "it is shown to be worse"));
        }
    }
    let ranges: Vec<(i64, i64)> = rest.iter().map(|pair| pair.range(metric)).collect();
    let better = reaches(purses, ranges.iter().map(|range| range.1), |purses| purses.better.is() >= 1.0 / level);
    let worse = reaches(purses, ranges.iter().map(|range| range.0), |purses| purses.worse.is() >= 1.0 / WORSE);
    let (low, high) = ranges.iter().fold((sum, sum), |(low, high), range| (low + range.0, high + range.1));
    if better {
        return None;
    }
    if high <= 0 {
        return Some(judged(Verdict::Reject, purses, "its score is not higher"));
    }
    (low > 0 && !worse).then(|| {
        judged(Verdict::Undecided, purses, "its score is higher, but that may be chance: more tasks would tell")
    })
}

/// Whether the purses get there on the way through these differences.
fn reaches(mut purses: Purses, mut differences: impl Iterator<Item = i64>, there: impl Fn(&Purses) -> bool) -> bool {
    differences.any(|difference| {
        purses.bet(difference);
        there(&purses)
    })
}

fn judged(verdict: Verdict, purses: Purses, reason: &str) -> Judged {
    Judged { verdict, reason: reason.to_owned(), wealth: Some(purses.better.is()) }
}
