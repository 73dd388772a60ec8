//! What an epoch ends with, what it hands to the next one, and runs that are longer or control.

use serde_json::{Value, json};

use crate::scene::{Asked, FACTS, Scene, YARD, create, edit};

const CARD: &str = "01_craft_elements/yard.md";
const GUIDANCE: &str = "00_general_rules/longitudinal-guidance.md";

fn rule(fact: usize) -> String {
    let [_, what, thing, value] = FACTS[fact];
    format!("The {what} of the {thing} is {value}.")
}

/// An optimizer that learns the first two facts in the first epoch, and two others for the second of them in the next
/// one; its guidance and its notes are given.
fn two_epochs(guidance: &'static str) -> Scene {
    let scene = Scene::with_optimizer(move |asked, _, number| match (asked, number) {
        (Asked::Failures, 0) => json!({"edits": [create(CARD, &format!("{}\n- {}", rule(0), rule(1)))]}),
        (Asked::Failures, 1) => {
            json!({"edits": [edit("replace", CARD, &rule(1), &format!("{}\n- {}", rule(2), rule(3)))]})
        }
        (Asked::Slow, _) => json!({"guidance": guidance}),
        (Asked::Meta, number) => json!({"notes": format!("- Note {number}: short cards helped.")}),
        _ => json!({"edits": []}),
    });
    scene.with("train.num_epochs", 2).with("gradient.failure_only", true)
}

fn slow(scene: &Scene, epoch: usize) -> Value {
    scene.json(&format!("epoch_{epoch:02}/slow_update/slow_update.json"))
}

#[test]
fn a_slow_update_puts_guidance_into_its_card_when_that_helps() {
    let scene = two_epochs("- The door colour of the winter shed is ochre.");
    let summary = scene.result();
    assert_eq!((&slow(&scene, 0)["outcome"], scene.prompts(Asked::Slow).len()), (&json!("unchanged"), 1));
    let report = slow(&scene, 1);
    assert_eq!(report["outcome"], "accepted", "{report:#}");
    let compared = json!([["improved", 4], ["regressed", 2], ["persistent_failure", 4], ["stable_success", 2]]);
    assert_eq!(report["compared"], compared);
    assert!(scene.git(&["show", &format!("HEAD:{GUIDANCE}")]).contains("ochre"));
    assert_eq!(scene.git(&["log", "-1", "--format=%s"]), "train run-epoch_01-slow_update");
    assert_eq!(scene.git(&["rev-parse", "epoch-2"]), report["after"].as_str().unwrap());
    assert_eq!(summary["selection"][1]["means"]["hard"], json!(4.0 / 6.0));
}

#[test]
fn guidance_that_helps_nobody_is_refused_at_the_gate_and_taken_without_one() {
    for (gated, outcome) in [(true, "rejected"), (false, "accepted")] {
        let scene =
            two_epochs("- The yard likes short answers.").with("optimizer.slow_update_gate_with_selection", gated);
        scene.result();
        let report = slow(&scene, 1);
        assert_eq!(report["outcome"], outcome, "{report:#}");
        let is_there = scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains(GUIDANCE);
        assert_eq!(is_there, !gated);
        let kept = scene.git(&["for-each-ref", "--format=%(refname)", "refs/skilltrain"]);
        assert_eq!(kept.contains("refs/skilltrain/rejected/run-epoch_01-slow_update"), gated, "{kept}");
    }
}

#[test]
fn a_slow_update_that_is_off_asks_nobody() {
    let scene = two_epochs("- Whatever.").with("optimizer.use_slow_update", false);
    scene.result();
    assert!(scene.prompts(Asked::Slow).is_empty());
    assert_eq!(slow(&scene, 1)["outcome"], "unchanged");
}

#[test]
fn the_pair_policy_says_which_pairs_are_shown() {
    // By fact: the first stays right, the second gets worse, two improve, two fail both times.
    let rows = [
        ("mixed", [true, true, true, true, true, true]),
        ("changed", [false, true, true, true, false, false]),
        ("unchanged", [true, false, false, false, true, true]),
    ];
    for (policy, shown) in rows {
        let scene = two_epochs("- The yard likes short answers.").with("optimizer.longitudinal_pair_policy", policy);
        scene.result();
        let prompts = scene.prompts(Asked::Slow);
        let pairs = prompts[0].split("# The tasks, with both answers").nth(1).unwrap();
        let seen = FACTS.map(|[_, what, thing, _]| pairs.contains(&format!("{what} of the {thing}")));
        assert_eq!(seen, shown, "{policy}: {pairs}");
    }
}

