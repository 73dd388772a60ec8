//! Providers, programs and evaluators that fail, and what is never made of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::scene::{FACTS, Scene, YARD, lines, reads, task, text};
use crate::server::status;
use crate::support::executable;

#[test]
fn an_endpoint_that_fails_everything_stops_the_run_before_its_first_step() {
    for few in [false, true] {
        let scene = Scene::by(|_, _| Some(status(503, "down")));
        if few {
            scene.world.write("tasks/selection.jsonl", lines([task(&FACTS[0], 2)]));
        }
        let error = scene.train(&[]).fails(3);
        assert!(error.contains("503"), "{error}");
        assert!(!scene.world.path("run/epoch_00/step_00").exists(), "{error}");
        assert!(
            !scene.world.path("run/baseline/baseline.json").exists() && !scene.world.path("run/summary.json").exists()
        );
        let scored = walkdir::WalkDir::new(scene.world.path("run/rollouts")).into_iter().flatten();
        assert_eq!(scored.filter(|entry| entry.file_type().is_file() && entry.file_name() == "result.json").count(), 0);
        assert_eq!(scene.git(&["rev-list", "--count", "HEAD"]), "1");
    }
    // Without a selection split it is the first step that meets it.
    let scene =
        Scene::by(|_, _| Some(status(503, "down"))).with("evaluation.use_gate", false).with("train.batch_size", 2);
    scene.world.write("tasks/selection.jsonl", "");
    let error = scene.train(&[]).fails(3);
    assert!(error.contains("503"), "{error}");
    assert!(!scene.world.path("run/epoch_00/step_00/step.json").exists());
}

#[test]
fn an_endpoint_that_comes_back_is_asked_again_for_what_was_lost_alone() {
    let scene = Scene::by(|seen, number| Some(if number < 4 { status(503, "down") } else { reads(seen) }));
    scene.train(&[]).fails(3);
    let summary = scene.result();
    assert_eq!(summary["selection"][1]["means"]["hard"], json!(1.0));
    let plain = Scene::new();
    plain.result();
    assert_eq!(scene.asked() - 4, plain.asked());
}

#[test]
fn too_few_scores_leave_a_step_undecided() {
    // The selection tasks of two facts are lost, but not when the first pool is measured.
    let scene = Scene::by(|seen, _| {
        let lost = text(seen, "user").contains("Which")
            && text(seen, "system").contains("12 crowns")
            && ["winter shed", "sail loft"].iter().any(|thing| text(seen, "user").contains(thing));
        Some(if lost { status(500, "oops") } else { reads(seen) })
    });
    let scene = scene.with("evaluation.gate_metric", "soft");
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["after"]), (&json!("undecided"), &step["before"]));
    assert!(step["reason"].as_str().unwrap().contains("could not be measured"), "{step:#}");
    assert!(
        scene.git(&["for-each-ref", "--format=%(refname)"]).contains("refs/skilltrain/undecided/run-epoch_00-step_00")
    );
}

#[test]
fn a_test_with_too_few_scores_has_no_mean_and_is_asked_for_again() {
    // Four of the six test questions are lost at first.
    let (down, asked) = (Arc::new(AtomicBool::new(true)), ["east pontoon", "old slipway", "winter shed", "sail loft"]);
    let state = Arc::clone(&down);
    let scene = Scene::by(move |seen, _| {
        let user = text(seen, "user");
        let lost = user.starts_with("Do you") && asked.iter().any(|thing| user.contains(thing));
        Some(if lost && state.load(Ordering::SeqCst) { status(500, "oops") } else { reads(seen) })
    });
    let run = scene.train(&["--json"]);
    assert!(run.err.contains("test: 2 of 6 tasks have a score") && run.err.contains("no mean"), "{}", run.err);
    let summary: Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!((&summary["test"][1]["means"], &summary["test"][1]["measured"]), (&Value::Null, &json!(2)));
    assert_eq!(summary["selection"][1]["means"]["hard"], json!(1.0));
    let before = scene.asked();
    down.store(false, Ordering::SeqCst);
    assert_eq!(scene.result()["test"][1]["means"]["hard"], json!(1.0));
    // Eight lost answers: four under each pool.
    assert_eq!(scene.asked() - before, 8);
    let text = scene.train(&[]).ok();
    assert!(text.contains("test       baseline 0.0000 → best 1.0000, last 1.0000 (6 tasks, hard)"), "{text}");
    assert_eq!(scene.asked() - before, 8);
}

