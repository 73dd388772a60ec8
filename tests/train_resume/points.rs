//! Every named point of the program, and every pass of it: died there, resumed, compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::crash;
use crate::scene::{Outcome, Scene, Who};
use crate::support::Run;

/// What an uninterrupted run leaves, and the passes of points that it comes by.
fn straight(who: Who) -> (Outcome, BTreeMap<String, usize>) {
    let scene = Scene::new(who);
    let list = scene.world.path("passes");
    Run::of(scene.command(&[]).env("SKILLTRAIN_CRASH_AT", &list).output().unwrap()).ok();
    let mut passes = BTreeMap::new();
    scene.world.read("passes").lines().for_each(|point| *passes.entry(point.to_owned()).or_default() += 1);
    let outcome = scene.outcome();
    scene.run(&[]).ok();
    scene.outcome().assert_is(&outcome, 0, "a finished run is not touched by running it again");
    (outcome, passes)
}

/// Dies at a pass of a point and resumes.
fn survives(who: Who, point: &str, pass: usize, wanted: &Outcome) {
    let scene = Scene::new(who);
    assert!(scene.dies(point, pass), "{who:?} {point}:{pass}: not come by");
    let lost = scene.lost();
    let run = scene.run(&[]);
    let why = format!("{who:?} {point}:{pass}");
    assert_eq!(run.code, Some(0), "{why}: {run:?}");
    scene.outcome().assert_is(wanted, lost, &why);
}

/// Dies at `most` passes of each point, spread over the run with the first and the last among them; gives the points.
fn sweep(who: Who, most: usize) -> BTreeSet<String> {
    let (wanted, passes) = straight(who);
    let spread = |count: usize| -> BTreeSet<usize> {
        let most = most.min(count);
        (0..most).map(|n| if most == 1 { count } else { 1 + n * (count - 1) / (most - 1) }).collect()
    };
    let jobs: Vec<(String, usize)> =
        passes.iter().flat_map(|(point, count)| spread(*count).into_iter().map(|pass| (point.clone(), pass))).collect();
    let began = std::time::Instant::now();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((point, pass)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let one = || survives(who, point, *pass, &wanted);
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(one)).is_err() {
                        failed.lock().unwrap().insert(format!("{point}:{pass}"));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{who:?}: {} of {} deaths are not survived: {failed:?}", failed.len(), jobs.len());
    println!("{who:?}: {} deaths at {} points in {:?}", jobs.len(), passes.len(), began.elapsed());
    passes.into_keys().collect()
}

#[test]
fn passes_of_every_point_are_survived() {
    let mut seen = sweep(Who::Backward, 2);
    seen.extend(sweep(Who::Patch, 2));
    // `longer` dies where a run is extended, `programs` where a call is taped.
    let elsewhere = ["run-extended", "call-taped"];
    let here = crash::OF_TRAIN.iter().chain(crash::OF_EVAL).filter(|point| !elsewhere.contains(point));
    let missed: Vec<_> = here.filter(|point| !seen.contains(**point)).collect();
    assert!(missed.is_empty(), "no run comes by these crash points: {missed:?}");
}

/// All of them: some 1,700 deaths, and half a second of a processor for each.
#[test]
#[ignore = "takes ten minutes: cargo test --test train_resume every_pass -- --ignored --nocapture"]
fn every_pass_of_every_point_is_survived() {
    for who in [Who::Backward, Who::Patch, Who::Chat] {
        sweep(who, usize::MAX);
    }
}
