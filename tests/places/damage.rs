//! Damage to a micro-step's folder: told, mended, or recognised from the pool's history, and never spread.

use crate::support::World;
use crate::{bytes, world};

/// The files of a finished micro-step that come back when its folder is lost.
const RESTORED: [&str; 5] =
    ["batch.json", "commit.txt", "memory.patch", "memory_after/00_general_rules/one.md", "memory_before"];

fn die(world: &World, point: &str) {
    let args = ["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off"];
    let mut command = world.command(&[&args[..], &["--optimizer", "command:./agent.sh"]].concat());
    assert!(command.env("SKILLTRAIN_CRASH_AT", point).output().unwrap().status.code().is_none(), "{point}");
}

fn again(world: &World) {
    world.backward("command:./agent.sh", &[]).ok();
}

#[test]
fn a_lost_folder_is_adopted_from_history() {
    let world = world();
    again(&world);
    let before = bytes(&world.path("backward/g01"));
    let tip = world.tip();
    std::fs::remove_dir_all(world.path("backward")).unwrap();
    again(&world);
    assert_eq!((world.tip(), world.calls()), (tip, 1));
    for name in RESTORED {
        assert!(world.path("backward/g01").join(name).exists(), "{name} is not restored");
        assert_eq!(before.get(name), bytes(&world.path("backward/g01")).get(name), "{name}");
    }
}

#[test]
fn garbage_for_a_marker_is_told_and_its_removal_mends_it() {
    for garbage in ["", "before=x\nafter=y\nsubject=z\n", "\u{0}\u{1}", "{}", "before=\n"] {
        let world = world();
        again(&world);
        world.write("backward/g01/commit.txt", garbage);
        let said = world.backward("command:./agent.sh", &[]).fails(1);
        assert!(said.contains("commit.txt") && said.contains("remove it"), "{said}");
        std::fs::remove_file(world.path("backward/g01/commit.txt")).unwrap();
        again(&world);
        assert_eq!(world.calls(), 1);
        assert!(world.read("backward/g01/commit.txt").contains(&world.tip()));
    }
}

#[test]
fn a_marker_of_ids_that_no_commit_has() {
    let world = world();
    again(&world);
    let text = format!("before={}\nafter={}\nsubject=train x\n", "a".repeat(40), "b".repeat(40));
    world.write("backward/g01/commit.txt", text);
    assert!(world.backward("command:./agent.sh", &[]).fails(1).contains("not in the history"));
    // A tree's or a blob's id is no commit's.
    let tree = world.git("pool", &["rev-parse", "HEAD^{tree}"]);
    world.write("backward/g01/commit.txt", format!("before={tree}\nafter={tree}\nsubject=train x\n"));
    assert!(world.backward("command:./agent.sh", &[]).fails(1).contains("not in the history"));
}

#[test]
fn garbage_for_what_was_started_loses_no_edit() {
    for garbage in ["", "garbage", "[]", "{\"version\":1}", "{\"version\":\"x\",\"label\":\"../../heads/main\"}"] {
        let world = world();
        die(&world, "optimizer-ended");
        world.write("backward/g01/started.json", garbage);
        again(&world);
        assert_eq!(world.subjects().len(), 2);
        let kept = world.kept();
        assert_eq!(kept, ["refs/skilltrain/failed/world-g01/1"], "{garbage}");
        assert!(world.git("pool", &["show", &format!("{}:00_general_rules/one.md", kept[0])]).contains("question"));
        world.assert_clean();
    }
}

#[test]
fn a_later_versions_start_is_left_to_the_later_version() {
    let world = world();
    die(&world, "optimizer-ended");
    world.write("backward/g01/started.json", "{\"version\":99,\"new\":true}");
    let before = bytes(&world.path("backward/g01"));
    let said = world.backward("command:./agent.sh", &[]).fails(1);
    assert!(said.contains("later version"), "{said}");
    assert_eq!(before, bytes(&world.path("backward/g01")));
}

