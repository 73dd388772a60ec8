//! What a run says: the result, a line a step, the events, and nothing that is secret.

use serde_json::{Value, json};

use crate::scene::{FACTS, Scene, YARD};

/// Three steps, each with a fact more.
fn learning() -> Scene {
    let script = format!("{YARD} card 01_craft_elements/c$CALL.md \"$(sed -n ${{CALL}}p $ROOT/facts)\"; commit");
    let scene = Scene::new().with_agent(&script).with("train.batch_size", 4);
    let facts = FACTS.map(|[_, what, thing, value]| format!("The {what} of the {thing} is {value}.\n"));
    scene.world.write("facts", facts.concat());
    scene
}

#[test]
fn the_result_is_json_on_standard_output_and_each_step_a_line_of_talk() {
    let scene = learning();
    let run = scene.train(&["--json"]);
    let steps: Vec<&str> = run.err.lines().filter(|line| line.contains(" · batch ")).collect();
    assert_eq!(steps.len(), 3, "{}", run.err);
    for (number, line) in steps.iter().enumerate() {
        assert!(line.starts_with(&format!("step {}/3 · batch 4 · score 0.", number + 1)), "{line}");
        assert!(line.contains("+1 cards · accepted · ") && line.contains(" calls, "), "{line}");
    }
    let summary: Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!(summary, scene.json("summary.json"));
    assert_eq!((&summary["steps"], &summary["accepted"], &summary["run"]), (&json!(3), &json!(3), &json!("run")));
    assert_eq!(summary["selection"][2]["means"]["hard"], json!(0.5));
    let text = scene.train(&[]).ok();
    assert!(text.contains("steps      3: 3 accepted"), "{text}");
    assert!(text.contains("selection  baseline 0.0000 → best 0.5000, last 0.5000 (6 tasks, hard)"), "{text}");
    assert!(scene.train(&["--quiet"]).err.is_empty());
}

#[test]
fn a_finished_run_says_the_same_again_and_asks_nobody() {
    let scene = learning();
    let first = scene.train(&["--json"]).ok();
    let (asked, calls) = (scene.asked(), scene.world.calls());
    let refs = scene.git(&["for-each-ref"]);
    let again = scene.train(&["--json"]).ok();
    assert_eq!((first, refs), (again, scene.git(&["for-each-ref"])));
    assert_eq!((scene.asked(), scene.world.calls()), (asked, calls));
}

#[test]
fn the_test_split_is_opened_at_the_end_or_not_at_all() {
    let mut scene = learning().with("evaluation.eval_test", false);
    let summary = scene.result();
    assert_eq!(summary["test"], json!([null, null, null]));
    let tested = |scene: &Scene| {
        let seen = scene.server.seen();
        seen.iter().filter(|seen| crate::scene::text(seen, "user").starts_with("Do you know")).count()
    };
    assert_eq!(tested(&scene), 0);
    // Asked for later, it is: the key changes no history.
    scene.set("evaluation.eval_test", true);
    let summary = scene.result();
    assert_eq!(summary["test"][2]["means"]["hard"], json!(0.5), "{summary:#}");
    let first_test =
        scene.server.seen().iter().position(|seen| crate::scene::text(seen, "user").starts_with("Do you know"));
    let last_other =
        scene.server.seen().iter().rposition(|seen| !crate::scene::text(seen, "user").starts_with("Do you know"));
    assert!(first_test > last_other, "{first_test:?} {last_other:?}");
}

#[test]
fn events_are_a_line_each_and_tell_the_run() {
    let scene = learning();
    scene.result();
    let text = scene.world.read("run/events.jsonl");
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((count("run_started"), count("cycle_started"), count("cycle_done"), count("run_done")), (1, 3, 3, 1));
    let done: Vec<&Value> = events.iter().filter(|event| event["event"] == "cycle_done").collect();
    assert_eq!(done[1]["report"], scene.step(0, 1));
    assert!(events.iter().all(|event| event["seconds"].is_number()));
}

