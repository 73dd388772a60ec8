//! What the sequential test promises, tried: seeded, so that the figures are the same everywhere.

use super::*;
use crate::ground::random::Random;

const STEPS: usize = 20;
const ALPHA: f64 = 0.05;
const RUNS: usize = 2_000;

/// A candidate's difference on a task.
type Draw = fn(&mut Random, &mut f64) -> f64;

/// Candidates that are worth nothing: the mean difference is 0 (or below). The second argument is a state that a
/// candidate may keep over a step's tasks.
const NULLS: &[(&str, Draw)] = &[
    ("each task a coin", |random, _| if random.happens(0.5) { 1.0 } else { -1.0 }),
    ("one task of five flips", |random, _| match random.unit() {
        u if u < 0.1 => 1.0,
        u if u < 0.2 => -1.0,
        _ => 0.0,
    }),
    ("small gains, rare ruin", |random, _| if random.happens(0.9) { 0.1 } else { -0.9 }),
    ("rare large gains", |random, _| if random.happens(0.1) { 0.9 } else { -0.1 }),
    ("uniform", |random, _| 2.0 * random.unit() - 1.0),
    ("nearly normal, narrow", |random, _| (0..6).map(|_| random.unit() - 0.5).sum::<f64>() / 6.0),
    // The size of each stake follows from what went before: a martingale, not independent.
    ("doubling after each loss", |random, state| {
        let stake = if *state < 0.0 { (-2.0 * *state).min(1.0) } else { 0.05 };
        *state = if random.happens(0.5) { stake } else { -stake };
        *state
    }),
    ("slightly worse", |random, _| if random.happens(0.48) { 1.0 } else { -1.0 }),
];

fn step(draw: Draw, tasks: usize, level: f64, random: &mut Random) -> bool {
    let (mut wealth, mut state) = (Wealth::default(), 0.0);
    (0..tasks).any(|_| {
        wealth.bet(draw(random, &mut state));
        wealth.is() >= 1.0 / level
    })
}

/// The share of runs with at least one acceptance in its steps, looked at after every task.
fn false_acceptance(draw: Draw, tasks: usize, level: f64, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let mut run = || (0..STEPS).any(|_| step(draw, tasks, level, &mut random));
    (0..RUNS).filter(|_| run()).count() as f64 / RUNS as f64
}

fn check(nulls: &[(&str, Draw)], tasks: usize, seed: u64) {
    let level = Spending { alpha: ALPHA, plans: vec![STEPS] }.level(&[]);
    for (name, draw) in nulls {
        let share = false_acceptance(*draw, tasks, level, seed);
        println!("{tasks:4} tasks, {STEPS} steps, {name:28} {:.2} %", share * 100.0);
        assert!(share < ALPHA, "{tasks} {name}: {share}");
    }
}

#[test]
fn a_worthless_edit_is_accepted_in_fewer_than_one_run_of_twenty() {
    check(NULLS, 18, 1);
    check(NULLS, 40, 2);
}

/// The more tasks, the nearer the limit: the worst ones again. (A test of its own, so that it runs beside the other.)
#[test]
fn a_worthless_edit_is_accepted_in_fewer_than_one_run_of_twenty_on_many_tasks() {
    check(&NULLS[..5], 100, 3);
}

/// The simulation can fail: with the whole budget for each step the promise does not hold.
#[test]
fn a_budget_that_is_not_spent_over_the_steps_would_be_found_out() {
    let share = false_acceptance(NULLS[0].1, 40, ALPHA, 7);
    println!("  40 tasks, the whole budget in each step: {:.2} %", share * 100.0);
    assert!(share > 5.0 * ALPHA, "{share}");
}

/// A candidate that helps some tasks and harms others by as much, on the same tasks in every step, each step in an order
/// of its own, with a noise of its own.
#[test]
fn tasks_that_move_apart_and_come_in_any_order_are_covered_too() {
    let mut random = Random::new(4);
    let level = Spending { alpha: ALPHA, plans: vec![STEPS] }.level(&[]);
    for tasks in [18, 40] {
        let mut means: Vec<f64> = (0..tasks).map(|task| if task % 2 == 0 { 0.8 } else { -0.8 }).collect();
        let mut run = || {
            (0..STEPS).any(|_| {
                random.shuffle(&mut means);
                let mut wealth = Wealth::default();
                means.iter().any(|mean| {
                    let noise = if random.happens(0.5) { 0.2 } else { -0.2 };
                    wealth.bet(mean + noise);
                    wealth.is() >= 1.0 / level
                })
            })
        };
        let share = (0..RUNS).filter(|_| run()).count() as f64 / RUNS as f64;
        println!("{tasks:4} tasks that move apart: {:.2} %", share * 100.0);
        assert!(share < ALPHA, "{share}");
    }
}

