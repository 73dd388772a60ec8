//! What goes over the wire and comes back, when all is well.

use std::net::TcpListener;

use serde::Deserialize;
use serde_json::json;
use skilltrain::ground::env::Env;
use skilltrain::llm::{Message, Request, Schema, Stop, Tool};

use crate::server::{Server, Step, answer, completion, json_reply, status};
use crate::world::{World, ask};

#[derive(Debug, Deserialize, PartialEq)]
struct Size {
    size: u32,
}

fn sized() -> Request {
    let schema = Schema { name: "size".into(), schema: json!({"type": "object"}) };
    Request { schema: Some(schema), ..ask("how large?") }
}

#[test]
fn a_question_is_answered_over_a_connection_that_is_kept() {
    let server = Server::by(|_, number| Some(answer(&format!("answer {number}"))));
    let world = World::new();
    let client = world.client(&server);
    for number in 0..5 {
        assert_eq!(client.chat(&ask("hi")).unwrap().text, format!("answer {number}"));
    }
    let seen = server.seen();
    assert_eq!(seen[0].line, "POST /v1/chat/completions HTTP/1.1");
    assert!(seen.iter().all(|seen| seen.connection == 0), "one connection serves them all");
    assert!(!seen[0].headers.contains_key("authorization"), "no key, no header");
    assert!(!seen[0].headers.contains_key("accept-encoding"));
    assert_eq!(seen[0].body, json!({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}));
    let total = world.total();
    assert_eq!((total.calls, total.input_tokens, total.output_tokens, total.unpriced), (5, 50, 10, 5));
}

#[test]
fn a_reply_in_chunks_is_whole() {
    let text = completion(json!({"content": "é"}), "stop").to_string();
    let parts = text.chars().collect::<Vec<_>>().chunks(7).map(|part| part.iter().collect()).collect();
    let server = Server::script([Step::Chunked(parts), answer("next")]);
    let client = World::new().client(&server);
    assert_eq!(client.chat(&ask("hi")).unwrap().text, "é");
    assert_eq!(client.chat(&ask("hi")).unwrap().text, "next");
}

#[test]
fn the_key_is_sent_in_the_header_of_its_provider_and_seen_nowhere() {
    let key = "sk-secret-0123456789";
    let denied = format!("{{\"error\":{{\"message\":\"bad key {key}\"}}}}");
    for (name, header, value) in
        [("openai", "authorization", format!("Bearer {key}")), ("anthropic", "x-api-key", key.to_owned())]
    {
        let server = Server::script([status(401, &denied)]);
        let mut world = World::new();
        world.env = Env::of("skilltrain", [("MY_KEY", key)]);
        world.settings.key_env = Some("MY_KEY".into());
        let http = world.http(&format!("{name}:m@{}", server.url()));
        assert!(!format!("{http:?}").contains(key));
        let failure = world.client_of(std::sync::Arc::new(http)).chat(&ask("hi")).unwrap_err();
        assert_eq!(server.seen()[0].headers[header], value);
        assert!(!format!("{failure:?} {failure}").contains(key), "{failure}");
        assert!(failure.message.contains("bad key [key]"), "{failure}");
    }
}

#[test]
fn anthropic_is_asked_in_its_own_way() {
    let reply = json!({"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn",
                       "usage": {"input_tokens": 3, "output_tokens": 1}});
    let server = Server::script([json_reply(&reply)]);
    let world = World::new();
    let client = world.client_of(std::sync::Arc::new(world.http(&format!("anthropic:c@{}", server.url()))));
    let request = Request::new(vec![Message::system("brief"), Message::user("hi")], 9);
    assert_eq!(client.chat(&request).unwrap().text, "hi");
    let seen = &server.seen()[0];
    assert_eq!(
        (seen.line.as_str(), seen.headers["anthropic-version"].as_str()),
        ("POST /v1/messages HTTP/1.1", "2023-06-01")
    );
    assert_eq!(seen.body["system"][0]["text"], "brief");
}

