use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tasks(groups: &[Option<usize>]) -> Vec<Task> {
    let line = |(n, group): (usize, &Option<usize>)| {
        json!({"id": format!("t{n}"), "input": format!("question {n}"), "group": group.map(|g| format!("g{g}"))})
            .to_string()
    };
    let text: Vec<String> = groups.iter().enumerate().map(line).collect();
    task::parse(Path::new("tasks.jsonl"), &text.join("\n")).unwrap()
}

fn of(file: &str, lines: &[(&str, &str)]) -> Vec<Task> {
    let text: Vec<String> = lines.iter().map(|(id, input)| json!({"id": id, "input": input}).to_string()).collect();
    task::parse(Path::new(file), &text.join("\n")).unwrap()
}

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

#[test]
fn counts_are_by_largest_remainder() {
    let rows =
        [("2:1:7", 10, [2, 1, 7]), ("2:1:7", 72, [15, 7, 50]), ("1:1:1", 10, [4, 3, 3]), ("1:1:1", 2, [1, 1, 0])];
    for (text, n, counts) in rows {
        assert_eq!(ratio(text).counts(n), counts, "{text} of {n}");
    }
    assert_eq!(ratio("4:1:0").counts(5), [4, 1, 0]);
    for wrong in ["", "2:1", "2:1:7:1", "0:1:1", "a:b:c", "2:-1:7", "2.5:1:7"] {
        assert!(wrong.parse::<Ratio>().is_err(), "{wrong}");
    }
}

#[test]
fn a_split_is_the_same_for_ever() {
    let split = Split::by_ratio(tasks(&[None; 10]), ratio("2:1:7"), 42);
    let ids = |tasks: &[Task]| tasks.iter().map(|task| task.id.clone()).collect::<Vec<_>>().join(" ");
    let all = split.all().map(|(_, tasks)| ids(tasks));
    assert_eq!(all, ["t5 t9", "t4", "t0 t1 t2 t3 t6 t7 t8"]);
    assert_ne!(split, Split::by_ratio(tasks(&[None; 10]), ratio("2:1:7"), 43));
}

#[test]
fn the_same_id_or_text_in_two_splits_is_refused_naming_both_lines() {
    let split = |selection: &[(&str, &str)]| Split {
        train: of("train.jsonl", &[("a", "What is it?"), ("b", "Where is it?")]),
        selection: of("selection.jsonl", selection),
        test: vec![],
    };
    let error = split(&[("x", "Who?"), ("b", "another text")]).check(true).unwrap_err();
    assert_eq!(error.to_string(), "task `b` is in two splits: train (train.jsonl:2) and selection (selection.jsonl:2)");
    let error = split(&[("x", " what  IS it?")]).check(true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the input of `a` and `x` is in two splits: train (train.jsonl:1) and selection (selection.jsonl:1)"
    );
    split(&[("x", "Who?")]).check(true).unwrap();
}

#[test]
fn an_empty_selection_split_is_refused_while_the_gate_is_on() {
    let split = Split { train: of("t", &[("a", "b")]), selection: vec![], test: vec![] };
    assert!(split.check(true).unwrap_err().to_string().contains("the selection split is empty"));
    split.check(false).unwrap();
    assert!(Split { train: vec![], ..split }.check(false).is_err());
}

#[test]
fn the_same_text_twice_in_one_file_is_never_parted() {
    for seed in 0..50 {
        let tasks = of("t", &[("a", "x y"), ("b", "X  y"), ("c", "1"), ("d", "2"), ("e", "3"), ("f", "4")]);
        Split::by_ratio(tasks, ratio("1:1:1"), seed).check(true).unwrap();
    }
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let split = Split::by_ratio(tasks(&[Some(1), Some(1), None, None, None]), ratio("3:2:0"), 1);
    split.write(folder.path()).unwrap();
    let again = Split::read(folder.path()).unwrap();
    assert_eq!(again.files(), split.files());
    assert!(again.test.is_empty());
    let error = Split::read(&folder.path().join("none")).unwrap_err();
    assert!(error.to_string().contains("train.jsonl") && error.kind() == Kind::Usage, "{error}");
}

proptest! {
    #[test]
    fn every_task_lands_once_and_groups_stay_whole(
        groups in prop::collection::vec(prop::option::of(0_usize..6), 1..60), seed: u64,
        parts in (1_u32..9, 0_u32..9, 0_u32..9)
    ) {
        let ratio = Ratio([parts.0, parts.1, parts.2]);
        let split = Split::by_ratio(tasks(&groups), ratio, seed);
        split.nothing_shared().unwrap();
        let all = split.all();
        let ids: BTreeSet<&str> = all.iter().flat_map(|(_, tasks)| tasks.iter().map(|task| task.id.as_str())).collect();
        prop_assert_eq!(ids.len(), groups.len());
        if groups.iter().all(Option::is_none) {
            prop_assert_eq!(all.map(|(_, tasks)| tasks.len()), ratio.counts(groups.len()));
        }
        // Each group counts as a unit of its size: no split is over its share by more than the largest unit.
        let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
        groups.iter().flatten().for_each(|group| *sizes.entry(*group).or_default() += 1);
        let largest = sizes.values().copied().max().unwrap_or(1);
        for ((_, tasks), wanted) in all.iter().zip(ratio.counts(groups.len())) {
            prop_assert!(tasks.len() <= wanted + largest);
        }
    }
}
