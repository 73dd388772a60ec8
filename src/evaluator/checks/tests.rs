use serde_json::{Value, json};

use super::super::testing::{hard, score};
use crate::score::Score;

fn of(checks: &Value, answer: &str) -> Score {
    score("checks", &json!({}), &json!({ "checks": checks }), answer).unwrap()
}

fn fails(checks: Value) -> String {
    let error = score("checks", &json!({}), &json!({ "checks": checks }), "x").unwrap_err();
    assert_eq!(error.kind(), crate::ground::error::Kind::Usage);
    format!("{error} [{}]", error.hints().join("; "))
}

#[test]
fn each_kind_of_check() {
    let rows = [
        (json!({"contains": "4711"}), "It is 4711.", "It is 4712."),
        (json!({"contains": ["a", "b"]}), "a b", "a"),
        (json!({"contains": "K17", "ignore_case": true}), "key k17", "key k18"),
        (json!({"contains": "K17"}), "K17", "k17"),
        (json!({"contains": 328}), "ext. 328", "ext. 32"),
        (json!({"contains_any": ["a", "b"]}), "b", "c"),
        (json!({"not_contains": "sorry", "ignore_case": true}), "fine", "So SORRY"),
        (json!({"matches": "^K\\d+$"}), "K17", "K17."),
        (json!({"matches": "^k", "ignore_case": true}), "K17", "17"),
        (json!({"not_matches": "(?i)as an ai"}), "no", "As an AI"),
        (json!({"equals": "yes", "ignore_case": true}), " Yes\n", "yes."),
        (json!({"max_words": 3}), "one - two three", "one two three four"),
        (json!({"min_words": 2}), "one two", "one !"),
        (json!({"max_chars": 3}), " äöü ", "abcd"),
        (json!({"min_chars": 3}), "abc", "ab"),
        (json!({"json_keys": ["a", "b.c"]}), "so: {\"a\": 1, \"b\": {\"c\": null}}", "{\"a\": 1, \"b\": {}}"),
        (json!({"json_keys": "a"}), "{\"a\": 1}", "a"),
        (json!({"tool_called": "read_card"}), "", ""),
        (json!({"tool_not_called": "shell"}), "", ""),
    ];
    for (check, good, bad) in rows {
        assert_eq!(of(&json!([check]), good).hard, 1.0, "{check}");
        if good != bad {
            assert_eq!(of(&json!([check]), bad).hard, 0.0, "{check}");
        }
    }
    assert_eq!(of(&json!([{"tool_called": "shell"}]), "").hard, 0.0);
    assert_eq!(of(&json!([{"tool_not_called": ["shell", "read_card"]}]), "").hard, 0.0);
}

#[test]
fn hard_is_all_soft_is_the_share_and_the_feedback_is_what_failed() {
    let checks = json!([
        {"contains": "4711", "message": "State it: the door code of the north gate is 4711."},
        {"max_words": 4, "message": "Answer in one short sentence."},
        {"not_contains": "sorry", "message": "Answer in one short sentence."},
        {"min_words": 1},
    ]);
    let score = of(&checks, "I am so very sorry");
    assert_eq!((score.hard, score.soft), (0.0, 0.25));
    assert_eq!(score.feedback, ["State it: the door code of the north gate is 4711.", "Answer in one short sentence."]);
    assert_eq!(of(&checks, "4711"), Score { hard: 1.0, soft: 1.0, feedback: vec![] });
}

#[test]
fn a_check_without_a_message_says_what_it_asks_for() {
    let told = |check: Value| of(&json!([check]), "{}").feedback.remove(0);
    assert_eq!(told(json!({"contains": ["a", "b"]})), "Say \"a\" and \"b\".");
    assert_eq!(told(json!({"not_contains": "{"})), "Do not say \"{\".");
    assert_eq!(told(json!({"min_chars": 9})), "Answer in at least 9 characters.");
    assert_eq!(told(json!({"json_keys": ["a"]})), "Answer with a JSON object that has the keys \"a\".");
    assert_eq!(told(json!({"matches": "x"})), "The answer must match `x`.");
}

#[test]
fn what_is_no_check_is_an_error_at_its_place() {
    let rows = [
        (json!([{"contain": "x"}]), "key `checks[0]`: there is no check `contain` [did you mean `contains`?]"),
        (json!([{"contains": "x"}, {"message": "m"}]), "key `checks[1]`: 0 keys ask for something"),
        (json!([{"contains": "x", "equals": "y"}]), "2 keys ask for something"),
        (json!([{"contains": ""}]), "`contains`: a text is wanted that is not empty"),
        (json!([{"contains": []}]), "`contains`: a text is wanted that is not empty"),
        (json!([{"max_words": "eight"}]), "`max_words`: a whole number is wanted, not \"eight\""),
        (json!([{"matches": "("}]), "`matches`: regex parse error"),
        (json!([{"contains": "x", "ignore_case": "yes"}]), "`ignore_case` is \"yes\", not true or false"),
        (json!([{"contains": "x", "message": 3}]), "`message` is 3, not a text"),
        (json!(["contains"]), "an object is wanted"),
        (json!([]), "key `checks` is missing or empty"),
    ];
    for (checks, said) in rows {
        let error = fails(checks.clone());
        assert!(error.starts_with("t.jsonl:1: task `a`: ") && error.contains(said), "{checks}: {error}");
    }
}

#[test]
fn an_empty_answer_fails_what_asks_for_something() {
    let keys = json!({"checks": [{"contains": "x"}, {"max_words": 25}]});
    assert_eq!(hard("checks", &json!({}), &keys, &[""]), [0.0]);
}
