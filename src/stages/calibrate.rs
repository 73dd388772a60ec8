//! Calibrate: what the gate can see, from the current pool measured several times against itself.

use serde::{Deserialize, Serialize};

use super::gate::{null, wins_needed};
use crate::score;

/// Points of the normal distribution: 95 % for a one-sided test at 0.05, 80 % for the power.
const POINT_95: f64 = 1.644_853_627;
/// See [`POINT_95`].
const POINT_80: f64 = 0.841_621_234;

/// One task's repeated scores by the gate's metric, each in [0, 1]; the order of repeats means nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeats {
    /// The task's id.
    pub task: String,
    /// Its scores; those that could not be measured are not among them.
    pub scores: Vec<f64>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Tasks with at least two scores; all figures are of these.
    pub tasks: usize,
    /// Tasks with fewer, which say nothing about noise.
    pub too_few: Vec<String>,
    /// The pool's mean score, in [0, 1].
    pub score: f64,
    /// The standard deviation of one task's score between repeats, pooled over the tasks, in [0, 1].
    pub task_noise: f64,
    /// The standard deviation of the mean of all tasks between repeats, in [0, 1].
    pub score_noise: f64,
    /// The smallest gain in mean score that a paired test of this many tasks and repeats sees four times of five, at one
    /// false alarm in twenty; none when no task moves, so that any gain is seen.
    pub smallest_effect: Option<f64>,
    /// The tasks that a candidate must fix, breaking none, to pass the sequential gate.
    pub sequential_wins: usize,
    /// Tasks that had the best score each time: they can only get worse.
    pub always_right: Vec<String>,
    /// Tasks that had the worst score each time.
    pub always_wrong: Vec<String>,
    /// Tasks that had one score in between each time.
    pub never_moving: Vec<String>,
    /// How often a strict gate would accept an edit that does nothing, with one score a task and pool.
    pub null_acceptance: f64,
}

/// Calibrates. `repeats` is how many scores a task the gate itself will average, at least 1; `level` the sequential
/// test's. None when no task has two scores.
///
/// The noise of a task is its unbiased sample variance s²; that of the mean of n tasks is √(Σ s²) / n. The smallest effect
/// is that of a paired test with normal errors (as in Cohen, "Statistical power analysis", 1988): (z₀.₉₅ + z₀.₈₀) · √(2 Σ
/// s² / r) / n with r repeats under either pool. The chance of a null edit takes each task's ordered pairs of different
/// repeats as its differences by chance, and adds them up exactly.
pub fn calibrate(all: &[Repeats], repeats: usize, level: f64) -> Option<Calibration> {
    let (usable, few): (Vec<&Repeats>, Vec<&Repeats>) = all.iter().partition(|task| task.scores.len() >= 2);
    let tasks = usable.len();
    let means: Option<Vec<f64>> = usable.iter().map(|task| score::mean(task.scores.iter().copied())).collect();
    let means = means?;
    let overall = score::mean(means.iter().copied())?;
    let variances: f64 = usable.iter().zip(&means).map(|(task, mean)| variance(&task.scores, *mean)).sum();
    let n = tasks as f64;
    let effect = (POINT_95 + POINT_80) * (2.0 * variances / repeats.max(1) as f64).sqrt() / n;
    let still = |keep: &dyn Fn(f64) -> bool| -> Vec<String> {
        let first =
            |task: &&&Repeats| task.scores.first().copied().filter(|first| task.scores.iter().all(|s| s == first));
        let kept = usable.iter().filter(|task| first(task).is_some_and(keep));
        kept.map(|task| task.task.clone()).collect()
    };
    let chances: Vec<null::Chances> = usable.iter().map(|task| differences(&task.scores)).collect();
    Some(Calibration {
        tasks,
        too_few: few.iter().map(|task| task.task.clone()).collect(),
        score: overall,
        task_noise: (variances / n).sqrt(),
        score_noise: variances.sqrt() / n,
        smallest_effect: (effect > 0.0).then_some(effect),
        sequential_wins: wins_needed(level),
        always_right: still(&|score| score >= 1.0),
        always_wrong: still(&|score| score <= 0.0),
        never_moving: still(&|score| score > 0.0 && score < 1.0),
        null_acceptance: null::above_zero(&chances),
    })
}

