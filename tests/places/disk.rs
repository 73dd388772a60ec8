//! A full disk, a limit on file sizes, folders that cannot be written: told, nothing lost, and it goes on after.

use std::process::Command;

use crate::support::{Run, World, executable};
use crate::{bytes, root, world};

/// The usual command behind `sh -c`, with a prefix of shell that sets a limit.
fn limited(world: &World, prefix: &str, optimizer: &str) -> Run {
    let args = ["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off", "--optimizer", optimizer];
    let plain = world.command(&args);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{prefix} exec \"$0\" \"$@\"")).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(world.root()).env_clear();
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
    Run::of(command.output().unwrap())
}

/// Whatever the limit: it fails plainly or works, and then the same command works and the world is whole.
fn survives(world: &World, prefix: &str, optimizer: &str) -> bool {
    let run = limited(world, prefix, optimizer);
    let failed = run.code != Some(0);
    if failed {
        assert!(matches!(run.code, Some(1..=3)), "{prefix}: {run:?}");
        assert!(!run.err.contains("panicked"), "{run:?}");
        assert!(run.err.contains("error: "), "{run:?}");
    }
    world.backward(optimizer, &[]).ok();
    assert_eq!(world.subjects().len(), 2, "{prefix}");
    world.assert_clean();
    let everything = bytes(&world.root());
    let odd: Vec<_> = everything.keys().filter(|path| path.contains(".tmp-") && !path.starts_with("home")).collect();
    assert!(odd.is_empty(), "{odd:?}");
    failed
}

#[test]
fn a_limit_on_the_size_of_files() {
    let mut failures = 0;
    // In blocks of 512 bytes, as POSIX has it.
    for blocks in [0, 1, 2, 3, 4, 8, 16] {
        for optimizer in ["extractive", "command:./agent.sh"] {
            failures += usize::from(survives(&world(), &format!("trap '' XFSZ; ulimit -f {blocks};"), optimizer));
        }
    }
    assert!(failures >= 4, "the limits bit {failures} times only");
}

#[test]
fn a_limit_on_open_files() {
    for files in [8, 12, 20] {
        survives(&world(), &format!("ulimit -n {files};"), "extractive");
    }
}

/// A tiny file system of its own, mounted in a private namespace, filled to different degrees.
#[test]
fn a_full_disk() {
    if !root() {
        return;
    }
    let mut failures = 0;
    for spare in [0, 1, 2, 4, 6, 8, 12, 16, 24] {
        let world = world();
        // The pool and the output lie on it; all but `spare` blocks of 4 KiB are taken.
        let prefix = "mkdir -p small && mount -t tmpfs -o size=2m none small && cp -a pool small/pool &&
            (dd if=/dev/zero of=small/fill bs=4096 2>/dev/null; true) &&
            truncate -s $(( $(stat -c %s small/fill) - 4096 * SPARE )) small/fill &&
            { run || code=$?; rm small/fill; run; second=$?; cp -a small/pool done; echo ${code:-0} > code; exit $second; }";
        let program = env!("CARGO_BIN_EXE_skilltrain");
        let script = format!(
            "run() {{ '{program}' backward --batch batch.json --pool small/pool --out small/out --label x --sandbox off \
             --optimizer command:./agent.sh; }}\n{}",
            prefix.replace("SPARE", &spare.to_string())
        );
        executable(&world.write("small.sh", script));
        let plain = world.command(&[]);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "small.sh"]).current_dir(world.root()).env_clear();
        command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
        let run = Run::of(command.output().unwrap());
        if run.err.contains("unshare failed") || run.err.contains("mount:") {
            println!("skipped: no mounting here: {}", run.err);
            return;
        }
        assert_eq!(run.code, Some(0), "{spare} blocks spare: {run:?}");
        let code = world.read("code");
        failures += usize::from(code.trim() != "0");
        assert!(matches!(code.trim(), "0" | "1" | "3"), "{spare}: {code} {run:?}");
        assert!(code.trim() == "0" || run.err.contains("error: "), "{run:?}");
        assert_eq!(world.git("done", &["log", "--format=%s"]), "train x-g01\npool: begin", "{spare}");
        assert_eq!(world.git("done", &["status", "--porcelain", "--ignored"]), "", "{spare}");
        world.git("done", &["fsck", "--strict", "--no-dangling"]);
    }
    assert!(failures >= 3, "the disk was full {failures} times only");
}

/// Root may write anywhere, so this runs as nobody.
#[test]
fn folders_that_cannot_be_written() {
    if !root() {
        return;
    }
    for place in ["out", "pool/.git", "pool/.git/objects", "pool/.git/refs/heads", "pool/00_general_rules"] {
        let world = world();
        std::fs::create_dir_all(world.path("out")).unwrap();
        std::fs::create_dir_all(world.path("pool/00_general_rules")).unwrap();
        open_up(&world);
        let mode = |mode| {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(world.path(place), permissions).unwrap();
        };
        mode(0o555);
        let run = as_nobody(&world);
        if run.code == Some(126) || run.code == Some(127) {
            println!("skipped: the program cannot be reached as another user");
            return;
        }
        let said = run.fails(1);
        assert!(said.contains("ermission") && said.contains("hint: "), "{place}: {said}");
        mode(0o755);
        let run = as_nobody(&world);
        assert_eq!(run.code, Some(0), "{place}: {run:?}");
        let safe = ["-c", "safe.directory=*"];
        assert_eq!(world.git("pool", &[&safe[..], &["rev-list", "--count", "HEAD"]].concat()), "2", "{place}");
        assert_eq!(world.git("pool", &[&safe[..], &["status", "--porcelain", "--ignored"]].concat()), "", "{place}");
    }
}

fn open_up(world: &World) {
    let above = world.root().parent().unwrap().to_owned();
    std::fs::set_permissions(above, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for entry in walkdir::WalkDir::new(world.root()).into_iter().flatten() {
        std::os::unix::fs::lchown(entry.path(), Some(65534), Some(65534)).unwrap();
    }
}

fn as_nobody(world: &World) -> Run {
    use std::os::unix::process::CommandExt as _;
    let plain = world.command(&[]);
    // The build's folder may be closed to others: the program is lent a copy.
    let program = world.path("skilltrain");
    if !program.exists() {
        // By a process of its own: a file that this one has open for writing cannot be run by another thread's child.
        let copied = Command::new("cp").arg(plain.get_program()).arg(&program).status().unwrap();
        assert!(copied.success());
    }
    let mut command = Command::new(program);
    command.args(["backward", "--batch", "batch.json", "--pool", "pool", "--out", "out", "--label", "x"]);
    command.args(["--sandbox", "off", "--optimizer", "command:./agent.sh"]).current_dir(world.root()).env_clear();
    command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?)))).uid(65534).gid(65534);
    Run::of(command.output().unwrap())
}
