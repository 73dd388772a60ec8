mod simulation;

use proptest::prelude::*;

use super::*;

fn score(hard: f64, soft: f64) -> Score {
    Score { hard, soft, feedback: Vec::new() }
}

/// Current against candidate: `1` passes, `0` fails, `h` is half, `?` is pending, `x` is missing.
fn pairs(current: &str, candidate: &str) -> Vec<Pair> {
    let of = |mark| match mark {
        '1' => Measured::Is(score(1.0, 1.0)),
        '0' => Measured::Is(score(0.0, 0.0)),
        'h' => Measured::Is(score(0.0, 0.5)),
        'x' => Measured::Missing,
        _ => Measured::Pending,
    };
    let both = current.chars().zip(candidate.chars()).enumerate();
    both.map(|(n, (current, candidate))| Pair {
        task: format!("t{n}"),
        critical: false,
        current: of(current),
        candidate: of(candidate),
    })
    .collect()
}

fn gate(policy: Policy) -> Gate {
    Gate { metric: Metric::Hard, policy, min_coverage: 0.9, use_gate: true }
}

fn verdict(gate: &Gate, current: &str, candidate: &str) -> Option<Verdict> {
    gate.look(&pairs(current, candidate)).map(|decision| decision.verdict)
}

use Verdict::{Accept, Reject, Undecided};

#[test]
fn strict_accepts_only_what_is_strictly_higher_and_stops_when_it_is_sure() {
    let strict = gate(Policy::Strict);
    let rows = [
        ("0000", "1000", Some(Accept)),
        ("1000", "0100", Some(Reject)),
        ("1100", "1000", Some(Reject)),
        ("0000", "0000", Some(Reject)),
        ("0000", "1???", Some(Accept)),
        ("1100", "00??", Some(Reject)),
        ("1100", "0???", None),
        ("1111", "????", Some(Reject)),
        ("0001", "1???", None),
        ("0011", "11?1", Some(Accept)),
        ("????", "????", None),
    ];
    for (current, candidate, wanted) in rows {
        assert_eq!(verdict(&strict, current, candidate), wanted, "{current} {candidate}");
    }
}

#[test]
fn a_metric_is_hard_soft_or_mixed() {
    let of = |metric| Gate { metric, ..gate(Policy::Strict) }.look(&pairs("01", "h1")).unwrap();
    assert_eq!(of(Metric::Hard).verdict, Reject);
    assert_eq!((of(Metric::Soft).verdict, of(Metric::Soft).candidate), (Accept, Some(0.75)));
    let mixed = of(Metric::Mixed(0.2));
    assert_eq!((mixed.verdict, mixed.current, mixed.candidate), (Accept, Some(0.5), Some(0.55)));
}

#[test]
fn rounding_breaks_no_tie() {
    let thirds =
        |parts: &[f64]| -> Vec<Measured> { parts.iter().map(|part| Measured::Is(score(0.0, *part))).collect() };
    let (current, candidate) = (thirds(&[0.1, 0.2, 0.0]), thirds(&[0.3, 0.0, 0.0]));
    let pairs: Vec<Pair> = current
        .into_iter()
        .zip(candidate)
        .map(|(current, candidate)| Pair { task: String::new(), critical: false, current, candidate })
        .collect();
    let decision = Gate { metric: Metric::Soft, ..gate(Policy::Strict) }.look(&pairs).unwrap();
    assert_eq!((decision.verdict, decision.current, decision.candidate), (Reject, Some(0.1), Some(0.1)));
}

#[test]
fn no_regression_counts_who_got_worse() {
    let of = |others, critical: &[usize], current: &str, candidate: &str| {
        let mut pairs = pairs(current, candidate);
        critical.iter().for_each(|n| pairs[*n].critical = true);
        gate(Policy::NoRegression { others }).look(&pairs).map(|decision| decision.verdict)
    };
    assert_eq!(of(0, &[], "0001", "1110"), Some(Reject));
    assert_eq!(of(1, &[], "0001", "1110"), Some(Accept));
    assert_eq!(of(1, &[3], "0001", "1110"), Some(Reject));
    assert_eq!(of(1, &[3], "0001", "???0"), Some(Reject), "a critical task is worse: the rest cannot mend it");
    assert_eq!(of(0, &[], "0001", "11??"), None, "the last one may still get worse");
    assert_eq!(of(0, &[], "0000", "1???"), Some(Accept), "nothing can get worse");
    assert_eq!(of(2, &[], "0000", "0000"), Some(Reject));
}

