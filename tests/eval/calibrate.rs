use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::scene::{eval, knows, place, result, scene, target};
use crate::server::{Server, Step, answer, status};
use crate::support::{Run, World};

/// A model that is never right about the south door, and about east and west every other time.
fn noisy() -> Server {
    let asked: Mutex<HashMap<String, usize>> = Mutex::default();
    Server::by(move |seen, _| {
        let place = place(seen);
        let mut asked = asked.lock().unwrap();
        let count = asked.entry(place.clone()).or_default();
        *count += 1;
        let is_wrong = match place.as_str() {
            "south" => true,
            "east" => !count.is_multiple_of(2),
            "west" => count.is_multiple_of(2),
            _ => false,
        };
        Some(if is_wrong { answer("I do not know.") } else { knows(seen) })
    })
}

fn calibrate(world: &World, server: &Server, more: &[&str]) -> Run {
    let target = target(server);
    let mut args = vec!["calibrate", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", &target, "--retries", "0"];
    args.extend(["--sandbox", "off", "--out", "out"]);
    args.extend(more);
    world.skilltrain(&args)
}

#[test]
fn noise_and_what_a_gate_could_see_are_told_and_nothing_is_asked_twice() {
    let (world, server) = (scene(6), noisy());
    let text = calibrate(&world, &server, &[]).ok();
    let shown = text.lines().skip(2).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(shown.split(" · ").next().unwrap(), @r"
    tasks         6 of 6, 4 attempts at each
    score         0.6667 hard
    noise         0.1361 of the score, 0.3333 of one task
    can be seen   a gain of 0.4785 or more, of 0.2393 with 4 attempts at each task
    a null edit   is taken by a strict gate 33 times of 100
    sequential    10 tasks fixed and none broken pass, in a run of 20 steps
    always right  3: north roof cellar
    always wrong  1: south
    calls         24 calls
    ");
    assert_eq!(server.seen().len(), 24);
    let value: Value = result(calibrate(&world, &server, &["--json", "--workers", "1"]));
    assert_eq!(server.seen().len(), 24, "every attempt was kept");
    assert_eq!(value["calibration"]["always_wrong"], json!(["south"]));
    assert_eq!((&value["repeats"], &value["metric"]), (&json!(4), &json!("hard")));
    // More attempts are added to those that are there, and `eval` uses them too.
    calibrate(&world, &server, &["--repeats", "5"]).ok();
    assert_eq!(server.seen().len(), 30);
    let value = result(eval(&world, &server, &["--repeats", "4", "--json"]));
    assert_eq!((&value["hard"], &value["repeats"], server.seen().len()), (&json!(4.0 / 6.0), &json!(4), 30));
    let text = eval(&world, &server, &["--repeats", "2"]).ok();
    assert!(text.contains("6 of 6 measured, 2 attempts at each"), "{text}");
}

#[test]
fn a_pool_that_never_moves_has_no_noise() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(knows(seen))));
    let text = calibrate(&world, &server, &["--repeats", "2"]).ok();
    assert!(text.contains("any gain: no score moved") && text.contains("strict gate 0 times of 100"), "{text}");
}

#[test]
fn with_too_few_scores_there_are_no_figures() {
    let world = scene(6);
    let server = Server::by(|seen, number| {
        let is_down = number >= 6 && ["south", "east", "west"].contains(&place(seen).as_str());
        Some(if is_down { status(503, "down") } else { knows(seen) })
    });
    let two = ["--repeats", "2", "--workers", "1", "--json"];
    let said = calibrate(&world, &server, &two).fails(3);
    assert!(said.contains("3 of 6 tasks have two scores") && said.contains("503"), "{said}");
    let value = result(calibrate(&world, &server, &[&two[..], &["--min-coverage", "0.5"]].concat()));
    assert_eq!(value["calibration"]["tasks"], 3);
    assert_eq!(value["calibration"]["too_few"], json!(["south", "east", "west"]));
    let silent = Server::by(|_, _| Some(Step::Silent));
    let said = calibrate(&world, &silent, &["--repeats", "1"]).fails(2);
    assert!(said.contains("--repeats"), "{said}");
    let said = calibrate(&world, &silent, &["--alpha", "1"]).fails(2);
    assert!(said.contains("--alpha 1 is not a chance"), "{said}");
}