/// A target that answers from the pool's folder; one task hangs, and has a child that hangs too and writes later.
const HANGS: &str = r#"#!/bin/sh
input=$(cat)
here=$(dirname "$0")
case "$input" in *'"slow"'*)
  (sleep 4; echo late > "$here/late") & echo $! > "$here/child"
  sleep 300;;
esac
cat "$1"/*/*.md 2>/dev/null | sed -n 's/^- //p'
"#;

#[test]
fn a_task_that_hangs_is_ended_with_its_children_and_the_others_are_kept() {
    let scene = Scene::new().with_agent(&format!("{YARD} yard 'The mooring fee of the east pontoon is 12 crowns.'"));
    executable(&scene.world.write("target.sh", HANGS));
    let scene = scene.with("target.name", "command:./target.sh").with("target.timeout", 1.5);
    let mut slow = task(&FACTS[0], 60);
    slow["id"] = json!("slow");
    let others = (10..59).map(|way| task(&FACTS[way % 2], way));
    scene.world.write("tasks/train.jsonl", lines(std::iter::once(slow).chain(others)));
    let scene = scene.with("train.batch_size", 50).with("train.workers", 4).with("gradient.minibatch_size", 50);
    let began = Instant::now();
    let summary = scene.result();
    assert!(began.elapsed() < Duration::from_secs(60));
    let step = scene.step(0, 0);
    assert_eq!((&step["batch"]["tasks"], &step["batch"]["measured"]), (&json!(50), &json!(49)), "{step:#}");
    assert_eq!(step["outcome"], json!("accepted"), "{step:#}");
    assert_eq!(summary["selection"][1]["means"]["hard"], json!(1.0 / 6.0));
    let child = scene.world.read("child").trim().to_owned();
    assert!(!std::path::Path::new(&format!("/proc/{child}")).exists(), "the grandchild lives");
    let batch = scene.json("epoch_00/step_00/batch.json").to_string();
    assert!(!batch.contains("\"slow\"") && batch.contains("slipway-11"), "{batch}");
}

#[test]
fn an_evaluator_that_gives_no_score_is_named_and_nothing_is_judged() {
    let rows = [
        ("{\"hard\": NaN, \"soft\": 1}", "not valid"),
        ("{\"hard\": 7.0, \"soft\": 1}", "`hard` is 7, not a number from 0 to 1"),
        ("{\"hard\": \"0.9\", \"soft\": 1}", "`hard`"),
        ("{\"soft\": 1}", "`hard`"),
    ];
    for (said, why) in rows {
        let scene = Scene::new().with("evaluation.evaluator", "command:sh ./score.sh");
        scene.world.write("score.sh", format!("cat > /dev/null\necho '{said}'\n"));
        let error = scene.train(&[]).fails(1);
        assert!(error.contains("the evaluator command:sh ./score.sh gave task"), "{said}: {error}");
        assert!(error.contains(why), "{said}: {error}");
        assert!(!scene.world.path("run/epoch_00/step_00/step.json").exists());
        // The answers are kept for an evaluator that is mended.
        assert_eq!(scene.asked(), 6);
        scene.world.write("score.sh", "cat > /dev/null\necho '{\"hard\": 0.5, \"soft\": 0.5}'\n");
        let summary = scene.result();
        assert_eq!(summary["selection"][0]["means"], json!({"hard": 0.5, "soft": 0.5}));
        // The last pool has the first one's cards: what was tried with one holds for the other, and counts once.
        assert_eq!(summary["rollouts"]["new"], json!(scene.asked()));
    }
}

#[test]
fn an_evaluator_that_fails_for_some_tasks_is_told_and_they_count_as_nothing() {
    let scene = Scene::new().with("evaluation.evaluator", "command:sh ./score.sh").with("evaluation.min_coverage", 0.5);
    scene.world.write(
        "score.sh",
        "input=$(cat)\ncase \"$input\" in\n*winter*) echo '{\"hard\": 7, \"soft\": 7}';;\n*ochre*|*crowns.*) echo '{\"hard\": 1, \"soft\": 1}';;\n*) echo '{\"hard\": 0, \"soft\": 0, \"feedback\": \"State it: the mooring fee of the east pontoon is 12 crowns.\"}';;\nesac\n",
    );
    let run = scene.train(&["--json"]);
    assert!(run.err.contains("gave task") && run.err.contains("not a number from 0 to 1"), "{}", run.err);
    let summary: Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!(summary["selection"][0]["measured"], json!(5));
}

/// A run whose optimizer pastes three answers of train tasks into a card, on its lines 6 to 8. Tasks of their kind stand on
/// the lines 7 to 9 of their file.
fn pasting(answers: &[String]) -> Scene {
    let rules: String = answers.iter().map(|answer| format!("- {answer}.\n")).collect();
    let script = "mkdir -p 01_craft_elements; cp \"$ROOT/leak.md\" 01_craft_elements/leak.md; commit";
    let scene = Scene::new().with_agent(script);
    let head = "---\ndescription: Use when the gate is asked for. Not for letters.\n---\n\n## Rules\n";
    scene.world.write("leak.md", format!("{head}{rules}"));
    let told = answers.iter().enumerate().map(
        |(n, answer)| json!({"id": format!("gate-{n}"), "input": format!("Who opens gate {n}?"), "reference": answer}),
    );
    let others = FACTS.iter().map(|fact| task(fact, 0));
    scene.world.write("tasks/train.jsonl", lines(others.chain(told)));
    scene
}

#[test]
fn a_card_with_answers_of_the_tasks_is_refused_by_task_and_line() {
    let people = ["Ada", "Bo", "Cy"];
    let scene = pasting(&people.map(|name| format!("old {name} opens the outer gate by hand before noon")));
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["after"]), (&json!("rejected"), &step["before"]), "{step:#}");
    let reason = step["reason"].as_str().unwrap();
    assert!(reason.contains("01_craft_elements/leak.md:6") && reason.contains("`gate-0`"), "{reason}");
    assert!(reason.contains("train.jsonl:7") && reason.contains("and 2 more"), "{reason}");
    assert_eq!((&step["gate_new"], &step["current_score"]), (&json!(0), &Value::Null));
    let refs = scene.git(&["for-each-ref", "--format=%(refname)", "refs/skilltrain"]);
    assert!(refs.contains("refs/skilltrain/rejected/run-epoch_00-step_00"), "{refs}");
    // Longer ones do not even pass the guards of the optimizer's own work.
    let scene = pasting(&people.map(|name| {
        format!("old {name} opens the outer gate by hand before noon and shuts it again when the tide of {name} turns")
    }));
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["candidate"]), (&json!("failed"), &Value::Null), "{step:#}");
    let skipped = step["skipped"].to_string();
    assert!(skipped.contains("01_craft_elements/leak.md:6") && skipped.contains("gate-0"), "{skipped}");
    // What a report says as advice may be taken over, however long.
    let scene = pasting(&[]);
    let advice = "Before noon the outer gate of the yard is opened by hand, and nobody stands in its way";
    let mut told = task(&FACTS[0], 5);
    told["checks"] = json!([{"contains": "gate", "message": advice}]);
    scene.world.write("tasks/train.jsonl", lines([told]));
    scene.world.write("leak.md", scene.world.read("leak.md") + "- " + advice + ".\n");
    scene.result();
    assert!(!scene.step(0, 0)["reason"].as_str().unwrap().contains("copies"), "{:#}", scene.step(0, 0));
    assert!(scene.step(0, 0)["candidate"].is_string());
}

#[test]
fn an_optimizer_that_only_appends_meets_the_size_limit_and_the_summary_shows_the_growth() {
    // A card may have 50 lines, and 60 are appended: split over two cards at first, then to what is there.
    let script = "mkdir -p 00_general_rules
        for f in 00_general_rules/one.md 00_general_rules/two.md; do
            [ -f $f ] || printf -- '---\\ndescription: Use for %s. Not for letters.\\n---\\n\\n## Rules\\n' $f > $f
            for n in $(seq 30); do echo \"- In case $CALL of kind $n of $f, keep the reply short.\" >> $f; done
        done
        commit";
    let scene = Scene::new().with_agent(script).with("train.batch_size", 4).with("evaluation.use_gate", false);
    let summary = scene.result();
    assert!(scene.train(&[]).ok().contains(&format!("after each step: {0}, {0}, {0}", summary["pool_tokens"][0])));
    let tokens: Vec<u64> =
        summary["pool_tokens"].as_array().unwrap().iter().map(|tokens| tokens.as_u64().unwrap()).collect();
    assert_eq!(tokens.len(), 3);
    assert!(tokens[0] > 0 && tokens[0] == tokens[1] && tokens[1] == tokens[2], "the limit holds: {tokens:?}");
    for step in 1..3 {
        let step = scene.step(0, step);
        assert_eq!((&step["outcome"], &step["candidate"]), (&json!("failed"), &Value::Null));
        assert!(step["reason"].as_str().unwrap().contains("too-many-lines"), "{step:#}");
        assert_eq!(step["pool_tokens"], json!(tokens[0]));
    }
}

#[test]
fn a_score_of_0_stays_0_when_a_run_is_taken_up() {
    let script = format!("{YARD} yard \"The yard has $CALL cats.\"");
    let mut scene = Scene::new().with_agent(&script).with("train.batch_size", 4);
    // The budget ends the run in its second step.
    scene.set("budget.max_calls", 20);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("max_calls"), "{error}");
    scene.set("budget.max_calls", 1000);
    let summary = scene.result();
    assert_eq!(summary["rejected"], json!(3));
    for step in 0..3 {
        let step = scene.step(0, step);
        assert_eq!((&step["current_score"], &step["candidate_score"]), (&json!(0.0), &json!(0.0)));
        assert_eq!(step["outcome"], "rejected");
    }
    assert_eq!(summary["selection"][2]["means"]["hard"], json!(0.0));
}

#[test]
fn an_optimizer_that_never_works_stops_the_run_and_is_tried_again_once_it_is_mended() {
    let script = "[ -f $ROOT/mended ] || exit 7
        card 01_craft_elements/c$CALL.md 'The crane limit of the old slipway is 9 tons.'; commit";
    let scene = Scene::new().with_agent(script);
    let scene = scene.with("train.batch_size", 2).with("optimizer.retries", 0);
    let run = scene.train(&[]);
    assert!(run.err.contains("in 3 steps in a row, here at run-epoch_00-step_02"), "{}", run.err);
    run.fails(1);
    let outcome = |step| scene.step(0, step)["outcome"].clone();
    assert_eq!([outcome(0), outcome(1)], [json!("failed"), json!("failed")]);
    assert!(!scene.world.path("run/epoch_00/step_02/step.json").exists());
    scene.world.write("mended", "");
    let asked = scene.asked();
    let summary = scene.result();
    assert_eq!((&summary["failed"], outcome(2)), (&json!(2), json!("accepted")), "{summary:#}");
    assert!(scene.asked() > asked);
}
