use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

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
}
