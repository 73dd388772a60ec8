use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::edit;

const CARD: &str = "---\ndescription: Use when asked.\n---\n\n## Rules\n\n- Say the value.\n- Be  short.\n- Be kind.\n";
const PATH: &str = "01_craft/a.md";
const GUARDED: &str = "00_general/longitudinal-guidance.md";

fn pool() -> Cards {
    let guarded = CARD.replace("Be kind", "Keep this");
    let document = "# Doc\n\n- One.\n\n<!-- S -->\nKept.\n<!-- E -->\n\n- Two.\n\n<!-- S -->\nLast.\n<!-- E -->\n";
    let of = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
    [(PATH, CARD), (GUARDED, &guarded), ("doc.md", document)].map(of).into()
}

fn applied(edits: &serde_json::Value) -> Applied {
    let reading = edit::read(edits, Some(PATH));
    assert_eq!(reading.unread, []);
    let rules = Rules {
        is_card: &|path| path.starts_with("01_craft/") && path.ends_with(".md"),
        protected: &[GUARDED.to_owned()],
        regions: &[Region { start: "<!-- S -->".into(), end: "<!-- E -->".into() }],
    };
    apply(&pool(), &reading.edits, &rules)
}

/// The body of the card after one edit that must be made.
fn body(edit: serde_json::Value) -> String {
    let applied = applied(&json!([edit]));
    assert_eq!((applied.refused.as_slice(), applied.dropped.as_slice()), (&[][..], &[][..]));
    let text = applied.changes[PATH].clone().unwrap();
    text.split_once("## Rules\n\n").unwrap().1.to_owned()
}

fn why(edit: serde_json::Value) -> String {
    let applied = applied(&json!([edit]));
    assert!(applied.changes.is_empty() && applied.made.is_empty(), "{applied:?}");
    let all = applied.refused.iter().map(|one| format!("refused: {}", one.why));
    all.chain(applied.dropped.iter().map(|one| format!("dropped: {}", one.why))).collect()
}

#[test]
fn each_operation_does_what_it_says() {
    let rows = [
        (json!({"op": "append", "content": "- Stop."}), "- Say the value.\n- Be  short.\n- Be kind.\n- Stop.\n"),
        (json!({"op": "append", "content": "Stop.\n"}), "- Say the value.\n- Be  short.\n- Be kind.\n\nStop.\n"),
        (
            json!({"op": "insert_after", "target": "Say the", "content": "- First."}),
            "- Say the value.\n- First.\n- Be  short.\n- Be kind.\n",
        ),
        (
            json!({"op": "replace", "target": "Be short", "content": "Stay brief"}),
            "- Say the value.\n- Stay brief.\n- Be kind.\n",
        ),
        (
            json!({"op": "replace", "target": "- Say the value.\n\n- Be short.", "content": "- One."}),
            "- One.\n- Be kind.\n",
        ),
        (json!({"op": "delete", "target": "Be kind."}), "- Say the value.\n- Be  short.\n"),
        (json!({"op": "delete", "target": " kind"}), "- Say the value.\n- Be  short.\n- Be.\n"),
    ];
    for (edit, wanted) in rows {
        assert_eq!(body(edit.clone()), wanted, "{edit}");
    }
}

#[test]
fn cards_are_created_removed_and_moved() {
    let edits = json!([
        {"op": "create", "card": "01_craft/new.md", "description": "Use when: new", "content": "## Rules\n\n- New."},
        {"op": "append", "card": "01_craft/NEW.md", "content": "- More."},
        {"op": "move", "card": PATH, "to": "01_craft/b.md"},
    ]);
    let applied = applied(&edits);
    assert_eq!(applied.repair(), None);
    let new = "---\ndescription: \"Use when: new\"\n---\n\n## Rules\n\n- New.\n- More.\n";
    assert_eq!(applied.changes["01_craft/new.md"].as_deref(), Some(new));
    assert_eq!((&applied.changes[PATH], applied.changes["01_craft/b.md"].as_deref()), (&None, Some(CARD)));
    assert_eq!(applied.result(&pool()).len(), 4);
}

#[test]
fn what_does_not_fit_is_handed_back_with_a_reason() {
    let rows = [
        (json!({"op": "insert_after", "target": "gone", "content": "x"}), "refused: its target is not in the card"),
        (json!({"op": "replace", "target": "Be", "content": "x"}), "refused: its target is in the card 2 times"),
        (json!({"op": "delete", "target": "gone"}), "refused: its target is not in the card"),
        (json!({"op": "append", "card": "01_craft/none.md", "content": "x"}), "refused: there is no such card"),
        (json!({"op": "append", "card": GUARDED, "content": "x"}), "refused: the card is protected"),
        (json!({"op": "remove", "card": GUARDED}), "refused: the card is protected"),
        (json!({"op": "move", "card": PATH, "to": GUARDED}), "refused: the card is protected"),
        (json!({"op": "remove", "card": "doc.md"}), "refused: the card holds a protected region"),
        (
            json!({"op": "delete", "card": "doc.md", "target": "- One.\n\n<!-- S -->\nKept."}),
            "refused: its target touches",
        ),
        (json!({"op": "replace", "card": "doc.md", "target": "Kept.", "content": "x"}), "refused: its target touches"),
        (
            json!({"op": "insert_after", "card": "doc.md", "target": "Kept.", "content": "x"}),
            "refused: it would insert into",
        ),
        (json!({"op": "append", "content": "<!-- E --> free"}), "refused: its text holds the marker"),
        (
            json!({"op": "create", "card": "01_craft/A.md", "description": "d", "content": "x"}),
            "refused: there is a card",
        ),
        (
            json!({"op": "create", "card": "01_craft/../x.md", "description": "d", "content": "x"}),
            "refused: no card may",
        ),
        (json!({"op": "create", "card": ".git/config", "description": "d", "content": "x"}), "refused: no card may"),
        (json!({"op": "create", "card": "01_craft/n.md", "content": "x"}), "refused: a new card needs a `description`"),
        (
            json!({"op": "create", "card": "01_craft/n.md", "content": "---\nx\n"}),
            "refused: the new card cannot be read",
        ),
    ];
    for (edit, wanted) in rows {
        let said = why(edit.clone());
        assert!(said.starts_with(wanted), "{edit}: {said}");
    }
}

