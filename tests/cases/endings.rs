//! Optimizers that do not end by themselves. Deadlines are real, so a row that a slow machine cut short is run again
//! with a longer one; nothing is concluded from how long something took.

use std::os::unix::fs::OpenOptionsExt as _;

use crate::check::{check_good, label, world};
use crate::support::World;

const NEW: &str = "01_craft_elements/new.md";

/// Runs an optimizer that hangs once it has touched `$ROOT/reached`.
fn hangs(script: &str) -> (World, String) {
    for timeout in ["2", "10", "60"] {
        let world = world();
        let (before, subjects) = (world.tip(), world.subjects());
        let err = world.backward(&world.agent(script), &["--retries", "0", "--timeout", timeout]).fails(1);
        if !world.path("reached").exists() {
            continue;
        }
        assert!(err.contains("(deadline)") && err.contains("--timeout gives it longer"), "{err}");
        assert_eq!((world.tip(), world.subjects()), (before, subjects));
        assert_eq!(world.calls(), 1, "one that hung has no repair turn");
        world.assert_clean();
        return (world, err);
    }
    panic!("the optimizer did not come to its point within a minute");
}

fn kept(world: &World, path: &str) -> String {
    world.git("pool", &["show", &format!("refs/skilltrain/failed/{}/1:{path}", label(world))])
}

/// Whether somebody waits for the fifo's other end.
fn has_reader(world: &World, fifo: &str) -> bool {
    const NONBLOCK: i32 = 0o4000;
    std::fs::OpenOptions::new().write(true).custom_flags(NONBLOCK).open(world.path(fifo)).is_ok()
}

#[test]
fn a_commit_before_a_hang_is_rolled_back() {
    let (world, _) = hangs(&format!("card {NEW} 'asked for a name'; commit; touch \"$ROOT/reached\"; exec sleep 600"));
    assert!(kept(&world, NEW).contains("asked for a name"));
    check_good(&world);
}

#[test]
fn children_that_would_write_later_are_ended_first() {
    let late = "read x < \"$ROOT/fifo\"; card 00_general_rules/late.md 'late'; commit; touch \"$ROOT/late\"";
    for start in [format!("({late}) &"), "setsid sh \"$ROOT/late.sh\" &".to_owned()] {
        let script = format!(
            "mkfifo \"$ROOT/fifo\"; printf '%s\\n' 'ROOT='\"$ROOT\" 'echo $$ > \"$ROOT/child\"; read x < \"$ROOT/fifo\"; \
             touch \"$ROOT/late\"' > \"$ROOT/late.sh\"\n{start}\ncard {NEW} 'asked for a name'; commit; \
             touch \"$ROOT/reached\"; exec sleep 600"
        );
        let (world, _) = hangs(&script);
        assert!(!has_reader(&world, "fifo"), "the child still waits to write");
        assert!(!world.path("late").exists());
        check_good(&world);
        assert!(!world.path("pool/00_general_rules/late.md").exists());
    }
}

#[test]
fn a_child_that_outlives_a_good_end_is_ended_and_the_step_taken() {
    let world = world();
    let script = format!(
        "mkfifo \"$ROOT/fifo\"; (read x < \"$ROOT/fifo\"; card 00_general_rules/late.md late; touch \"$ROOT/late\") & \
         card {NEW} 'asked for a name'; commit"
    );
    crate::check::taken(&world, &script, &["--retries", "0"]);
    assert!(!has_reader(&world, "fifo"));
    assert!(!world.path("pool/00_general_rules/late.md").exists());
}

#[test]
fn one_that_ignores_the_polite_signal_is_ended_all_the_same() {
    let (world, _) = hangs("trap '' INT TERM HUP; touch \"$ROOT/reached\"; while :; do sleep 1; done");
    assert_eq!(world.kept(), [""; 0]);
    check_good(&world);
}
