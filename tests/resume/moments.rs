//! Random moments: killed there, by different means, sometimes again while resuming, and always the same end.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::scene::{Outcome, Scene, Who};
use crate::support::Run;

/// A small generator whose every run gives the same numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A moment within `span`.
    fn within(&mut self, span: Duration) -> Duration {
        span * u32::try_from(self.roll() % 1000).unwrap() / 1000
    }
}

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Aim {
    Trainer,
    Group,
    /// The trainer and everything below it at that moment, from the top down.
    Tree,
}

/// Starts the program and kills it after `delay`; whether the blow came in time.
fn struck(scene: &Scene, aim: Aim, delay: Duration) -> bool {
    let mut command = scene.command();
    let mut child = command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(delay);
    let pid = Pid::from_child(&child);
    let kill = |pid| rustix::process::kill_process(pid, Signal::KILL);
    match aim {
        Aim::Trainer => kill(pid).ok(),
        Aim::Group => rustix::process::kill_process_group(pid, Signal::KILL).ok(),
        // From the top down: an agent that is seen to be killed by somebody has ended, and is no interrupted one.
        Aim::Tree => {
            let below = below(pid);
            let struck = kill(pid).ok();
            below.into_iter().for_each(|pid| kill(pid).unwrap_or_default());
            struck
        }
    };
    let status = child.wait().unwrap();
    // Of a whole tree the agent's keeper dies first, and the trainer may live long enough to say so.
    let may_tell = matches!(aim, Aim::Tree) && status.code() == Some(1);
    assert!(status.signal() == Some(9) || status.success() || may_tell, "{status}");
    !status.success()
}

/// The descendants of a process.
fn below(root: Pid) -> Vec<Pid> {
    let mut pairs = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<i32>().ok());
        pairs.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![root.as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(pairs.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// One scene, struck one to three times, then left to finish.
fn trial(who: Who, seed: u64, span: Duration, wanted: &Outcome) -> usize {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let scene = Scene::new(who);
    let aim = [Aim::Trainer, Aim::Group, Aim::Tree][(dice.roll() % 3) as usize];
    let blows = 1 + dice.roll() % 3;
    let (mut hits, mut lost) = (0, 0);
    for _ in 0..blows {
        let ended = scene.ended();
        let calls = scene.world.calls();
        if struck(&scene, aim, dice.within(span)) {
            hits += 1;
            lost += usize::from(scene.world.calls() - calls > scene.ended() - ended);
        }
    }
    let run: Run = scene.run();
    assert_eq!(run.code, Some(0), "{who:?}, seed {seed}, {aim:?}: {run:?}");
    assert_eq!(&scene.outcome(), wanted, "{who:?}, seed {seed}, {aim:?}");
    // An agent that the blow found before its first line did not count itself, so that fewer are possible.
    assert!(scene.world.calls() <= wanted.ended() + lost + hits, "{who:?}, seed {seed}: a call was repeated");
    hits
}

fn trials(who: Who, count: usize) {
    let scene = Scene::new(who);
    let began = Instant::now();
    scene.run().ok();
    // Four run at once later, so that each takes longer.
    let span = began.elapsed() * 2;
    let wanted = scene.outcome();
    let (next, hits) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= count {
                        return;
                    }
                    hits.fetch_add(trial(who, n as u64 + 1, span, &wanted), Ordering::SeqCst);
                }
            });
        }
    });
    let hits = hits.into_inner();
    println!("{who:?}: {count} worlds, killed {hits} times within {span:?}");
}

#[test]
fn random_deaths_of_the_built_in_optimizers_trainer() {
    trials(Who::Extractive, 140);
}

#[test]
fn random_deaths_of_an_agents_trainer() {
    trials(Who::Sloppy, 60);
}
