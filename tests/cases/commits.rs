//! What counts as a commit: none, one, several, an empty one, and what becomes of edits without one.

use crate::check::{Row, check_good, label, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

#[test]
fn doing_nothing_is_told_then_tried_afresh_then_given_up() {
    for (retries, attempts) in [("0", 1), ("1", 2), ("2", 3)] {
        let world = Row::of("true")
            .args(&["--retries", retries])
            .attempts(attempts)
            .calls(2 * attempts)
            .says(&[
                "(no-commit)",
                "git commit --allow-empty",
                "the pool is as it was; run the same command",
                "giving up",
            ])
            .keeps_nothing()
            .check();
        let repair = world.read("backward/g01/repair_prompt_attempt1.md");
        assert!(repair.contains("nothing was changed and nothing committed"), "{repair}");
    }
}

#[test]
fn edits_without_a_commit_are_kept() {
    let world = Row::of(format!("card {NEW} 'asked for a name'"))
        .args(&["--retries", "1"])
        .attempts(2)
        .calls(4)
        .says(&["cards were edited, but there is no commit: commit them (no-commit)", "its edits are kept: git -C"])
        .keeps(NEW, "asked for a name")
        .check();
    let repair = world.read("backward/g01/repair_prompt_attempt2.md");
    assert!(repair.contains("commit them"), "{repair}");
    assert!(world.read(format!("backward/g01/memory_after_attempt1/{NEW}")).contains("asked for a name"));
}

#[test]
fn an_exit_code_of_one_three_times_keeps_each_attempts_edits() {
    let world = Row::of(format!("card {NEW} \"asked for name $CALL\"; echo 'no idea' >&2; exit 1"))
        .args(&["--retries", "2"])
        .attempts(3)
        .calls(3)
        .says(&["(optimizer-ended-badly)", "exit code 1: no idea", "(no-commit)"])
        .check();
    for n in 1..=3 {
        let kept = world.git("pool", &["show", &format!("refs/skilltrain/failed/{}/{n}:{NEW}", label(&world))]);
        assert!(kept.contains(&format!("asked for name {n}")), "{kept}");
    }
    assert!(!world.path("backward/g01/repair_prompt_attempt1.md").exists(), "nobody is left to be told");
}

#[test]
fn a_commit_before_a_bad_end_is_rolled_back() {
    Row::of(format!("card {NEW} 'asked for a name'; commit; exit 3"))
        .calls(1)
        .says(&["(optimizer-ended-badly)", "exit code 3"])
        .keeps(NEW, "asked for a name")
        .check();
    Row::of(format!("card {NEW} 'asked for a name'; commit; kill -9 $$"))
        .calls(1)
        .says(&["(optimizer-ended-badly)", "signal 9"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn a_commit_that_leaves_a_changed_card_is_rolled_back() {
    Row::of(format!("card {NEW} 'asked for a name'; commit; card {NEW} 'asked twice'"))
        .says(&["(not-clean)", "commit them or take them away", NEW])
        .keeps(NEW, "asked twice")
        .check();
    // A card that the commit has and the folder has not.
    Row::of(format!("card {NEW} 'asked for a name'; card 01_craft_elements/c.md 'asked for c'; commit; rm -f {NEW}"))
        .says(&["(not-clean)", NEW])
        .keeps("01_craft_elements/c.md", "asked for c")
        .check();
}

#[test]
fn two_commits_become_one_with_our_message() {
    let world = world();
    let script =
        format!("card {NEW} 'asked for a name'; commit 'one'; card 00_general_rules/a.md 'asked for a'; commit 'two'");
    taken(&world, &script, &[]);
    assert_eq!(world.calls(), 1);
    assert_eq!(touched(&world), ["00_general_rules/a.md", NEW]);
    let message = world.git("pool", &["log", "-1", "--format=%B"]);
    assert!(!message.contains("one\n") && !message.contains("two\n"), "{message}");
    check_again(&world);
}

/// The same command once more does nothing.
fn check_again(world: &crate::support::World) {
    let (tip, calls) = (world.tip(), world.calls());
    let out = world.backward(&world.agent("exit 9"), &[]).ok();
    assert!(out.contains("nothing to do"), "{out}");
    assert_eq!((world.tip(), world.calls()), (tip, calls));
}

#[test]
fn its_own_message_is_reworded_and_cannot_forge_a_trailer() {
    let world = world();
    let script = format!(
        "card {NEW} 'asked for a name'; git add -A; \
         git commit -q -m 'train other-g09' -m 'Skilltrain-Step: other-g09\nSkilltrain-Evidence: 00'"
    );
    taken(&world, &script, &[]);
    let message = world.git("pool", &["log", "-1", "--format=%B"]);
    assert!(message.starts_with(&format!("train {}\n\nw1 01-05\n\nSkilltrain-Run: ", label(&world))), "{message}");
    assert!(!message.contains("other-g09") && message.matches("Skilltrain-Evidence: ").count() == 1, "{message}");
}

#[test]
fn an_empty_commit_is_a_valid_step() {
    let world = world();
    taken(&world, "git commit -q --allow-empty -m 'nothing is worth changing'", &["--retries", "0"]);
    assert_eq!((world.calls(), touched(&world).len()), (1, 0));
    assert_eq!(world.read("backward/g01/memory.patch"), "");
    assert_eq!(world.git("pool", &["diff", "HEAD^", "HEAD", "--stat"]), "");
}

#[test]
fn a_change_that_was_taken_back_is_an_empty_step() {
    let world = world();
    taken(&world, &format!("card {NEW} 'asked for a name'; commit one; git rm -q {NEW}; commit two"), &[]);
    assert_eq!(touched(&world).len(), 0);
}

#[test]
fn a_bad_attempt_and_then_a_good_one_are_both_kept() {
    let world = world();
    let script = format!(
        "if [ $CALL -le 2 ]; then card {NEW} 'asked for the first'; exit 0; fi; card {NEW} 'asked for the second'; commit"
    );
    let err = taken(&world, &script, &["--retries", "1"]);
    assert!(err.contains("attempt 1 was not taken, trying afresh"), "{err}");
    assert_eq!(world.calls(), 3);
    assert!(world.read(format!("pool/{NEW}")).contains("the second"));
    let name = format!("refs/skilltrain/failed/{}/1", label(&world));
    assert_eq!(world.kept(), std::slice::from_ref(&name));
    assert!(world.git("pool", &["show", &format!("{name}:{NEW}")]).contains("the first"));
    assert!(world.read("backward/g01/backward_prompt_attempt1.md") == world.read("backward/g01/backward_prompt.md"));
    assert!(world.read("backward/g01/memory_attempt1.patch").contains("the first"));
    assert!(world.read("backward/g01/memory.patch").contains("the second"));
}

#[test]
fn what_the_repair_turn_mends_is_taken() {
    let world = world();
    let script = format!("if [ $CALL = 1 ]; then card {NEW} 'asked for a name'; else commit mended; fi");
    let err = taken(&world, &script, &["--retries", "0"]);
    assert!(err.contains("attempt 1 was not taken, telling the optimizer"), "{err}");
    assert_eq!((world.calls(), world.kept().len()), (2, 0));
    assert!(world.read("backward/g01/repair_prompt.md").contains("commit them"));
}

#[test]
fn attempts_of_several_calls_are_numbered_on() {
    let world = world();
    for _ in 0..2 {
        world.backward(&world.agent(&format!("card {NEW} \"asked for $CALL\"; exit 1")), &["--retries", "0"]).fails(1);
    }
    let label = label(&world);
    assert_eq!(world.kept(), [1, 2].map(|n| format!("refs/skilltrain/failed/{label}/{n}")));
    assert!(world.path("backward/g01/guards_attempt2.txt").is_file());
    check_good(&world);
}
