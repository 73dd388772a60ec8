//! The learning rate: how many edits a step may make, as a function of the step's number alone.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// How the learning rate moves over a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Half a cosine from the learning rate to the minimum.
    #[default]
    Cosine,
    /// A straight line.
    Linear,
    /// The learning rate throughout.
    Constant,
    /// The optimizer says it, step by step.
    Autonomous,
}

/// A run's schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// How it moves.
    pub kind: Kind,
    /// Edits a step at the start; 0 applies nothing in any step.
    pub learning_rate: usize,
    /// Edits a step at the end; one above the learning rate counts as the learning rate.
    pub min_learning_rate: usize,
    /// Steps of the whole run.
    pub steps: usize,
}

impl Schedule {
    /// The edits that step `step`, counted from 0 over the whole run, may make; none when the optimizer is to say it.
    ///
    /// With t = step / steps, hi the learning rate and lo the minimum, rounded half to even: linear
    /// max(lo, round(hi + (lo − hi)·t)), cosine max(lo, round(lo + ½(hi − lo)(1 + cos πt))) (Loshchilov and Hutter,
    /// "SGDR", ICLR 2017, without restarts), constant hi. A run of one step, or of none, has hi.
    pub fn budget(&self, step: usize) -> Option<usize> {
        let hi = self.learning_rate as f64;
        let lo = self.min_learning_rate.min(self.learning_rate) as f64;
        // A step beyond the plan, of epochs that were added, stays at the end of the curve.
        let t = (step as f64 / self.steps.max(1) as f64).min(1.0);
        let rate = match self.kind {
            Kind::Autonomous => return None,
            _ if self.steps <= 1 => hi,
            Kind::Constant => hi,
            Kind::Linear => hi + (lo - hi) * t,
            Kind::Cosine => lo + 0.5 * (hi - lo) * (1.0 + (PI * t).cos()),
        };
        Some(steady(rate).round_ties_even().max(lo) as usize)
    }
}

/// A rate without the last bits, in which libraries' cosines differ: half-way must be half-way everywhere.
fn steady(rate: f64) -> f64 {
    (rate * 1e9).round() / 1e9
}

/// Optimizer steps of an epoch: ceil(train / (batch_size × accumulation)).
pub fn steps_per_epoch(train: usize, batch_size: usize, accumulation: usize) -> usize {
    train.div_ceil((batch_size * accumulation).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn budgets(kind: Kind, hi: usize, lo: usize, steps: usize) -> Vec<usize> {
        let schedule = Schedule { kind, learning_rate: hi, min_learning_rate: lo, steps };
        (0..steps).map(|step| schedule.budget(step).unwrap()).collect()
    }

    #[test]
    fn the_formulas_by_hand() {
        assert_eq!(budgets(Kind::Cosine, 4, 2, 8), [4, 4, 4, 3, 3, 3, 2, 2]);
        assert_eq!(budgets(Kind::Linear, 4, 2, 8), [4, 4, 4, 3, 3, 3, 2, 2]);
        // 10 − 8t at t = 1/16 steps: halves go to the even neighbour.
        assert_eq!(budgets(Kind::Linear, 10, 2, 16), [10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 5, 4, 4, 4, 3, 2]);
        // ½·9·(1 + cos π/2) = 4.5 at the middle.
        assert_eq!(budgets(Kind::Cosine, 9, 0, 4), [9, 8, 4, 1]);
        assert_eq!(budgets(Kind::Constant, 4, 2, 3), [4, 4, 4]);
        let alone = |steps| Schedule { kind: Kind::Cosine, learning_rate: 4, min_learning_rate: 2, steps };
        assert_eq!((alone(1).budget(0), alone(0).budget(0), alone(1).budget(1)), (Some(4), Some(4), Some(4)));
        assert_eq!(alone(8).budget(100), Some(2));
        assert_eq!(Schedule { kind: Kind::Autonomous, ..alone(8) }.budget(3), None);
    }

    #[test]
    fn a_learning_rate_of_0_applies_nothing() {
        for kind in [Kind::Cosine, Kind::Linear, Kind::Constant] {
            assert_eq!(budgets(kind, 0, 2, 5), [0; 5], "{kind:?}");
        }
    }

    #[test]
    fn steps_of_an_epoch_round_up() {
        assert_eq!((steps_per_epoch(36, 40, 1), steps_per_epoch(41, 40, 1), steps_per_epoch(81, 40, 2)), (1, 2, 2));
        assert_eq!(steps_per_epoch(0, 40, 1), 0);
    }

    proptest! {
        #[test]
        fn a_budget_stays_between_its_ends_and_never_grows(
            hi in 0_usize..50, lo in 0_usize..50, steps in 1_usize..200, kind in prop::sample::select(vec![
                Kind::Cosine, Kind::Linear, Kind::Constant,
            ])
        ) {
            let all = budgets(kind, hi, lo, steps);
            prop_assert_eq!(all[0], hi);
            prop_assert!(all.iter().all(|budget| (lo.min(hi)..=hi).contains(budget)));
            prop_assert!(all.windows(2).all(|pair| pair[0] >= pair[1]));
        }
    }
}
