use serde_json::json;

use crate::scene::{CODES, card, commit, eval, knows, opens, result, scene};
use crate::server::Server;

#[test]
fn a_second_run_makes_no_call() {
    let (world, server) = (scene(4), Server::by(|seen, _| Some(knows(seen))));
    let first = result(eval(&world, &server, &["--json"]));
    let second = result(eval(&world, &server, &["--json"]));
    assert_eq!(server.seen().len(), 6);
    assert_eq!((&second["reused"], &second["usage"]["calls"]), (&json!(6), &json!(0)));
    assert_eq!(
        (&first["hard"], first["results"][3]["rollout"].clone()),
        (&second["hard"], second["results"][3]["rollout"].clone())
    );
    result(eval(&world, &server, &["--json", "--fresh"]));
    assert_eq!(server.seen().len(), 12);
}

#[test]
fn another_evaluator_scores_the_same_answers() {
    let (world, server) = (scene(4), Server::by(|seen, _| Some(knows(seen))));
    result(eval(&world, &server, &["--json"]));
    let value = result(eval(&world, &server, &["--json", "--evaluator", "regex"]));
    assert_eq!((&value["reused"], server.seen().len()), (&json!(6), 6));
}

#[test]
fn a_card_that_no_task_read_can_be_edited_for_nothing() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(opens(seen))));
    card(&world, "garage", "1");
    commit(&world, "a card that nobody asks for");
    let first = result(eval(&world, &server, &["--json", "--mode", "routed"]));
    assert_eq!((&first["hard"], server.seen().len()), (&json!(1.0), 12));
    card(&world, "garage", "2");
    commit(&world, "its rule");
    let second = result(eval(&world, &server, &["--json", "--mode", "routed"]));
    assert_eq!((&second["reused"], server.seen().len()), (&json!(6), 12));
    // A card that one task read: that task alone is attempted again.
    card(&world, "roof", "9999");
    commit(&world, "a wrong rule");
    let third = result(eval(&world, &server, &["--json", "--mode", "routed"]));
    assert_eq!((&third["reused"], &third["hard"], server.seen().len()), (&json!(5), &json!(5.0 / 6.0), 14));
    // Back to the former content: what was attempted then holds again.
    card(&world, "roof", "4715");
    commit(&world, "the right rule");
    let fourth = result(eval(&world, &server, &["--json", "--mode", "routed"]));
    assert_eq!((&fourth["reused"], &fourth["hard"], server.seen().len()), (&json!(6), &json!(1.0), 14));
    // Another header changes what everybody sees.
    let header = world.read("pool/01_craft_elements/garage.md").replace("Not for letters", "Not for bills");
    world.write("pool/01_craft_elements/garage.md", header);
    commit(&world, "a header");
    assert_eq!(result(eval(&world, &server, &["--json", "--mode", "routed"]))["reused"], json!(0));
}

#[test]
fn each_attempt_leaves_its_files() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(opens(seen))));
    let value = result(eval(&world, &server, &["--json", "--mode", "routed"]));
    let digest = value["results"][0]["rollout"].as_str().unwrap();
    let file = |name: &str| world.read(format!("out/rollouts/{}/{digest}/{name}", &digest[..2]));
    assert_eq!(file("output.txt"), "4711");
    assert_eq!(file("reads.txt"), "01_craft_elements/north.md\n");
    assert!(file("trajectory.md").contains("## Read `01_craft_elements/north.md`"));
    let entry: serde_json::Value = serde_json::from_str(&file("result.json")).unwrap();
    assert!(entry["reads"]["01_craft_elements/north.md"].is_string() && entry["facts"]["task"] == "north", "{entry}");
    assert!(!world.path("out/calls.jsonl").exists() && !world.path("out/desk").exists());
}

#[test]
fn a_recording_gives_the_same_numbers_offline_and_refuses_another_call() {
    let (world, server) = (scene(4), Server::by(|seen, _| Some(opens(seen))));
    let more = ["--json", "--mode", "routed"];
    let first = result(eval(&world, &server, &[&more[..], &["--record", "calls.rec"]].concat()));
    let asked = server.seen().len();
    let replay = [&more[..], &["--replay", "calls.rec"]].concat();
    let target = format!("openai:m@{}", server.url());
    let args = |out: &'static str| {
        let mut args = vec!["eval", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", &target, "--out", out];
        args.extend(&replay);
        args
    };
    let again = result(world.skilltrain(&args("other")));
    assert_eq!(server.seen().len(), asked);
    assert_eq!(first, again);
    card(&world, "north", "1234");
    commit(&world, "another rule");
    let said = world.skilltrain(&args("third")).fails(1);
    assert!(said.contains("holds no answer to the call") && said.contains("rollout/north"), "{said}");
    assert_eq!(server.seen().len(), asked);
}

#[test]
fn a_budget_ends_a_run_that_goes_on_with_a_larger_one() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(knows(seen))));
    let said = eval(&world, &server, &["--max-calls", "4", "--workers", "2"]).fails(1);
    assert!(said.contains("max_calls = 4"), "{said}");
    assert_eq!(server.seen().len(), 4);
    let value = result(eval(&world, &server, &["--json", "--max-calls", "2"]));
    assert_eq!((&value["reused"], &value["hard"], server.seen().len()), (&json!(4), &json!(1.0), CODES.len()));
    let said = eval(&world, &server, &["--max-usd", "1", "--fresh"]).fails(1);
    assert!(said.contains("price is unknown"), "{said}");
    let text = eval(&world, &server, &["--max-usd", "1", "--fresh", "--price", "1:1"]).ok();
    assert!(text.contains("$0.0001"), "{text}");
}

#[test]
fn inline_an_edit_concerns_every_task_and_a_revert_none() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(knows(seen))));
    result(eval(&world, &server, &["--json"]));
    card(&world, "roof", "9999");
    commit(&world, "a wrong rule");
    let value = result(eval(&world, &server, &["--json"]));
    assert_eq!((&value["reused"], server.seen().len()), (&json!(0), 12));
    world.git("pool", &["revert", "--no-edit", "HEAD"]);
    let value = result(eval(&world, &server, &["--json"]));
    assert_eq!((&value["reused"], &value["hard"], server.seen().len()), (&json!(6), &json!(1.0), 12));
}
