use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::ground::error::Kind;
use crate::llm::clock::VirtualClock;

fn budget(limits: Limits) -> (Budget, Arc<VirtualClock>) {
    let clock = Arc::new(VirtualClock::default());
    (Budget::new(limits, Spent::default(), clock.clone()), clock)
}

fn tokens(count: u64) -> Bound {
    Bound { tokens: count, money: None }
}

fn money(usd: f64) -> Bound {
    Bound { tokens: 1, money: Some(Money::usd(usd)) }
}

#[test]
fn each_limit_refuses_the_call_that_could_pass_it() {
    let (calls, _) = budget(Limits { max_calls: Some(2), ..Limits::default() });
    calls.reserve(tokens(1)).unwrap().settle(Some(1), None);
    calls.reserve(tokens(1)).unwrap().release();
    calls.reserve(tokens(1)).unwrap().settle(Some(1), None);
    let failure = calls.reserve(tokens(1)).unwrap_err();
    assert_eq!(failure.why, Why::Budget);
    assert!(failure.message.contains("max_calls = 2"), "{failure}");

    let (sum, _) = budget(Limits { max_tokens: Some(100), ..Limits::default() });
    sum.reserve(tokens(100)).unwrap().settle(Some(40), None);
    assert!(sum.reserve(tokens(61)).is_err());
    sum.reserve(tokens(60)).unwrap().settle(None, None);
    assert_eq!(sum.spent().tokens, 100, "what is unknown counts whole");

    let (usd, _) = budget(Limits { max_usd: Some(1.0), ..Limits::default() });
    assert!(usd.reserve(tokens(1)).unwrap_err().hint.unwrap().contains("[prices]"));
    usd.reserve(money(1.0)).unwrap().settle(Some(1), Some(Money::usd(0.25)));
    assert!(usd.reserve(money(0.76)).is_err());
    drop(usd.reserve(money(0.75)).unwrap());
    assert_eq!(usd.spent().money, Money::usd(1.0), "what is dropped counts whole");
}

#[test]
fn time_counts_over_a_resume() {
    let clock = Arc::new(VirtualClock::default());
    let limits = Limits { max_minutes: Some(2.0), ..Limits::default() };
    let budget = Budget::new(limits, Spent { seconds: 60.0, ..Spent::default() }, clock.clone());
    assert_eq!(budget.time_left(), Some(Duration::from_secs(60)));
    budget.reserve(tokens(1)).unwrap().release();
    clock.advance(Duration::from_secs(60));
    assert_eq!(budget.time_left(), Some(Duration::ZERO));
    assert!(budget.reserve(tokens(1)).unwrap_err().message.contains("max_minutes"));
}

#[test]
fn a_run_that_cannot_finish_its_minimum_is_refused_with_it() {
    let need = Spent { calls: 45, tokens: 9_000, money: Money::usd(0.5), seconds: 0.0 };
    let refusal = |limits| {
        let error = budget(limits).0.check_minimum(need, "one step").unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        error.to_string()
    };
    insta::assert_snapshot!(refusal(Limits { max_calls: Some(5), ..Limits::default() }), @"the budget does not suffice: one step needs 45 calls, max_calls is 5");
    insta::assert_snapshot!(refusal(Limits { max_usd: Some(0.4), ..Limits::default() }), @"the budget does not suffice: one step needs $0.50, max_usd is $0.40");
    insta::assert_snapshot!(refusal(Limits { max_tokens: Some(8_999), ..Limits::default() }), @"the budget does not suffice: one step needs 9000 tokens, max_tokens is 8999");
    let (enough, _) =
        budget(Limits { max_calls: Some(45), max_tokens: Some(9_000), max_usd: Some(0.5), max_minutes: Some(1.0) });
    enough.check_minimum(need, "one step").unwrap();
}

#[test]
fn calls_in_flight_cannot_pass_a_limit_and_unused_bounds_come_back() {
    let (budget, _) = budget(Limits { max_tokens: Some(1_000), ..Limits::default() });
    let (in_flight, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let made = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..10 {
                    // A hundred set aside, one taken: ten fit at once, and all 640 in the end but for the last.
                    let Ok(hold) = budget.reserve(tokens(100)) else {
                        return;
                    };
                    let now = in_flight.fetch_add(100, Ordering::SeqCst) + 100;
                    most.fetch_max(now, Ordering::SeqCst);
                    assert!(now <= 1_000);
                    std::thread::yield_now();
                    in_flight.fetch_sub(100, Ordering::SeqCst);
                    made.fetch_add(1, Ordering::SeqCst);
                    hold.settle(Some(1), None);
                }
            });
        }
    });
    assert_eq!(made.load(Ordering::SeqCst), 640);
    assert_eq!(budget.spent().tokens, 640);
    assert!(most.load(Ordering::SeqCst) >= 100);
}
