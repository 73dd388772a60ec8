//! Odd paths: of the pool, of the output, of the batch. Nothing in them is ever executed or misread.

use crate::support::{Run, World, executable};
use crate::{EDITS, bytes, world};

const ODD: &[&str] = &[
    "with space",
    "quote's and \"double\"",
    "$(touch executed)",
    "`touch executed`",
    "; touch executed;",
    "-leading-dash",
    "--pool=x",
    "ünï-çødé-日本",
    "star*and?[x]",
    "back\\slash",
    "%s%n{{ before }}",
    "#hash",
    "tab\there",
    "a.lock",
];

/// A world whose own folder has this name, with a pool, a batch and an agent in folders of that name too.
fn odd(name: &str) -> (World, [String; 3]) {
    let world = World::named(name);
    let pool = format!("./{name}/pool {name}");
    world.skilltrain(&["init", &pool]).ok();
    world.batch(1);
    let folder = world.path(format!("b {name}"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::rename(world.path("evidence"), folder.join("evidence")).unwrap();
    std::fs::rename(world.path("batch.json"), folder.join(format!("{name}.json"))).unwrap();
    let root = world.root().display().to_string().replace('\'', "'\\''");
    let prelude = "cat > /dev/null\ncard() { mkdir -p \"$(dirname \"$1\")\"; printf -- '---\\ndescription: Use when %s. Not for letters.\\n---\\n\\n## Rules\\n- %s\\n' \"$2\" \"$2\" > \"$1\"; }\ncommit() { git add -A && git commit -q -m work; }\n";
    executable(&world.write("agent.sh", format!("#!/bin/sh\nROOT='{root}'\n{prelude}{EDITS}")));
    let batch = format!("./b {name}/{name}.json");
    let out = format!("./out {name}/{name}");
    (world, [pool, batch, out])
}

fn trained(world: &World, [pool, batch, out]: &[String; 3], optimizer: &str) -> Run {
    let args = [format!("--batch={batch}"), format!("--pool={pool}"), format!("--out={out}"), "--label=odd".into()];
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    world.skilltrain(&[&["backward", "--sandbox", "off", "--optimizer", optimizer][..], &args].concat())
}

#[test]
fn every_odd_path() {
    for name in ODD {
        let (world, places) = odd(name);
        let run = trained(&world, &places, "command:./agent.sh");
        assert_eq!(run.code, Some(0), "{name}: {run:?}");
        let [pool, _, out] = &places;
        assert_eq!(world.git(pool, &["log", "-1", "--format=%s"]), "train odd-g01", "{name}");
        assert_eq!(world.git(pool, &["status", "--porcelain", "--ignored"]), "", "{name}");
        assert!(world.path(format!("{out}/g01/commit.txt")).is_file(), "{name}");
        assert!(!world.path(format!("{out}/g01/checkout")).exists(), "{name}");
        let everything = bytes(&world.root());
        assert!(!everything.keys().any(|path| path.ends_with("executed")), "{name}: the path was executed");
        // The same command again finds its step done.
        trained(&world, &places, "command:./agent.sh").ok();
        assert_eq!(world.git(pool, &["rev-list", "--count", "HEAD"]), "2", "{name}");
    }
}

/// The hook lints in a checkout whose path is odd: a bad card is stopped by it, and nothing of the path runs.
#[test]
fn the_hook_works_at_an_odd_path_and_executes_nothing_of_it() {
    for name in ["$(touch executed)", "quote's \"and\" `touch executed`"] {
        let (world, places) = odd(name);
        let script = world.read("agent.sh").replace("git status", "echo bad > 00_general_rules/one.md\nif commit 2>/dev/null; then exit 7; fi\ncard 00_general_rules/one.md \"a question is asked\"\ngit status");
        executable(&world.write("agent.sh", script));
        trained(&world, &places, "command:./agent.sh").ok();
        assert!(!bytes(&world.root()).keys().any(|path| path.ends_with("executed")), "{name}");
    }
}

#[test]
fn a_line_break_in_the_pools_path_is_refused_or_works() {
    let (world, places) = odd("line\nbreak");
    let said = trained(&world, &places, "command:./agent.sh").fails(2);
    assert!(said.contains("line break") && said.contains("hint: "), "{said}");
    // Elsewhere it may stand.
    let world = World::with_pool();
    world.batch(1);
    world.agent(EDITS);
    world.backward("command:./agent.sh", &["--out", "out\nbreak", "--label", "x"]).ok();
    assert!(world.path("out\nbreak/g01/commit.txt").is_file());
    world.assert_clean();
}

#[test]
fn a_path_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = world();
    let out = std::ffi::OsStr::from_bytes(b"out-\xff\xfe");
    let mut command = world.command(&["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off"]);
    command.args(["--optimizer", "command:./agent.sh", "--label", "x", "--out"]).arg(out);
    Run::of(command.output().unwrap()).ok();
    assert!(world.path(out).join("g01/commit.txt").is_file());
    world.assert_clean();
}

#[test]
fn relative_paths_from_another_folder() {
    let world = world();
    std::fs::create_dir_all(world.path("deep/er")).unwrap();
    let args = ["backward", "--batch", "../../batch.json", "--pool", "../../pool", "--out", "out", "--sandbox", "off"];
    let mut command = world.command(&[&args[..], &["--optimizer", "command:../../agent.sh"]].concat());
    Run::of(command.current_dir(world.path("deep/er")).output().unwrap()).ok();
    assert!(world.path("deep/er/out/g01/commit.txt").is_file());
    // The same step by absolute paths, from elsewhere.
    let [batch, pool, out] = ["batch.json", "pool", "deep/er/out"].map(|name| world.path(name).display().to_string());
    let mut command = world.command(&["backward", "--batch", &batch, "--pool", &pool, "--out", &out]);
    Run::of(command.current_dir("/").output().unwrap()).ok();
    assert_eq!(world.subjects().len(), 2);
    world.assert_clean();
}

#[test]
fn the_pool_by_a_link_and_the_output_on_a_link() {
    let world = world();
    std::os::unix::fs::symlink("pool", world.path("link")).unwrap();
    std::fs::create_dir(world.path("real")).unwrap();
    std::os::unix::fs::symlink("real", world.path("out")).unwrap();
    let args = ["backward", "--batch", "batch.json", "--pool", "link", "--out", "out", "--sandbox", "off"];
    world.skilltrain(&[&args[..], &["--optimizer", "command:./agent.sh"]].concat()).ok();
    assert!(world.path("real/g01/commit.txt").is_file());
    world.assert_clean();
    std::os::unix::fs::symlink("nowhere", world.path("dangling")).unwrap();
    let said = world.backward("extractive", &["--out", "dangling", "--label", "two"]).fails(1);
    assert!(said.contains("dangling"), "{said}");
}

#[test]
fn output_inside_the_pool_and_the_pool_inside_the_output() {
    let world = world();
    std::os::unix::fs::symlink("pool", world.path("link")).unwrap();
    for out in ["pool", "pool/out", "pool/.git/out", "link/deep/er", "evidence/../pool/x"] {
        let said = world.backward("command:./agent.sh", &["--out", out]).fails(2);
        assert!(said.contains("lie in one another"), "{out}: {said}");
    }
    assert_eq!(world.calls(), 0);
    world.assert_clean();
    // Beside one another in one folder is fine; where a micro-step's folder would be is not.
    world.backward("command:./agent.sh", &["--out", "."]).ok();
    assert!(world.path("g01/commit.txt").is_file());
    let world = self::world();
    std::fs::create_dir(world.path("g01")).unwrap();
    std::fs::rename(world.path("pool"), world.path("g01/checkout")).unwrap();
    let tip = world.git("g01/checkout", &["rev-parse", "HEAD"]);
    let args = ["backward", "--batch", "batch.json", "--pool", "g01/checkout", "--out", "."];
    assert!(world.skilltrain(&args).fails(2).contains("lie in one another"));
    assert_eq!(world.git("g01/checkout", &["rev-parse", "HEAD"]), tip);
}
