//! What the gate decides by, and what it does with the answer.

use serde_json::{Value, json};

use crate::scene::{FACTS, Scene, YARD, lines, task, text};
use crate::server::answer;

/// A fact with another value.
fn wrong(fact: &[&'static str; 4]) -> [&'static str; 4] {
    [fact[0], fact[1], fact[2], "unclear"]
}

fn outcomes(scene: &Scene, steps: usize) -> Vec<Value> {
    (0..steps).map(|step| scene.step(0, step)["outcome"].clone()).collect()
}

/// Three steps: two facts, none, a third one.
fn three_steps() -> Scene {
    let script = format!(
        "{YARD}case $CALL in
        1) yard 'The mooring fee of the east pontoon is 12 crowns. The crane limit of the old slipway is 9 tons.';;
        2) yard 'The yard is closed to visitors.';;
        *) card 01_craft_elements/keeper.md 'The radio channel of the lock keeper is 74.'; commit;;
        esac"
    );
    Scene::new().with_agent(&script).with("train.batch_size", 4)
}

#[test]
fn a_gate_takes_what_scores_higher_and_refuses_the_rest() {
    let scene = three_steps();
    let summary = scene.result();
    assert_eq!(outcomes(&scene, 3), [json!("accepted"), json!("rejected"), json!("accepted")]);
    assert_eq!(summary["selection"][1]["means"]["hard"], json!(0.5));
    assert_eq!(summary["commits"][1], scene.step(0, 2)["candidate"]);
    assert_eq!((&summary["accepted"], &summary["rejected"]), (&json!(2), &json!(1)));
}

#[test]
fn without_a_gate_every_step_is_taken_its_score_recorded_and_the_best_one_exported() {
    let scene = three_steps().with("evaluation.use_gate", false);
    let summary = scene.result();
    assert_eq!(outcomes(&scene, 3), [json!("accepted"), json!("accepted"), json!("accepted")]);
    let scores: Vec<Value> = (0..3).map(|step| scene.step(0, step)["candidate_score"].clone()).collect();
    assert_eq!(scores, [json!(2.0 / 6.0), json!(0.0), json!(1.0 / 6.0)]);
    assert_eq!(scene.json("epoch_00/step_01/gate.json")["decision"]["judged"], json!("reject"));
    assert_eq!(summary["commits"][2], json!(scene.git(&["rev-parse", "HEAD"])));
    assert_eq!(summary["commits"][1], scene.step(0, 0)["candidate"]);
    assert_eq!(scene.git(&["rev-parse", "best"]), summary["commits"][1].as_str().unwrap());
    assert!(scene.world.read("run/best/01_craft_elements/yard.md").contains("9 tons"));
}

#[test]
fn a_gate_stops_early_unless_it_is_told_not_to_with_the_same_verdict() {
    let script = format!(
        "{YARD} yard 'The mooring fee of the east pontoon is 12 crowns. The crane limit of the old slipway is 9 tons. \
         The radio channel of the lock keeper is 74. The closing time of the chandlery is half past four. \
         The door colour of the winter shed is ochre. The head rigger of the sail loft is Marit Aune.'"
    );
    let step = |early: bool| {
        let scene = Scene::new().with_agent(&script).with("evaluation.early_stop", early);
        let spared = scene.result()["rollouts"]["spared"].as_u64().unwrap();
        (scene.step(0, 0), spared)
    };
    let ((early, spared), (whole, none)) = (step(true), step(false));
    assert_eq!((&early["outcome"], &whole["outcome"]), (&json!("accepted"), &json!("accepted")));
    assert!(early["compared"].as_u64().unwrap() < 6 && spared > 0, "{early:#}");
    assert_eq!((&whole["compared"], none), (&json!(6), 0));
}

#[test]
fn of_pools_that_score_alike_the_earlier_one_is_the_best() {
    let scene = Scene::new().with_agent(&format!("{YARD} yard \"The yard has $CALL cats.\""));
    let scene = scene.with("evaluation.use_gate", false).with("train.batch_size", 6);
    let summary = scene.result();
    assert_eq!(summary["accepted"], json!(2));
    assert_eq!(summary["commits"][1], summary["commits"][0]);
    assert_ne!(summary["commits"][2], summary["commits"][0]);
    assert_eq!(scene.git(&["rev-parse", "best"]), summary["commits"][0].as_str().unwrap());
}

