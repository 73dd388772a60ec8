//! The user's own work in the pool: named, and its bytes kept.

use crate::support::{World, executable};
use crate::{bytes, world};

fn plain(world: &World) {
    world.write("pool/00_general_rules/mine.md", crate::support::CARD);
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "-m", "mine"]);
}

/// Refused, exit 1, naming `names`; every byte but our lock as it was.
fn named_and_kept(world: &World, names: &[&str]) {
    let keep = |map: std::collections::BTreeMap<String, Vec<u8>>| {
        map.into_iter().filter(|(path, _)| !path.contains(".git/skilltrain")).collect::<Vec<_>>()
    };
    let before = keep(bytes(&world.path("pool")));
    for optimizer in ["command:./agent.sh", "extractive"] {
        let said = world.backward(optimizer, &[]).fails(1);
        for name in names {
            assert!(said.contains(name), "`{name}` is not named: {said}");
        }
        assert!(said.contains("nothing was touched"), "{said}");
    }
    assert_eq!(world.calls(), 0);
    assert!(keep(bytes(&world.path("pool"))) == before, "the user's work was touched");
}

#[test]
fn a_changed_card() {
    let world = world();
    plain(&world);
    world.write("pool/00_general_rules/mine.md", "half a thought");
    named_and_kept(&world, &["changed  00_general_rules/mine.md"]);
}

#[test]
fn an_untracked_script_and_an_ignored_file() {
    let world = world();
    plain(&world);
    executable(&world.write("pool/run.sh", "#!/bin/sh\n"));
    world.write("pool/.git/info/exclude", "secret.env\n");
    world.write("pool/secret.env", "KEY=1\n");
    named_and_kept(&world, &["new      run.sh", "new      secret.env"]);
}

#[test]
fn what_is_staged() {
    for (path, text) in [("00_general_rules/mine.md", "staged only"), ("00_general_rules/new.md", crate::support::CARD)]
    {
        let world = world();
        plain(&world);
        world.write(format!("pool/{path}"), text);
        world.git("pool", &["add", "-A"]);
        // The file itself is as committed again; only the index knows better.
        match path.contains("mine") {
            true => drop(world.write("pool/00_general_rules/mine.md", crate::support::CARD)),
            false => std::fs::remove_file(world.path(format!("pool/{path}"))).unwrap(),
        }
        named_and_kept(&world, &[&format!("staged   {path}")]);
        assert_eq!(world.git("pool", &["show", &format!(":{path}")]), text.trim_end());
    }
    let world = world();
    plain(&world);
    world.git("pool", &["rm", "-q", "--cached", "00_general_rules/mine.md"]);
    named_and_kept(&world, &["staged   00_general_rules/mine.md"]);
}

#[test]
fn a_deleted_card_a_mode_a_link_a_pipe_and_a_repository_inside() {
    let world = world();
    plain(&world);
    std::fs::remove_file(world.path("pool/00_general_rules/mine.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", world.path("pool/link.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path("pool/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    executable(&world.path("pool/.skilltrain.toml"));
    std::fs::create_dir(world.path("pool/inner")).unwrap();
    world.git("pool/inner", &["init", "-q"]);
    let names =
        ["deleted  00_general_rules/mine.md", "link.md", "odd      pipe", "mode     .skilltrain.toml", "inner/.git/"];
    named_and_kept(&world, &names);
}

#[test]
fn work_that_appears_while_the_optimizer_runs() {
    let world = world();
    plain(&world);
    // The agent stands in for the user here: it edits the pool's own card that the step changes as well.
    world.agent(
        r#"card 00_general_rules/mine.md "the step"; commit; printf 'the user was here' > "$ROOT/pool/00_general_rules/mine.md";
        echo untracked > "$ROOT/pool/note.txt""#,
    );
    let run = world.backward("command:./agent.sh", &[]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(world.read("pool/00_general_rules/mine.md"), "the user was here");
    assert_eq!(world.read("pool/note.txt"), "untracked\n");
    assert_eq!(world.subjects().last().unwrap(), "train world-g01");
    assert!(run.err.contains("00_general_rules/mine.md"), "left alone, but not told: {}", run.err);
}

#[test]
fn a_folder_or_a_link_where_a_card_is_to_be() {
    let world = world();
    plain(&world);
    std::fs::create_dir(world.path("precious")).unwrap();
    world.agent(
        r#"card 00_general_rules/one.md "the step"; card 01_craft_elements/x.md "craft"; commit;
        mkdir -p "$ROOT/pool/00_general_rules/one.md/full"; echo x > "$ROOT/pool/00_general_rules/one.md/full/y";
        rm -rf "$ROOT/pool/01_craft_elements"; ln -s "$ROOT/precious" "$ROOT/pool/01_craft_elements""#,
    );
    let run = world.backward("command:./agent.sh", &[]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    assert_eq!(std::fs::read_dir(world.path("precious")).unwrap().count(), 0, "written through a link");
    assert_eq!(world.read("pool/00_general_rules/one.md/full/y"), "x\n");
    // Once the user has put things right, the same command ends well.
    std::fs::remove_file(world.path("pool/01_craft_elements")).unwrap();
    std::fs::remove_dir_all(world.path("pool/00_general_rules/one.md")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    world.git("pool", &["checkout", "-q", "--", "."]);
    world.assert_clean();
    assert_eq!(world.subjects().len(), 3);
}

#[test]
fn a_missing_index_is_made_anew_and_a_corrupt_one_is_explained() {
    let world = world();
    plain(&world);
    std::fs::remove_file(world.path("pool/.git/index")).unwrap();
    world.backward("command:./agent.sh", &[]).ok();
    world.assert_clean();
    world.write("pool/.git/index", "DIRCgarbage");
    let said = world.backward("command:./agent.sh", &["--out", "two", "--label", "two"]).fails(1);
    assert!(said.contains("index") && said.contains("git -C"), "{said}");
    assert_eq!(world.calls(), 1, "told before anything was paid");
    std::fs::remove_file(world.path("pool/.git/index")).unwrap();
    world.git("pool", &["reset", "-q"]);
    world.backward("command:./agent.sh", &["--out", "two", "--label", "two"]).ok();
    world.assert_clean();
}

#[test]
fn locks_that_a_killed_git_left() {
    for (lock, stops) in
        [("index.lock", true), ("refs/heads/main.lock", true), ("HEAD.lock", false), ("config.lock", false)]
    {
        let world = world();
        let path = world.write(format!("pool/.git/{lock}"), "");
        let run = world.backward("command:./agent.sh", &[]);
        if stops {
            let said = run.fails(1);
            assert!(said.contains(lock) && said.contains("remove that file"), "{said}");
            assert_eq!(world.calls(), 0, "told before anything was paid");
            std::fs::remove_file(path).unwrap();
            world.backward("command:./agent.sh", &[]).ok();
        } else {
            run.ok();
            std::fs::remove_file(path).unwrap();
        }
        world.assert_clean();
    }
}
