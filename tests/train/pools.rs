//! What a run does to its pool: commits, references, notes, tags, and other people's work in it.

use serde_json::json;

use crate::scene::{Scene, YARD};

/// Three steps: one that is taken, one that is refused, one that makes the refused cards again.
fn repeating() -> Scene {
    let script = format!(
        "{YARD}case $CALL in
        1) yard 'The mooring fee of the east pontoon is 12 crowns.';;
        *) card 01_craft_elements/cats.md 'The yard has nine cats.'; commit;;
        esac"
    );
    Scene::new().with_agent(&script).with("train.batch_size", 4)
}

fn references(scene: &Scene) -> Vec<String> {
    scene.git(&["for-each-ref", "--format=%(refname)"]).lines().map(str::to_owned).collect()
}

#[test]
fn an_accepted_commit_stays_and_a_rejected_one_is_kept_beside_the_branch() {
    let scene = repeating();
    let summary = scene.result();
    let (taken, refused) = (scene.step(0, 0), scene.step(0, 1));
    let head = scene.git(&["rev-parse", "HEAD"]);
    assert_eq!((taken["candidate"].as_str().unwrap(), taken["after"].as_str().unwrap()), (&*head, &*head));
    let label = "refs/skilltrain/rejected/run-epoch_00-step_01";
    assert_eq!(scene.git(&["rev-parse", label]), refused["candidate"].as_str().unwrap());
    assert_eq!(scene.git(&["rev-parse", &format!("{label}^")]), head);
    assert!(scene.git(&["show", &format!("{label}:01_craft_elements/cats.md")]).contains("nine cats"));
    // Branch, index and files are as if it had not been.
    assert_eq!(scene.git(&["status", "--porcelain", "--ignored"]), "");
    assert!(!scene.world.path("run/memory/01_craft_elements/cats.md").exists());
    scene.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(summary["accepted"], json!(1));
    let body = scene.git(&["log", "-1", "--format=%B"]);
    for trailer in [
        "Skilltrain-Run: run",
        "Skilltrain-Step: run-epoch_00-step_00-g01",
        "Skilltrain-Optimizer: command:",
        "Skilltrain-Evidence: ",
        "Skilltrain-Tokens: ",
        "Skilltrain-Cost: ",
    ] {
        assert!(body.contains(trailer), "{trailer}: {body}");
    }
    assert!(body.starts_with("train run-epoch_00-step_00-g01\n"), "{body}");
}

#[test]
fn a_plain_log_shows_what_became_of_each_step() {
    let scene = repeating();
    scene.result();
    let log = scene.git(&["log"]);
    assert!(log.contains("run-epoch_00-step_00: accepted: "), "{log}");
    assert!(log.contains("score: 0.0000 -> ") && log.contains("fixed: pontoon-2"), "{log}");
    let refused = scene.git(&["log", "-1", "refs/skilltrain/rejected/run-epoch_00-step_01"]);
    assert!(refused.contains("run-epoch_00-step_01: rejected: "), "{refused}");
}

#[test]
fn cards_that_were_refused_before_are_not_rolled_out_again() {
    let scene = repeating();
    scene.result();
    let (first, again) = (scene.step(0, 1), scene.step(0, 2));
    assert_eq!((&again["outcome"], &again["gate_new"]), (&json!("rejected"), &json!(0)));
    assert_eq!(again["reason"], json!("the same cards were rejected at run-epoch_00-step_01"));
    assert!(first["gate_new"].as_u64().unwrap() > 0);
    assert!(references(&scene).contains(&"refs/skilltrain/rejected/run-epoch_00-step_02".to_owned()));
}

#[test]
fn an_undecided_step_is_kept_and_leaves_the_branch_alone() {
    let script = format!("{YARD} yard 'The mooring fee of the east pontoon is 12 crowns.'");
    let scene = Scene::new().with_agent(&script).with("evaluation.gate_policy", "sequential");
    let seed = scene.result()["commits"][0].clone();
    let step = scene.step(0, 0);
    assert_eq!(step["outcome"], json!("undecided"));
    assert_eq!(json!(scene.git(&["rev-parse", "HEAD"])), seed);
    let kept = "refs/skilltrain/undecided/run-epoch_00-step_00";
    assert_eq!(scene.git(&["rev-parse", kept]), step["candidate"].as_str().unwrap());
    assert!(scene.git(&["log", "-1", kept]).contains("run-epoch_00-step_00: undecided: "));
    assert_eq!(scene.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn tags_name_each_epochs_end_and_the_best_pool_which_is_exported_whole() {
    let script = format!(
        "{YARD}case $CALL in
        1) yard 'The mooring fee of the east pontoon is 12 crowns.';;
        *) card 01_craft_elements/keeper.md 'The radio channel of the lock keeper is 74.'; commit;;
        esac"
    );
    let scene = Scene::new().with_agent(&script).with("train.num_epochs", 2);
    scene.result();
    let at = |tag: &str| scene.git(&["rev-parse", &format!("{tag}^{{commit}}")]);
    assert_eq!(at("epoch-1"), scene.step(0, 0)["after"].as_str().unwrap());
    assert_eq!((at("epoch-2"), at("best")), (at("HEAD"), at("HEAD")));
    assert_same_as_tag(&scene);
    // What somebody put there or took away is mended by the same command.
    scene.world.write("run/best/stale.md", "old");
    std::fs::remove_file(scene.world.path("run/best/01_craft_elements/yard.md")).unwrap();
    scene.result();
    assert_same_as_tag(&scene);
}

