//! A run whose budget is used up half-way fails, and with a larger one it ends as if there had been none.

use serde_json::json;

use crate::scene::{Scene, Who, said};
use crate::server::{Seen, Step, completion, json_reply};

/// Tokens that the model states for each call: 500 sent, 100 received.
fn counted(seen: &Seen) -> Step {
    let Step::Reply { body, .. } = said(seen) else { panic!("a reply is wanted") };
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    let mut reply = completion(body["choices"][0]["message"].clone(), "stop");
    reply["usage"] = json!({"prompt_tokens": 500, "completion_tokens": 100});
    json_reply(&reply)
}

const PRICES: &str = "[prices.m]\ninput = 1000\noutput = 1000\n[prices.editor]\ninput = 1000\noutput = 1000\n";

fn scene(who: Who) -> Scene {
    Scene::with(who, PRICES, |seen, _| counted(seen))
}

/// Lets a run die of two budgets, each of so many calls' worth at most, then end.
fn starved(who: Who, limits: [(&str, usize); 2]) {
    let straight = scene(who);
    straight.run(&[]).ok();
    let wanted = straight.outcome();
    let scene = scene(who);
    for (limit, most) in limits {
        let said = scene.run(&["--set", limit]).fails(1);
        assert!(said.contains("the budget is used up"), "{limit}: {said}");
        let asked = scene.server.seen().len();
        assert!(asked > 4 && asked <= most, "{limit}: {asked} calls");
    }
    scene.run(&[]).ok();
    scene.outcome().assert_is(&wanted, 0, limits[0].0);
}

#[test]
fn calls() {
    starved(Who::Backward, [("budget.max_calls=12", 12), ("budget.max_calls=17", 17)]);
    starved(Who::Chat, [("budget.max_calls=11", 11), ("budget.max_calls=17", 17)]);
}

#[test]
fn tokens() {
    starved(Who::Backward, [("budget.max_tokens=9000", 15), ("budget.max_tokens=13000", 21)]);
}

#[test]
fn money() {
    starved(Who::Patch, [("budget.max_usd=9", 15), ("budget.max_usd=13", 21)]);
}

/// The time of earlier processes counts: an hour is all but gone when this one begins, and each answer takes its time.
#[test]
fn minutes() {
    let straight = Scene::new(Who::Patch);
    straight.run(&[]).ok();
    let wanted = straight.outcome();
    let scene = Scene::with(Who::Patch, "", |seen, _| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        said(seen)
    });
    scene.world.write("run/events.jsonl", "{\"seconds\":3500.0,\"event\":\"note\",\"text\":\"x\"}\n");
    assert!(scene.dies("stretch-done", 2));
    let events = scene.world.read("run/events.jsonl");
    scene.world.write("run/events.jsonl", events + "{\"seconds\":99.8,\"event\":\"note\",\"text\":\"x\"}\n");
    let said = scene.run(&["--set", "budget.max_minutes=60"]);
    assert!(matches!(said.code, Some(1 | 2)) && said.err.contains("max_minutes"), "{said:?}");
    // When the time is up, calls under way are cut off: one for each worker at most.
    let lost = scene.lost();
    assert!(lost <= 4, "{lost}");
    scene.run(&["--set", "budget.max_minutes=600"]).ok();
    scene.outcome().assert_is(&wanted, lost, "minutes");
}
