//! Repositories of every kind as pools: used, or refused with a reason, and never another one instead.

use crate::support::World;
use crate::{both_train, bytes, root, world};

/// Refused with this exit code and words; nothing was called and nothing moved.
fn refused(world: &World, code: i32, words: &[&str]) {
    let before = bytes(&world.path("pool"));
    for optimizer in ["command:./agent.sh", "extractive"] {
        let said = world.backward(optimizer, &[]).fails(code);
        for word in words {
            assert!(said.contains(word), "`{word}` is not said: {said}");
        }
        assert!(said.contains("hint: "), "no way out is told: {said}");
    }
    assert_eq!(world.calls(), 0);
    let mut after = bytes(&world.path("pool"));
    after.retain(|path, _| !path.contains("skilltrain/lock"));
    let before: std::collections::BTreeMap<_, _> =
        before.into_iter().filter(|(path, _)| !path.contains("skilltrain/lock")).collect();
    assert!(after == before, "the pool was touched");
}

/// A pool inside another repository, its own `.git` gone or broken: the enclosing one is never touched.
#[test]
fn an_enclosing_repository_is_never_used() {
    type Damage = fn(&World);
    let damages: [(&str, Damage); 6] = [
        ("gone", |world| std::fs::remove_dir_all(world.path("pool/.git")).unwrap()),
        ("without a head", |world| std::fs::remove_file(world.path("pool/.git/HEAD")).unwrap()),
        ("without objects", |world| std::fs::remove_dir_all(world.path("pool/.git/objects")).unwrap()),
        ("a file that leads nowhere", |world| {
            std::fs::remove_dir_all(world.path("pool/.git")).unwrap();
            world.write("pool/.git", "gitdir: /nowhere\n");
        }),
        ("a link to the enclosing one", |world| {
            std::fs::remove_dir_all(world.path("pool/.git")).unwrap();
            std::os::unix::fs::symlink("../.git", world.path("pool/.git")).unwrap();
        }),
        ("a configuration that names another work tree", |world| {
            world.git("pool", &["config", "core.worktree", "../.."]);
        }),
    ];
    for (name, damage) in damages {
        let world = world();
        world.git("", &["init", "-q"]);
        world.git("", &["add", "batch.json", "evidence"]);
        world.git("", &["commit", "-q", "-m", "enclosing"]);
        damage(&world);
        let before = bytes(&world.path(".git"));
        let pool = bytes(&world.path("pool"));
        for optimizer in ["command:./agent.sh", "extractive"] {
            let said = world.backward(optimizer, &[]).fails(2);
            assert!(said.contains("pool"), "{name}: {said}");
        }
        assert!(bytes(&world.path(".git")) == before, "{name}: the enclosing repository was touched");
        assert!(bytes(&world.path("pool")) == pool, "{name}: the pool was touched");
        assert_eq!(world.calls(), 0, "{name}");
    }
}

#[test]
fn a_healthy_pool_inside_another_repository() {
    let world = world();
    world.git("", &["init", "-q"]);
    let before = bytes(&world.path(".git"));
    both_train(&world);
    assert!(bytes(&world.path(".git")) == before);
}

#[test]
fn another_users_pool() {
    if !root() {
        return;
    }
    let world = world();
    let owner = |id| {
        for entry in walkdir::WalkDir::new(world.path("pool")).into_iter().flatten() {
            std::os::unix::fs::lchown(entry.path(), Some(id), Some(id)).unwrap();
        }
    };
    owner(12345);
    let said = world.backward("extractive", &[]).fails(2);
    assert!(said.contains("another user") && said.contains("safe.directory"), "{said}");
    // The way out that the hint names works.
    let pool = world.path("pool").canonicalize().unwrap().display().to_string();
    world.git("", &["config", "--global", "--add", "safe.directory", &pool]);
    world.backward("extractive", &[]).ok();
    world.backward("command:./agent.sh", &["--out", "out2", "--label", "two"]).ok();
}

#[test]
fn bare() {
    let world = world();
    world.git("", &["clone", "-q", "--bare", "pool", "bare"]);
    std::fs::remove_dir_all(world.path("pool")).unwrap();
    std::fs::rename(world.path("bare"), world.path("pool")).unwrap();
    refused(&world, 2, &["bare"]);
}

#[test]
fn a_linked_work_tree() {
    let world = world();
    std::fs::rename(world.path("pool"), world.path("main")).unwrap();
    world.git("main", &["worktree", "add", "-q", "-b", "side", "../pool"]);
    refused(&world, 2, &["linked work tree"]);
}

#[test]
fn a_submodule_is_a_repository_of_its_own() {
    let world = world();
    std::fs::rename(world.path("pool"), world.path("origin")).unwrap();
    world.git("", &["init", "-q", "-b", "main"]);
    world.git("", &["-c", "protocol.file.allow=always", "submodule", "add", "-q", "./origin", "pool"]);
    world.git("", &["commit", "-q", "-m", "enclosing"]);
    let tip = world.git("", &["rev-parse", "HEAD"]);
    both_train(&world);
    assert_eq!(world.git("", &["rev-parse", "HEAD"]), tip);
}

#[test]
fn a_detached_head() {
    let world = world();
    world.git("pool", &["checkout", "-q", "--detach"]);
    refused(&world, 2, &["detached head"]);
}

#[test]
fn an_unborn_branch() {
    let world = world();
    world.git("pool", &["checkout", "-q", "--orphan", "fresh"]);
    refused(&world, 2, &["no commit on refs/heads/fresh"]);
}

#[test]
fn another_branch_than_main_is_the_one_that_moves() {
    let world = world();
    let main = world.tip();
    world.git("pool", &["checkout", "-q", "-b", "feature/x y".replace(' ', "-").as_str()]);
    both_train(&world);
    assert_eq!(world.git("pool", &["rev-parse", "main"]), main);
}