/// `best/` holds the files of the tag's tree, to the byte, and no other.
fn assert_same_as_tag(scene: &Scene) {
    let names = scene.git(&["ls-tree", "-r", "--name-only", "best"]);
    let root = scene.world.path("run/best");
    let walk = walkdir::WalkDir::new(&root).into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let mut there: Vec<String> =
        walk.map(|entry| entry.path().strip_prefix(&root).unwrap().display().to_string()).collect();
    there.sort();
    assert_eq!(there, names.lines().collect::<Vec<_>>());
    for name in names.lines() {
        let text = scene.world.read(format!("run/best/{name}"));
        assert_eq!(text.trim_end(), scene.git(&["show", &format!("best:{name}")]), "{name}");
    }
}

/// A run that its budget ends after the first of its steps.
fn paused() -> Scene {
    repeating().with("budget.max_calls", 18)
}

#[test]
fn a_commit_of_somebody_else_is_refused_with_what_to_do() {
    let mut scene = paused();
    scene.train(&[]).fails(1);
    let ours = scene.git(&["rev-parse", "HEAD"]);
    scene.world.write("run/memory/01_craft_elements/mine.md", crate::scene::card(&crate::scene::FACTS[..1]));
    scene.git(&["add", "-A"]);
    scene.git(&["commit", "-q", "--no-verify", "-m", "a card of mine"]);
    let (tip, asked) = (scene.git(&["rev-parse", "HEAD"]), scene.asked());
    scene.set("budget.max_calls", 500);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("somebody else committed there"), "{error}");
    assert!(error.contains("branch mine") && error.contains(&format!("reset --hard {}", &ours[..9])), "{error}");
    assert_eq!((scene.git(&["rev-parse", "HEAD"]), scene.asked()), (tip, asked));
    // As told, it goes on, and the commit is still there.
    scene.git(&["branch", "mine"]);
    scene.git(&["reset", "-q", "--hard", &ours]);
    assert_eq!(scene.result()["steps"], json!(3));
    assert_eq!(scene.git(&["log", "-1", "--format=%s", "mine"]), "a card of mine");
    // A branch that was set back is no better.
    scene.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("moved it"), "{error}");
}

#[test]
fn a_file_of_the_users_in_the_pool_keeps_its_bytes_and_is_named_before_anything_is_paid() {
    let mut scene = paused();
    scene.train(&[]).fails(1);
    let asked = scene.asked();
    scene.world.write("run/memory/script.sh", "#!/bin/sh\necho mine\n");
    scene.set("budget.max_calls", 500);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("script.sh") && error.contains("move them out"), "{error}");
    assert_eq!((scene.world.read("run/memory/script.sh").as_str(), scene.asked()), ("#!/bin/sh\necho mine\n", asked));
    // A run that is finished, frozen or made of typed edits has nothing against it.
    std::fs::remove_file(scene.world.path("run/memory/script.sh")).unwrap();
    let summary = scene.result();
    scene.world.write("run/memory/script.sh", "#!/bin/sh\necho mine\n");
    assert_eq!(scene.result(), summary);
    let mut typed = Scene::new().with("optimizer.strategy", "patch").with("budget.max_calls", 19);
    typed.train(&[]).fails(1);
    typed.world.write("run/memory/script.sh", "mine");
    typed.set("budget.max_calls", 500);
    assert_eq!(typed.result()["accepted"], json!(1));
    assert_eq!(typed.world.read("run/memory/script.sh"), "mine");
    assert!(!typed.git(&["ls-tree", "-r", "--name-only", "HEAD"]).contains("script.sh"));
}

#[test]
fn a_card_that_the_user_is_editing_is_named_and_left_alone() {
    let mut scene = paused();
    scene.train(&[]).fails(1);
    let path = "run/memory/01_craft_elements/yard.md";
    let text = scene.world.read(path) + "- A line of mine.\n";
    scene.world.write(path, &text);
    scene.set("budget.max_calls", 500);
    let error = scene.train(&[]).fails(1);
    assert!(error.contains("yard.md"), "{error}");
    assert_eq!(scene.world.read(path), text);
    scene.git(&["checkout", "-q", "--", "."]);
    assert_eq!(scene.result()["steps"], json!(3));
}

#[test]
fn two_trainers_do_not_share_a_run() {
    let mut scene = repeating();
    let script = format!(
        "{YARD} touch \"$ROOT/working\"; while [ ! -e \"$ROOT/go\" ]; do sleep 0.02; done; yard 'The yard has cats.'"
    );
    let agent = scene.world.agent(&script);
    scene.set("optimizer.name", agent);
    scene.config();
    let mut first = scene
        .world
        .command(&["train"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = std::time::Instant::now();
    while !scene.world.path("working").exists() && began.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let asked = scene.asked();
    let error = scene.train(&[]).fails(1);
    assert!(error.contains(&first.id().to_string()), "{error}");
    assert_eq!(scene.asked(), asked);
    scene.world.write("go", "");
    assert!(first.wait().unwrap().success());
}