#[test]
fn keys_are_in_no_file_of_the_run_nor_in_what_is_said() {
    let secret = "sk-boatyard-7f3a9c51e2d84b60";
    let mut scene = learning();
    scene.world.set("OPENAI_API_KEY", secret);
    let run = scene.train(&["--json", "--record", "tape.jsonl"]);
    assert!(!run.err.contains(secret) && !run.out.contains(secret));
    run.ok();
    assert!(scene.server.seen().iter().all(|seen| seen.headers["authorization"].contains(secret)), "the key was sent");
    let walk =
        walkdir::WalkDir::new(scene.world.root()).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    for entry in walk {
        let bytes = std::fs::read(entry.path()).unwrap();
        let there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!there, "{}", entry.path().display());
    }
}

#[test]
fn a_run_of_its_own_name_labels_its_commits_so() {
    let scene = learning().with("train.name", "boat yard");
    scene.result();
    assert_eq!(scene.step(0, 0)["label"], json!("boat-yard-epoch_00-step_00"));
    assert!(scene.git(&["log", "-1", "--format=%s"]).starts_with("train boat-yard-epoch_00-step_02"));
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let (one, many) = (learning().with("train.workers", 1), learning().with("train.workers", 16));
    let (mut first, mut second) = (one.result(), many.result());
    for summary in [&mut first, &mut second] {
        summary.as_object_mut().unwrap().remove("usage");
    }
    // The optimizer's name holds its world's path, so commits differ and nothing else does.
    for summary in [&mut first, &mut second] {
        summary.as_object_mut().unwrap().remove("commits");
        for split in ["selection", "test"] {
            summary[split].as_array_mut().unwrap().iter_mut().for_each(|one| {
                one.as_object_mut().unwrap().remove("commit");
            });
        }
    }
    assert_eq!(first, second);
    let strip = |scene: &Scene, step: usize| {
        let mut report = scene.step(0, step);
        for key in ["before", "after", "candidate", "batch"] {
            report.as_object_mut().unwrap().remove(key);
        }
        report
    };
    (0..3).for_each(|step| assert_eq!(strip(&one, step), strip(&many, step)));
}

#[test]
fn later_steps_use_rollouts_of_earlier_ones_unless_they_must_be_fresh() {
    let plain = learning();
    let summary = plain.result();
    assert!(summary["rollouts"]["reused"].as_u64().unwrap() > 0);
    assert_eq!(summary["rollouts"]["new"], json!(plain.asked()));
    let fresh = learning();
    let summary: Value = serde_json::from_str(&fresh.train(&["--json", "--fresh"]).ok()).unwrap();
    assert_eq!(summary["rollouts"]["new"], json!(fresh.asked()));
    assert!(fresh.asked() > plain.asked());
}

#[test]
fn status_says_whether_a_run_is_finished() {
    let standing = |scene: &Scene| -> Value {
        serde_json::from_str(&scene.world.skilltrain(&["status", "--run", "run", "--json"]).ok()).unwrap()
    };
    // One that ran out of patience, one without tasks to select by, one that its budget stopped.
    let script = format!("{YARD} yard \"The yard has $CALL cats.\"");
    let scene = Scene::new().with_agent(&script).with("train.batch_size", 2).with("evaluation.patience", 2);
    scene.result();
    assert_eq!(
        (&standing(&scene)["run"]["is_finished"], scene.world.calls()),
        (&json!(true), 2),
        "{:#}",
        standing(&scene)
    );
    let scene = learning().with("evaluation.use_gate", false);
    scene.world.write("tasks/selection.jsonl", "");
    scene.result();
    assert_eq!(standing(&scene)["run"]["is_finished"], json!(true), "{:#}", standing(&scene));
    let scene = learning().with("budget.max_calls", 18);
    scene.train(&[]).fails(1);
    let standing = standing(&scene);
    assert_eq!((&standing["run"]["is_finished"], &standing["run"]["at"]), (&json!(false), &json!("epoch_00/step_01")));
}