#[test]
fn fewer_tasks_are_compared_where_that_is_wanted() {
    let scene = two_epochs("- The yard likes short answers.").with("optimizer.slow_update_samples", 5);
    scene.result();
    let compared = slow(&scene, 1)["compared"].clone();
    let count: u64 = compared.as_array().unwrap().iter().map(|pair| pair[1].as_u64().unwrap()).sum();
    assert_eq!(count, 5, "{compared}");
}

#[test]
fn ordinary_edits_cannot_touch_the_guidance() {
    let scene = Scene::with_optimizer(|asked, _, number| match (asked, number) {
        (Asked::Failures, 0) => json!({"edits": [create(GUIDANCE, &rule(0)), create(CARD, &rule(1))]}),
        _ => json!({"edits": []}),
    });
    let scene = scene.with("optimizer.use_meta_skill", false);
    scene.result();
    let (step, files) = (scene.step(0, 0), scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]));
    assert!(step["skipped"].to_string().contains("longitudinal-guidance"), "{step:#}");
    assert!(files.contains(CARD) && !files.contains(GUIDANCE), "{files}");
    // Nor can a program in a checkout.
    let script = format!("card {GUIDANCE} '{}'; commit", rule(0));
    let scene = Scene::new().with_agent(&script);
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["candidate"]), (&json!("failed"), &Value::Null), "{step:#}");
}

#[test]
fn the_built_in_optimizer_writes_guidance_and_leaves_it_alone_afterwards() {
    // What it learns in the backward pass is cut to one card a step, so that later epochs have something to do.
    let scene = Scene::new().with("train.num_epochs", 3).with("train.batch_size", 4).with("optimizer.learning_rate", 1);
    let scene = scene.with("optimizer.slow_update_gate_with_selection", false);
    let summary = scene.result();
    for epoch in 0..3 {
        for step in 0..3 {
            let step = scene.step(epoch, step);
            assert!(!step["skipped"].to_string().contains("no attempt passed"), "{step:#}");
        }
    }
    assert_eq!(summary["steps"], json!(9));
}

#[test]
fn notes_are_kept_for_later_epochs_and_never_in_the_pool() {
    let scene = two_epochs("- The yard likes short answers.");
    scene.result();
    let (failures, meta) = (scene.prompts(Asked::Failures), scene.prompts(Asked::Meta));
    assert_eq!(meta.len(), 2);
    assert!(!failures[0].contains("Note 0") && failures[1].contains("Note 0: short cards helped."), "{}", failures[1]);
    assert!(meta[0].contains("run-epoch_00-step_00") && meta[1].contains("Note 0"), "{}", meta[1]);
    assert!(scene.world.read("run/epoch_01/meta_skill/meta_skill.md").contains("Note 1"));
    assert!(!scene.cards("HEAD").contains("Note"));
    let off = two_epochs("- The yard likes short answers.").with("optimizer.use_meta_skill", false);
    off.result();
    assert!(off.prompts(Asked::Meta).is_empty());
    assert!(!off.prompts(Asked::Failures)[1].contains("short cards helped"));
}

#[test]
fn what_was_rejected_is_told_for_the_rest_of_the_epoch() {
    let scene = Scene::with_optimizer(|asked, _, number| match (asked, number) {
        (Asked::Failures, 0) => json!({"edits": [create(CARD, "The yard has nine cats.")]}),
        (Asked::Failures, 1) => json!({"edits": [create(CARD, &rule(0))]}),
        _ => json!({"edits": []}),
    });
    let scene = scene.with("train.batch_size", 4).with("train.num_epochs", 2).with("optimizer.use_meta_skill", false);
    let scene = scene.with("optimizer.use_slow_update", false);
    scene.result();
    let failures = scene.prompts(Asked::Failures);
    assert!(!failures[0].contains("nine cats"));
    assert!(failures[1].contains("nine cats") && failures[2].contains("nine cats"), "{}", failures[1]);
    assert!(!failures[3].contains("nine cats"), "another epoch begins without it: {}", failures[3]);
    assert_eq!(scene.step(0, 0)["outcome"], "rejected");
    assert_eq!(scene.step(0, 1)["outcome"], "accepted");
}

