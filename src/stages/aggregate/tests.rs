use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

fn edit(card: &str, op: Op, support: u32, source: Source) -> Edit {
    Edit { card: card.into(), op, reason: String::new(), support, source }
}

fn append(card: &str, text: &str) -> Edit {
    edit(card, Op::Append { content: text.into() }, 1, Source::Failures)
}

fn replace(text: &str, support: u32, source: Source) -> Edit {
    edit("a.md", Op::Replace { target: "old  text".into(), content: text.into() }, support, source)
}

/// Merging by joining names shows the tree's shape.
fn shape(failures: usize, successes: usize, fan_in: usize, workers: usize) -> (Option<String>, Vec<String>) {
    let calls = Mutex::new(Vec::new());
    let name = |kind: char| move |n: usize| format!("{kind}{n}");
    let joined = merge(
        (0..failures).map(name('f')).collect(),
        (0..successes).map(name('s')).collect(),
        fan_in,
        workers,
        &|node, items: &[String]| {
            calls.lock().unwrap().push(node.name());
            Ok(format!("({})", items.join(" ")))
        },
    );
    let mut calls = calls.into_inner().unwrap();
    calls.sort();
    (joined.unwrap(), calls)
}

#[test]
fn the_tree_has_a_fixed_shape_and_a_lone_input_passes() {
    let (tree, calls) = shape(5, 2, 2, 4);
    assert_eq!(tree.unwrap(), "((((f0 f1) (f2 f3)) f4) (s0 s1))");
    assert_eq!(
        calls,
        ["failures-1-00", "failures-1-01", "failures-2-00", "failures-3-00", "last-4-00", "successes-1-00"]
    );
    assert_eq!(shape(1, 0, 8, 1), (Some("f0".into()), vec![]));
    assert_eq!(shape(0, 1, 8, 1), (Some("s0".into()), vec![]));
    assert_eq!(shape(0, 0, 8, 1), (None, vec![]));
    assert_eq!(shape(3, 0, 8, 1).0.unwrap(), "(f0 f1 f2)");
}

#[test]
fn a_fan_in_of_1_is_refused_and_an_error_is_the_first_by_place() {
    let join = |_: Node, items: &[String]| Ok(items.concat());
    let error = merge(vec!["a".to_owned()], vec![], 1, 1, &join).unwrap_err();
    assert!(error.to_string().contains("merge_batch_size is 1"), "{error}");
    let fail = |node: Node, _: &[u8]| Err::<u8, _>(Error::failed(node.name()));
    let error = merge(vec![0; 8], vec![], 2, 4, &fail).unwrap_err();
    assert_eq!(error.to_string(), "failures-1-00");
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

proptest! {
    #[test]
    fn a_merge_loses_no_input_and_does_not_depend_on_the_workers(
        failures in 0_usize..40, successes in 0_usize..40, fan_in in 2_usize..9
    ) {
        let (one, calls) = shape(failures, successes, fan_in, 1);
        let (four, calls_of_four) = shape(failures, successes, fan_in, 4);
        prop_assert_eq!(&one, &four);
        prop_assert_eq!(calls, calls_of_four);
        let tree = one.unwrap_or_default();
        let names: Vec<&str> = tree.split(['(', ')', ' ']).filter(|name| !name.is_empty()).collect();
        let wanted: Vec<String> =
            (0..failures).map(|n| format!("f{n}")).chain((0..successes).map(|n| format!("s{n}"))).collect();
        prop_assert_eq!(names, wanted);
    }

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