#[test]
fn what_changes_nothing_is_dropped() {
    let rows = [
        (json!({"op": "append", "content": "- Be short.\n- Be kind."}), "dropped: the card says it already"),
        (
            json!({"op": "insert_after", "target": "value.", "content": "- Be short."}),
            "dropped: the card says it there",
        ),
        (json!({"op": "replace", "target": "Be kind.", "content": "Be kind."}), "dropped: it changes nothing"),
        (json!({"op": "replace", "target": "Be  short.", "content": "Be short."}), "dropped: it changes nothing"),
        (json!({"op": "move", "card": PATH, "to": PATH}), "dropped: the card lies there"),
    ];
    for (edit, wanted) in rows {
        let said = why(edit.clone());
        assert!(said.starts_with(wanted), "{edit}: {said}");
    }
}

#[test]
fn the_same_append_twice_is_made_once() {
    let twice = applied(&json!([{"op": "append", "content": "- Stop."}, {"op": "Add", "content": "-  Stop.\n"}]));
    assert_eq!((twice.made.len(), twice.dropped.len()), (1, 1));
    assert_eq!(twice.changes[PATH].as_ref().unwrap().matches("Stop.").count(), 1);
}

#[test]
fn edits_that_undo_each_other_leave_no_change() {
    let edits = json!([
        {"op": "append", "content": "- Stop."},
        {"op": "delete", "target": "- Stop."},
        {"op": "move", "card": PATH, "to": "01_craft/b.md"},
        {"op": "move", "card": "01_craft/b.md", "to": PATH},
    ]);
    let applied = applied(&edits);
    assert_eq!((applied.made.len(), applied.changes.len()), (4, 0), "{applied:?}");
}

#[test]
fn a_document_keeps_its_protected_end_last_and_an_insert_may_follow_a_region() {
    let applied = applied(&json!([
        {"op": "append", "card": "doc.md", "content": "- Three."},
        {"op": "insert_after", "card": "doc.md", "target": "- One.", "content": "- And."},
    ]));
    let text = applied.changes["doc.md"].as_deref().unwrap();
    insta::assert_snapshot!(text, @"
    # Doc

    - One.
    - And.

    <!-- S -->
    Kept.
    <!-- E -->

    - Two.
    - Three.

    <!-- S -->
    Last.
    <!-- E -->
    ");
}

#[test]
fn a_repair_names_edit_and_reason() {
    let applied = applied(&json!([{"op": "delete", "target": "gone"}]));
    let line = "- delete \"gone\" in 01_craft/a.md: its target is not in the card: quote it as it stands there";
    assert_eq!(applied.repair().as_deref(), Some(line));
}

/// Any edit of the little pool, targets mostly real.
fn any_edit() -> impl Strategy<Value = serde_json::Value> {
    let card = prop::sample::select(vec![PATH, GUARDED, "doc.md", "01_craft/new.md", "../x.md", "01_CRAFT/A.md"]);
    let op = prop::sample::select(vec!["append", "insert_after", "replace", "delete", "create", "remove", "move"]);
    let text = prop::sample::select(vec![
        "Be",
        "- Say the value.",
        "Be short",
        "é",
        "Kept.",
        "<!-- S -->",
        "-",
        "- One.\n\n<!-- S",
        "\u{a0}x",
        "---",
        "## Rules",
    ]);
    (card, op, text.clone(), text, prop::bool::ANY).prop_map(|(card, op, target, content, described)| {
        json!({"op": op, "card": card, "target": target, "content": content, "to": content, "description": described.then_some("d")})
    })
}

proptest! {
    #[test]
    fn no_edit_crashes_leaves_the_pool_or_touches_what_is_protected(edits in prop::collection::vec(any_edit(), 0..8)) {
        let reading = edit::read(&serde_json::Value::Array(edits.clone()), None);
        let applied = applied(&serde_json::Value::Array(edits));
        let (before, after) = (pool(), applied.result(&pool()));
        prop_assert_eq!(&before[GUARDED], &after[GUARDED]);
        let document = &after["doc.md"];
        prop_assert!(document.contains("<!-- S -->\nKept.\n<!-- E -->") && document.contains("<!-- S -->\nLast.\n<!-- E -->"));
        prop_assert!(after.keys().all(|path| before.contains_key(path) || path.starts_with("01_craft/")));
        let total = applied.made.len() + applied.refused.len() + applied.dropped.len();
        prop_assert_eq!(total, reading.edits.len());
        prop_assert!(applied.changes.iter().all(|(path, text)| before.get(path) != text.as_ref()));
    }

    #[test]
    fn a_replaced_target_is_the_only_thing_that_changes(at in 0_usize..60, length in 1_usize..20) {
        let chars: Vec<char> = CARD.chars().collect();
        let end = (at + length).min(chars.len());
        let target: String = chars[at.min(end)..end].iter().collect();
        prop_assume!(!target.trim().is_empty());
        let applied = applied(&json!([{"op": "replace", "target": target, "content": "§"}]));
        if let Some(Some(text)) = applied.changes.get(PATH) {
            prop_assert_eq!(text.replace('§', &target).split_whitespace().collect::<String>(),
                CARD.split_whitespace().collect::<String>());
        }
    }
}
