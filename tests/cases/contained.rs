//! What an optimizer does outside its checkout: found and named without a sandbox, impossible in one.

use crate::check::{check_good, label, taken, touched, world};
use crate::support::World;

const NEW: &str = "01_craft_elements/new.md";

/// Runs an optimizer in the best sandbox that works here.
fn inside(world: &World, script: &str) -> crate::support::Run {
    let agent = world.agent(script);
    world.skilltrain(&["backward", "--batch", "batch.json", "--pool", "pool", "--optimizer", &agent, "--retries", "0"])
}

fn limits_writes(world: &World) -> bool {
    let out = world.skilltrain(&["doctor", "--json"]);
    out.out.contains("bwrap") || out.out.contains("landlock")
}

#[test]
fn a_rewritten_loss_report_is_named_and_its_copy_kept() {
    let world = world();
    let original = world.read("evidence/w1.md");
    let (before, agent) =
        (world.tip(), world.agent(&format!("echo nice > \"$ROOT/evidence/w1.md\"; card {NEW} asked; commit")));
    let err = world.backward(&agent, &["--retries", "2"]).fails(1);
    let report = world.path("evidence/w1.md").display().to_string();
    assert!(err.contains("(evidence-changed)") && err.contains(&report), "{err}");
    assert_eq!(world.calls(), 1, "neither a repair nor another attempt can mend it");
    assert_eq!(world.tip(), before);
    world.assert_clean();
    assert_eq!(world.kept(), [format!("refs/skilltrain/failed/{}/1", label(&world))]);
    let copy = world.path("backward/g01/evidence_as_read/01-w1.md");
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), original);
    assert!(err.contains(&copy.parent().unwrap().display().to_string()), "{err}");
    std::fs::copy(&copy, world.path("evidence/w1.md")).unwrap();
    check_good(&world);
}

#[test]
fn a_removed_reads_file_is_named() {
    let world = world();
    let err = world.backward(&world.agent("rm \"$ROOT/evidence/w1.reads\"; card a.md x; commit"), &[]).fails(1);
    assert!(err.contains("(evidence-changed)") && err.contains("w1.reads"), "{err}");
}

#[test]
fn evidence_of_a_later_step_that_was_rewritten_is_found_before_that_step_is_paid_for() {
    let world = world();
    world.batch(2);
    let script = format!("echo nice > \"$ROOT/evidence/w2.md\"; card {NEW} asked; commit");
    let err = world.backward(&world.agent(&script), &["--group-size", "1"]).fails(1);
    assert!(err.contains("w2.md") && err.contains("changed"), "{err}");
    assert_eq!((world.calls(), world.subjects().len()), (1, 3), "the first step stands, the second was not begun");
    world.assert_clean();
}

#[test]
fn in_a_sandbox_nothing_outside_can_be_written() {
    let world = world();
    if !limits_writes(&world) {
        return;
    }
    let (before, subjects) = (world.tip(), world.subjects());
    let report = world.read("evidence/w1.md");
    let script = format!(
        "for place in evidence/w1.md pool/00_general_rules/a.md pool/loose.md pool/.git/refs/heads/main loose; do \
           echo bad > \"$ROOT/$place\" && echo \"wrote $place\"; done; \
         rm -rf \"$ROOT/pool\" \"$ROOT/backward/g01/checkout\"/../batch.json; \
         git -C \"$ROOT/pool\" commit -q --allow-empty -m bad && echo 'wrote a commit'; \
         echo bad > ../backward_prompt.md && echo 'wrote its own prompt'; card {NEW} asked; commit; exit 0"
    );
    let run = inside(&world, &script);
    assert_eq!(run.code, Some(0), "{}", run.err);
    crate::check::check_one_more(&world, &before, &subjects);
    assert_eq!(touched(&world), [NEW]);
    assert_eq!(world.read("evidence/w1.md"), report);
    assert!(!world.path("loose").exists() && world.path("backward/g01/batch.json").is_file());
    let said = world.read("backward/g01/report.md");
    assert!(!said.contains("wrote"), "{said}");
}

