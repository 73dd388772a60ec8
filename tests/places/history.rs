//! What people do to the pool's history between two calls.

use crate::support::World;
use crate::world;

fn user_commits(world: &World, name: &str) {
    world.write(format!("pool/00_general_rules/{name}.md"), crate::support::CARD.replace("first", name));
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "-m", name]);
}

fn trained() -> World {
    let world = world();
    user_commits(&world, "before");
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1);
    world
}

#[test]
fn a_marker_whose_commit_is_gone_is_explained() {
    let world = trained();
    world.git("pool", &["reset", "-q", "--hard", "HEAD~1"]);
    let tip = world.tip();
    let said = world.backward("command:./agent.sh", &[]).fails(1);
    assert!(said.contains("not in the history") && said.contains("reflog") && said.contains("g01"), "{said}");
    assert_eq!((world.tip(), world.calls()), (tip, 1));
    // What the hint says works.
    std::fs::remove_dir_all(world.path("backward/g01")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 2);
}

#[test]
fn a_rebase_is_explained_and_recognised_once_the_marker_is_gone() {
    let world = trained();
    world.git("pool", &["checkout", "-q", "-b", "base", "HEAD~2"]);
    user_commits(&world, "inserted");
    world.git("pool", &["rebase", "-q", "base", "main"]);
    let said = world.backward("command:./agent.sh", &[]).fails(1);
    assert!(said.contains("not in the history"), "{said}");
    // The rebased commit carries the trailers: without the marker it is recognised, not trained again.
    std::fs::remove_file(world.path("backward/g01/commit.txt")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1);
    assert!(world.read("backward/g01/commit.txt").contains(&format!("after={}", world.tip())));
    world.assert_clean();
}

#[test]
fn a_reverted_step_stays_done() {
    for marker in [true, false] {
        let world = trained();
        world.git("pool", &["revert", "--no-edit", "HEAD"]);
        let tip = world.tip();
        if !marker {
            std::fs::remove_dir_all(world.path("backward/g01")).unwrap();
        }
        world.backward("command:./agent.sh", &[]).ok();
        assert_eq!((world.tip(), world.calls()), (tip, 1), "retrained, or the revert undone");
        assert!(!world.path("pool/00_general_rules/one.md").exists());
        world.assert_clean();
    }
}

#[test]
fn a_merge_of_a_trained_branch() {
    let world = trained();
    world.git("pool", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    user_commits(&world, "aside");
    world.git("pool", &["checkout", "-q", "main"]);
    world.git("pool", &["merge", "-q", "--no-edit", "side"]);
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1);
    // Seen from the other side the step came in by the merge: it is done there too.
    world.git("pool", &["checkout", "-q", "side"]);
    world.git("pool", &["merge", "-q", "--no-edit", "--no-ff", "main~1"]);
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1);
    std::fs::remove_file(world.path("backward/g01/commit.txt")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1, "a step that a merge brought in was trained again");
}

#[test]
fn the_users_commits_between_the_micro_steps_of_an_interrupted_pass() {
    let world = world();
    world.batch(2);
    let die = |point: &str| {
        let args = ["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off", "--group-size", "1"];
        let mut command = world.command(&[&args[..], &["--optimizer", "command:./agent.sh"]].concat());
        assert!(command.env("SKILLTRAIN_CRASH_AT", point).output().unwrap().status.code().is_none(), "{point}");
    };
    world.agent("card \"00_general_rules/$(basename \"$(dirname \"$PWD\")\").md\" \"the user says $(ls 00_general_rules | tr '\\n' ' ')\"\ncommit");
    die("marker:1");
    user_commits(&world, "between");
    die("optimizer-ended:1");
    // The attempt above began from a tip that is not the newest any more.
    user_commits(&world, "later");
    world.backward("command:./agent.sh", &["--group-size", "1"]).ok();
    assert_eq!(world.subjects()[1..], ["train world-g01", "between", "later", "train world-g02"]);
    let card = world.read("pool/00_general_rules/g02.md");
    assert!(card.contains("between.md") && card.contains("later.md"), "it did not see the user's cards: {card}");
    let kept = world.kept();
    assert_eq!(kept.len(), 1, "the attempt on the older pool is kept: {kept:?}");
    world.assert_clean();
}

