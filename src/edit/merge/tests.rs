use proptest::prelude::*;

use super::*;
use crate::edit::Source;

fn edit(card: &str, op: Op, support: u32, source: Source) -> Edit {
    Edit { card: card.into(), op, reason: String::new(), support, source }
}

fn append(card: &str, text: &str) -> Edit {
    edit(card, Op::Append { content: text.into() }, 1, Source::Failures)
}

fn replace(text: &str, support: u32, source: Source) -> Edit {
    edit("a.md", Op::Replace { target: "old  text".into(), content: text.into() }, support, source)
}

#[test]
fn the_same_edit_twice_is_one_with_the_support_of_both() {
    let lists = [vec![append("a.md", "- Say  less."), append("b.md", "x")], vec![append("A.md", "- Say less.\n")]];
    let merged = merge_edits(&lists);
    assert_eq!(merged.iter().map(|edit| edit.support).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn failures_win_then_support_then_the_earlier() {
    use Source::{Failures, Successes};
    let texts = |lists: &[Vec<Edit>]| -> Vec<String> {
        let text = |edit: &Edit| match &edit.op {
            Op::Replace { content, .. } => content.clone(),
            other => other.name().to_owned(),
        };
        merge_edits(lists).iter().map(text).collect()
    };
    assert_eq!(texts(&[vec![replace("s", 9, Successes)], vec![replace("f", 1, Failures)]]), ["f"]);
    assert_eq!(texts(&[vec![replace("one", 1, Failures), replace("two", 2, Failures)]]), ["two"]);
    assert_eq!(texts(&[vec![replace("one", 1, Failures), replace("two", 1, Failures)]]), ["one"]);
    let remove = edit("a.md", Op::Remove, 1, Successes);
    assert_eq!(texts(&[vec![remove, replace("f", 1, Failures)]]), ["f"]);
}

#[test]
fn new_cards_that_say_much_the_same_become_one_and_no_line_is_lost() {
    let create = |card: &str, description: Option<&str>, content: &str| {
        edit(
            card,
            Op::Create { description: description.map(str::to_owned), content: content.into() },
            2,
            Source::Failures,
        )
    };
    let merged = |one: Edit, other: Edit| merge_edits(&[vec![one], vec![other]]);
    let text = |edit: &Edit| match &edit.op {
        Op::Create { description, content } => (description.clone().unwrap_or_default(), content.clone()),
        other => (String::new(), other.name().to_owned()),
    };
    // The same path.
    let both = merged(
        create("f/a.md", Some("Use when asked for a fee."), "## Rules\n- The fee is 4.\n- Be brief.\n"),
        create("f/A.md", Some("Use when asked for a code."), "## Rules\n- The code is 7.\n- Be  brief.\n"),
    );
    assert_eq!((both.len(), both[0].support), (1, 4));
    let want = "## Rules\n- The fee is 4.\n- Be brief.\n- The code is 7.\n";
    assert_eq!(text(&both[0]), ("Use when asked for a fee. Use when asked for a code.".into(), want.into()));
    // Mostly the same lines under another path, in files of their own front matter.
    let file = |when: &str, rules: &str| format!("---\ndescription: {when}\n---\n\n## Rules\n{rules}");
    let both = merged(
        create("f/a.md", None, &file("Use for a.", "- One.\n- Two.\n")),
        create("f/b.md", None, &file("Use for b.", "- Two.\n- Three.\n")),
    );
    assert_eq!(both.len(), 1);
    assert_eq!(text(&both[0]).1, file("Use for a. Use for b.", "- One.\n- Two.\n- Three.\n"));
    // The same description.
    assert_eq!(merged(create("f/a.md", Some("Use it."), "- A."), create("f/b.md", Some("Use  it."), "- B.")).len(), 1);
    // Two cards.
    assert_eq!(merged(create("f/a.md", Some("A."), "- A."), create("f/b.md", Some("B."), "- B.")).len(), 2);
}

proptest! {
    #[test]
    fn merging_edits_twice_changes_nothing(picks in prop::collection::vec((0_usize..4, 1_u32..4, any::<bool>()), 0..12)) {
        let list: Vec<Edit> = picks.iter().map(|(text, support, failed)| {
            replace(&format!("t{text}"), *support, if *failed { Source::Failures } else { Source::Successes })
        }).collect();
        let merged = merge_edits(std::slice::from_ref(&list));
        prop_assert_eq!(merged.len(), usize::from(!list.is_empty()));
        prop_assert_eq!(merge_edits(std::slice::from_ref(&merged)), merged);
    }
}
