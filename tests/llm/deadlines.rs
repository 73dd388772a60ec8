//! Calls that would never end, and users who do not want to wait: every call ends all the same.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use skilltrain::llm::{Limits, Why};

use crate::server::{Server, Step, answer};
use crate::world::{World, ask};

/// Everything after which a reply can fail to come.
fn endless() -> Vec<Step> {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    vec![
        Step::Silent,
        Step::Stall(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Step::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"".to_vec()),
        Step::Stall(format!("{chunked}5\r\n{{\"cho\r\n").into_bytes()),
        Step::Drip(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n{".to_vec()),
        Step::Drip(b"HTTP/1.1 200 OK\r\nx-slow: ".to_vec()),
        Step::Drip(format!("{chunked}fffffff\r\n").into_bytes()),
    ]
}

#[test]
fn a_deadline_ends_a_call_whatever_the_server_does() {
    for step in endless() {
        let server = Server::script([step.clone()]);
        let mut world = World::new();
        world.settings.timeout = 0.15;
        world.settings.retries = 0;
        let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
        assert_eq!((failure.why, failure.lost), (Why::Timeout, true), "{step:?}: {failure}");
        assert_eq!(world.total().lost, 1);
        let spent = world.shared.budget.spent();
        assert_eq!((spent.calls, spent.tokens > 100), (1, true), "it may be billed, so it counts as all it could take");
    }
}

#[test]
fn a_call_that_timed_out_is_made_again() {
    let server = Server::script([Step::Silent, answer("well")]);
    let mut world = World::new();
    world.settings.timeout = 2.0;
    assert_eq!(world.client(&server).chat(&ask("hi")).unwrap().text, "well");
    assert_eq!(world.total().failed, 1);
}

#[test]
fn a_call_in_flight_is_given_up_when_the_user_stops() {
    for step in endless() {
        let (arrived, called) = mpsc::channel();
        let server = Server::by(move |_, number| {
            arrived.send(()).unwrap();
            (number == 0).then(|| step.clone())
        });
        let mut world = World::new();
        world.settings.timeout = 3_600.0;
        let client = world.client(&server);
        let cancel = world.shared.cancel.clone();
        let call = std::thread::spawn(move || client.chat(&ask("hi")));
        called.recv().unwrap();
        let asked = Instant::now();
        cancel.ask();
        assert_eq!(call.join().unwrap().unwrap_err().why, Why::Cancelled);
        assert!(asked.elapsed() < Duration::from_secs(60), "an hour is not waited for");
        assert_eq!(world.client(&server).chat(&ask("more")).unwrap_err().why, Why::Cancelled);
        assert_eq!(server.seen().len(), 1, "nothing begins after the stop");
    }
}

#[test]
fn the_budgets_time_ends_a_call() {
    let server = Server::script([Step::Silent]);
    let world = World::with_budget(Limits { max_minutes: Some(0.002), ..Limits::default() });
    let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
    assert_eq!(failure.why, Why::Budget);
}
