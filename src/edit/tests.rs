use super::*;
use proptest::prelude::*;

fn one_of(item: Value) -> Result<Edit, String> {
    let mut reading = read(&json!({ "edits": [item] }), None);
    reading.edits.pop().ok_or_else(|| reading.unread[0].to_string())
}

#[test]
fn names_are_matched_without_case_add_is_append_and_null_is_absent() {
    for op in ["append", "Append", "add", "ADD"] {
        let edit = one_of(json!({"op": op, "card": "./a.md", "target": null, "content": "x", "reason": null})).unwrap();
        assert_eq!((edit.card.as_str(), &edit.op), ("a.md", &Op::Append { content: "x".into() }), "{op}");
    }
    let edit = one_of(json!({"OP": "Insert After", "Card": "a.md", "Target": "t", "Content": "c", "support": 3}));
    let edit = edit.unwrap();
    assert_eq!((edit.op.name(), edit.support), ("insert_after", 3));
}

#[test]
fn what_is_no_edit_is_reported_and_the_rest_is_kept() {
    let reply = r#"Here: {"edits": ["append this", {"op": "append", "card": "a.md", "content": "x"}, 3]}"#;
    let reading = read_reply(reply, None);
    assert_eq!(reading.edits.len(), 1);
    let said: Vec<String> = reading.unread.iter().map(Unread::to_string).collect();
    assert_eq!(said, ["edits[0]: an edit is an object, not a text", "edits[2]: an edit is an object, not a number"]);
}

#[test]
fn nothing_is_guessed() {
    let rows = [
        (json!({"op": "replace", "card": "a", "target": null, "content": "x"}), "`target` is missing, and replace"),
        (json!({"op": "append", "card": "a", "content": " "}), "`content` is empty"),
        (json!({"op": "append", "card": "a", "content": ["x"]}), "`content` is a list, not a text"),
        (json!({"op": "append", "content": "x"}), "`card` is missing"),
        (json!({"op": "patch", "card": "a"}), "there is no operation \"patch\""),
        (json!({"card": "a"}), "`op` is missing"),
        (json!({"op": "remove", "card": "a", "support": "eight"}), "`support` is \"eight\", not a whole number"),
        (json!({"op": "move", "card": "a"}), "`to` is missing"),
    ];
    for (item, said) in rows {
        let error = one_of(item.clone()).unwrap_err();
        assert!(error.contains(said), "{item}: {error}");
    }
    for (reply, said) in [
        ("no idea", "the reply holds no JSON object"),
        (r#"{"edits": [{"op": "append", "#, "cut off"),
        (r#"{"edits": "none"}"#, "`edits` is a text, not a list"),
        (r#"{"changes": []}"#, "has no `edits`"),
    ] {
        let reading = read_reply(reply, None);
        assert!(reading.edits.is_empty() && reading.unread[0].to_string().contains(said), "{reply}: {reading:?}");
    }
}

#[test]
fn one_document_needs_no_card_and_one_edit_no_list() {
    let reading = read_reply(r#"{"op": "delete", "target": "x"}"#, Some("skill.md"));
    assert_eq!(reading.edits[0].card, "skill.md");
    assert!(read_reply(r#"{"edits": null}"#, None).unread[0].message.contains("has no `edits`"));
    assert_eq!(read_reply(r#"{"edits": []}"#, None), Reading::default());
}

#[test]
fn an_edit_survives_its_own_json() {
    let edit = one_of(json!({"op": "create", "card": "a.md", "content": "x", "description": "d"})).unwrap();
    let json = serde_json::to_value(&edit).unwrap();
    assert_eq!(serde_json::from_value::<Edit>(json.clone()).unwrap(), edit);
    assert_eq!(one_of(json).unwrap(), edit);
}

proptest! {
    #[test]
    fn no_reply_crashes(reply in r#"[\[\]{}",:a-z<>/ \n]{0,80}"#) {
        read_reply(&reply, None);
    }
}