#[test]
fn without_a_gate_there_need_be_no_selection_split() {
    let scene = three_steps().with("evaluation.use_gate", false);
    scene.world.write("tasks/selection.jsonl", "");
    let summary = scene.result();
    assert_eq!(outcomes(&scene, 3), [json!("accepted"), json!("accepted"), json!("accepted")]);
    assert_eq!((&summary["selection"][0], &summary["commits"][1]), (&Value::Null, &summary["commits"][2]));
    assert_eq!(summary["test"][1]["means"]["hard"], json!(1.0 / 6.0));
}

#[test]
fn the_metric_says_what_higher_means() {
    // Five facts half right before; one wholly right and nothing else with the candidate: hard 0 → 1/6, soft 5/12 → 1/6.
    let rows =
        [("hard", 0.5, "accepted"), ("soft", 0.5, "rejected"), ("mixed", 0.25, "accepted"), ("mixed", 0.5, "rejected")];
    for (metric, weight, outcome) in rows {
        let script = format!("{YARD} yard 'The head rigger of the sail loft is Marit Aune.'");
        let halves: Vec<[&str; 4]> = FACTS[..5].iter().map(wrong).collect();
        let scene = Scene::new().with_cards(&halves).with_agent(&script);
        let scene = scene.with("evaluation.gate_metric", metric).with("evaluation.mixed_weight", weight);
        let summary = scene.result();
        assert_eq!(scene.step(0, 0)["outcome"], outcome, "{metric} {weight}");
        let first = &summary["selection"][0]["means"];
        assert_eq!((&first["hard"], first["soft"].as_f64().unwrap()), (&json!(0.0), 2.5 / 6.0));
        assert_eq!(scene.json("baseline/baseline.json")["means"], *first);
    }
}

#[test]
fn the_mixed_score_is_the_weighted_mean() {
    let script = format!("{YARD} yard 'The head rigger of the sail loft is Marit Aune.'");
    let scene = Scene::new().with_cards(&[wrong(&FACTS[0])]).with_agent(&script);
    // Without a gate nothing is left out, so the scores are of all tasks.
    scene
        .with("evaluation.use_gate", false)
        .with("evaluation.gate_metric", "mixed")
        .with("evaluation.mixed_weight", 0.25)
        .check(|step| {
            assert!((step["current_score"].as_f64().unwrap() - 0.25 * 0.5 / 6.0).abs() < 1e-9, "{step:#}");
            assert!((step["candidate_score"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-9, "{step:#}");
        });
}

#[test]
fn a_strict_gate_refuses_a_tie() {
    let script = format!("{YARD} yard 'The crane limit of the old slipway is 9 tons.'");
    let scene = Scene::new().with_cards(&FACTS[..1]).with_agent(&script);
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["after"]), (&json!("rejected"), &step["before"]));
    assert_eq!(scene.json("epoch_00/step_00/gate.json")["decision"]["verdict"], json!("reject"));
}

#[test]
fn no_regression_guards_critical_tasks_and_counts_the_others() {
    // The candidate forgets one fact and learns three.
    let script = format!(
        "{YARD} yard 'The crane limit of the old slipway is 9 tons. The radio channel of the lock keeper is 74. \
         The closing time of the chandlery is half past four. The door colour of the winter shed is ochre.'"
    );
    let rows = [
        ("strict", 0, 0, "accepted"),
        ("no_regression", 0, 1, "rejected"),
        ("no_regression", 1, 0, "rejected"),
        ("no_regression", 1, 1, "accepted"),
    ];
    for (policy, critical, allowed, outcome) in rows {
        let scene = Scene::new().with_cards(&FACTS[..2]).with_agent(&script);
        let selection = FACTS.iter().enumerate().map(|(n, fact)| {
            let mut task = task(fact, 2);
            task["critical"] = json!(n == critical);
            task
        });
        scene.world.write("tasks/selection.jsonl", lines(selection));
        let scene = scene.with("evaluation.gate_policy", policy).with("evaluation.max_regressions", allowed);
        scene.result();
        assert_eq!(scene.step(0, 0)["outcome"], outcome, "{policy} {critical} {allowed}");
    }
}

