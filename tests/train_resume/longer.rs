//! Schedules, levels and epochs: what depends on where a run stands is what it was, killed in between or not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scene::{Outcome, Scene, Who};

fn steps(outcome: &Outcome, key: &str) -> Vec<Value> {
    let files = outcome.files.iter().filter(|(path, _)| path.ends_with("step.json"));
    files.map(|(_, text)| serde_json::from_str::<Value>(text).unwrap()[key].clone()).collect()
}

/// The editor's questions hold what was rejected before, so that the same questions mean the same buffer.
#[test]
fn a_falling_rate_and_the_rejected_buffer_outlast_a_death() {
    let wanted = {
        let scene = Scene::new(Who::Chat);
        scene.run(&[]).ok();
        scene.outcome()
    };
    assert_eq!(steps(&wanted, "learning_rate"), [2, 2, 2, 2, 1, 1].map(Value::from));
    let outcomes = steps(&wanted, "outcome");
    assert!(outcomes.contains(&"rejected".into()) && outcomes.contains(&"accepted".into()), "{outcomes:?}");
    let told = wanted.asked.keys().filter(|body| body.contains("\"editor\"") && body.contains("rule-3.md")).count();
    assert!(told > 0, "a rejected step is told to the steps after it");
    assert!(wanted.files.keys().any(|path| path.ends_with("meta_skill/meta_skill.md")));
    for pass in [3, 5, 8] {
        let scene = Scene::new(Who::Chat);
        assert!(scene.dies("stretch-done", pass));
        scene.run(&[]).ok();
        scene.outcome().assert_is(&wanted, 0, &format!("stretch-done:{pass}"));
    }
}

/// One epoch, then two, with a sequential gate: what was there stays as it was, and the levels go on from it.
#[test]
fn more_epochs_leave_the_earlier_ones_alone() {
    let scene = || Scene::new(Who::Patch);
    let longer = ["--set", "evaluation.gate_policy=sequential", "--set", "train.num_epochs=2"];
    let shorter = ["--set", "evaluation.gate_policy=sequential", "--set", "train.num_epochs=1"];
    let of_steps = |outcome: &Outcome| -> BTreeMap<String, String> {
        let kept = |path: &str| path.starts_with("epoch_00/") || path.starts_with("baseline/");
        outcome.files.iter().filter(|(path, _)| kept(path)).map(|(path, text)| (path.clone(), text.clone())).collect()
    };
    let straight = scene();
    straight.run(&shorter).ok();
    let first = of_steps(&straight.outcome());
    straight.run(&longer).ok();
    let wanted = straight.outcome();
    assert_eq!(of_steps(&wanted), first);
    let plans: Value = serde_json::from_str(&wanted.files["run.json"]).unwrap();
    assert_eq!(plans["plans"], serde_json::json!([3, 3]));
    let levels = steps(&wanted, "level");
    assert!(
        levels.len() == 6 && levels.iter().all(|level| level.as_f64().is_some_and(|level| level > 0.0)),
        "{levels:?}"
    );
    for (point, pass) in [("run-extended", 1), ("stretch-done", 1), ("stretch-done", 2), ("gate-decided", 1)] {
        let scene = scene();
        scene.run(&shorter).ok();
        assert!(scene.dies_with(point, pass, &longer), "{point}:{pass}");
        let lost = scene.lost();
        scene.run(&longer).ok();
        scene.outcome().assert_is(&wanted, lost, &format!("{point}:{pass}"));
    }
}
