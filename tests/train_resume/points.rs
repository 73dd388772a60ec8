//! Every named point of the program, and every pass of it: died there, resumed, compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::scene::{Outcome, Scene, Who};
use crate::support::Run;

/// Points that every written or removed file passes. All their passes are a thousand deaths and more: a part of them is
/// died here, the others by the test that is started by name.
const COMMON: &[&str] = &["file-written", "file-placed", "removing-file", "removing-folder", "checkout-file"];

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

/// Dies at the passes of all points, every `stride`th of a common one; gives how often.
fn sweep(who: Who, stride: usize) -> usize {
    let (wanted, passes) = straight(who);
    let mut jobs = Vec::new();
    for (point, count) in &passes {
        let (first, step) = if COMMON.contains(&point.as_str()) { (1 + jobs.len() % stride, stride) } else { (1, 1) };
        jobs.extend((first..=*count).step_by(step).map(|pass| (point.clone(), pass)));
    }
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
    println!("{who:?}: {} deaths at {} points", jobs.len(), passes.len());
    jobs.len()
}

#[test]
fn a_pass_of_every_point_is_survived_by_the_backward_pass() {
    assert!(sweep(Who::Backward, 29) > 100);
}

#[test]
fn a_pass_of_every_point_is_survived_by_edits() {
    assert!(sweep(Who::Patch, 29) > 100);
}

#[test]
#[ignore = "an hour's quarter: cargo test --test train_resume every_pass -- --ignored"]
fn every_pass_of_every_point_is_survived() {
    [Who::Backward, Who::Patch].map(|who| sweep(who, 1));
}
