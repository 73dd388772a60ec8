//! What is done to the checkout's own repository: it is the optimizer's, and the pool's is out of its reach.

use crate::check::{Row, taken, touched, world};

const NEW: &str = "01_craft_elements/new.md";

fn edited_then(rest: &str) -> String {
    format!("card {NEW} 'asked for a name'; commit; {rest}")
}

fn broken(rest: &str, why: &str) {
    Row::of(edited_then(rest))
        .calls(1)
        .says(&["(repository-broken)", why, "the pool is as it was"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn a_deleted_git_folder_is_refused() {
    broken("rm -rf .git", "its .git is gone");
}

#[test]
fn a_deleted_git_folder_does_not_make_git_take_the_enclosing_repository() {
    let world = world();
    // The world's folder is somebody's project.
    world.git(".", &["init", "-q", "-b", "main"]);
    world.write("project.txt", "mine");
    world.git(".", &["add", "project.txt"]);
    world.git(".", &["commit", "-q", "-m", "project"]);
    let project = world.git(".", &["rev-parse", "HEAD"]);
    Row::of(edited_then("rm -rf .git; git add -A; git commit -q -m stray; true"))
        .calls(1)
        .says(&["(repository-broken)"])
        .check_in(&world);
    assert_eq!(world.git(".", &["rev-parse", "HEAD"]), project);
    assert_eq!(world.git(".", &["diff", "--cached", "--name-only"]), "");
}

#[test]
fn a_git_folder_made_anew_is_refused() {
    Row::of(edited_then("rm -rf .git; git init -q -b main .; git add -A; git commit -q -m fresh"))
        .says(&["(history-rewritten)"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn a_git_file_that_points_to_the_pool_is_refused() {
    broken("rm -rf .git; echo \"gitdir: $ROOT/pool/.git\" > .git", "its .git is gone or is no folder");
    broken("rm -rf .git; ln -s \"$ROOT/pool/.git\" .git", "its .git is gone or is no folder");
}

#[test]
fn a_fifo_or_a_link_in_the_git_folder_is_refused_and_never_waited_for() {
    broken("rm .git/HEAD; mkfifo .git/HEAD", "no plain file");
    broken("mkfifo .git/packed-refs", "no plain file");
    broken("mv .git/objects \"$ROOT/objects\"; ln -s \"$ROOT/objects\" .git/objects", "no plain file");
    broken("rm -rf .git/refs; ln -s \"$ROOT/pool/.git/refs\" .git/refs", "no plain file");
}

#[test]
fn rubbish_in_the_git_folder_is_refused() {
    Row::of(edited_then("echo rubbish > .git/HEAD")).calls(1).says(&["(repository-broken)"]).check();
    Row::of(edited_then("find .git/objects -type f -exec sh -c 'chmod u+w $1; echo x > $1' _ {} \\;"))
        .calls(1)
        .says(&["(repository-broken)"])
        .keeps(NEW, "asked for a name")
        .check();
}

#[test]
fn settings_of_the_checkout_are_not_obeyed() {
    // An include that is a pipe outside: whoever follows it waits for ever. A work tree elsewhere. A shared folder.
    for settings in [
        "mkfifo \"$ROOT/pipe\"; git config include.path \"$ROOT/pipe\"",
        "git config core.worktree \"$ROOT/pool\"",
        "git config core.bare true",
        "git config core.repositoryformatversion 99",
        "printf '[broken' > .git/config",
        "echo \"$ROOT/pool/.git\" > .git/commondir",
    ] {
        let world = world();
        taken(&world, &edited_then(settings), &["--retries", "0"]);
        assert_eq!(touched(&world), [NEW], "{settings}");
    }
}

#[test]
fn borrowed_objects_that_are_taken_away_are_refused() {
    let world = world();
    taken(&world, &edited_then("rm .git/objects/info/alternates"), &["--retries", "0"]);
    assert_eq!(touched(&world), [NEW]);
}

#[test]
fn a_checkout_that_is_gone_or_is_a_link_is_refused() {
    for rest in [
        "rm -rf \"$PWD\"",
        "mv \"$PWD\" \"$PWD.moved\"; ln -s \"$ROOT/pool\" \"$PWD\"",
        "mv \"$PWD\" \"$PWD.moved\"; echo file > \"$PWD\"",
    ] {
        let world = Row::of(edited_then(rest))
            .calls(1)
            .says(&["(repository-broken)", "the checkout is gone"])
            .keeps_nothing()
            .check();
        assert!(world.path("pool/00_general_rules/a.md").is_file());
    }
}

#[test]
fn the_hook_replaced_or_the_lock_left_changes_nothing() {
    let world = world();
    taken(&world, &edited_then("touch .git/index.lock .git/config.lock .git/HEAD.lock .git/refs/heads/main.lock"), &[]);
    assert_eq!(touched(&world), [NEW]);
}