#[test]
fn a_frozen_arm_makes_the_same_rollouts_and_never_changes_its_pool() {
    let scene = Scene::new().with_agent(YARD).with_cards(&FACTS[..2]).with("train.batch_size", 4);
    let scene = scene.with("train.num_epochs", 2);
    let summary: Value = serde_json::from_str(&scene.train(&["--json", "--freeze"]).ok()).unwrap();
    assert_eq!((&summary["unchanged"], &summary["steps"], scene.world.calls()), (&json!(6), &json!(6), 0));
    assert_eq!(scene.git(&["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(summary["test"][2]["means"]["hard"], json!(2.0 / 6.0));
    assert_eq!(
        scene.step(1, 2)["batch"]["means"]["hard"],
        scene.json("epoch_01/step_02/step.json")["batch"]["means"]["hard"]
    );
}

#[test]
fn both_arms_begin_from_the_cards_that_are_given() {
    for frozen in [false, true] {
        let scene = Scene::new().with_cards(&FACTS[..2]).with("train.freeze", frozen);
        let summary = scene.result();
        let first = summary["commits"][0].as_str().unwrap();
        assert!(scene.cards(first).contains("east pontoon is 12 crowns"));
        assert_eq!(summary["selection"][0]["means"]["hard"], json!(2.0 / 6.0));
        let last = if frozen { 2.0 / 6.0 } else { 1.0 };
        assert_eq!(summary["selection"][2]["means"]["hard"], json!(last), "{frozen}");
    }
}

#[test]
fn the_given_cards_may_be_a_pool_whose_own_files_stay_as_they_are() {
    let scene = Scene::new();
    scene.world.skilltrain(&["init", "mine"]).ok();
    scene.world.write("mine/01_craft_elements/yard.md", crate::scene::card(&FACTS[..1]));
    scene.world.git("mine", &["add", "-A"]);
    scene.world.git("mine", &["commit", "-q", "-m", "a card"]);
    let tip = scene.world.git("mine", &["rev-parse", "HEAD"]);
    scene.train(&["--init-pool", "mine"]).ok();
    assert_eq!(scene.json("baseline/baseline.json")["means"]["hard"], json!(1.0 / 6.0));
    assert_eq!(scene.world.git("mine", &["rev-parse", "HEAD"]), tip);
    assert_eq!(scene.world.git("mine", &["status", "--porcelain"]), "");
    let wrong = Scene::new();
    let said = wrong.train(&["--init-pool", "nowhere"]).fails(2);
    assert!(said.contains("nowhere"), "{said}");
}

#[test]
fn more_epochs_go_on_where_a_finished_run_ended() {
    let script = format!(
        "{YARD}case $CALL in
        1) yard 'The mooring fee of the east pontoon is 12 crowns.';;
        2) yard 'The yard has nine cats.';;
        *) card 01_craft_elements/keeper.md 'The radio channel of the lock keeper is 74.'; commit;;
        esac"
    );
    let mut scene = Scene::new().with_agent(&script).with("train.num_epochs", 2);
    let short = scene.result();
    assert_eq!(short["selection"][1]["means"]["hard"], json!(1.0 / 6.0));
    let before = files(&scene);
    scene.set("train.num_epochs", 4);
    let long = scene.result();
    assert_eq!((&long["steps"], scene.world.calls()), (&json!(4), 4));
    assert_eq!(long["selection"][1]["means"]["hard"], json!(2.0 / 6.0));
    assert_eq!(long["test"][1]["means"]["hard"], json!(2.0 / 6.0));
    let after = files(&scene);
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{path} was touched");
    }
    assert!(after.len() > before.len());
    assert_eq!(scene.json("run.json")["plans"], json!([2, 2]));
    assert_eq!((scene.step(1, 0)["steps"].clone(), scene.step(3, 0)["steps"].clone()), (json!(2), json!(4)));
}

/// The files of all epochs, with their bytes.
fn files(scene: &Scene) -> std::collections::BTreeMap<String, Vec<u8>> {
    let root = scene.world.path("run");
    let walk = walkdir::WalkDir::new(&root).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let inside = walk.filter_map(|entry| {
        let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        (path.starts_with("epoch_") || path.starts_with("loss/")).then(|| (path, std::fs::read(entry.path()).unwrap()))
    });
    inside.collect()
}
