//! The policies that compare means: strict, and strict without regressions.

use super::{Judged, Metric, Pair, Verdict};
use crate::score::STEPS;

/// Judges by the sum of differences, which has the sign of the difference of means. `regressions` is how many tasks that
/// are not critical may get worse; none means that nobody counts them. None while pending tasks could change the verdict.
pub(super) fn judge(pairs: &[Pair], metric: Metric, regressions: Option<usize>) -> Option<Judged> {
    let ranges = || pairs.iter().map(|pair| (pair, pair.range(metric)));
    let (low, high) = ranges().fold((0, 0), |(low, high), (_, range)| (low + range.0, high + range.1));
    // Who got worse for certain, and who still may.
    let worse = |critical: bool, certain: bool| {
        let got_worse = move |range: (i64, i64)| if certain { range.1 < 0 } else { range.0 < 0 };
        ranges().filter(|(pair, range)| pair.critical == critical && got_worse(*range)).count()
    };
    if let Some(most) = regressions {
        let (critical, others) = (worse(true, true), worse(false, true));
        if critical > 0 {
            return Some(reject(format!("{critical} critical task(s) got worse")));
        }
        if others > most {
            return Some(reject(format!("{others} tasks got worse, and {most} may")));
        }
    }
    if high <= 0 {
        let how = if low == 0 && high == 0 { "as high as" } else { "not higher than" };
        return Some(reject(format!("the candidate's score is {how} the current one")));
    }
    let safe = regressions.is_none_or(|most| worse(true, false) == 0 && worse(false, false) <= most);
    (low > 0 && safe).then(|| {
        let gain = low as f64 / STEPS as f64;
        let at_least = if low == high { "" } else { "at least " };
        Judged::new(Verdict::Accept, format!("the candidate's score is higher, by {at_least}{gain:.3} tasks"))
    })
}

fn reject(reason: String) -> Judged {
    Judged::new(Verdict::Reject, reason)
}