#[test]
fn missing_stays_missing_and_below_the_coverage_nothing_is_decided() {
    let strict = gate(Policy::Strict);
    let decision = strict.look(&pairs("0000000000", "x100000000")).unwrap();
    assert_eq!((decision.verdict, decision.measured, decision.missing.as_slice()), (Accept, 9, &["t0".to_owned()][..]));
    assert_eq!(decision.candidate, Some(1.0 / 9.0), "the missing one is no 0");
    let decision = strict.look(&pairs("0000000000", "xx11111111")).unwrap();
    assert_eq!(decision.verdict, Undecided);
    assert!(decision.reason.contains("2 of 10 tasks could not be measured, and 90 % must be"), "{}", decision.reason);
    assert_eq!(verdict(&strict, "xx00000000", "????????1?"), Some(Undecided), "no need to measure the rest");
    assert_eq!(verdict(&gate(Policy::Sequential { level: 0.05 }), "0000", "xxxx"), Some(Undecided));
}

#[test]
fn the_gate_off_records_all_and_accepts() {
    let off = Gate { use_gate: false, ..gate(Policy::Strict) };
    assert_eq!(off.look(&pairs("1100", "00??")), None);
    let decision = off.look(&pairs("1100", "0000")).unwrap();
    assert_eq!((decision.verdict, decision.judged), (Accept, Reject));
}

#[test]
fn flips_are_listed_whatever_the_policy() {
    for policy in [Policy::Strict, Policy::NoRegression { others: 9 }, Policy::Sequential { level: 0.01 }] {
        let decision = gate(policy).look(&pairs("0101h", "1001h")).unwrap();
        assert_eq!((decision.fixed.join(" "), decision.broken.join(" ")), ("t0".into(), "t1".into()));
        assert_eq!(decision.verdict, Reject);
        let json = serde_json::to_string(&decision).unwrap();
        assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), decision);
    }
}

#[test]
fn the_sequential_test_has_three_verdicts_and_stops_by_itself() {
    let level = Spending { alpha: 0.05, plans: vec![20] }.level(&[]);
    assert_eq!(wins_needed(level), 10);
    let sequential = gate(Policy::Sequential { level });
    let zeros = "0".repeat(18);
    let of = |candidate: &str| verdict(&sequential, &zeros[..candidate.len()], candidate);
    assert_eq!(of("111111111100000000"), Some(Accept));
    assert_eq!(of("1111111111????????"), Some(Accept), "what was shown is not unshown");
    assert_eq!(of("111110000000000000"), Some(Undecided));
    assert_eq!(of("000000000000000000"), Some(Reject));
    assert_eq!(of("0000000001????????"), Some(Undecided), "8 more wins are not enough, and nothing can be lost");
    assert_eq!(of("00000001??????????"), None);
    assert_eq!(of("?11111111111111111"), None, "the order counts: the first is waited for");
    assert_eq!(verdict(&sequential, "111111111", "0????????"), Some(Reject), "nothing is left to win");
    assert_eq!(verdict(&sequential, &zeros, &"?".repeat(18)), None);
    assert_eq!(verdict(&sequential, "1111110000000000000", "000000?????????????"), Some(Reject), "shown to be worse");
}

#[test]
fn an_accepted_step_passes_its_level_on_and_an_extension_keeps_the_budget() {
    let spending = Spending { alpha: 0.05, plans: vec![20] };
    let first = 0.05 * 0.9 / 20.0;
    let close = |one: f64, two: f64| assert!((one - two).abs() < 1e-12, "{one} {two}");
    close(spending.level(&[]), first);
    close(spending.level(&[false, false]), first);
    close(spending.level(&[true, true]), 3.0 * first);
    close(spending.level(&[true, false]), first);
    close(spending.level(&[false; 20]), 0.0);
    let extended = Spending { alpha: 0.05, plans: vec![20, 20] };
    close(extended.level(&[false; 3]), first);
    close(extended.level(&[false; 20]), 0.05 * 0.1 * 0.9 / 20.0);
    let all: f64 = (0..40).map(|step| extended.level(&vec![false; step])).sum();
    assert!(all < 0.05, "{all}");
}

