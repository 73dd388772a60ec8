use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::llm::failure::Why;
use crate::llm::reply::Stop;
use crate::llm::request::{Message, Schema, Tool};

const ALL: Abilities = Abilities { schema: true, completion_limit: false };

fn conversation() -> Request {
    let call = ToolCall { id: "c1".into(), name: "read".into(), input: json!({"path": "a"}), problem: None };
    Request {
        tools: vec![Tool { name: "read".into(), description: "Reads.".into(), input: json!({"type": "object"}) }],
        temperature: Some(0.0),
        seed: Some(7),
        stop: vec!["END".into()],
        cache: true,
        ..Request::new(
            vec![
                Message::system("be brief"),
                Message::user("look"),
                Message::Assistant { text: String::new(), calls: vec![call] },
                Message::Tool { id: "c1".into(), text: "nothing there".into(), failed: true },
                Message::user("go on"),
            ],
            64,
        )
    }
}

fn answering() -> Request {
    let schema = Schema { name: "edits".into(), schema: json!({"type": "object", "properties": {}}) };
    Request { schema: Some(schema), ..Request::new(vec![Message::user("hi")], 8) }
}

#[test]
fn a_question_has_the_shape_that_each_server_wants() {
    insta::assert_json_snapshot!("openai_conversation", Dialect::OpenAi.encode(&conversation(), "m", ALL));
    insta::assert_json_snapshot!("anthropic_conversation", Dialect::Anthropic.encode(&conversation(), "m", ALL));
    insta::assert_json_snapshot!("openai_schema", Dialect::OpenAi.encode(&answering(), "m", ALL));
    insta::assert_json_snapshot!("anthropic_schema", Dialect::Anthropic.encode(&answering(), "m", ALL));
}

#[test]
fn what_a_server_cannot_take_is_left_out() {
    let poor = Abilities { schema: false, completion_limit: true };
    for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
        let body = dialect.encode(&answering(), "m", poor);
        assert!(body.get("response_format").is_none() && body.get("tools").is_none(), "{body}");
    }
    assert_eq!(Dialect::OpenAi.encode(&answering(), "m", poor)["max_completion_tokens"], 8);
    let mut own = answering();
    own.extra.insert("max_tokens".into(), json!(5));
    assert_eq!(Dialect::OpenAi.encode(&own, "m", ALL)["max_tokens"], 5, "the user's own field wins");
}

fn openai(message: Value, finish: Value) -> Value {
    json!({"choices": [{"message": message, "finish_reason": finish}],
           "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}})
}

fn anthropic(content: Value, stop: &str) -> Value {
    json!({"content": content, "stop_reason": stop,
           "usage": {"input_tokens": 3, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2, "output_tokens": 4}})
}

#[test]
fn answers_and_their_usage_are_read() {
    let reply = Dialect::OpenAi.decode(&openai(json!({"content": "hi"}), json!("stop"))).unwrap();
    assert_eq!((reply.text.as_str(), &reply.stop), ("hi", &Stop::Done));
    let used = reply.usage.unwrap().usage;
    assert_eq!((used.input_tokens, used.cached_tokens, used.output_tokens, used.cost_usd), (10, 4, 2, None));
    let reply = Dialect::Anthropic.decode(&anthropic(json!([{"type": "text", "text": "hi"}]), "end_turn")).unwrap();
    let used = reply.usage.unwrap();
    assert_eq!((used.usage.input_tokens, used.usage.cached_tokens, used.written_tokens), (10, 5, 2));
    let parts = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
    assert_eq!(Dialect::OpenAi.decode(&openai(json!({"content": parts}), json!("stop"))).unwrap().text, "ab");
    let unsaid =
        json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}});
    assert_eq!(Dialect::OpenAi.decode(&unsaid).unwrap().usage, None, "half a usage is none");
}

