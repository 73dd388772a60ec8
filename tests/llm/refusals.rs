//! Replies that are no answer: which are asked for again, how long that waits, and what is said in the end.

use serde_json::json;
use skilltrain::ground::error::{Error, Kind};
use skilltrain::llm::{Failure, Why};

use crate::server::{Server, Step, answer, completion, json_reply, status, status_after};
use crate::world::{World, ask};

/// The failure that a single reply ends in, without retries.
fn failure(step: Step) -> Failure {
    let server = Server::script([step]);
    let mut world = World::new();
    world.settings.retries = 0;
    world.client(&server).chat(&ask("hi")).unwrap_err()
}

#[test]
fn what_passes_is_tried_again() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [";
    let passing = [
        status(408, ""),
        status(409, ""),
        status(425, ""),
        status(429, "{}"),
        status(500, "boom"),
        status(502, "<html><title>Bad Gateway</title></html>"),
        status(503, ""),
        status(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        status(200, "<!doctype html><title>Log in</title>"),
        status(200, "{\"choices\": ["),
        status(200, ""),
        status(200, "{}"),
        status(200, "null"),
        status(200, "\u{0}\u{1}"),
        status(200, r#"{"error":{"message":"upstream","code":502}}"#),
        json_reply(&completion(json!({"content": "ha"}), "error")),
        Step::Raw(Vec::new()),
        Step::Raw(b"HTTP/1.1 ".to_vec()),
        Step::Raw(b"no http at all\r\n\r\n".to_vec()),
        Step::Raw(half.as_bytes().to_vec()),
        Step::Raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab".to_vec()),
        Step::Raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n".to_vec()),
    ];
    for step in passing {
        let server = Server::script([step.clone(), answer("well")]);
        let world = World::new();
        let reply = world.client(&server).chat(&ask("hi"));
        assert_eq!(reply.map(|reply| reply.text).as_deref(), Ok("well"), "{step:?}");
        assert_eq!((world.total().calls, world.total().failed), (1, 1), "{step:?}");
        assert_eq!(world.slept().len(), 1, "{step:?}");
    }
}

#[test]
fn what_cannot_pass_is_asked_once() {
    for code in [301, 307, 400, 401, 402, 403, 404, 405, 413, 422] {
        let server = Server::script([status(code, r#"{"error":{"message":"no good"}}"#)]);
        let world = World::new();
        let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
        assert_eq!((failure.why, failure.status), (Why::Rejected, Some(code)));
        assert!(failure.message.contains("no good") && failure.message.contains("openai:m@"), "{failure}");
        assert_eq!(Error::from(failure).kind(), Kind::Unreachable);
        assert!(world.slept().is_empty());
    }
    let quota = failure(status(429, r#"{"error":{"code":"insufficient_quota","message":"pay first"}}"#));
    assert_eq!(quota.why, Why::Rejected);
    for (finish, why) in [("length", Why::CutOff), ("content_filter", Why::Refused)] {
        let server = Server::script([json_reply(&completion(json!({"content": "half an ans"}), finish))]);
        let world = World::new();
        let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
        assert_eq!((failure.why, failure.text.as_deref()), (why, Some("half an ans")));
        assert_eq!((world.total().calls, world.total().failed_tokens), (0, 12), "it was paid for all the same");
    }
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = Server::script([]);
    let to = Step::Reply { status: 307, headers: vec![("location", elsewhere.url())], body: String::new() };
    let failure = failure(to);
    assert!(failure.message.contains(&elsewhere.url()), "{failure}");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn nobody_listens() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new();
    let http = world.http(&format!("openai:m@http://{free}/v1"));
    let failure = world.client_of(std::sync::Arc::new(http)).chat(&ask("hi")).unwrap_err();
    assert_eq!(failure.why, Why::Outage);
    assert!(failure.message.contains("nothing listens there (6 attempts)"), "{failure}");
    assert_eq!((world.total().failed, world.total().lost), (6, 0), "what was not sent is not lost");
    assert_eq!(world.shared.budget.spent().calls, 0);
}

#[test]
fn a_server_without_encryption_is_not_asked_again() {
    // What answers an encrypted greeting in plain text.
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in plain.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
            let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
        }
    });
    let world = World::new();
    let http = world.http(&format!("openai:m@https://{address}/v1"));
    let failure = world.client_of(std::sync::Arc::new(http)).chat(&ask("hi")).unwrap_err();
    assert_eq!((failure.why, failure.lost), (Why::Rejected, false), "{failure}");
    assert!(failure.hint.unwrap().contains("scheme"));
    assert!(world.slept().is_empty());
}

#[test]
fn attempts_end_and_waits_grow() {
    let server = Server::by(|_, _| Some(status(503, "down")));
    let world = World::new();
    let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
    assert_eq!(failure.why, Why::Outage);
    assert_eq!(server.seen().len(), 6);
    let slept = world.slept();
    assert_eq!(slept.len(), 5);
    assert!(slept.iter().zip([0.5, 1.0, 2.0, 4.0, 8.0]).all(|(wait, most)| *wait <= most), "{slept:?}");
    assert_eq!(Error::from(failure).kind().exit_code(), 3);
}

#[test]
fn the_servers_wait_is_kept_and_one_that_is_too_long_is_told() {
    // The virtual clock begins with 2026.
    let cases = [
        ("7", 7.0),
        ("0", 0.0),
        ("120", 120.0),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("gibberish", 0.0),
    ];
    for (after, least) in cases {
        let server = Server::script([status_after(503, after), answer("well")]);
        let world = World::new();
        world.client(&server).chat(&ask("hi")).unwrap();
        let slept = world.slept()[0];
        assert!((least..=least + 0.5).contains(&slept), "{after}: {slept}");
    }
    // Asking earlier than the server wants is no use, and nobody waits for a day in silence.
    let server = Server::script([status_after(503, "86400"), answer("well")]);
    let world = World::new();
    let failure = world.client(&server).chat(&ask("hi")).unwrap_err();
    assert!(failure.message.contains("asks for 86400 s of rest") && world.slept().is_empty(), "{failure}");
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_is_not_used() {
    let well = completion(json!({"content": "well"}), "stop").to_string();
    let closing = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{well}", well.len());
    let server = Server::script([Step::Raw(closing.into_bytes()), answer("well")]);
    let world = World::new();
    let client = world.client(&server);
    client.chat(&ask("hi")).unwrap();
    client.chat(&ask("hi")).unwrap();
    // Whether the close was noticed before or after the second request was sent, it was answered.
    assert_eq!(world.total().calls, 2);
}
