//! Budgets over real calls: what is in flight cannot pass them, and what they say when they are used up.

use skilltrain::ground::error::Error;
use skilltrain::llm::{Failure, Limits, Money, Price, Why};

use crate::server::{Server, answer, status};
use crate::world::{World, ask};

/// Makes calls from many threads until each of them is refused, and gives the refusals.
fn drain(world: &World, server: &Server, threads: usize) -> Vec<Failure> {
    let client = world.client(server);
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        if let Err(failure) = client.chat(&ask("hi")) {
                            return failure;
                        }
                    }
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    })
}

#[test]
fn each_limit_holds_with_many_calls_in_flight() {
    let price = Price { input: 1_000.0, output: 1_000.0, cached: None, written: None };
    // A call takes 12 tokens, at most about 180 as far as anyone knows before it.
    let cases = [
        (Limits { max_calls: Some(37), ..Limits::default() }, 37..=37),
        (Limits { max_tokens: Some(1_000), ..Limits::default() }, 60..=83),
        (Limits { max_usd: Some(1.0), ..Limits::default() }, 60..=83),
    ];
    for (limits, right) in cases {
        let server = Server::by(|_, _| Some(answer("ok")));
        let mut world = World::with_budget(limits);
        world.price = Some(price);
        let refusals = drain(&world, &server, 32);
        assert!(refusals.iter().all(|failure| failure.why == Why::Budget), "{refusals:?}");
        assert!(right.contains(&server.seen().len()), "{limits:?}: {} calls", server.seen().len());
        let spent = world.shared.budget.spent();
        assert!(spent.tokens <= 1_000 && spent.money <= Money::usd(1.0), "{spent:?}");
        assert_eq!(Error::from(refusals[0].clone()).kind().exit_code(), 1);
    }
}

#[test]
fn attempts_that_were_not_answered_are_no_calls() {
    let server = Server::by(|_, number| Some(if number < 5 { status(503, "") } else { answer("ok") }));
    let world = World::with_budget(Limits { max_calls: Some(1), ..Limits::default() });
    let client = world.client(&server);
    assert_eq!(client.chat(&ask("hi")).unwrap().text, "ok");
    assert_eq!(client.chat(&ask("hi")).unwrap_err().why, Why::Budget);
    assert_eq!(server.seen().len(), 6);
}

#[test]
fn a_budget_of_money_needs_a_price() {
    let server = Server::script([]);
    let world = World::with_budget(Limits { max_usd: Some(1.0), ..Limits::default() });
    let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
    assert_eq!(failure.why, Why::Budget);
    assert!(Error::from(failure).hints()[0].contains("[prices]"));
}
