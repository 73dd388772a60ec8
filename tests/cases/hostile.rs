//! Sheer size, and names that no tree can hold.

use crate::check::{Row, taken, world};

const NEW: &str = "01_craft_elements/new.md";

#[test]
fn a_hundred_megabytes_are_refused() {
    for commit in ["commit", "git add -A; git commit -q --no-verify -m big"] {
        Row::of(format!("card {NEW} 'asked for a name'; truncate -s 100M 00_general_rules/big.md; {commit}; exit 0"))
            .says(&["(only-cards)", "00_general_rules/big.md", "16 MiB"])
            .keeps(NEW, "asked for a name")
            .check();
    }
}

#[test]
fn twenty_thousand_files_are_refused_in_a_message_that_can_be_read() {
    let many = "mkdir notes; i=0; while [ $i -lt 20000 ]; do echo x > notes/$i.txt; i=$((i+1)); done";
    let world = world();
    let err = Row::of(format!("card {NEW} 'asked for a name'; {many}; git add -A; git commit -q --no-verify -m many"))
        .says(&["(lint)", "20000 problems", "more"])
        .keeps(NEW, "asked for a name")
        .keeps("notes/19999.txt", "x")
        .check_in(&world);
    assert!(err.len() < 40_000, "{} bytes", err.len());
    assert!(world.read("backward/g01/repair_prompt_attempt1.md").len() < 100_000);
    assert_eq!(world.read("backward/g01/lint_report_attempt1.txt").matches("outside-layout").count(), 20_000);
}

#[test]
fn names_that_a_tree_cannot_hold_are_refused_like_others() {
    for name in ["git~1", ".git ", ".GIT", "a\\\\b", "aux.md", "x:y.md", "n\\nl.md"] {
        let rest = format!(
            "f=$(printf '00_general_rules/{name}_'); f=${{f%_}}; mkdir -p \"$f\"; echo x > \"$f/x.md\"; git add -A; git commit -q --no-verify -m odd"
        );
        Row::of(format!("card {NEW} 'asked for a name'; {rest}; exit 0"))
            .says(&["(lint)", "hint:"])
            .keeps(NEW, "asked for a name")
            .check();
    }
}

#[test]
fn a_card_that_became_a_folder_and_a_folder_that_became_a_card_are_refused() {
    let folder = "rm 00_general_rules/a.md; mkdir 00_general_rules/a.md; echo x > 00_general_rules/a.md/x.md; \
                  rm -r 01_craft_elements; echo x > 01_craft_elements; git add -A; git commit -q --no-verify -m swapped";
    Row::of(folder).says(&["(lint)"]).keeps("00_general_rules/a.md/x.md", "x").keeps("01_craft_elements", "x").check();
}

#[test]
fn folders_deeper_than_a_path_can_say_are_refused() {
    let deep = "i=0; while [ $i -lt 1500 ]; do mkdir deep12345 2>/dev/null && cd deep12345 2>/dev/null || break; i=$((i+1)); done; echo x > x.md; cd \"$HERE\"";
    Row::of(format!("HERE=$PWD; card {NEW} 'asked for a name'; commit; {deep}"))
        .says(&["(only-cards)", "deep12345"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn a_folder_that_may_not_be_read_is_refused_or_empty() {
    let world = world();
    // For root nothing is unreadable: then the folder is an empty one, which git does not know.
    let run = world
        .backward(&world.agent(&format!("card {NEW} asked; commit; mkdir shut; chmod 000 shut")), &["--retries", "0"]);
    assert!(run.code == Some(0) || run.err.contains("(only-cards)"), "{}", run.err);
    let second = "card 00_general_rules/second.md 'asked again'; commit";
    world.write("evidence/w1.md", "# Loss report: w1\n\n- Too long. Answer in one word.\n");
    std::fs::remove_dir_all(world.path("backward")).ok();
    taken(&world, second, &["--retries", "0"]);
}

#[test]
fn cards_that_differ_only_by_case_are_refused() {
    Row::of("card 00_general_rules/A.md 'asked for a'; git add -A; git commit -q --no-verify -m case")
        .says(&["(lint)", "case-only-difference"])
        .keeps("00_general_rules/A.md", "asked for a")
        .check();
}
