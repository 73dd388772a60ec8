//! What a step may do at most, and what it may not take over word for word.

use crate::check::{Row, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

#[test]
fn more_cards_than_the_learning_rate_are_refused() {
    let script =
        "card 00_general_rules/a.md one; card 01_craft_elements/new.md two; git rm -q 00_general_rules/b.md; commit";
    Row::of(script)
        .args(&["--retries", "0", "--learning-rate", "2"])
        .says(&["3 cards touched, this step may touch 2 (--learning-rate)", "(edit-budget)"])
        .keeps(NEW, "two")
        .check();
    let world = world();
    taken(&world, script, &["--retries", "0", "--learning-rate", "3"]);
    assert_eq!(touched(&world).len(), 3);
    assert!(world.read("backward/g01/backward_prompt.md").contains("at most 3 cards"));
}

#[test]
fn a_learning_rate_of_nothing_lets_only_an_empty_step_through() {
    let world = world();
    let rate = ["--retries", "0", "--learning-rate", "0"];
    let err = world.backward(&world.agent(crate::check::GOOD), &rate).fails(1);
    assert!(err.contains("(edit-budget)"), "{err}");
    taken(&world, "git commit -q --allow-empty -m none", &rate);
}

#[test]
fn more_deletions_than_allowed_are_refused() {
    let script = "git rm -q 00_general_rules/a.md 00_general_rules/b.md; commit";
    Row::of(script)
        .args(&["--retries", "0", "--max-deletions", "1"])
        .says(&[
            "2 cards deleted, a step may delete 1 (--max-deletions)",
            "00_general_rules/a.md, 00_general_rules/b.md",
        ])
        .check();
    let world = world();
    taken(&world, script, &["--retries", "0"]);
    assert!(!world.path("pool/00_general_rules").exists(), "git knows no empty folder");
}

#[test]
fn the_repair_turn_can_put_back_what_was_too_much() {
    let world = world();
    let script = "if [ $CALL = 1 ]; then git rm -q -r 0*; commit; else \
                  git restore --source HEAD^ --staged --worktree .; rm 00_general_rules/a.md; commit; fi";
    taken(&world, script, &["--retries", "0"]);
    assert_eq!(touched(&world), ["00_general_rules/a.md"]);
}

const PASSAGE: &str = "the north gate stands beside the old mill where the river turns to the east";

#[test]
fn a_passage_that_the_evidence_quotes_is_refused() {
    let told = |world: &crate::support::World, report: String, transcript: String| {
        world.write("evidence/w1.md", report);
        world.write("evidence/w1.trajectory.md", transcript);
    };
    for (report, transcript) in [
        (format!("# Loss report: w1\n\nIt was to say \"{PASSAGE}\". Answer shortly.\n"), String::new()),
        (format!("# Loss report: w1\n\n> {PASSAGE}\n\nAnswer shortly.\n"), String::new()),
        ("# Loss report: w1\n\nAnswer shortly.\n".to_owned(), format!("# Trajectory\n\n{PASSAGE}.\n")),
    ] {
        let world = world();
        told(&world, report, transcript);
        Row::of(format!("card {NEW} '{PASSAGE}'; commit"))
            .says(&["word for word in the evidence of w1", "say it in words of its own", "(copied)", NEW])
            .keeps(NEW, PASSAGE)
            .check_in(&world);
    }
}

#[test]
fn advice_of_the_evidence_may_be_reused() {
    let advice = "Answer in one short sentence that gives the value and then stop without another word";
    let world = world();
    world.write("evidence/w1.md", format!("# Loss report: w1\n\n- {advice}.\n"));
    taken(&world, &format!("card {NEW} '{advice}'; commit"), &["--retries", "0"]);
}

#[test]
fn a_passage_that_stood_in_the_pool_before_may_move() {
    let world = world();
    let card = format!("---\ndescription: Use when asked. Not else.\n---\n\n## Rules\n- Say that {PASSAGE}.\n");
    world.write("pool/00_general_rules/a.md", card);
    world.git("pool", &["commit", "-q", "-a", "-m", "a passage"]);
    world.write("evidence/w1.trajectory.md", format!("It read: {PASSAGE}.\n"));
    taken(&world, "git mv 00_general_rules/a.md 01_craft_elements/moved.md; commit", &["--retries", "0"]);
}
