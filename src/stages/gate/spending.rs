//! The error budget of a run, spent over its steps.

/// The share of what is left of the budget that a plan of steps may spend; the rest is for epochs that are added later.
const SHARE: f64 = 0.9;

/// How the budget is spent: evenly over the steps of a plan, and what an accepted step had passes on to the next one.
///
/// This is the online fallback procedure (Tian and Ramdas, "Online control of the familywise error rate", Statistical
/// Methods in Medical Research 30, 2021) with equal weights: the chance that any worthless candidate of the run is
/// accepted stays under `alpha`, whatever depends on what. The level of a step is a function of the plan and of the
/// verdicts before it, so that a resumed run has the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// The budget of the whole run, in (0, 1).
    pub alpha: f64,
    /// Steps of the run as first planned, then of each extension.
    pub plans: Vec<usize>,
}

impl Spending {
    /// The level of the next step. `passes_on` says of each step before it, in order, whether its level passes on: it
    /// was accepted, or had no candidate to test.
    pub fn level(&self, passes_on: &[bool]) -> f64 {
        let own = |step: usize| self.own(step);
        passes_on
            .iter()
            .enumerate()
            .fold(own(0), |level, (step, passes)| own(step + 1) + if *passes { level } else { 0.0 })
    }

    /// A step's own share; nothing for a step in no plan.
    fn own(&self, step: usize) -> f64 {
        let (mut left, mut first) = (self.alpha, 0);
        for steps in &self.plans {
            let spent = left * SHARE;
            if step < first + steps {
                return spent / *steps as f64;
            }
            if *steps > 0 {
                left -= spent;
            }
            first += steps;
        }
        0.0
    }
}
