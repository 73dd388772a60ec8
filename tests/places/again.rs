//! What a user sees who comes back to evidence that was trained already.

use crate::support::World;

/// A world whose batch was trained by an agent that writes one card a call.
fn trained() -> (World, String) {
    let world = World::with_pool();
    world.batch(2);
    let agent = world.agent("card 00_general_rules/a.md 'asked for a name'; commit");
    world.backward(&agent, &["--group-size", "0"]).ok();
    (world, agent)
}

#[test]
fn another_optimizer_is_told_who_did_it() {
    let (world, _) = trained();
    let again = world.backward("extractive", &["--group-size", "0"]);
    assert!(
        again.err.contains("was trained by command:") && again.err.contains("another --out and --label"),
        "{}",
        again.err
    );
    assert!(again.ok().contains("nothing to do: the micro-step of this batch was done before"));
    assert_eq!(world.calls(), 1);
}

#[test]
fn a_reverted_step_stays_done_and_is_shown_as_reverted() {
    let (world, agent) = trained();
    world.git("pool", &["revert", "--no-edit", "HEAD"]);
    let again = world.backward(&agent, &["--group-size", "0"]);
    assert!(again.err.contains("was reverted since"), "{}", again.err);
    assert!(again.ok().contains("reverted since, by "));
    assert!(world.skilltrain(&["log", "--pool", "pool"]).ok().contains("(reverted by "));
    world.git("pool", &["revert", "--no-edit", "HEAD"]);
    assert!(!world.skilltrain(&["log", "--pool", "pool"]).ok().contains("(reverted by "), "the revert was reverted");
    assert_eq!(world.calls(), 1);
}

#[test]
fn a_lost_folder_is_recognised_and_names_no_report_that_is_not_there() {
    let (world, _) = trained();
    let world_pool = world.tip();
    std::fs::remove_dir_all(world.path("backward")).unwrap();
    let out = world.backward("extractive", &["--group-size", "0"]).ok();
    assert!(out.contains("recognised") && !out.contains("report:"), "{out}");
    assert_eq!(world.tip(), world_pool);
}

#[test]
fn a_step_of_another_branch_says_which() {
    let (world, agent) = trained();
    world.git("pool", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    let err = world.backward(&agent, &["--group-size", "0"]).fails(1);
    assert!(err.contains("of the branch main, and the pool is on side") && err.contains("switch main"), "{err}");
}

#[test]
fn a_report_that_is_not_utf8_is_wrong_input() {
    let world = World::with_pool();
    world.batch(1);
    world.write("evidence/w1.md", b"# Report\n\n- The colour is \xe9range.\n");
    let err = world.backward("extractive", &[]).fails(2);
    assert!(err.contains("w1.md") && err.contains("byte 26"), "{err}");
}

#[test]
fn a_step_may_not_empty_the_pool_whatever_the_bound() {
    let (world, _) = trained();
    let agent = world.agent("git rm -q -r .; git checkout -q HEAD -- .skilltrain.toml; commit gone");
    let more = ["--out", "second", "--label", "second", "--max-deletions", "9", "--retries", "0"];
    let err = world.backward(&agent, &more).fails(1);
    assert!(err.contains("no card would be left"), "{err}");
    world.assert_clean();
}

#[test]
fn a_learning_rate_of_nothing_says_what_it_does() {
    let world = World::with_pool();
    world.batch(2);
    let run = world.backward("extractive", &["--learning-rate", "0"]);
    assert!(run.err.contains("a learning rate of 0 lets no card change"), "{}", run.err);
    run.ok();
}

#[test]
fn reduce_prints_its_report_when_no_file_is_named() {
    let world = World::new();
    world.batch(3);
    let out = world.skilltrain(&["reduce", "--batch", "batch.json"]).ok();
    assert!(["w1", "w2", "w3"].iter().all(|work| out.contains(work)), "{out}");
}

#[test]
fn commands_that_are_printed_can_be_pasted() {
    let world = World::new();
    let out = world.skilltrain(&["init", "b'$(touch PWNED)"]).ok();
    assert!(out.contains(r"--pool 'b'\''$(touch PWNED)' --batch"), "{out}");
}