/// Two branches that conflict, for everything that stops in the middle.
fn conflict(world: &World) {
    let card = |text: &str| format!("---\ndescription: Use when {text}. Not for letters.\n---\n\n## Rules\n- {text}\n");
    let commit = |text: &str| {
        world.write("pool/00_general_rules/c.md", card(text));
        world.git("pool", &["add", "-A"]);
        world.git("pool", &["commit", "-q", "-m", text]);
    };
    commit("zero");
    world.git("pool", &["checkout", "-q", "-b", "side"]);
    commit("one");
    world.git("pool", &["checkout", "-q", "main"]);
    commit("two");
}

#[test]
fn in_the_middle_of_something() {
    for (args, word) in [
        (&["merge", "side"][..], "merge"),
        (&["merge", "--no-commit", "-s", "ours", "side"], "merge"),
        (&["rebase", "side"], "rebase"),
        (&["cherry-pick", "side"], "cherry-pick"),
        (&["revert", "--no-edit", "HEAD~1"], "revert"),
        (&["bisect", "start", "HEAD", "HEAD~2"], "bisect"),
    ] {
        let world = world();
        conflict(&world);
        let _ = world.try_git("pool", args).code;
        refused(&world, 1, &["in the middle of a", word]);
    }
}

#[test]
fn formats_that_libgit2_cannot_read() {
    for (args, words) in
        [(&["--object-format=sha256"][..], &["SHA-1"][..]), (&["--ref-format=reftable"][..], &["reftable"][..])]
    {
        let world = world();
        let files = bytes(&world.path("pool"));
        std::fs::remove_dir_all(world.path("pool")).unwrap();
        std::fs::create_dir(world.path("pool")).unwrap();
        let mut init = vec!["init", "-q", "-b", "main"];
        init.extend(args);
        if world.try_git("pool", &init).code != Some(0) {
            println!("skipped: this git cannot make {args:?}");
            continue;
        }
        for (path, bytes) in files.iter().filter(|(path, _)| !path.starts_with(".git/")) {
            world.write(format!("pool/{path}"), bytes);
        }
        world.git("pool", &["add", "-A"]);
        world.git("pool", &["commit", "-q", "-m", "pool"]);
        refused(&world, 2, words);
    }
}

/// A pool with some commits, cards in folders, and a history to show.
fn grown() -> World {
    let world = world();
    for n in 0..4 {
        world.write(
            format!("pool/00_general_rules/old{n}.md"),
            crate::support::CARD.replace("first", &format!("first {n}")),
        );
        world.git("pool", &["add", "-A"]);
        world.git("pool", &["commit", "-q", "-m", &format!("card {n}")]);
    }
    world
}

#[test]
fn a_shallow_clone() {
    let world = grown();
    std::fs::rename(world.path("pool"), world.path("origin")).unwrap();
    let url = format!("file://{}", world.path("origin").display());
    world.git("", &["clone", "-q", "--depth", "2", &url, "pool"]);
    both_train(&world);
}

#[test]
fn a_pool_that_borrows_objects_itself() {
    for relative in [false, true] {
        let world = grown();
        std::fs::rename(world.path("pool"), world.path("origin")).unwrap();
        world.git("", &["clone", "-q", "--shared", "origin", "pool"]);
        if relative {
            world.write("pool/.git/objects/info/alternates", "# a comment\n../../../origin/.git/objects\n");
        }
        both_train(&world);
        // Another borrower in between, and the sandbox that hides all but what it is told to show.
        std::fs::rename(world.path("pool"), world.path("middle")).unwrap();
        world.git("", &["clone", "-q", "--shared", "middle", "pool"]);
        let out = ["backward", "--batch", "batch.json", "--pool", "pool", "--out", "third", "--label", "third"];
        world.write("agent.sh", world.read("agent.sh").replace("echo x >>", "true >>"));
        world.skilltrain(&[&out[..], &["--optimizer", "command:./agent.sh"]].concat()).ok();
        world.assert_clean();
    }
}

#[test]
fn packed_references_objects_and_notes() {
    let world = grown();
    world.git("pool", &["notes", "add", "-m", "a note", "HEAD"]);
    world.git("pool", &["notes", "--ref", "skilltrain", "add", "-m", "score 1", "HEAD"]);
    world.git("pool", &["tag", "-a", "-m", "tag", "best"]);
    world.git("pool", &["gc", "-q", "--prune=now"]);
    world.git("pool", &["pack-refs", "--all", "--prune"]);
    assert!(!world.path("pool/.git/refs/heads/main").exists());
    let notes = world.git("pool", &["rev-parse", "refs/notes/commits", "refs/notes/skilltrain"]);
    both_train(&world);
    world.git("pool", &["gc", "-q", "--prune=now"]);
    world.backward("extractive", &["--label", "own", "--out", "out-own"]).ok();
    assert_eq!(world.git("pool", &["rev-parse", "refs/notes/commits", "refs/notes/skilltrain"]), notes);
    world.assert_clean();
}

/// Other features of git's that leave the pool a plain repository.
#[test]
fn a_commit_graph_an_index_of_version_four_and_a_replaced_object() {
    let world = grown();
    world.git("pool", &["commit-graph", "write", "--reachable"]);
    world.git("pool", &["update-index", "--index-version", "4"]);
    world.git("pool", &["config", "core.untrackedCache", "true"]);
    world.git("pool", &["update-index", "--untracked-cache", "--force-untracked-cache"]);
    world.git("pool", &["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = bytes(&world.path("side"));
    both_train(&world);
    assert!(bytes(&world.path("side")) == side, "a linked work tree of the pool's was touched");
}
