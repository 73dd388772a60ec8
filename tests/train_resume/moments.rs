//! Killed or stopped when the n-th question has reached the model, whatever else goes on at that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use rustix::process::{Pid, Signal};

use crate::scene::{Outcome, Scene, Who, said};
use crate::support::Run;

/// Sends a signal to the run when question `number` (from 0) is there, and lets it go on afterwards; gives what it said.
fn signalled(who: Who, number: usize, signal: Signal) -> (Scene, Run) {
    let (at, pid) = (Arc::new(AtomicUsize::new(number)), Arc::new(AtomicI32::new(0)));
    let (moment, child) = (Arc::clone(&at), Arc::clone(&pid));
    let scene = Scene::with(who, "", move |seen, number| {
        if moment.compare_exchange(number, usize::MAX, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            while child.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            rustix::process::kill_process(Pid::from_raw(child.load(Ordering::SeqCst)).unwrap(), signal).unwrap();
        }
        said(seen)
    });
    let mut command = scene.command(&[]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let started = command.spawn().unwrap();
    pid.store(started.id() as i32, Ordering::SeqCst);
    let run = Run::of(started.wait_with_output().unwrap());
    assert_eq!(at.load(Ordering::SeqCst), usize::MAX, "there was no question {number}: {run:?}");
    (scene, run)
}

fn straight(who: Who) -> Outcome {
    let scene = Scene::new(who);
    scene.run(&[]).ok();
    scene.outcome()
}

/// Kills at these questions, each in a run of its own.
fn killed(questions: &[usize]) {
    let whos = [Who::Backward, Who::Patch, Who::Chat];
    let wanted = whos.map(straight);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(number) = questions.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let place = number % whos.len();
                    let asked: usize = wanted[place].asked.values().sum();
                    let (scene, run) = signalled(whos[place], number % asked, Signal::KILL);
                    assert_eq!(run.code, None, "{run:?}");
                    let lost = scene.lost();
                    scene.run(&[]).ok();
                    scene.outcome().assert_is(&wanted[place], lost, &format!("{:?} {number}", whos[place]));
                }
            });
        }
    });
}

#[test]
fn killed_at_forty_questions() {
    // A step that no length of a run divides: every kind of run, all over its length.
    killed(&(0..40).map(|n| n * 13 + 5).collect::<Vec<_>>());
}

#[test]
fn stopped_politely_it_says_how_to_go_on_and_does() {
    for (signal, who, number) in [(Signal::INT, Who::Backward, 12), (Signal::TERM, Who::Chat, 9)] {
        let wanted = straight(who);
        let (scene, run) = signalled(who, number, signal);
        let said = run.fails(130);
        assert!(said.contains("run the same command again to resume"), "{said}");
        let lost = scene.lost();
        scene.run(&[]).ok();
        scene.outcome().assert_is(&wanted, lost, &format!("{signal:?}"));
    }
}
