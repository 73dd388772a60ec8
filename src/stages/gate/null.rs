//! How often a gate that compares means would accept an edit that does nothing.

use std::collections::BTreeMap;

/// Steps in 1 at which differences are counted here: exact for hard scores and for up to 200 repeats of them that divide
/// it, to 0.005 otherwise.
const GRID: f64 = 200.0;

/// A task's difference by chance: each value, in [-1, 1], with its probability.
pub type Chances = Vec<(f64, f64)>;

/// The probability that the sum of independent differences is above 0, by adding up the distribution task by task (exact
/// convolution on a grid of 0.005).
pub fn above_zero(tasks: &[Chances]) -> f64 {
    let mut distribution = vec![1.0];
    // The sum that the distribution's first entry stands for.
    let mut lowest = 0_i64;
    for task in tasks {
        let mut points: BTreeMap<i64, f64> = BTreeMap::new();
        for (value, chance) in task {
            *points.entry((value * GRID).round() as i64).or_default() += chance;
        }
        let low = points.keys().next().copied().unwrap_or(0);
        let high = points.keys().next_back().copied().unwrap_or(0);
        if (low, high) == (0, 0) {
            continue;
        }
        let mut next = vec![0.0; distribution.len() + (high - low) as usize];
        for (value, chance) in points {
            let shift = (value - low) as usize;
            for (at, held) in distribution.iter().enumerate().filter(|(_, held)| **held > 0.0) {
                next[at + shift] += held * chance;
            }
        }
        (distribution, lowest) = (next, lowest + low);
    }
    let first = usize::try_from(1 - lowest).unwrap_or(0);
    // The sum of no floating-point numbers is -0.
    distribution.iter().skip(first).fold(0.0, |sum, chance| sum + chance)
}

/// How often an edit without effect would be accepted that moves tasks by as much as these differences (in whole steps of
/// [`crate::score::STEPS`]), each as likely up as down: the sign-flip randomisation distribution (Fisher, "The design of
/// experiments", 1935). 0 when nothing moved; at most one half.
pub fn symmetric(differences: impl Iterator<Item = i64>) -> f64 {
    let moved = differences.filter(|difference| *difference != 0);
    let chances = moved.map(|difference| {
        let size = difference as f64 / crate::score::STEPS as f64;
        vec![(size, 0.5), (-size, 0.5)]
    });
    above_zero(&chances.collect::<Vec<_>>())
}

/// How often an edit without effect would be accepted when each task passes, under either pool and independently, with
/// its own probability.
pub fn of_pass_rates(rates: &[f64]) -> f64 {
    let chances = rates.iter().map(|rate| {
        let flip = rate * (1.0 - rate);
        vec![(1.0, flip), (-1.0, flip), (0.0, 1.0 - 2.0 * flip)]
    });
    above_zero(&chances.collect::<Vec<_>>())
}
