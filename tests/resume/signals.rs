//! Ctrl-C and its kin: once, twice, in every shape.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::support::{Run, World};

/// An optimizer that says where it is by files: `ready`, then waits for `go`; a child of its own waits as well.
const SLOW: &str = r#"
trap 'echo asked >> "$ROOT/asked"; [ -e "$ROOT/deaf" ] || exit 1' INT TERM
(trap '' INT TERM HUP; echo $$ > "$ROOT/child"; while [ ! -e "$ROOT/go" ]; do sleep 0.05; done; touch "$ROOT/survived$CALL") &
card 00_general_rules/one.md "half done"
echo $$ > "$ROOT/ready"
while [ ! -e "$ROOT/go" ]; do sleep 0.05; done
card 00_general_rules/one.md "a question is asked"
commit
"#;

fn start(world: &World) -> Child {
    let mut command = world.backward_command("command:./agent.sh", &[]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn wait_for(path: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < until, "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
}

/// Whether any process of this world still runs.
fn anyone_left(world: &World) -> Vec<String> {
    let root = world.root().display().to_string();
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        let text = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        if pid.chars().all(|c| c.is_ascii_digit()) && text.contains(&root) {
            left.push(format!("{pid} {text}"));
        }
    }
    left
}

fn world() -> World {
    let world = World::with_pool();
    world.batch(1);
    world.agent(SLOW);
    world
}

/// Stops a run with `signals`, then resumes it.
fn stopped_and_resumed(signals: &[Signal], deaf: bool) {
    let world = world();
    if deaf {
        world.write("deaf", "");
    }
    let before = world.tip();
    let child = start(&world);
    wait_for(&world.path("ready"));
    for (n, signal) in signals.iter().enumerate() {
        send(&child, *signal);
        if n == 0 {
            // The second one means something only once the first was heard.
            wait_for(&world.path("asked"));
        }
    }
    let began = Instant::now();
    let run = Run::of(child.wait_with_output().unwrap());
    let said = run.fails(130);
    assert!(said.contains("run the same command again to resume"), "{said}");
    // The grace period is 8 seconds: the second signal must not wait for it.
    assert!(!deaf || began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(anyone_left(&world), Vec::<String>::new());
    assert_eq!(world.tip(), before);
    world.assert_clean();
    world.write("go", "");
    Run::of(start(&world).wait_with_output().unwrap()).ok();
    assert!(!world.path("survived1").exists(), "a child of the stopped agent lived on");
    assert_eq!(world.subjects().len(), 2);
    assert!(world.read("pool/00_general_rules/one.md").contains("a question is asked"));
    let kept = world.kept();
    assert_eq!(kept.len(), 1, "what was half done is kept: {kept:?}");
    assert!(world.git("pool", &["show", &format!("{}:00_general_rules/one.md", kept[0])]).contains("half done"));
    world.assert_clean();
}

#[test]
fn ctrl_c_once_stops_the_agent_politely_and_resumes() {
    stopped_and_resumed(&[Signal::INT], false);
}

#[test]
fn a_term_once_does_the_same() {
    stopped_and_resumed(&[Signal::TERM], false);
}

#[test]
fn a_closed_terminal_does_the_same() {
    stopped_and_resumed(&[Signal::HUP], false);
}

#[test]
fn ctrl_c_twice_stops_a_deaf_agent_at_once() {
    stopped_and_resumed(&[Signal::INT, Signal::INT], true);
}

#[test]
fn a_term_and_a_ctrl_c_count_together() {
    stopped_and_resumed(&[Signal::TERM, Signal::INT], true);
}

/// A trainer that is itself stopped (Ctrl-Z) and then killed leaves nobody behind.
#[test]
fn killed_while_suspended() {
    let world = world();
    let mut child = start(&world);
    wait_for(&world.path("ready"));
    send(&child, Signal::STOP);
    send(&child, Signal::KILL);
    child.wait().unwrap();
    world.write("go", "");
    Run::of(start(&world).wait_with_output().unwrap()).ok();
    assert!(!world.path("survived1").exists());
    assert_eq!(world.subjects().len(), 2);
    world.assert_clean();
}
