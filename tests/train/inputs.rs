//! Tasks and configurations that cannot be trained with, and how tasks are split.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::scene::{FACTS, Scene, lines, question, task};

/// Nothing was begun: no pool, no call.
fn assert_untouched(scene: &Scene) {
    assert_eq!(scene.asked(), 0);
    assert!(!scene.world.path("run/memory").exists() && !scene.world.path("run/run.json").exists());
}

#[test]
fn a_task_in_two_splits_is_refused_with_both_lines() {
    let mut same_id = task(&FACTS[1], 7);
    same_id["id"] = json!("slipway-0");
    let mut same_text = task(&FACTS[0], 8);
    same_text["input"] = json!("what  IS the mooring fee of the east pontoon?");
    for (wrong, said) in
        [(same_id, "task `slipway-0` is in two splits"), (same_text, "the input of `pontoon-0` and `pontoon-8`")]
    {
        let scene = Scene::new();
        let fine = task(&FACTS[2], 9);
        scene.world.write("tasks/selection.jsonl", lines([fine, wrong]));
        let error = scene.train(&[]).fails(2);
        assert!(error.contains(said), "{error}");
        let line = if said.contains("slipway") { 2 } else { 1 };
        assert!(error.contains(&format!("train.jsonl:{line}")) && error.contains("selection.jsonl:2"), "{error}");
        assert_untouched(&scene);
    }
}

#[test]
fn an_empty_selection_split_is_refused_while_the_gate_is_on() {
    let scene = Scene::new();
    scene.world.write("tasks/selection.jsonl", "");
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("the selection split is empty") && error.contains("use_gate"), "{error}");
    assert_untouched(&scene);
    let ratio = by_ratio("2:0:1");
    let error = ratio.train(&[]).fails(2);
    assert!(error.contains("leaves no selection split"), "{error}");
    assert_untouched(&ratio);
}

#[test]
fn keys_that_cannot_be_are_refused_by_name() {
    let rows = [
        ("gradient.merge_batch_size=1", "1 is not a whole number of 2 or more"),
        ("train.num_epoch=3", "did you mean `train.num_epochs`?"),
        ("optimizr.learning_rate=3", "did you mean `optimizer"),
        ("optimizer.lr_scheduler=\"cosin\"", "did you mean \"cosine\"?"),
        ("evaluation.min_coverage=7.5", "from 0 to 1"),
        ("train.batch_size=\"eight\"", "whole number"),
        ("data.split_ratio=\"2:1\"", "three whole numbers"),
        ("optimizer.name=\"extractiv\"", "extractive"),
        ("evaluation.evaluator=\"exakt\"", "did you mean `exact`?"),
    ];
    for (set, said) in rows {
        let scene = Scene::new();
        let error = scene.train(&["--set", set]).fails(2);
        assert!(error.contains(said), "{set}: {error}");
        assert_untouched(&scene);
    }
}

#[test]
fn a_budget_that_cannot_pay_one_step_is_refused_up_front_with_what_it_needs() {
    // 40 tasks, ten steps, five calls.
    let scene = Scene::new().with("train.batch_size", 3).with("budget.max_calls", 5);
    let train = (20..25).flat_map(|way| FACTS.iter().map(move |fact| task(fact, way))).collect::<Vec<_>>();
    scene.world.write("tasks/train.jsonl", lines(train));
    scene.world.write("tasks/selection.jsonl", lines(FACTS[..5].iter().map(|fact| task(fact, 2))));
    scene.world.write("tasks/test.jsonl", lines(FACTS[..5].iter().map(|fact| task(fact, 3))));
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("needs 8 calls") && error.contains("max_calls is 5"), "{error}");
    assert_eq!(scene.asked(), 0);
    // One that is used up on the way ends the run; raised, it goes on and pays nothing twice.
    let mut scene = scene.with("budget.max_calls", 20);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("max_calls"), "{error}");
    assert!(scene.asked() <= 20, "{}", scene.asked());
    scene.set("budget.max_calls", 500);
    let summary = scene.result();
    let calls: u64 = summary["usage"].as_array().unwrap().iter().map(|line| line["calls"].as_u64().unwrap()).sum();
    assert_eq!((&summary["steps"], calls), (&json!(10), scene.asked() as u64));
}

#[test]
fn another_configuration_is_refused_with_what_differs_and_nothing_is_touched() {
    let mut scene = Scene::new().with("train.batch_size", 6);
    scene.result();
    let before = files(&scene);
    let asked = scene.asked();
    scene.set("train.batch_size", 4);
    scene.set("optimizer.learning_rate", 9);
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("train.batch_size: 6 → 4") && error.contains("optimizer.learning_rate: 4 → 9"), "{error}");
    assert!(error.contains("train.out"), "{error}");
    assert_eq!((files(&scene), scene.asked()), (before, asked));
    // Other workers are no change of history.
    scene.set("train.batch_size", 6);
    scene.set("optimizer.learning_rate", 4);
    scene.set("train.workers", 1);
    scene.result();
    assert_eq!(scene.asked(), asked);
}

#[test]
fn fewer_epochs_are_a_change_of_history() {
    let mut scene = Scene::new().with("train.freeze", true).with("train.num_epochs", 2);
    scene.result();
    scene.set("train.num_epochs", 1);
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("train.num_epochs: 2 → 1"), "{error}");
}