#[test]
fn a_sequential_gate_needs_tasks_enough_and_spends_its_level_over_the_run() {
    let script = format!(
        "{YARD}case $CALL in
        1) yard 'The mooring fee of the east pontoon is 12 crowns.';;
        2) yard 'The mooring fee of the east pontoon is 12 crowns. The yard is closed to visitors.';;
        *) card 01_craft_elements/keeper.md 'The radio channel of the lock keeper is 74.'; commit;;
        esac"
    );
    let sequential = |scene: Scene| {
        let scene = scene.with_agent(&script).with("train.batch_size", 4);
        scene.with("evaluation.gate_policy", "sequential").with("evaluation.alpha", 0.05)
    };
    let levels =
        |scene: &Scene| -> Vec<f64> { (0..3).map(|step| scene.step(0, step)["level"].as_f64().unwrap()).collect() };
    let close = |found: &[f64], wanted: &[f64]| {
        assert!(found.iter().zip(wanted).all(|(one, two)| (one - two).abs() < 1e-12), "{found:?} {wanted:?}");
    };
    // Nine tenths of the budget over three steps: 0.015 each; what an accepted step had passes on.
    let few = sequential(Scene::new());
    few.result();
    assert_eq!(outcomes(&few, 3), [json!("undecided"), json!("undecided"), json!("undecided")]);
    close(&levels(&few), &[0.015, 0.015, 0.015]);
    assert_eq!(few.step(0, 0)["after"], few.step(0, 0)["before"]);
    let many = sequential(Scene::new().with_selection(20));
    many.result();
    assert_eq!(outcomes(&many, 3), [json!("accepted"), json!("rejected"), json!("accepted")]);
    close(&levels(&many), &[0.015, 0.03, 0.015]);
    let decision = &many.json("epoch_00/step_00/gate.json")["decision"];
    assert!(decision["wealth"].as_f64() >= decision["wealth_needed"].as_f64(), "{decision:#}");
}

#[test]
fn patience_ends_a_run_after_so_many_steps_in_a_row() {
    let script = format!("{YARD} yard \"The yard has $CALL cats.\"");
    let scene = Scene::new().with_agent(&script).with("train.batch_size", 2).with("evaluation.patience", 2);
    let run = scene.train(&["--json"]);
    assert!(run.err.contains("2 steps in a row were not accepted"), "{}", run.err);
    let summary: Value = serde_json::from_str(&run.ok()).unwrap();
    assert_eq!((&summary["steps"], &summary["rejected"]), (&json!(2), &json!(2)));
    let asked = scene.asked();
    assert_eq!((scene.result(), scene.asked(), scene.world.calls()), (summary, asked, 2));
    let without = Scene::new().with_agent(&script).with("train.batch_size", 2).with("evaluation.patience", 0);
    assert_eq!(without.result()["steps"], json!(6));
}

#[test]
fn repeats_are_averaged() {
    // A model that knows the fee one time of three, and nothing else.
    let scene = Scene::by(|seen, number| {
        let knows = text(seen, "user").contains("mooring fee") && number % 3 == 0;
        Some(answer(if knows { "The mooring fee is 12 crowns." } else { "I do not know." }))
    });
    let scene = scene.with("evaluation.repeats", 3).with("train.freeze", true).with("train.workers", 1);
    scene.world.write("tasks/selection.jsonl", lines([task(&FACTS[0], 2), task(&FACTS[1], 2)]));
    let summary = scene.result();
    let baseline = scene.json("baseline/baseline.json");
    assert_eq!((&baseline["new"], &baseline["tasks"]), (&json!(6), &json!(2)));
    assert!((baseline["means"]["hard"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-6, "{baseline:#}");
    assert_eq!(summary["selection"][0]["means"], baseline["means"]);
}
