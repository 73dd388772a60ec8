//! Where it runs: the user's git and environment, odd repositories, odd paths, full disks, other trainers, damage.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../support/mod.rs"]
mod support;

mod again;
mod batches;
mod damage;
mod disk;
mod environment;
mod history;
mod paths;
mod repositories;
mod trainers;
mod users_work;

use support::World;

/// A program that edits with the tools of an agent: git in the checkout.
pub(crate) const EDITS: &str = r#"
card 00_general_rules/one.md "a question is asked by $(basename "$(dirname "$(dirname "$PWD")")" | tr -cd a-z)"
git status --porcelain > /dev/null && git log --oneline > /dev/null && git diff HEAD > /dev/null && commit
"#;

/// A pool, one work's evidence, and that program.
pub(crate) fn world() -> World {
    let world = World::with_pool();
    world.batch(1);
    world.agent(EDITS);
    world
}

/// Trains with both kinds of optimizer, one after the other, and asserts that each made its commit.
pub(crate) fn both_train(world: &World) {
    world.backward("command:./agent.sh", &["--label", "agent", "--out", "out-agent"]).ok();
    world.backward("extractive", &["--label", "own", "--out", "out-own"]).ok();
    let subjects = world.subjects();
    let steps: Vec<&str> =
        subjects.iter().map(String::as_str).filter(|subject| subject.starts_with("train ")).collect();
    assert_eq!(steps, ["train agent-g01", "train own-g01"]);
    world.assert_clean();
}

/// All bytes below a folder, by path, links as their targets: nothing there may change.
pub(crate) fn bytes(folder: &std::path::Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let walk = walkdir::WalkDir::new(folder).into_iter().flatten();
    let entries = walk.filter(|entry| !entry.file_type().is_dir()).map(|entry| {
        let bytes = match std::fs::read_link(entry.path()) {
            Ok(target) => target.to_string_lossy().into_owned().into_bytes(),
            Err(_) if entry.file_type().is_file() => std::fs::read(entry.path()).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        (entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned(), bytes)
    });
    entries.collect()
}

/// Whether this process is root, which some tests need to make what they look at.
pub(crate) fn root() -> bool {
    let root = rustix::process::getuid().is_root();
    if !root {
        println!("skipped: only root can make this");
    }
    root
}
