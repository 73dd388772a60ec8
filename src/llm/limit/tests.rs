use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;
use crate::llm::clock::VirtualClock;
use crate::llm::failure::Why;

fn limiter(rates: Rates) -> (Limiter, Arc<VirtualClock>) {
    let clock = Arc::new(VirtualClock::default());
    (Limiter::new(rates, clock.clone()), clock)
}

fn requests(per_minute: u32) -> Rates {
    Rates { requests_per_minute: Some(per_minute), ..Rates::default() }
}

/// When each of these requests began, in seconds.
fn starts(limiter: &Limiter, clock: &VirtualClock, tokens: &[u64]) -> Vec<f64> {
    let begin = |tokens: &u64| {
        limiter.enter(*tokens, &Cancel::default()).unwrap().answered(None);
        clock.now().as_secs_f64()
    };
    tokens.iter().map(begin).collect()
}

#[test]
fn no_minute_holds_more_than_the_rate() {
    let (limiter, clock) = limiter(requests(2));
    assert_eq!(starts(&limiter, &clock, &[0; 5]), [0.0, 0.0, 60.0, 60.0, 120.0]);
}

#[test]
fn tokens_are_counted_as_estimated_then_as_they_were() {
    let rates = Rates { tokens_per_minute: Some(100), ..Rates::default() };
    let (by_estimate, clock) = limiter(rates);
    assert_eq!(starts(&by_estimate, &clock, &[60, 40, 1, 500, 1]), [0.0, 0.0, 60.0, 120.0, 180.0]);
    let (corrected, clock) = limiter(rates);
    for _ in 0..10 {
        corrected.enter(90, &Cancel::default()).unwrap().answered(Some(1));
    }
    assert_eq!(clock.now(), Duration::ZERO, "ten calls that took one token each");
}

#[test]
fn a_refusal_halves_the_rate_once_and_answers_bring_it_back() {
    let (limiter, clock) = limiter(requests(8));
    let cancel = Cancel::default();
    let together: Vec<Pass<'_>> = (0..4).map(|_| limiter.enter(0, &cancel).unwrap()).collect();
    together.into_iter().for_each(|pass| pass.throttled(Some(Duration::from_secs(7))));
    assert_eq!(limiter.lock().share, 0.5, "four refusals of one moment are one");
    limiter.enter(0, &cancel).unwrap().answered(None);
    assert_eq!(clock.now().as_secs(), 60, "half of eight were used up, so the fifth waits for the minute");
    limiter.enter(0, &cancel).unwrap().throttled(None);
    assert!(limiter.lock().share < 0.27);
    starts(&limiter, &clock, &[0; 60]);
    assert_eq!(limiter.lock().share, 1.0);
}

#[test]
fn the_servers_wait_holds_for_all() {
    let (limiter, clock) = limiter(Rates::default());
    limiter.enter(0, &Cancel::default()).unwrap().throttled(Some(Duration::from_secs(9)));
    assert_eq!(starts(&limiter, &clock, &[0, 0]), [9.0, 9.0]);
}

#[test]
fn without_a_configured_rate_fewer_go_at_once() {
    let (limiter, _) = limiter(Rates::default());
    let cancel = Cancel::default();
    let together: Vec<Pass<'_>> = (0..16).map(|_| limiter.enter(0, &cancel).unwrap()).collect();
    together.into_iter().for_each(|pass| pass.throttled(None));
    assert_eq!(limiter.lock().width, 8.0);
    for _ in 0..1_000 {
        limiter.enter(0, &cancel).unwrap().answered(None);
    }
    assert_eq!(limiter.lock().width, f64::INFINITY);
}

#[test]
fn many_threads_never_pass_the_width_and_all_are_served() {
    let (limiter, _) = limiter(Rates { max_in_flight: Some(3), ..Rates::default() });
    let (now, most, served) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let pass = limiter.enter(1, &Cancel::default()).unwrap();
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                    served.fetch_add(1, Ordering::SeqCst);
                    pass.answered(None);
                }
            });
        }
    });
    assert_eq!(served.load(Ordering::SeqCst), 64 * 20);
    assert!(most.load(Ordering::SeqCst) <= 3);
}

#[test]
fn all_who_wait_leave_when_the_user_stops() {
    let (limiter, _) = limiter(Rates { max_in_flight: Some(1), ..Rates::default() });
    let cancel = Cancel::default();
    let pass = limiter.enter(0, &cancel).unwrap();
    let whys = std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..16).map(|_| scope.spawn(|| limiter.enter(0, &cancel).map(drop))).collect();
        while limiter.lock().next < 17 {
            std::thread::yield_now();
        }
        cancel.ask();
        drop(pass);
        waiting.into_iter().map(|thread| thread.join().unwrap().unwrap_err().why).collect::<Vec<_>>()
    });
    assert_eq!(whys, [Why::Cancelled; 16]);
}

proptest! {
    #[test]
    fn any_minute_of_any_load_is_within_the_rates(
        requests in 1u32..6, tokens in 1u64..50, load in proptest::collection::vec((0u64..40, 0u64..30), 1..40)
    ) {
        let rates = Rates { requests_per_minute: Some(requests), tokens_per_minute: Some(tokens), max_in_flight: None };
        let (limiter, clock) = limiter(rates);
        let mut began = Vec::new();
        for (size, pause) in load {
            clock.advance(Duration::from_secs(pause));
            limiter.enter(size, &Cancel::default()).unwrap().answered(None);
            began.push((clock.now(), size));
        }
        for (at, _) in &began {
            let minute: Vec<_> = began.iter().filter(|(other, _)| other <= at && *other + MINUTE > *at).collect();
            prop_assert!(minute.len() <= requests as usize);
            prop_assert!(minute.len() == 1 || minute.iter().map(|(_, size)| size).sum::<u64>() <= tokens);
        }
    }
}
