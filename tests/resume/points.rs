//! Every named point of the program, and every pass of it: died there, resumed, compared.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::crash;
use crate::scene::{Outcome, Scene, Who};
use crate::support::Run;

/// Passes of a point that are tried at most; a step of this size has fewer.
const PASSES: usize = 150;

/// The points that every written file passes. With an optimizer that starts processes, each of its runs costs a
/// second, so there only some of the passes are tried: all are with the built-in one.
const COMMON: &[&str] =
    &["file-written", "file-placed", "file-moved", "removing-file", "removing-folder", "checkout-file"];

/// All crash points that a backward pass without a model may come by.
fn points() -> BTreeSet<String> {
    let others = |point: &String| crash::OF_EVAL.iter().chain(crash::OF_TRAIN).any(|other| other == point);
    crash::points().into_iter().filter(|point| !others(point)).collect()
}

/// Dies at a pass of a point, if the program comes by; whether it did.
fn dies(scene: &Scene, point: &str, pass: usize) -> bool {
    let output = scene.command().env("SKILLTRAIN_CRASH_AT", format!("{point}:{pass}")).output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    let run = Run::of(output);
    assert!(killed || run.code == Some(0), "{point}:{pass}: {run:?}");
    killed
}

/// Dies at a pass of a point and resumes; false when the program does not come by so often.
fn survives(who: Who, point: &str, pass: usize, wanted: &Outcome) -> bool {
    let scene = Scene::new(who);
    if !dies(&scene, point, pass) {
        return false;
    }
    let running = scene.world.calls().saturating_sub(scene.ended());
    let run = scene.run();
    assert_eq!(run.code, Some(0), "{who:?} {point}:{pass}: {run:?}");
    assert_eq!(&scene.outcome(), wanted, "{who:?} {point}:{pass}");
    assert!(scene.world.calls() <= wanted.ended() + running, "{who:?} {point}:{pass}: a call was repeated");
    true
}

/// Tries all jobs on some threads; gives those that died.
fn sweep(who: Who, jobs: &[(String, usize)], wanted: &Outcome) -> BTreeSet<(String, usize)> {
    let (next, died) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((point, pass)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if survives(who, point, *pass, wanted) {
                        died.lock().unwrap().insert((point.clone(), *pass));
                    }
                }
            });
        }
    });
    died.into_inner().unwrap()
}

/// What an uninterrupted run leaves.
fn straight(who: Who) -> Outcome {
    let scene = Scene::new(who);
    scene.run().ok();
    let outcome = scene.outcome();
    scene.run().ok();
    assert_eq!(scene.outcome(), outcome, "a finished pass is not touched by running it again");
    outcome
}

/// The passes of every point, each once dead: `stride` of a common point's are left out.
fn all_passes(who: Who, stride: usize) -> BTreeSet<String> {
    let wanted = straight(who);
    let (mut seen, mut deaths) = (BTreeSet::new(), 0);
    for point in points() {
        let step = if COMMON.contains(&point.as_str()) { stride } else { 1 };
        let mut from = 1;
        loop {
            let jobs: Vec<_> = (0..4).map(|n| (point.clone(), from + n * step)).collect();
            let died = sweep(who, &jobs, &wanted);
            deaths += died.len();
            if died.is_empty() {
                break;
            }
            seen.insert(point.clone());
            if died.len() < jobs.len() {
                break;
            }
            from += 4 * step;
            assert!(from < PASSES * step, "{point} has no end");
        }
    }
    println!("{who:?}: {deaths} deaths at {} points", seen.len());
    seen
}

#[test]
fn every_pass_of_every_point_is_survived() {
    let mut seen = all_passes(Who::Extractive, 1);
    seen.extend(all_passes(Who::Stubborn, 7));
    let missed: Vec<String> = points().difference(&seen).cloned().collect();
    assert!(missed.is_empty(), "no run comes by these crash points: {missed:?}");
}

/// A second death on the way back, at every point of the way.
#[test]
fn dying_while_resuming_is_survived() {
    let wanted = straight(Who::Stubborn);
    let firsts = ["refused", "put-aside", "branch-moved", "optimizer-ended", "index-locked", "marker"];
    let seconds = ["put-aside", "started", "before-commit", "card-placed", "index-drafted", "before-marker"];
    let jobs: Vec<(&str, &str)> = firsts.iter().zip(seconds.iter().cycle().skip(1)).map(|(a, b)| (*a, *b)).collect();
    std::thread::scope(|scope| {
        for half in jobs.chunks(3) {
            let wanted = &wanted;
            scope.spawn(move || {
                for (first, second) in half {
                    let scene = Scene::new(Who::Stubborn);
                    assert!(dies(&scene, first, 1), "{first}");
                    dies(&scene, second, 1);
                    dies(&scene, first, 1);
                    scene.run().ok();
                    assert_eq!(&scene.outcome(), wanted, "{first}, then {second}");
                }
            });
        }
    });
}

/// A branch lock that libgit2 would leave, were it killed in between, does not stop the resume; another's does.
#[test]
fn our_own_branch_lock_is_taken_away_and_anothers_is_not() {
    let wanted = straight(Who::Extractive);
    for (content, ours) in [("", true), ("0123456789012345678901234567890123456789\n", false)] {
        let scene = Scene::new(Who::Extractive);
        assert!(dies(&scene, "branch-moving", 1));
        let lock = scene.world.write("pool/.git/refs/heads/main.lock", content);
        let run = scene.run();
        if !ours {
            let said = run.fails(1);
            assert!(said.contains("main.lock") && said.contains("remove that file"), "{said}");
            std::fs::remove_file(lock).unwrap();
            scene.run().ok();
        } else {
            run.ok();
        }
        assert_eq!(scene.outcome(), wanted);
    }
}
