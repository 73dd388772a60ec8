//! How much a step may change: the learning rate by the step's number, deletions, and what comes of a rate of 0.

use serde_json::{Value, json};

use crate::scene::{FACTS, Scene, YARD};

/// The rates of a frozen run's steps.
fn rates(scheduler: &str, [high, low]: [usize; 2], steps: usize) -> Vec<Value> {
    let scene = Scene::new()
        .with("train.freeze", true)
        .with("train.batch_size", 12 / steps)
        .with("evaluation.eval_test", false)
        .with("optimizer.lr_scheduler", scheduler)
        .with("optimizer.learning_rate", high)
        .with("optimizer.min_learning_rate", low);
    scene.result();
    (0..steps).map(|step| scene.step(0, step)["learning_rate"].clone()).collect()
}

#[test]
fn each_schedule_gives_the_rates_of_its_formula() {
    // By hand: hi + (lo − hi)·s/T, and lo + ½(hi − lo)(1 + cos πs/T), to the nearest, halves to the even one.
    assert_eq!(rates("linear", [10, 2], 12), [10, 9, 9, 8, 7, 7, 6, 5, 5, 4, 3, 3].map(Value::from));
    assert_eq!(rates("cosine", [10, 2], 12), [10, 10, 9, 9, 8, 7, 6, 5, 4, 3, 3, 2].map(Value::from));
    assert_eq!(rates("cosine", [9, 0], 4), [9, 8, 4, 1].map(Value::from));
    assert_eq!(rates("linear", [9, 0], 4), [9, 7, 4, 2].map(Value::from));
    assert_eq!(rates("constant", [5, 2], 4), [5; 4].map(Value::from));
    assert_eq!(rates("autonomous", [5, 2], 2), [Value::Null, Value::Null]);
    assert_eq!(rates("cosine", [7, 2], 1), [json!(7)]);
}

#[test]
fn the_rate_spans_all_epochs() {
    let scene = Scene::new()
        .with("train.freeze", true)
        .with("train.batch_size", 6)
        .with("train.num_epochs", 2)
        .with("evaluation.eval_test", false)
        .with("optimizer.lr_scheduler", "linear")
        .with("optimizer.learning_rate", 8)
        .with("optimizer.min_learning_rate", 0);
    scene.result();
    let rate = |epoch, step| scene.step(epoch, step)["learning_rate"].clone();
    assert_eq!([rate(0, 0), rate(0, 1), rate(1, 0), rate(1, 1)], [8, 6, 4, 2].map(Value::from));
}

#[test]
fn a_rate_of_0_applies_nothing_and_asks_nobody() {
    let scene = Scene::new().with_agent(YARD).with("optimizer.learning_rate", 0).with("train.batch_size", 6);
    let summary = scene.result();
    assert_eq!((&summary["unchanged"], scene.world.calls()), (&json!(2), 0));
    assert_eq!(summary["commits"][0], summary["commits"][2]);
    let step = scene.step(0, 0);
    assert_eq!((&step["learning_rate"], &step["reason"]), (&json!(0), &json!("a learning rate of 0 applies nothing")));
}

#[test]
fn a_program_that_changes_more_cards_than_the_rate_is_refused() {
    let script = "card 01_craft_elements/a.md 'The mooring fee of the east pontoon is 12 crowns.'
        card 01_craft_elements/b.md 'The crane limit of the old slipway is 9 tons.'
        commit";
    let scene = Scene::new().with_agent(script).with("optimizer.lr_scheduler", "constant");
    let scene = scene.with("optimizer.learning_rate", 1);
    let run = scene.train(&["--json"]);
    assert!(run.err.contains("no candidate"), "{}", run.err);
    run.ok();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["candidate"]), (&json!("failed"), &Value::Null));
    assert!(step["skipped"].to_string().contains("2 cards touched, this step may touch 1"), "{step:#}");
    let reason = step["reason"].as_str().unwrap();
    assert!(reason.contains("no attempt passed") && !reason.ends_with(':'), "{reason}");
    // Left to itself it may change what it likes.
    let free = Scene::new().with_agent(script).with("optimizer.lr_scheduler", "autonomous");
    let free = free.with("optimizer.learning_rate", 1);
    free.result();
    assert_eq!(free.step(0, 0)["cards"]["created"], json!(2));
}

#[test]
fn a_step_deletes_no_more_cards_than_it_may() {
    for (most, outcome) in [(1, "failed"), (2, "accepted")] {
        let script = format!(
            "git rm -q 01_craft_elements/one.md 01_craft_elements/two.md
            {YARD} yard 'The crane limit of the old slipway is 9 tons. The radio channel of the lock keeper is 74.'"
        );
        let scene = Scene::new().with_cards(&FACTS[..1]).with_agent(&script).with("optimizer.max_deletions", most);
        for name in ["one", "two"] {
            let text =
                format!("---\ndescription: Use when {name} is asked. Not for two.\n---\n\n## Rules\n- Say {name}.\n");
            scene.world.write(format!("cards/01_craft_elements/{name}.md"), text);
        }
        scene.result();
        let step = scene.step(0, 0);
        assert_eq!(step["outcome"], outcome, "{step:#}");
        if most == 1 {
            assert!(step["skipped"].to_string().contains("2 cards"), "{step:#}");
        } else {
            assert_eq!(step["cards"]["deleted"], json!(2));
        }
    }
}