#[test]
fn a_file_written_into_the_pool_keeps_its_bytes_and_is_named() {
    let world = world();
    let mine = "my own notes\n";
    // The step changes the same card that somebody edits in the pool while it runs, and another one.
    let script = "printf 'my own notes\\n' > \"$ROOT/pool/00_general_rules/a.md\"; \
                  echo x > \"$ROOT/pool/loose.txt\"; card 00_general_rules/a.md 'asked for a'; card 00_general_rules/b.md 'asked for b'; commit";
    let run = world.backward(&world.agent(script), &["--retries", "0"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("warning: ") && run.err.contains("00_general_rules/a.md"), "{}", run.err);
    assert_eq!(world.read("pool/00_general_rules/a.md"), mine);
    assert!(world.read("pool/00_general_rules/b.md").contains("asked for b"));
    assert!(world.git("pool", &["show", "HEAD:00_general_rules/a.md"]).contains("asked for a"));
    // The next step is not begun on top of it; what is in the way is listed, and keeps its bytes.
    world.write("evidence/w1.md", "# Loss report: w1\n\n- Too long. Answer in one word.\n");
    let next = ["--retries", "0", "--out", "again"];
    let err = world.backward(&world.agent(crate::check::GOOD), &next).fails(1);
    assert!(err.contains("changed  00_general_rules/a.md") && err.contains("new      loose.txt"), "{err}");
    assert_eq!(world.read("pool/00_general_rules/a.md"), mine);
    world.git("pool", &["checkout", "-q", "--", "."]);
    std::fs::remove_file(world.path("pool/loose.txt")).unwrap();
    world.backward(&world.agent(crate::check::GOOD), &next).ok();
    world.assert_clean();
}

#[test]
fn a_branch_that_moved_meanwhile_is_not_overrun() {
    let world = world();
    let moved = "git -C \"$ROOT/pool\" -c user.name=x -c user.email=x@x commit -q --allow-empty -m theirs";
    let script = format!("card {NEW} 'asked for a name'; commit; {moved}");
    let err = world.backward(&world.agent(&script), &["--retries", "2"]).fails(1);
    assert!(err.contains("moved") && err.contains("run the same command again"), "{err}");
    assert_eq!(world.subjects().last().unwrap(), "theirs");
    world.assert_clean();
    let name = format!("refs/skilltrain/failed/{}/1", label(&world));
    assert_eq!(world.kept(), std::slice::from_ref(&name));
    assert!(err.contains(&name), "{err}");
    assert!(world.git("pool", &["show", &format!("{name}:{NEW}")]).contains("asked for a name"));
    check_good(&world);
}

#[test]
fn a_pool_switched_to_another_branch_meanwhile_is_left_alone() {
    let world = world();
    let script = format!("card {NEW} 'asked for a name'; commit; git -C \"$ROOT/pool\" switch -q -c theirs");
    let err = world.backward(&world.agent(&script), &["--retries", "0"]).fails(1);
    assert!(err.contains("theirs") && err.contains("switch main"), "{err}");
    assert_eq!(world.git("pool", &["rev-parse", "main"]), world.git("pool", &["rev-parse", "theirs"]));
    world.assert_clean();
    world.git("pool", &["switch", "-q", "main"]);
    // What was paid for is there still, and is taken without another call.
    let (before, subjects) = (world.tip(), world.subjects());
    world.backward(&world.agent("exit 9"), &["--retries", "0"]).ok();
    crate::check::check_one_more(&world, &before, &subjects);
    assert_eq!((world.calls(), touched(&world)), (1, vec![NEW.to_owned()]));
}

#[test]
fn a_marker_or_a_step_folder_that_is_forged_does_not_pass() {
    let world = world();
    let tip = world.tip();
    let script = format!("printf 'before=%s\\nafter=%s\\nsubject=done\\n' {tip} {tip} > ../commit.txt; exit 1");
    let err = world.backward(&world.agent(&script), &["--retries", "0"]).fails(1);
    assert!(err.contains("(optimizer-ended-badly)"), "{err}");
    let again = world.backward(&world.agent(crate::check::GOOD), &["--retries", "0"]);
    assert_ne!(again.code, Some(0), "a forged marker vouches for nothing");
    assert_eq!(world.tip(), tip);
}

#[test]
fn a_good_run_in_a_sandbox_leaves_what_one_without_leaves() {
    let (one, two) = (world(), world());
    taken(&one, crate::check::GOOD, &["--retries", "0"]);
    let run = inside(&two, crate::check::GOOD);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(one.git("pool", &["rev-parse", "HEAD^{tree}"]), two.git("pool", &["rev-parse", "HEAD^{tree}"]));
}