/// The levels that accepted steps pass on do not lift the whole run's error: true gains and worthless edits in turn.
#[test]
fn levels_that_pass_on_keep_the_runs_promise() {
    let mut random = Random::new(5);
    let spending = Spending { alpha: ALPHA, plans: vec![STEPS] };
    let gain: Draw = |random, _| if random.happens(0.7) { 1.0 } else { 0.0 };
    let coin = NULLS[0].1;
    let mut run = || {
        let mut accepted = Vec::new();
        let mut wrong = false;
        for number in 0..STEPS {
            let real = number % 2 == 0;
            let taken = step(if real { gain } else { coin }, 40, spending.level(&accepted), &mut random);
            wrong |= taken && !real;
            accepted.push(taken);
        }
        wrong
    };
    let share = (0..RUNS).filter(|_| run()).count() as f64 / RUNS as f64;
    println!("gains and worthless edits in turn: {:.2} %", share * 100.0);
    assert!(share < ALPHA, "{share}");
}

/// The one-sided exact sign test (McNemar's) at the end, at the same level: what betting is compared with. It may not be
/// looked at before, and holds for flips only.
fn sign_test(fixed: u32, broken: u32, level: f64) -> bool {
    let flips = fixed + broken;
    // P(at least `fixed` heads of `flips`), by the ratio of neighbouring terms from the top.
    let mut term = 0.5_f64.powi(flips as i32);
    let mut tail = 0.0;
    for heads in (fixed..=flips).rev() {
        tail += term;
        term *= f64::from(heads) / f64::from(flips - heads + 1);
    }
    tail <= level
}

/// How often a real gain is seen: by betting, how many tasks that took, and by the sign test on all tasks.
fn power(fixes: f64, breaks: f64, tasks: usize) -> (f64, f64, f64) {
    let level = Spending { alpha: ALPHA, plans: vec![STEPS] }.level(&[]);
    let mut random = Random::new(6);
    let (mut seen, mut used, mut fixed_size) = (0, 0, 0);
    for _ in 0..RUNS {
        let mut wealth = Wealth::default();
        let (mut fixed, mut broken, mut accepted) = (0, 0, None);
        for task in 1..=tasks {
            let u = random.unit();
            let difference = if u < fixes {
                1.0
            } else if u < fixes + breaks {
                -1.0
            } else {
                0.0
            };
            fixed += u32::from(difference > 0.0);
            broken += u32::from(difference < 0.0);
            wealth.bet(difference);
            if accepted.is_none() && wealth.is() >= 1.0 / level {
                accepted = Some(task);
            }
        }
        seen += usize::from(accepted.is_some());
        used += accepted.unwrap_or(tasks);
        fixed_size += usize::from(sign_test(fixed, broken, level));
    }
    let share = |count: usize| count as f64 / RUNS as f64;
    (share(seen), share(used), share(fixed_size))
}

#[test]
fn real_gains_are_seen_nearly_as_often_as_by_a_fixed_size_test_and_sooner() {
    // Fixed, broken, tasks; the least power, and the most tasks looked at on average.
    let rows = [
        (0.5, 0.0, 18, 0.35, 18.0),
        (0.5, 0.0, 40, 0.95, 24.0),
        (0.6, 0.05, 40, 0.85, 25.0),
        (0.3, 0.0, 40, 0.7, 35.0),
        (0.3, 0.05, 100, 0.75, 70.0),
        (0.4, 0.1, 100, 0.7, 70.0),
        (0.2, 0.02, 100, 0.7, 75.0),
    ];
    for (fixes, breaks, tasks, least, most) in rows {
        let (betting, used, fixed_size) = power(fixes, breaks, tasks);
        println!(
            "fixes {fixes:.2}, breaks {breaks:.2}, {tasks:3} tasks: seen in {:5.1} % after {used:4.1} tasks; sign test {:5.1} %",
            betting * 100.0,
            fixed_size * 100.0
        );
        assert!(betting >= least && used <= most, "{fixes} {breaks} {tasks}: {betting} {used}");
        assert!(betting >= fixed_size - 0.25, "{fixes} {breaks} {tasks}: {betting} {fixed_size}");
    }
}
