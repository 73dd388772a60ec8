use serde_json::json;

use crate::scene::{card, commit, eval, knows, opens, result, scene};
use crate::server::{Server, answer, completion, json_reply};

#[test]
fn a_pool_is_scored_and_what_failed_is_told() {
    let (world, server) = (scene(4), Server::by(|seen, _| Some(knows(seen))));
    let text = eval(&world, &server, &[]).ok();
    assert!(text.contains("hard      0.6667") && text.contains("tasks     6 of 6 measured"), "{text}");
    assert!(text.contains("6 new, 0 used again") && text.contains("6 calls · 72 tokens · price unknown"), "{text}");
    assert!(text.contains("roof    0.00  0.00  The right answer is 4715."), "{text}");
    assert_eq!(text.matches("The right answer").count(), 2, "{text}");
}

#[test]
fn any_commit_can_be_scored() {
    let (world, server) = (scene(2), Server::by(|seen, _| Some(knows(seen))));
    card(&world, "west", "4714");
    commit(&world, "one more");
    let of = |more: &[&str]| result(eval(&world, &server, more))["hard"].clone();
    assert_eq!(of(&["--json"]), json!(0.5));
    assert_eq!(of(&["--json", "--rev", "HEAD~1"]), json!(2.0 / 6.0));
    assert_eq!(of(&["--json", "--rev", "HEAD~2"]), json!(0.0));
    assert!(eval(&world, &server, &["--rev", "nope"]).fails(2).contains("no commit `nope`"));
    world.assert_clean();
}

