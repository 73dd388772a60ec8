//! Two trainers on one pool: one works, the other is told who.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Run, World};
use crate::world;

const WAITS: &str = r#"
card 00_general_rules/one.md "a question is asked"
touch "$ROOT/ready"
while [ ! -e "$ROOT/go" ]; do sleep 0.05; done
commit
"#;

fn start(world: &World) -> Child {
    world.agent(WAITS);
    let args = ["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off", "--label", "first"];
    let mut command = world.command(&[&args[..], &["--optimizer", "command:./agent.sh"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !world.path("ready").exists() {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn the_second_is_refused_and_the_first_unharmed() {
    let world = world();
    let child = start(&world);
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for out in ["backward", "elsewhere"] {
        let said = world.backward("extractive", &["--label", "second", "--out", out]).fails(1);
        for word in [child.id().to_string().as_str(), host.trim(), "`first"] {
            assert!(said.contains(word), "`{word}` is not said: {said}");
        }
    }
    // By another name of the same pool as well.
    std::os::unix::fs::symlink("pool", world.path("alias")).unwrap();
    let args = ["backward", "--batch", "batch.json", "--pool", "alias", "--label", "second", "--out", "elsewhere"];
    world.skilltrain(&args).fails(1);
    world.write("go", "");
    Run::of(child.wait_with_output().unwrap()).ok();
    assert_eq!(world.subjects().len(), 2);
    world.assert_clean();
    world.backward("extractive", &["--label", "second", "--out", "elsewhere"]).ok();
    assert_eq!(world.subjects().len(), 3);
}

#[test]
fn a_dead_trainers_lock_is_taken_over() {
    let world = world();
    let mut child = start(&world);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(world.read("pool/.git/skilltrain/lock").contains("first"));
    world.write("go", "");
    world.backward("command:./agent.sh", &["--label", "first"]).ok();
    assert_eq!(world.subjects().len(), 2);
    // A lock file of a trainer long gone, torn or of nobody.
    for text in ["", "garbage", r#"{"pid":1,"host":"elsewhere","label":"old"}"#] {
        world.write("pool/.git/skilltrain/lock", text);
        world.backward("command:./agent.sh", &["--label", "first"]).ok();
    }
}

/// Many at once: one a time gets in, and in the end each has made its one commit.
#[test]
fn a_crowd() {
    let world = world();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let world = &world;
            scope.spawn(move || {
                let (label, out) = (format!("t{n}"), format!("out{n}"));
                for _ in 0..400 {
                    let run = world.backward("extractive", &["--label", &label, "--out", &out]);
                    match run.code {
                        Some(0) => return,
                        _ => assert!(run.fails(1).contains("another trainer")),
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                panic!("{label} never got in");
            });
        }
    });
    let mut subjects = world.subjects();
    subjects.sort();
    assert_eq!(subjects[1..], ["train t0-g01", "train t1-g01", "train t2-g01", "train t3-g01"]);
    world.assert_clean();
}