#[test]
fn a_start_with_a_label_of_someone_elses_moves_no_other_reference() {
    let world = world();
    die(&world, "optimizer-ended");
    let text = world.read("backward/g01/started.json").replace("world-g01", "../../heads/main");
    world.write("backward/g01/started.json", text);
    again(&world);
    assert_eq!(world.kept(), ["refs/skilltrain/failed/world-g01/1"]);
    assert_eq!(world.git("pool", &["for-each-ref", "--format=%(refname)", "refs/heads"]), "refs/heads/main");
}

/// An attempt whose base the pool has lost: what was edited cannot be told, so the checkout itself is kept.
#[test]
fn an_attempt_on_a_commit_that_is_gone() {
    let world = world();
    world.git("pool", &["commit", "-q", "--allow-empty", "-m", "doomed"]);
    die(&world, "started");
    world.write("backward/g01/checkout/00_general_rules/half.md", "half done\n");
    world.git("pool", &["reset", "-q", "--hard", "HEAD~1"]);
    world.git("pool", &["reflog", "expire", "--expire=now", "--all"]);
    world.git("pool", &["gc", "-q", "--prune=now"]);
    again(&world);
    assert_eq!(world.read("backward/g01/checkout_attempt1/00_general_rules/half.md"), "half done\n");
    world.assert_clean();
}

#[test]
fn a_deleted_summary_costs_no_step() {
    let world = world();
    world.batch(2);
    die(&world, "started");
    std::fs::remove_file(world.path("backward/g01/summary.md")).unwrap();
    again(&world);
    assert!(world.read("backward/g01/summary.md").contains("w2"));
    assert_eq!(world.subjects().len(), 2);
    // After the step it is nobody's input any more.
    std::fs::remove_file(world.path("backward/g01/summary.md")).unwrap();
    again(&world);
    assert_eq!(world.calls(), 1);
}

/// A link to a folder that must not be touched, where a folder of ours is to be.
#[test]
fn a_link_to_a_precious_folder_is_never_written_through_or_emptied() {
    for point in ["started", "checkout-made", "optimizer-ended", "before-commit", "snapshots", "marker"] {
        for name in ["checkout", "private", "memory_after", "memory_before", "private_reduce"] {
            let world = world();
            world.write("precious/00_general_rules/mine.md", "mine\n");
            world.write("precious/.git/HEAD", "mine too\n");
            let before = bytes(&world.path("precious"));
            die(&world, point);
            let place = world.path("backward/g01").join(name);
            let _ = std::fs::remove_dir_all(&place);
            std::os::unix::fs::symlink(world.path("precious"), &place).unwrap();
            let run = world.backward("command:./agent.sh", &[]);
            assert_eq!(run.code, Some(0), "{point}, {name}: {run:?}");
            assert!(bytes(&world.path("precious")) == before, "{point}, {name}: the precious folder was touched");
            assert_eq!(world.subjects().len(), 2, "{point}, {name}");
            world.assert_clean();
        }
    }
}

#[test]
fn each_file_of_a_half_done_step_torn_or_gone() {
    let world = world();
    die(&world, "before-commit");
    let names: Vec<String> = bytes(&world.path("backward/g01")).into_keys().collect();
    let names: Vec<&String> = names.iter().filter(|name| !name.contains('/')).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        for tear in [true, false] {
            let world = self::world();
            die(&world, "before-commit");
            let path = world.path("backward/g01").join(name);
            let bytes = std::fs::read(&path).unwrap();
            match tear {
                true => std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap(),
                false => std::fs::remove_file(&path).unwrap(),
            }
            let run = world.backward("command:./agent.sh", &[]);
            // A torn end record cannot be one of ours (they appear whole), so it may stop; with words.
            if run.code != Some(0) {
                let said = run.fails(1);
                assert!(said.contains(name.as_str()), "{name} torn: {said}");
                continue;
            }
            assert_eq!(world.subjects().len(), 2, "{name}");
            world.assert_clean();
        }
    }
}

#[test]
fn the_patch_applies() {
    let world = world();
    again(&world);
    world.git("", &["clone", "-q", "pool", "copy"]);
    world.git("copy", &["reset", "-q", "--hard", "HEAD~1"]);
    world.git("copy", &["apply", "--index", "../backward/g01/memory.patch"]);
    assert_eq!(world.git("copy", &["write-tree"]), world.git("pool", &["rev-parse", "HEAD^{tree}"]));
}