#[test]
fn any_number_of_workers_gives_the_same_output() {
    let world = scene(4);
    let outputs = ["1", "4", "16"].map(|workers| {
        let server = Server::by(|seen, _| Some(opens(seen)));
        let out = format!("out{workers}");
        let target = format!("openai:m@{}", server.url());
        let run = world.skilltrain(&[
            "eval",
            "--tasks",
            "tasks.jsonl",
            "--pool",
            "pool",
            "--target",
            &target,
            "--mode",
            "routed",
            "--out",
            &out,
            "--workers",
            workers,
            "--json",
        ]);
        let mut value = result(run);
        assert!(value["target"].take().is_string());
        value
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(outputs[0], outputs[2]);
    assert_eq!(outputs[0]["usage"]["calls"], 12);
}

#[test]
fn never_more_calls_than_workers_at_a_time() {
    let world = scene(6);
    let server = Server::by(|seen, _| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        Some(knows(seen))
    });
    result(eval(&world, &server, &["--workers", "4", "--json"]));
    assert!(server.most_at_once() <= 4, "{}", server.most_at_once());
}

#[test]
fn the_models_own_failures_are_scored_and_teach() {
    let world = scene(6);
    let server = Server::by(|seen, _| {
        let cut = json_reply(&completion(json!({"role": "assistant", "content": "The code is 47"}), "length"));
        Some(if crate::scene::place(seen) == "roof" { cut } else { knows(seen) })
    });
    let text = eval(&world, &server, &["--mode", "inline"]).ok();
    assert!(text.contains("6 of 6 measured") && text.contains("hard      0.8333"), "{text}");
    let said = "The answer was cut off at its limit of tokens. Answer shorter. The right answer is 4715.";
    assert!(text.contains(&format!("roof    0.00  0.00  {said}")), "{text}");
}

#[test]
fn a_model_that_only_opens_cards_comes_to_an_end() {
    let world = scene(6);
    let server = Server::by(|seen, _| {
        let mut again = seen.clone();
        let messages = again.body["messages"].as_array_mut().unwrap();
        messages.retain(|message| message["role"] != "tool");
        Some(opens(&again))
    });
    let run = eval(&world, &server, &["--mode", "routed", "--max-turns", "3", "--json"]);
    let value = result(run);
    assert_eq!((&value["hard"], &value["usage"]["calls"]), (&json!(0.0), &json!(18)));
    assert!(value["results"][0]["feedback"][0].as_str().unwrap().contains("no answer after 3 turns"));
}

#[test]
fn wrong_input_is_refused_before_any_call() {
    let (mut world, server) = (scene(1), Server::by(|_, _| Some(answer("never"))));
    world.set("COLUMNS", "100");
    world.write("tasks.jsonl", "{\"id\": \"a\", \"input\": \"b\", \"reference\": \"c\"}\n{\"id\": \"d\"}\n");
    assert!(eval(&world, &server, &[]).fails(2).contains("tasks.jsonl:2: key `input` is missing"));
    world.write("tasks.jsonl", "{\"id\": \"a\", \"input\": \"b\"}\n");
    assert!(eval(&world, &server, &[]).fails(2).contains("tasks.jsonl:1: task `a`: key `reference` is missing"));
    world.write("tasks.jsonl", "{\"id\": \"a\", \"input\": \"b\", \"reference\": \"c\"}\n");
    assert!(eval(&world, &server, &["--evaluator", "exakt"]).fails(2).contains("did you mean `exact`?"));
    let target = crate::scene::target(&server);
    let inside = ["eval", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", &target, "--out", "pool/x"];
    assert!(world.skilltrain(&inside).fails(2).contains("lies in the pool"));
    for target in ["gpt", "openai:m@nowhere:80", "command:"] {
        let args = ["eval", "--tasks", "tasks.jsonl", "--pool", "pool", "--target", target];
        world.skilltrain(&args).fails(2);
    }
    assert!(server.seen().is_empty());
    world.assert_clean();
}

#[test]
fn a_split_of_a_folder_is_scored() {
    let (world, server) = (scene(6), Server::by(|seen, _| Some(knows(seen))));
    let tasks = world.read("tasks.jsonl");
    let lines: Vec<&str> = tasks.lines().collect();
    world.write("tasks/train.jsonl", lines[..3].join("\n"));
    world.write("tasks/selection.jsonl", lines[3..].join("\n"));
    let target = format!("openai:m@{}", server.url());
    let of = |split: &'static str| {
        let args = ["eval", "--split-dir", "tasks", "--split", split, "--pool", "pool", "--target", &target, "--json"];
        world.skilltrain(&args)
    };
    let value = result(of("selection"));
    assert_eq!((&value["tasks"], &value["hard"], &value["split"]), (&json!(3), &json!(1.0), &json!("selection")));
    assert!(world.path("eval/rollouts").is_dir(), "beside the pool");
    assert!(of("test").fails(2).contains("there is no task in tasks/test.jsonl"));
    world.write("tasks/test.jsonl", lines[0]);
    assert!(of("selection").fails(2).contains("task `north` is in two splits"));
}

#[test]
fn what_a_model_calls_wrongly_is_told_to_it() {
    let world = scene(6);
    let server = Server::by(|seen, _| {
        let messages = seen.body["messages"].as_array().unwrap();
        let told: Vec<&str> = messages.iter().filter(|message| message["role"] == "tool").map(text).collect();
        let call = |name: &str, input: &str| {
            let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": input}});
            json_reply(&completion(json!({"role": "assistant", "content": "", "tool_calls": [call]}), "tool_calls"))
        };
        Some(match told.last() {
            None => call("shell", "{\"cmd\": \"ls\"}"),
            Some(said) if said.contains("There is no tool `shell`") => call("read_card", "{\"path\": \"a\\nb\"}"),
            Some(said) if said.contains("cannot be used") => call("read_card", "{\"path\": \"../etc/passwd\"}"),
            Some(said) if said.contains("There is no card `../etc/passwd`") => answer("4711"),
            Some(said) => answer(said),
        })
    });
    let value = result(eval(&world, &server, &["--mode", "routed", "--json"]));
    assert_eq!(value["hard"], json!(1.0 / 6.0), "{value}");
    let digest = value["results"][0]["rollout"].as_str().unwrap();
    assert_eq!(world.read(format!("out/rollouts/{}/{digest}/reads.txt", &digest[..2])), "../etc/passwd\n");
}

fn text(message: &serde_json::Value) -> &str {
    message["content"].as_str().unwrap()
}
