//! The lint and the hook: a bad card is told, mended or refused, whatever became of the hook.

use crate::check::{Row, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

/// A card with an empty rule.
const HOLLOW: &str = "mkdir -p 01_craft_elements; printf -- '---\\ndescription: Use when asked.\\n---\\n\\n## Rules\\n' > 01_craft_elements/new.md";

fn written(text: &str) -> String {
    format!("mkdir -p 01_craft_elements; printf -- '{text}' > {NEW}")
}

#[test]
fn a_bad_card_stopped_by_the_hook_is_told_with_the_lints_own_words() {
    let world = Row::of(format!("{HOLLOW}; git add -A; git commit -q -m hollow; exit 0"))
        .says(&["(no-commit)", "(lint)", &format!("{NEW}:5: rules-empty"), "hint: write the rule in plain language"])
        .keeps(NEW, "## Rules")
        .check();
    let repair = world.read("backward/g01/repair_prompt_attempt1.md");
    assert!(repair.contains("rules-empty") && repair.contains("hint: write the rule in plain language"), "{repair}");
    assert!(world.read("backward/g01/lint_report_attempt1.txt").contains("rules-empty"));
    assert!(world.read("backward/g01/backward_stderr_attempt1.txt").contains("rules-empty"), "the hook said it too");
}

#[test]
fn a_repair_turn_that_mends_what_the_lint_found_is_taken() {
    let world = world();
    let script =
        format!("if [ $CALL = 1 ]; then {HOLLOW}; commit; exit 0; else card {NEW} 'asked for a name'; commit; fi");
    taken(&world, &script, &["--retries", "0"]);
    assert_eq!((world.calls(), touched(&world)), (2, vec![NEW.to_owned()]));
    assert!(world.read("backward/g01/repair_prompt.md").contains("rules-empty"));
    assert_eq!(world.read("backward/g01/lint_report.txt"), "no problems\n");
}

#[test]
fn a_bad_card_past_the_hook_is_refused() {
    for past in [
        "git commit -q --no-verify -m past",
        "rm .git/hooks/pre-commit; git commit -q -m past",
        "printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit; git commit -q -m past",
        "git config core.hooksPath /nowhere; git commit -q -m past",
        "git -c core.hooksPath=/nowhere commit -q -m past",
        "git update-ref HEAD $(git commit-tree -p HEAD -m past $(git write-tree))",
    ] {
        Row::of(format!("{HOLLOW}; git add -A; {past}"))
            .says(&["(lint)", "rules-empty"])
            .keeps(NEW, "## Rules")
            .check();
    }
}

#[test]
fn the_repair_turn_has_its_hook_back() {
    let world = world();
    let script = format!(
        "if [ $CALL = 1 ]; then rm -f .git/hooks/pre-commit; git config core.hooksPath /nowhere; {HOLLOW}; commit; \
         else sed 's/asked/asked again/' {NEW} > 01_craft_elements/two.md; commit || echo stopped > \"$ROOT/stopped\"; \
         card {NEW} 'asked'; card 01_craft_elements/two.md 'asked twice'; commit; fi"
    );
    taken(&world, &script, &["--retries", "0"]);
    assert!(world.path("stopped").is_file(), "the hook did not run");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_file_and_byte() {
    for (text, code) in [("bad \\377 byte", "not-utf8"), ("a nul \\0 byte", "nul-byte")] {
        let card = format!("---\\ndescription: Use when asked.\\n---\\n\\n## Rules\\n- {text}\\n");
        let err = Row::of(format!("{}; git add -A; git commit -q --no-verify -m past", written(&card)))
            .says(&["(lint)", NEW])
            .keeps(NEW, "## Rules")
            .check_in(&world());
        assert!(err.contains(code), "{code}: {err}");
    }
}

#[test]
fn the_profile_may_not_be_edited() {
    let edit = "sed -i 's/max_lines = 50/max_lines = 5000/' .skilltrain.toml; git add -A; git commit -q -m limits";
    let world = Row::of(format!("card {NEW} asked; {edit}"))
        .says(&["only cards may change, not .skilltrain.toml (only-cards)"])
        .keeps(".skilltrain.toml", "max_lines = 5000")
        .check();
    assert!(world.read("pool/.skilltrain.toml").contains("max_lines = 50\n"));
    Row::of("git rm -q .skilltrain.toml; git commit -q --no-verify -m gone").says(&["(only-cards)"]).check();
    Row::of("rm .skilltrain.toml; ln -s /etc/passwd .skilltrain.toml; git add -A; git commit -q --no-verify -m link")
        .says(&["(only-cards)"])
        .check();
}

#[test]
fn a_laxer_profile_does_not_let_a_bad_card_through() {
    let long = "i=0; while [ $i -lt 60 ]; do echo '- Say it once.' >> 01_craft_elements/new.md; i=$((i+1)); done";
    Row::of(format!("card {NEW} asked; {long}; sed -i 's/max_lines = 50/max_lines = 5000/' .skilltrain.toml; commit"))
        .says(&["(only-cards)", "(lint)", "50"])
        .check();
}
