//! A recording holds a whole training: played again, elsewhere and offline, it ends with the same commits.

use crate::scene::{Outcome, Scene, Who};
use crate::support::NOW;

const RECORD: [&str; 2] = ["--record", "tape.jsonl"];
const REPLAY: [&str; 6] = ["--replay", "tape.jsonl", "--out", "again", "--set", "train.name=run"];

/// A scene whose commits have the clock's dates.
fn scene(who: Who) -> Scene {
    let mut scene = Scene::new(who);
    scene.world.unset("SOURCE_DATE_EPOCH");
    scene
}

/// Plays the tape into another folder, at another time.
fn replays(scene: &mut Scene, wanted: &Outcome) {
    scene.world.set("SOURCE_DATE_EPOCH", NOW);
    let asked = scene.server.seen().len();
    scene.run(&REPLAY).ok();
    assert_eq!(scene.server.seen().len(), asked, "a replay asks nobody");
    scene.outcome_of("again").assert_is(wanted, 0, "replayed");
}

#[test]
fn a_recorded_run_is_played_again() {
    for who in [Who::Backward, Who::Patch, Who::Chat] {
        let mut scene = scene(who);
        scene.run(&RECORD).ok();
        let wanted = scene.outcome();
        replays(&mut scene, &wanted);
    }
}

#[test]
fn a_recording_of_a_run_that_died_twice_is_whole() {
    let mut scene = scene(Who::Chat);
    for (point, pass) in [("exchange-recorded", 7), ("gate-decided", 1)] {
        assert!(scene.dies_with(point, pass, &RECORD), "{point}");
    }
    scene.run(&RECORD).ok();
    let wanted = scene.outcome();
    replays(&mut scene, &wanted);
}

/// Between the recording and the run's own journal an answer counts once.
#[test]
fn an_answer_that_only_the_recording_holds_counts_as_paid() {
    let wanted = {
        let scene = Scene::new(Who::Chat);
        scene.run(&RECORD).ok();
        scene.outcome()
    };
    for pass in 9..13 {
        let scene = Scene::new(Who::Chat);
        assert!(scene.dies_with("exchange-recorded", pass, &RECORD));
        let lost = scene.lost();
        scene.run(&RECORD).ok();
        scene.outcome().assert_is(&wanted, lost, &format!("exchange-recorded:{pass}"));
    }
}

#[test]
fn a_replay_that_was_killed_goes_on() {
    for (point, pass) in [("round-drafted", 4), ("taken-back", 1), ("stretch-done", 5)] {
        let mut scene = scene(Who::Chat);
        scene.run(&RECORD).ok();
        let wanted = scene.outcome();
        scene.world.set("SOURCE_DATE_EPOCH", NOW);
        assert!(scene.dies_with(point, pass, &REPLAY));
        replays(&mut scene, &wanted);
    }
}

#[test]
fn a_call_that_the_recording_does_not_hold_is_refused() {
    let scene = scene(Who::Patch);
    scene.run(&RECORD).ok();
    let tape = scene.world.read("tape.jsonl");
    let dates = |line: &&str| line.contains("\"date\"");
    let (dates, calls): (Vec<&str>, Vec<&str>) = tape.lines().partition(dates);
    scene.world.write(
        "tape.jsonl",
        dates.into_iter().chain(calls[..9].iter().copied()).map(|line| format!("{line}\n")).collect::<String>(),
    );
    let asked = scene.server.seen().len();
    let said = scene.run(&REPLAY).fails(1);
    assert!(said.contains("holds no answer") && said.contains("replay with the configuration"), "{said}");
    assert_eq!(scene.server.seen().len(), asked);
}