#[test]
fn tools_are_called_and_their_results_go_back_under_their_ids() {
    let call =
        json!({"id": "c7", "type": "function", "function": {"name": "read_card", "arguments": "{\"path\":\"a.md\"}"}});
    let server = Server::script([
        json_reply(&completion(json!({"content": null, "tool_calls": [call]}), "tool_calls")),
        answer("done"),
    ]);
    let client = World::new().client(&server);
    let tool = Tool { name: "read_card".into(), description: "Reads.".into(), input: json!({"type": "object"}) };
    let mut request = Request { tools: vec![tool], ..ask("look") };
    let reply = client.chat(&request).unwrap();
    assert_eq!((reply.stop.clone(), reply.calls[0].input.clone()), (Stop::Tools, json!({"path": "a.md"})));
    request.messages.push(reply.message());
    request.messages.push(Message::Tool { id: reply.calls[0].id.clone(), text: "text".into(), failed: false });
    assert_eq!(client.chat(&request).unwrap().text, "done");
    let sent = &server.seen()[1].body["messages"];
    assert_eq!((&sent[1]["tool_calls"][0]["id"], &sent[2]["tool_call_id"]), (&json!("c7"), &json!("c7")));
}

#[test]
fn a_server_without_schemas_is_asked_without_and_remembered() {
    let refusal = r#"{"error":{"message":"response_format json_schema is not supported","param":"response_format"}}"#;
    let server = Server::script([status(400, refusal), answer("so: {\"size\": 4}"), answer("{\"size\": 5}")]);
    let world = World::new();
    let client = world.client(&server);
    assert_eq!(client.ask::<Size>(&sized()).unwrap().value, Size { size: 4 });
    assert_eq!(client.ask::<Size>(&sized()).unwrap().value, Size { size: 5 });
    let had: Vec<bool> = server.seen().iter().map(|seen| seen.body.get("response_format").is_some()).collect();
    assert_eq!(had, [true, false, false]);
    assert_eq!(world.total().calls, 2);
}

#[test]
fn a_server_that_wants_the_limit_under_its_other_name_gets_it() {
    let refusal = r#"{"error":{"message":"Unsupported parameter: use 'max_completion_tokens' instead."}}"#;
    let server = Server::script([status(400, refusal), answer("ok"), answer("ok")]);
    let client = World::new().client(&server);
    client.chat(&ask("hi")).unwrap();
    client.chat(&ask("hi")).unwrap();
    let limits: Vec<bool> = server.seen().iter().map(|seen| seen.body["max_completion_tokens"] == 100).collect();
    assert_eq!(limits, [false, true, true]);
}

#[test]
fn an_answer_of_the_wrong_shape_is_put_right_once() {
    let server = Server::script([answer("{\"size\": \"eight\"}"), answer("{\"size\": 8}")]);
    let asked = World::new().client(&server).ask::<Size>(&sized()).unwrap();
    assert_eq!(asked.value, Size { size: 8 });
    assert!(server.seen()[1].last().contains("size: invalid type: string"), "{}", server.seen()[1].last());
}

#[test]
fn loopback_is_reached_over_ipv6_and_never_through_a_proxy() {
    // A machine without IPv6 has nothing to test here.
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        return;
    };
    let six = Server::listen(listener, |_, _| Some(answer("six")));
    let mut world = World::new();
    let dead = "http://127.0.0.1:9";
    world.env = Env::of("skilltrain", ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"].map(|name| (name, dead)));
    assert_eq!(world.client(&six).chat(&ask("hi")).unwrap().text, "six");
    let four = Server::script([answer("four")]);
    assert_eq!(world.client(&four).chat(&ask("hi")).unwrap().text, "four");
}

#[test]
fn other_hosts_are_reached_through_the_proxy() {
    let proxy = Server::script([status(200, ""), answer("through")]);
    let mut world = World::new();
    world.env = Env::of("skilltrain", [("http_proxy", format!("http://{}", proxy.address()))]);
    let client = world.client_of(std::sync::Arc::new(world.http("openai:m@http://far.example/v1")));
    let reply = client.chat(&ask("hi"));
    let lines: Vec<String> = proxy.seen().iter().map(|seen| seen.line.clone()).collect();
    assert_eq!(lines, ["CONNECT far.example:80 HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"]);
    assert_eq!(reply.unwrap().text, "through");
}