#[test]
fn a_run_goes_on_with_its_own_copy_of_the_tasks() {
    let scene = Scene::new();
    let summary = scene.result();
    std::fs::remove_dir_all(scene.world.path("tasks")).unwrap();
    assert_eq!(scene.result(), summary);
}

#[test]
fn cards_to_begin_from_that_are_none_are_refused_before_anything_is_paid() {
    let scene = Scene::new().with_cards(&FACTS[..1]);
    scene.world.write("cards/00_general_rules/bad.md", "no front matter\n");
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("bad.md") && error.contains("init_pool"), "{error}");
    assert_untouched(&scene);
}

#[test]
fn splits_that_part_a_group_are_refused_and_a_test_split_may_be_missing() {
    let scene = Scene::new().with("train.freeze", true);
    let grouped = |fact, way| {
        let mut task = task(fact, way);
        task["group"] = json!("boats");
        task
    };
    scene.world.write("tasks/train.jsonl", lines([grouped(&FACTS[0], 0)]));
    scene.world.write("tasks/selection.jsonl", lines([grouped(&FACTS[1], 2)]));
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("group `boats` is in two splits") && error.contains("selection.jsonl:1"), "{error}");
    scene.world.write("tasks/selection.jsonl", lines([task(&FACTS[1], 2)]));
    std::fs::remove_file(scene.world.path("tasks/test.jsonl")).unwrap();
    assert_eq!(scene.result()["test"], json!([null, null, null]));
}

#[test]
fn other_tasks_are_refused() {
    let scene = Scene::new();
    scene.result();
    scene.world.write("tasks/train.jsonl", lines([task(&FACTS[0], 0)]));
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("the tasks are not those"), "{error}");
}

#[test]
fn a_folder_that_is_no_run_is_left_alone() {
    let scene = Scene::new();
    scene.world.write("run/notes.txt", "mine");
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("it holds notes.txt"), "{error}");
    assert_eq!((scene.world.read("run/notes.txt").as_str(), scene.asked()), ("mine", 0));
}

#[test]
fn the_train_split_can_be_cut() {
    let scene = Scene::new().with("train.train_size", 5).with("train.batch_size", 2).with("train.freeze", true);
    let summary = scene.result();
    assert_eq!(summary["steps"], json!(3));
    let kept = scene.world.read("run/split/train.jsonl");
    let given = scene.world.read("tasks/train.jsonl");
    assert_eq!(kept.lines().collect::<Vec<_>>(), given.lines().take(5).collect::<Vec<_>>());
    let more = Scene::new().with("train.train_size", 500).with("train.freeze", true);
    assert_eq!(more.result()["steps"], json!(1));
}

/// 20 tasks in ten groups of two, to be split.
fn by_ratio(ratio: &str) -> Scene {
    let mut scene = Scene::new();
    scene.unset("data.split_dir");
    let tasks = (0..20).map(|n| {
        let fact = &FACTS[n % 6];
        json!({"id": format!("t{n}"), "input": question(fact, 40 + n), "reference": fact[3], "group": format!("g{}", n / 2)})
    });
    scene.world.write("all.jsonl", lines(tasks));
    scene.with("data.tasks", "all.jsonl").with("data.split_ratio", ratio).with("train.freeze", true)
}

#[test]
fn a_ratio_splits_by_largest_remainder_and_keeps_groups_together() {
    let scene = by_ratio("2:1:2");
    scene.result();
    let mut homes: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut counts = Vec::new();
    for split in ["train", "selection", "test"] {
        let text = scene.world.read(format!("run/split/{split}.jsonl"));
        counts.push(text.lines().count());
        for line in text.lines() {
            let task: Value = serde_json::from_str(line).unwrap();
            homes.entry(task["group"].as_str().unwrap().to_owned()).or_default().push(split);
        }
    }
    assert_eq!(counts, [8, 4, 8]);
    assert_eq!(homes.len(), 10);
    assert!(homes.values().all(|homes| homes.len() == 2 && homes[0] == homes[1]), "{homes:?}");
    // Another seed splits otherwise, the same one alike.
    let first = scene.world.read("run/split/train.jsonl");
    let again = by_ratio("2:1:2");
    again.result();
    let other = by_ratio("2:1:2").with("data.split_seed", 43);
    other.result();
    assert_eq!(again.world.read("run/split/train.jsonl"), first);
    assert_ne!(other.world.read("run/split/train.jsonl"), first);
}

#[test]
fn a_task_that_the_evaluator_cannot_score_is_refused_before_anything_is_paid() {
    let scene = Scene::new().with("evaluation.evaluator", "exact");
    let mut blind = task(&FACTS[0], 5);
    blind.as_object_mut().unwrap().remove("reference");
    scene.world.write("tasks/test.jsonl", lines([blind]));
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("test.jsonl:1") && error.contains("pontoon-5"), "{error}");
    assert_untouched(&scene);
}

#[test]
fn who_attempts_must_be_named() {
    let mut scene = Scene::new();
    scene.unset("target.name");
    let error = scene.train(&[]).fails(2);
    assert!(error.contains("target.name is not set"), "{error}");
}

/// All files of the run but its log, with their bytes.
fn files(scene: &Scene) -> BTreeMap<String, Vec<u8>> {
    let root = scene.world.path("run");
    let walk = walkdir::WalkDir::new(&root).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    walk.map(|entry| {
        (entry.path().strip_prefix(&root).unwrap().display().to_string(), std::fs::read(entry.path()).unwrap())
    })
    .filter(|(path, _)| path != "events.jsonl")
    .collect()
}