#[test]
fn an_ending_that_is_no_answer_is_a_failure() {
    let why = |dialect: Dialect, body: Value| dialect.decode(&body).unwrap_err().why;
    assert_eq!(why(Dialect::OpenAi, openai(json!({"content": "hal"}), json!("length"))), Why::CutOff);
    assert_eq!(why(Dialect::OpenAi, openai(json!({"content": ""}), json!("content_filter"))), Why::Refused);
    assert_eq!(why(Dialect::OpenAi, openai(json!({"content": null, "refusal": "no"}), json!("stop"))), Why::Refused);
    assert_eq!(why(Dialect::OpenAi, openai(json!({"content": "x"}), json!("error"))), Why::Outage);
    for stop in ["max_tokens", "model_context_window_exceeded"] {
        assert_eq!(why(Dialect::Anthropic, anthropic(json!([]), stop)), Why::CutOff);
    }
    assert_eq!(why(Dialect::Anthropic, anthropic(json!([]), "refusal")), Why::Refused);
    let cut = Dialect::OpenAi.decode(&openai(json!({"content": "hal"}), json!("length"))).unwrap_err();
    assert_eq!((cut.text.as_deref(), cut.usage.unwrap().usage.output_tokens), (Some("hal"), 2));
    for body in [json!({}), json!([]), json!(null), json!({"choices": []}), json!({"choices": [{}]}), json!("x")] {
        assert_eq!(why(Dialect::OpenAi, body.clone()), Why::Malformed, "{body}");
        assert_eq!(why(Dialect::Anthropic, body), Why::Malformed);
    }
    assert_eq!(why(Dialect::OpenAi, openai(json!({"content": 7}), json!("stop"))), Why::Malformed);
}

#[test]
fn tool_calls_are_read_in_every_form() {
    let calls = json!([
        {"id": "a", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
        {"id": "a", "function": {"name": "read", "arguments": {"path": "y"}}},
        {"function": {"name": "list"}},
        {"id": "", "function": {"name": "bad", "arguments": "{\"path\":"}},
        {"id": "l", "function": {"name": "bad", "arguments": "[1]"}},
        {"id": "nameless", "function": {}},
        7,
    ]);
    let reply = Dialect::OpenAi.decode(&openai(json!({"content": null, "tool_calls": calls}), json!("stop"))).unwrap();
    assert_eq!(reply.stop, Stop::Tools);
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["a", "a_1", "call_2", "call_3", "l"]);
    assert_eq!(reply.calls[1].input, json!({"path": "y"}));
    assert_eq!(reply.calls[2].input, json!({}));
    assert!(reply.calls[3].problem.as_ref().unwrap().contains("{\"path\":"));
    assert!(reply.calls[4].problem.as_ref().unwrap().contains("not an object"));
    let content = json!([{"type": "text", "text": "ok"}, {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "x"}}]);
    let reply = Dialect::Anthropic.decode(&anthropic(content, "tool_use")).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len(), reply.stop), ("ok", 1, Stop::Tools));
}

#[test]
fn an_answer_through_a_forced_tool_is_the_text() {
    let content = json!([{"type": "tool_use", "id": "t", "name": "give_the_answer", "input": {"edits": []}}]);
    let reply = Dialect::Anthropic.decode(&anthropic(content, "tool_use")).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len(), reply.stop), (r#"{"edits":[]}"#, 0, Stop::Done));
}

/// JSON of any shape that uses the words which the decoders look for.
fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "choices",
        "message",
        "content",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "usage",
        "type",
        "text",
        "tool_use",
        "finish_reason",
        "stop_reason",
        "prompt_tokens",
        "completion_tokens",
        "input_tokens",
        "output_tokens",
    ];
    let word = proptest::sample::select(words.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..4)
                .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_reply_is_survived(body in any_json(), message in any_json()) {
        for body in [&body, &openai(message.clone(), json!("stop")), &anthropic(message, "tool_use")] {
            let _ = Dialect::OpenAi.decode(body);
            let _ = Dialect::Anthropic.decode(body);
            let _ = failure_of(500, body.to_string().as_bytes());
        }
    }
}
