use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
struct Edits {
    edits: Vec<Edit>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Edit {
    op: String,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    size: u32,
}

fn check(text: &str, right: Value) {
    assert_eq!(last_object(text).as_ref(), Ok(&right), "{text:?}");
}

fn none(text: &str, why: &str) {
    let problem = last_object(text).unwrap_err();
    assert!(problem.contains(why), "{text:?}: {problem}");
}

#[test]
fn an_object_is_found_whatever_stands_around_it() {
    let a = json!({"a": 1});
    for text in [
        r#"{"a":1}"#,
        r#"Here you are: {"a": 1} I hope that {this} helps, [1] as {} is."#,
        "```json\n{\"a\": 1}\n```",
        "```json\n{\"a\": 1}",
        "first {\"b\": 2}, or rather\n```\n{\"a\": 1}\n```\n",
        "<think>maybe {\"b\": 2}</think>{\"a\": 1}",
        "maybe {\"b\": 2}</think>{\"a\": 1}",
        "<think>I answer {\"a\": 1}",
        "{\"b\": 2, oops} {\"a\": 1}",
        "fn f() { return [\"x\" } and then {\"a\": 1}",
        "\u{feff}{\"a\":1}\u{0}",
    ] {
        check(text, a.clone());
    }
    check(
        r#"{"s": "a } \" {\"b\": 1} é", "in": {"x": [{"y": {}}]}}"#,
        json!({"s": "a } \" {\"b\": 1} é", "in": {"x": [{"y": {}}]}}),
    );
    check("{}", json!({}));
}

#[test]
fn a_part_is_no_answer() {
    none("", "no JSON object");
    none("no braces", "no JSON object");
    none("{a} and {b}", "no JSON object");
    none(r#"[{"a": 1}]"#, "no JSON object");
    none(r#"{"edits": [{"op": "x"}, {"op": "#, "cut off");
    none(r#"[{"op": "x"}, {"op": "#, "cut off");
    none("{\"a\": 1}\n{\"b\": ", "cut off");
    none(r#"{"edits": [{"op": "x"}, oops]}"#, "not valid");
    none("<think>{\"a\": 1}</think> done", "no JSON object");
    none("```json\n{\"a\": [1, 2\n```", "not valid");
}

#[test]
fn what_has_the_wrong_type_is_named() {
    let wrong = |text: &str| read::<Edits>(text).unwrap_err();
    assert_eq!(read::<Edits>(r#"{"edits":[{"op":"add","target":null}]}"#).unwrap().edits[0].target, None);
    insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add"}, "append a line"]}"#), @r#"edits[1]: invalid type: string "append a line", expected struct Edit"#);
    insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add","size":"eight"}]}"#), @r#"edits[0].size: invalid type: string "eight", expected u32"#);
    insta::assert_snapshot!(wrong(r#"{"edits":null}"#), @"edits: invalid type: null, expected a sequence");
    insta::assert_snapshot!(wrong("{}"), @"missing field `edits`");
    insta::assert_snapshot!(wrong(r#"{"edits":[{"op":"add","size":-1}]}"#), @"edits[0].size: invalid value: integer `-1`, expected u32");
}

/// Texts that would take the square of their length, or the stack, where a search starts anew at every brace.
#[test]
fn hostile_texts_are_linear() {
    let long = 1 << 18;
    for part in [
        "{",
        "[",
        "{\"a\":",
        "[{\"a\":[",
        "{\"a\":1,",
        "{\"",
        "{\"{",
        "{}",
        "[1,",
        "\"{\\",
        "{\"a\":[{},",
        "{\n",
        "<think>",
        "</think>{",
    ] {
        let text = part.repeat(long / part.len());
        let _ = last_object(&text);
        let _ = last_object(&format!("{}{}", "{\"k\":[".repeat(100), text));
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in r#"([{}\[\]",:\\ \na1é<>]|</think>|"a":|null){0,60}"#) {
        let _ = last_object(&text);
        let _ = read::<Edits>(&text);
    }

    #[test]
    fn an_object_in_prose_is_found(before in "[^{}\\[\\]]{0,40}", key in "[a-z]{1,8}", value in "\\PC{0,40}", after in "[^{}\\[\\]<]{0,40}") {
        let object = json!({ key: value });
        prop_assert_eq!(last_object(&format!("{before}{object}{after}")), Ok(object));
    }

    #[test]
    fn an_object_that_is_cut_is_none(value in "\\PC{0,40}", cut in any::<prop::sample::Index>()) {
        let text = json!({ "k": [value, {"inner": 1}] }).to_string();
        let at = text.floor_char_boundary(cut.index(text.len()));
        prop_assert!(last_object(&text[..at]).is_err());
    }
}