#[test]
fn the_branch_moves_while_the_optimizer_runs() {
    let world = world();
    world.agent(
        r#"card 00_general_rules/one.md "a question is asked"; commit
        [ -e "$ROOT/moved" ] || { touch "$ROOT/moved"; cd "$ROOT/pool" && git -c safe.directory='*' commit -q --allow-empty -m "the user's"; }"#,
    );
    let run = world.backward("command:./agent.sh", &[]);
    let said = run.fails(1);
    assert!(said.contains("run the same command again"), "{said}");
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.subjects()[1..], ["the user's", "train world-g01"]);
    world.assert_clean();
}

#[test]
fn the_batch_changes_after_a_finished_step() {
    let world = trained();
    let tip = world.tip();
    world.write("evidence/w1.md", "# Loss report: w1\n\n- Something else.\n");
    let said = world.backward("command:./agent.sh", &[]).fails(2);
    assert!(said.contains("other evidence") && said.contains("--out"), "{said}");
    assert_eq!((world.tip(), world.calls()), (tip, 1));
    world.backward("command:./agent.sh", &["--out", "two", "--label", "two"]).ok();
    assert_eq!(world.calls(), 2);
}

#[test]
fn tighter_limits_do_not_unmake_a_step() {
    let world = trained();
    world.write("pool/00_general_rules/one.md", crate::support::CARD);
    let profile = world.read("pool/.skilltrain.toml");
    let tight = profile.lines().map(|line| if line.starts_with("max_lines") { "max_lines = 7" } else { line });
    world.write("pool/.skilltrain.toml", tight.map(|line| format!("{line}\n")).collect::<String>());
    world.git("pool", &["commit", "-qam", "tighter"]);
    std::fs::remove_dir_all(world.path("backward/g01")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    assert_eq!(world.calls(), 1);
}

/// What is kept is kept for good: git's own clean-up does not take it.
#[test]
fn kept_work_outlives_a_clean_up() {
    let world = world();
    world.agent("card 00_general_rules/one.md \"half done\"; exit 1");
    world.backward("command:./agent.sh", &["--retries", "0"]).fails(1);
    let kept = world.kept();
    assert_eq!(kept.len(), 1, "{kept:?}");
    world.git("pool", &["reflog", "expire", "--expire=now", "--all"]);
    world.git("pool", &["gc", "-q", "--prune=now"]);
    assert!(world.git("pool", &["show", &format!("{}:00_general_rules/one.md", kept[0])]).contains("half done"));
    assert_eq!(world.git("pool", &["branch", "--list"]), "* main", "nobody's list of branches grows");
}

/// git knows no empty folder, so none stays when a folder's last card goes or moves.
#[test]
fn a_folder_that_lost_its_last_card_goes_too() {
    let world = world();
    user_commits(&world, "only");
    world.agent("mkdir -p 01_craft_elements/sub; git mv 00_general_rules/only.md 01_craft_elements/moved.md; commit");
    world.backward("command:./agent.sh", &[]).ok();
    assert!(!world.path("pool/00_general_rules").exists() && world.path("pool/01_craft_elements/moved.md").is_file());
    let patch = world.read("backward/g01/memory.patch");
    assert!(patch.contains("deleted file mode") && patch.contains("new file mode"), "a move is told as both: {patch}");
    world.assert_clean();
}

/// `core.fileMode=false` in the pool's own configuration does not let an executable card through.
#[test]
fn an_executable_card_is_seen_whatever_the_configuration_says() {
    let world = world();
    world.git("pool", &["config", "core.fileMode", "false"]);
    world.agent("card 00_general_rules/one.md \"runs\"; chmod +x 00_general_rules/one.md; git -c core.fileMode=true add -A; git commit -q --no-verify -m x");
    let said = world.backward("command:./agent.sh", &["--retries", "0"]).fails(1);
    assert!(said.contains("executable"), "{said}");
    world.assert_clean();
}
