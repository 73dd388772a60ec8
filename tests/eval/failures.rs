use std::time::{Duration, Instant};

use serde_json::json;

use crate::scene::{eval, knows, place, result, scene};
use crate::server::{Server, Step, status};

#[test]
fn a_provider_that_fails_everything_ends_the_run_and_nothing_is_scored() {
    let (world, server) = (scene(6), Server::by(|_, _| Some(status(503, "down"))));
    let said = eval(&world, &server, &["--workers", "2"]).fails(3);
    assert!(said.contains("the first 4 attempts all failed") && said.contains("503"), "{said}");
    assert!(server.seen().len() < 6, "{}", server.seen().len());
    let kept = walkdir::WalkDir::new(world.path("out/rollouts")).into_iter().flatten();
    assert_eq!(kept.filter(|entry| entry.file_name() == "result.json").count(), 0);
    // With few tasks as well.
    let line = world.read("tasks.jsonl").lines().next().unwrap().to_owned();
    world.write("tasks.jsonl", line);
    let said = eval(&world, &server, &[]).fails(3);
    assert!(said.contains("0 of 1 tasks have a score"), "{said}");
}

#[test]
fn what_is_lost_stays_missing_and_is_told_apart() {
    let world = scene(6);
    let server = Server::by(|seen, number| {
        Some(if place(seen) == "roof" && number < 6 { status(500, "oops") } else { knows(seen) })
    });
    let said = eval(&world, &server, &["--workers", "1"]).fails(3);
    assert!(said.contains("5 of 6 tasks have a score") && said.contains("1 without an answer (`roof`"), "{said}");
    let value = result(eval(&world, &server, &["--workers", "1", "--json"]));
    assert_eq!((&value["reused"], &value["hard"], server.seen().len()), (&json!(5), &json!(1.0), 7));
}

#[test]
fn with_less_coverage_asked_for_the_mean_is_of_what_was_measured() {
    let world = scene(3);
    let server = Server::by(|seen, _| Some(if place(seen) == "roof" { status(500, "oops") } else { knows(seen) }));
    let run = eval(&world, &server, &["--min-coverage", "0.8", "--workers", "1"]);
    let text = run.ok();
    assert!(text.contains("5 of 6 measured") && text.contains("hard      0.6000"), "{text}");
    assert!(text.contains("No answer (the provider failed):\n  roof  "), "{text}");
}

#[test]
fn a_task_that_hangs_is_cut_at_its_deadline_and_the_others_are_kept() {
    let world = scene(6);
    let server = Server::by(|seen, _| Some(if place(seen) == "east" { Step::Silent } else { knows(seen) }));
    let began = Instant::now();
    let run = eval(&world, &server, &["--timeout", "1", "--min-coverage", "0.8", "--json"]);
    let value = result(run);
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!((&value["measured"], &value["lost"], &value["hard"]), (&json!(5), &json!(1), &json!(1.0)));
    assert!(value["results"][2]["lost"].is_string(), "{value}");
}

#[test]
fn an_evaluators_nonsense_is_its_own_failure_never_a_score() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(knows(seen))));
    for (number, said) in [("NaN", "not valid"), ("7.0", "`hard` is 7, not a number from 0 to 1")] {
        let script = format!("cat > /dev/null\necho '{{\"hard\": {number}, \"soft\": 1}}'\n");
        world.write("score.sh", script);
        let error = eval(&world, &server, &["--evaluator", "command:sh ./score.sh"]).fails(1);
        assert!(error.contains("6 that the evaluator could not score"), "{error}");
        assert!(error.contains("the evaluator command:sh ./score.sh gave task `north` no score"), "{error}");
        assert!(error.contains(said), "{error}");
    }
    assert_eq!(server.seen().len(), 6, "the answers were kept");
    world.write("score.sh", "cat > /dev/null\necho '{\"hard\": 0.5, \"soft\": 1}'\n");
    let value = result(eval(&world, &server, &["--evaluator", "command:sh ./score.sh", "--json"]));
    assert_eq!((&value["hard"], &value["soft"], server.seen().len()), (&json!(0.5), &json!(1.0), 6));
}
