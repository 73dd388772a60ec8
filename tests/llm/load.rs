//! Many threads at once: every answer goes to its question, storms pass, and rates hold.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use skilltrain::llm::Client;

use crate::server::{Server, answer, status, status_after};
use crate::world::{World, ask};

/// Asks so many questions from each of 64 threads; each answer must be its question's.
fn ask_all(client: &Client, each: usize) {
    std::thread::scope(|scope| {
        for thread in 0..64 {
            scope.spawn(move || {
                for number in 0..each {
                    let text = format!("{thread}.{number}");
                    assert_eq!(client.chat(&ask(&text)).unwrap().text, format!("re {text}"));
                }
            });
        }
    });
}

#[test]
fn sixty_four_threads_share_a_server() {
    let server = Server::by(|seen, _| Some(answer(&format!("re {}", seen.last()))));
    let world = World::new();
    ask_all(&world.client(&server), 10);
    assert_eq!(world.total().calls, 640);
    let connections: BTreeSet<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert!(connections.len() <= 128, "connections are kept: {}", connections.len());
}

#[test]
fn a_storm_of_refusals_passes() {
    let refused = AtomicUsize::new(0);
    let server = Server::by(move |seen, number| {
        // Two in three are refused at first, every way in which servers do it.
        if number % 3 != 0 && refused.fetch_add(1, Ordering::SeqCst) < 100 {
            return Some(if number % 2 == 0 { status(429, "{}") } else { status_after(429, "1") });
        }
        Some(answer(&format!("re {}", seen.last())))
    });
    let mut world = World::new();
    world.settings.retries = 100;
    ask_all(&world.client(&server), 3);
    let total = world.total();
    assert_eq!((total.calls, total.failed), (192, 100));
}

#[test]
fn no_more_are_in_flight_than_allowed() {
    let server = Server::by(|seen, _| Some(answer(&format!("re {}", seen.last()))));
    let mut world = World::new();
    world.settings.max_in_flight = Some(4);
    ask_all(&world.client(&server), 3);
    assert!(server.most_at_once() <= 4, "{}", server.most_at_once());
}

#[test]
fn a_rate_holds_for_all_threads_together() {
    let server = Server::by(|seen, _| Some(answer(&format!("re {}", seen.last()))));
    let mut world = World::new();
    world.settings.requests_per_minute = Some(48);
    ask_all(&world.client(&server), 3);
    // 192 requests at 48 a minute begin in four bursts, with three minutes in between.
    assert_eq!(world.slept().iter().sum::<f64>(), 180.0);
}
