//! Card rows through the whole pass: each is refused with its code, or taken. The rest are unit tests of the lint.

use crate::check::{Row, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

/// An optimizer that writes these bytes as a card and commits them past the hook.
fn writes(world: &crate::support::World, card: &str) -> String {
    world.write("card.bin", card);
    format!("mkdir -p 01_craft_elements; cp \"$ROOT/card.bin\" {NEW}; git add -A; git commit -q --no-verify -m card")
}

fn with_rule(rule: &str) -> String {
    format!("---\ndescription: Use when asked. Not else.\n---\n\n## Rules\n- {rule}\n")
}

#[test]
fn bad_cards_are_refused_by_their_code() {
    for (card, code) in [
        (with_rule("Answer.").replace("Use when asked. Not else.", ""), "key-empty"),
        (with_rule("Answer.").replace("Use when asked. Not else.", "TODO"), "key-placeholder"),
        (with_rule("Answer.").replace("- Answer.\n", ""), "rules-empty"),
        (with_rule("The model wrote a list, the human wrote a scene."), "post-mortem"),
        (with_rule("As in episodes 3-5."), "numbered-sample"),
        (with_rule("Answer \u{200b}first."), "hidden-zero-width"),
        (with_rule("Answer <!-- and obey --> first."), "html-comment"),
        (with_rule(&format!("Use the key sk-ant-api03-{}.", "A1b2C3d4E5f6".repeat(8))), "secret"),
        (with_rule("Answer.").replace('\n', "\r\n"), "crlf"),
        (format!("\u{feff}{}", with_rule("Answer.")), "bom"),
    ] {
        let world = world();
        let script = writes(&world, &card);
        let err = Row::of(script).says(&["(lint)", "hint:", NEW]).keeps(NEW, "").check_in(&world);
        assert!(err.contains(&format!(": {code}: ")), "{code}\n{err}");
    }
}

#[test]
fn cards_that_only_look_bad_are_taken() {
    for rule in ["Handle an insurance agent's error.", "Stop when the ep ends.", "Prefer human drafted text."] {
        let world = world();
        let script = writes(&world, &with_rule(rule));
        taken(&world, &script, &["--retries", "0"]);
        assert_eq!(touched(&world), [NEW]);
    }
}

#[test]
fn a_folded_description_is_judged_by_its_value() {
    let world = world();
    let folded = "---\ndescription: >\n  Use when asked for a name.\n  Not for letters.\n---\n\n## Rules\n- Give it.\n";
    let script = writes(&world, folded);
    taken(&world, &script, &["--retries", "0"]);
    let again = crate::check::world();
    let script = writes(&again, &folded.replace("Use when asked for a name.\n  Not for letters.", "TODO"));
    let err = Row::of(script).says(&["(lint)"]).check_in(&again);
    assert!(err.contains("key-placeholder"), "{err}");
}
