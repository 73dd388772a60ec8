//! History only ever grows by one commit on the one that the step began at.

use crate::check::{Row, SEED, once, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

const REWRITTEN: [&str; 2] = ["(history-rewritten)", "commit on top of it instead"];

fn edited_then(rest: &str) -> String {
    format!("card {NEW} 'asked for a name'; git add -A; {rest}")
}

#[test]
fn an_amended_step_is_refused() {
    let world = world();
    taken(&world, crate::check::GOOD, &[]);
    let step = world.tip();
    // Another batch, so that there is something to do.
    world.write("evidence/w1.md", "# Loss report: w1\n\n- Too long. Answer in one word.\n");
    std::fs::remove_dir_all(world.path("backward")).unwrap();
    std::fs::remove_file(world.path("calls")).unwrap();
    let script = edited_then("git commit -q --amend -m 'a better step'");
    let err = world.backward(&world.agent(&script), &["--retries", "0"]).fails(1);
    assert!(REWRITTEN.iter().all(|part| err.contains(part)), "{err}");
    assert_eq!((world.tip(), world.calls()), (step, 2));
    world.assert_clean();
}

#[test]
fn a_squashed_history_an_orphan_branch_and_an_older_base_are_refused() {
    for rest in [
        "git reset -q --soft $(git rev-list --max-parents=0 HEAD); git commit -q --amend -m all",
        "git checkout -q --orphan fresh; git commit -q -m orphan",
        "git checkout -q HEAD^; git commit -q -m older",
        "git update-ref -d HEAD",
    ] {
        Row::of(once(&edited_then(rest))).says(&REWRITTEN).keeps(NEW, "asked for a name").check();
    }
}

#[test]
fn what_descends_from_the_base_is_imported_from_wherever_it_stands() {
    for rest in [
        "git checkout -q --detach; commit detached",
        "git checkout -q -b elsewhere; commit elsewhere",
        "commit one; git checkout -q -b side HEAD^; card 00_general_rules/a.md 'asked for a'; commit two; \
         git merge -q -m merged main",
    ] {
        let world = world();
        taken(&world, &edited_then(rest), &["--retries", "0"]);
        assert!(touched(&world).contains(&NEW.to_owned()));
        assert_eq!(world.git("pool", &["branch", "--format=%(refname:short)"]), "main");
    }
}

#[test]
fn a_reset_to_the_base_is_no_commit() {
    Row::of(edited_then("commit one; git reset -q --soft HEAD^"))
        .says(&["(no-commit)"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn removing_every_card_is_refused() {
    for flag in ["", "--no-verify"] {
        let world = Row::of(format!("git rm -q -r 0*; git commit -q {flag} -m 'all gone'"))
            .says(&["4 cards deleted, a step may delete 2 (--max-deletions)", "(deletions)", SEED[3]])
            .check();
        assert!(SEED.iter().all(|path| world.path(format!("pool/{path}")).is_file()));
    }
}

#[test]
fn tags_notes_and_branches_made_in_the_checkout_do_not_reach_the_pool() {
    let world = world();
    let refs = |world: &crate::support::World| world.git("pool", &["for-each-ref", "--format=%(refname)"]);
    let before = refs(&world);
    let script =
        edited_then("commit; git tag v9; git branch x; git notes add -m n; git update-ref refs/skilltrain/a HEAD");
    taken(&world, &script, &["--retries", "0"]);
    assert_eq!(refs(&world), before);
}

#[test]
fn nothing_can_be_pushed_or_fetched_back() {
    let world = world();
    taken(&world, &edited_then("commit; git push origin HEAD; git push --all; true"), &["--retries", "0"]);
    let pool = "card 00_general_rules/a.md 'asked for a'; commit; git push \"$ROOT/pool\" HEAD:main; true";
    world.write("evidence/w1.md", "# Loss report: w1\n\n- Too long. Answer in one word.\n");
    std::fs::remove_dir_all(world.path("backward")).unwrap();
    // git itself refuses to update a branch that is checked out.
    taken(&world, pool, &["--retries", "0"]);
}