/// The unbiased sample variance.
fn variance(scores: &[f64], mean: f64) -> f64 {
    let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
    squares / (scores.len() as f64 - 1.0)
}

/// The differences of all ordered pairs of different repeats, each as likely.
fn differences(scores: &[f64]) -> null::Chances {
    let chance = 1.0 / (scores.len() * (scores.len() - 1)) as f64;
    let pairs = scores.iter().enumerate().flat_map(|(one, score)| {
        scores.iter().enumerate().filter(move |(two, _)| *two != one).map(move |(_, other)| score - other)
    });
    pairs.map(|difference| (difference, chance)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::random::Random;
    use crate::stages::gate::Spending;

    fn of(rows: &[(&str, &[f64])]) -> Vec<Repeats> {
        rows.iter().map(|(task, scores)| Repeats { task: (*task).into(), scores: scores.to_vec() }).collect()
    }

    #[test]
    fn the_figures_by_hand() {
        let rows = of(&[
            ("right", &[1.0, 1.0, 1.0]),
            ("wrong", &[0.0, 0.0, 0.0]),
            ("half", &[0.5, 0.5, 0.5]),
            ("moves", &[1.0, 0.0, 1.0]),
            ("once", &[1.0]),
        ]);
        let found = calibrate(&rows, 1, 0.05).unwrap();
        assert_eq!((found.tasks, found.too_few.join(" ")), (4, "once".into()));
        let still = [found.always_right, found.always_wrong, found.never_moving].map(|tasks| tasks.join(" "));
        assert_eq!(still, ["right", "wrong", "half"]);
        let close = |one: f64, two: f64| assert!((one - two).abs() < 1e-6, "{one} {two}");
        close(found.score, (1.0 + 0.0 + 0.5 + 2.0 / 3.0) / 4.0);
        // The variance of 1, 0, 1 is 1/3.
        close(found.task_noise, (1.0_f64 / 12.0).sqrt());
        close(found.score_noise, (1.0_f64 / 3.0).sqrt() / 4.0);
        close(found.smallest_effect.unwrap(), 2.486_475 * (2.0_f64 / 3.0).sqrt() / 4.0);
        // Of the six ordered pairs of 1, 0, 1 two go up.
        close(found.null_acceptance, 1.0 / 3.0);
    }

    #[test]
    fn a_pool_that_never_moves_has_no_noise_and_one_repeat_says_nothing() {
        let found = calibrate(&of(&[("a", &[1.0, 1.0])]), 1, 0.05).unwrap();
        assert_eq!((found.smallest_effect, found.null_acceptance, found.score_noise), (None, 0.0, 0.0));
        assert_eq!(calibrate(&of(&[("a", &[1.0])]), 1, 0.05), None);
        assert_eq!(calibrate(&[], 1, 0.05), None);
    }

    #[test]
    fn the_chance_of_a_null_edit_is_what_a_strict_gate_does() {
        let mut random = Random::new(7);
        let rates: Vec<f64> = (0..20).map(|task| f64::from(task) / 20.0).collect();
        let mut pass = |rate: &f64| if random.happens(*rate) { 1.0 } else { 0.0 };
        let rows: Vec<Repeats> = rates
            .iter()
            .map(|rate| Repeats { task: String::new(), scores: (0..60).map(|_| pass(rate)).collect() })
            .collect();
        let level = Spending { alpha: 0.05, plans: vec![20] }.level(&[]);
        let found = calibrate(&rows, 1, level).unwrap();
        let mut accepted = 0;
        for _ in 0..4_000 {
            let mean = |pass: &mut dyn FnMut(&f64) -> f64| rates.iter().map(pass).sum::<f64>();
            let current = mean(&mut pass);
            accepted += usize::from(mean(&mut pass) > current);
        }
        let tried = accepted as f64 / 4_000.0;
        assert!((found.null_acceptance - tried).abs() < 0.04, "{} {tried}", found.null_acceptance);
        assert!((found.null_acceptance - null::of_pass_rates(&rates)).abs() < 0.04);
        assert_eq!(found.sequential_wins, 10);
    }
}