#[test]
fn the_chance_of_a_null_edit_by_hand() {
    let close = |one: f64, two: f64| assert!((one - two).abs() < 1e-9, "{one} {two}");
    let one = crate::score::STEPS;
    close(null::symmetric([0, 0].into_iter()), 0.0);
    close(null::symmetric([one].into_iter()), 0.5);
    close(null::symmetric([one, -one].into_iter()), 0.25);
    close(null::symmetric([one, one, one, 0].into_iter()), 0.5);
    // Two coins each: P(more heads than the other's) with p = 1/2 is (1 − P(tie)) / 2 = (1 − 6/16) / 2.
    close(null::of_pass_rates(&[0.5, 0.5]), 0.3125);
    close(null::of_pass_rates(&[0.0, 1.0]), 0.0);
    close(null::above_zero(&[vec![(0.25, 0.5), (-0.25, 0.5)], vec![(0.5, 0.5), (-0.5, 0.5)]]), 0.5);
    let decision = gate(Policy::Strict).look(&pairs("001", "010")).unwrap();
    assert_eq!(decision.null_acceptance, Some(0.25));
}

#[test]
fn patience_counts_steps_in_a_row() {
    assert!(out_of_patience(2, &[true, false, false]));
    assert!(!out_of_patience(2, &[false, true, false]) && !out_of_patience(3, &[false, false]));
    assert!(!out_of_patience(0, &[false; 100]), "0 is off");
}

fn any_policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        Just(Policy::Strict),
        (0_usize..4).prop_map(|others| Policy::NoRegression { others }),
        (0.001_f64..0.5).prop_map(|level| Policy::Sequential { level }),
    ]
}

fn any_score() -> impl Strategy<Value = Measured> {
    let number = prop::sample::select(vec![0.0, 0.25, 0.5, 1.0]);
    (number.clone(), number).prop_map(|(hard, soft)| Measured::Is(score(hard, soft)))
}

fn any_pairs() -> impl Strategy<Value = Vec<Pair>> {
    let pair = (any_score(), any_score(), prop::bool::weighted(0.1));
    prop::collection::vec(pair, 1..30).prop_map(|all| {
        let pair = |(n, (current, candidate, critical))| Pair { task: format!("t{n}"), critical, current, candidate };
        all.into_iter().enumerate().map(pair).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_early_verdict_is_the_verdict_on_all(
        policy in any_policy(), pairs in any_pairs(), metric in prop::sample::select(vec![Metric::Hard, Metric::Soft, Metric::Mixed(0.3)]),
        order in prop::collection::vec(0_u32..1_000, 30), known in any::<bool>()
    ) {
        let gate = Gate { metric, policy, min_coverage: 0.9, use_gate: true };
        let wanted = gate.look(&pairs).map(|decision| decision.verdict);
        prop_assert!(wanted.is_some(), "all is measured");
        let mut places: Vec<usize> = (0..pairs.len()).collect();
        places.sort_by_key(|place| order[*place]);
        let mut so_far = pairs.clone();
        for pair in &mut so_far {
            pair.candidate = Measured::Pending;
            if !known {
                pair.current = Measured::Pending;
            }
        }
        for place in places {
            if let Some(early) = gate.look(&so_far) {
                prop_assert_eq!(Some(early.verdict), wanted);
            }
            so_far[place] = pairs[place].clone();
        }
    }

    #[test]
    fn strict_is_the_sign_of_the_difference_of_means(pairs in any_pairs()) {
        let decision = gate(Policy::Strict).look(&pairs).unwrap();
        prop_assert_eq!(decision.verdict == Accept, decision.candidate > decision.current);
        let null = decision.null_acceptance.unwrap();
        prop_assert!((0.0..=0.5 + 1e-9).contains(&null));
    }

    #[test]
    fn more_wins_never_turn_an_acceptance_into_something_else(pairs in any_pairs(), place in 0_usize..30) {
        let gate = gate(Policy::Sequential { level: 0.05 });
        let place = place % pairs.len();
        let mut better = pairs.clone();
        better[place].candidate = Measured::Is(score(1.0, 1.0));
        let of = |pairs: &[Pair]| gate.look(pairs).unwrap().verdict;
        if of(&pairs) == Accept {
            prop_assert_eq!(of(&better), Accept);
        }
    }
}
