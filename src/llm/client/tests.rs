use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::llm::budget::{Limits, Spent};
use crate::llm::clock::VirtualClock;
use crate::llm::request::Schema;
use crate::llm::scripted::Scripted;

#[derive(Debug, Deserialize, PartialEq)]
struct Answer {
    edits: Vec<Edit>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Edit {
    op: String,
}

fn shared(limits: Limits) -> Shared {
    let budget = Budget::new(limits, Spent::default(), Arc::new(VirtualClock::default()));
    Shared { budget: Arc::new(budget), ledger: Arc::default(), cancel: Cancel::default(), prompts: Prompts::default() }
}

fn client(script: Scripted) -> (Client, Arc<Scripted>) {
    let script = Arc::new(script);
    (Client::new(script.clone(), shared(Limits::default()), None, Role::Optimizer), script)
}

fn request() -> Request {
    let schema = Schema { name: "edits".into(), schema: json!({"type": "object"}) };
    Request { schema: Some(schema), ..Request::new(vec![Message::user("edit")], 100) }
}

fn cut(text: &str) -> Result<Reply, Failure> {
    Err(Failure { text: Some(text.into()), ..Failure::new(Why::CutOff, "cut off at its limit") })
}

const GOOD: &str = r#"{"edits":[{"op":"add"}]}"#;

#[test]
fn a_good_answer_costs_one_call() {
    let (client, script) = client(Scripted::texts([format!("Here:\n```json\n{GOOD}\n```")]));
    let asked = client.ask::<Answer>(&request()).unwrap();
    assert_eq!((asked.value.edits.len(), asked.repaired), (1, None));
    assert_eq!(script.asked().len(), 1);
}

#[test]
fn a_bad_answer_gets_one_turn_and_is_told_what_is_wrong() {
    let bad = [
        (r#"{"edits":["add a line"]}"#, "edits[0]"),
        (r#"{"edits":null}"#, "edits"),
        (r#"{"edits":[{"op":"#, "cut off"),
        ("I would rather not.", "no JSON object"),
        ("", "no JSON object"),
    ];
    for (text, why) in bad {
        let (client, script) = client(Scripted::texts([text, GOOD]));
        let asked = client.ask::<Answer>(&request()).unwrap();
        assert!(asked.repaired.as_ref().unwrap().contains(why), "{text}: {asked:?}");
        let second = &script.asked()[1];
        let last = second.messages.last().unwrap().text();
        assert!(last.contains(why) && last.contains(r#"{"type":"object"}"#), "{last}");
        assert_eq!(second.messages.len(), if text.is_empty() { 2 } else { 3 });
    }
}

#[test]
fn two_bad_answers_are_a_failure_of_the_model() {
    let (client, script) = client(Scripted::texts(["no", "no again"]));
    let failure = client.ask::<Answer>(&request()).unwrap_err();
    assert_eq!((failure.why, failure.is_providers()), (Why::Malformed, false));
    assert_eq!(failure.text.as_deref(), Some("no again"));
    assert_eq!(script.asked().len(), 2);
    assert_eq!(crate::ground::error::Error::from(failure).kind().exit_code(), 1);
}

#[test]
fn an_answer_that_was_cut_off_is_none_even_when_an_object_is_whole() {
    let (one, script) = client(Scripted::in_order([cut(GOOD), Ok(Reply::text(GOOD))]));
    assert!(one.ask::<Answer>(&request()).unwrap().repaired.unwrap().contains("cut off"));
    assert_eq!(script.asked().len(), 2);
    let (two, _) = client(Scripted::in_order([cut(GOOD), cut("{")]));
    assert_eq!(two.ask::<Answer>(&request()).unwrap_err().why, Why::CutOff);
    let (three, _) = client(Scripted::in_order([cut("half")]));
    assert_eq!(three.chat(&request()).unwrap_err().why, Why::CutOff);
}

#[test]
fn a_failed_call_is_not_repaired() {
    for why in [Why::Outage, Why::Refused, Why::Rejected, Why::Budget] {
        let (client, script) = client(Scripted::in_order([Err(Failure::new(why, "x"))]));
        assert_eq!(client.ask::<Answer>(&request()).unwrap_err().why, why);
        assert_eq!(script.asked().len(), 1);
    }
}

#[test]
fn a_script_refuses_what_it_does_not_foresee() {
    let (client, _) = client(Scripted::texts(["one"]));
    client.chat(&request()).unwrap();
    let failure = client.chat(&request()).unwrap_err();
    assert_eq!(failure.why, Why::Unrecorded);
    assert!(failure.message.contains("call 2: edit"), "{failure}");
}

#[test]
fn nothing_begins_after_the_user_stopped() {
    let (client, script) = client(Scripted::texts(["one"]));
    client.shared.cancel.ask();
    assert_eq!(client.chat(&request()).unwrap_err().why, Why::Cancelled);
    assert!(script.asked().is_empty());
}

#[test]
fn use_is_counted_by_role_and_stage() {
    let (client, _) = client(Scripted::by(|_, _| Some(Ok(Reply::text("{}")))));
    client.at("reflect", "step_00").chat(&request()).unwrap();
    client.at("reflect", "step_01").chat(&request()).unwrap();
    client.for_role(Role::Judge).at("gate", "").chat(&request()).unwrap();
    let lines = client.shared.ledger.lines();
    let told: Vec<_> =
        lines.iter().map(|line| (line.account.role, line.account.stage.as_str(), line.sums.calls)).collect();
    assert_eq!(told, [(Role::Optimizer, "reflect", 2), (Role::Judge, "gate", 1)]);
}

#[test]
fn a_call_that_could_pass_the_budget_is_not_made() {
    let script = Arc::new(Scripted::texts(["one", "two"]));
    let limits = Limits { max_calls: Some(1), ..Limits::default() };
    let client = Client::new(script.clone(), shared(limits), None, Role::Target);
    client.chat(&request()).unwrap();
    assert_eq!(client.chat(&request()).unwrap_err().why, Why::Budget);
    assert_eq!(script.asked().len(), 1);
}
