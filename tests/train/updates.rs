//! What a step learns from, and how evidence becomes an edit.

use serde_json::{Value, json};

use crate::scene::{Asked, FACTS, Scene, YARD, create, edit, reads, text};
use crate::server::{Seen, Step, answer, completion, json_reply};

const YARD_CARD: &str = "01_craft_elements/yard.md";

/// A run whose first pool states two facts wrongly and one rightly.
fn stale(mode: &str) -> Scene {
    let mut facts = FACTS;
    (facts[0][3], facts[1][3]) = ("10 crowns", "7 tons");
    let scene = Scene::new().with_cards(&facts[..3]);
    scene.with("optimizer.strategy", "patch").with("optimizer.update_mode", mode)
}

fn ops(scene: &Scene) -> Vec<String> {
    let applied = scene.json("epoch_00/step_00/patch/applied.json");
    let made = applied["made"].as_array().unwrap();
    made.iter().map(|edit| edit["op"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn each_update_mode_mends_the_pool_in_its_own_way() {
    for (mode, op) in [("patch", "replace"), ("full_rewrite", "rewrite"), ("rewrite_from_suggestions", "rewrite")] {
        let scene = stale(mode).with("optimizer.learning_rate", 8);
        let summary = scene.result();
        assert_eq!(scene.step(0, 0)["outcome"], "accepted", "{mode}");
        assert!(ops(&scene).iter().any(|one| one == op), "{mode}: {:?}", ops(&scene));
        let cards = scene.cards("HEAD");
        assert!(cards.contains("east pontoon is 12 crowns") && !cards.contains("10 crowns"), "{mode}: {cards}");
        assert_eq!(summary["selection"][1]["means"]["hard"], json!(1.0), "{mode}: {cards}");
        let asked = |name: &str| scene.world.path(format!("run/epoch_00/step_00/patch/{name}.json")).exists();
        assert!(asked("failures-00"), "{mode}");
        assert_eq!(asked("rewrite"), mode == "rewrite_from_suggestions", "{mode}");
    }
}

#[test]
fn edits_beyond_the_rate_are_left_and_told() {
    let scene = Scene::with_optimizer(|asked, _, number| match asked {
        Asked::Failures if number == 0 => {
            json!({"edits": [create(YARD_CARD, "The crane limit of the old slipway is 9 tons.")]})
        }
        Asked::Failures => {
            json!({"edits": [create("01_craft_elements/lock.md", "The radio channel of the lock keeper is 74.")]})
        }
        Asked::Merge => {
            json!({"edits": [create("01_craft_elements/lock.md", "The radio channel of the lock keeper is 74."),
            create(YARD_CARD, "The crane limit of the old slipway is 9 tons.")]})
        }
        Asked::Rank => json!({"order": [1, 0]}),
        _ => json!({}),
    });
    let scene = scene.with("optimizer.learning_rate", 1).with("optimizer.lr_scheduler", "constant");
    let scene = scene.with("gradient.minibatch_size", 6).with("optimizer.use_meta_skill", false);
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["cards"]["created"], &step["outcome"]), (&json!(1), &json!("accepted")));
    assert!(step["skipped"].to_string().contains("beyond the learning rate"), "{step:#}");
    let cards = scene.cards("HEAD");
    assert!(cards.contains("9 tons") && !cards.contains("74"), "{cards}");
    let count = |asked| scene.prompts(asked).len();
    assert_eq!([count(Asked::Failures), count(Asked::Merge), count(Asked::Rank)], [2, 1, 1]);
}

#[test]
fn an_optimizer_chooses_how_many_where_the_rate_is_its_own() {
    let scene = stale("patch").with("optimizer.lr_scheduler", "autonomous");
    scene.result();
    assert_eq!(scene.step(0, 0)["learning_rate"], Value::Null);
    assert!(ops(&scene).len() > 1, "{:?}", ops(&scene));
}

#[test]
fn a_program_that_returns_no_edits_is_refused_before_anything_is_paid() {
    let scene = Scene::new().with_agent(YARD).with("optimizer.strategy", "patch");
    let said = scene.train(&[]).fails(2);
    assert!(said.contains("returns no edits") && said.contains("optimizer.strategy"), "{said}");
    assert_eq!(scene.asked(), 0);
}

#[test]
fn batches_are_accumulated_for_one_step() {
    let scene = Scene::new().with("train.batch_size", 2).with("train.accumulation", 2);
    let summary = scene.result();
    assert_eq!((&summary["steps"], &scene.step(0, 0)["batch"]["tasks"]), (&json!(3), &json!(4)));
    let events = scene.world.read("run/events.jsonl");
    let rollouts = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_two = rollouts
        .filter(|event| event["event"] == "rollouts_started" && event["what"] == "rollout" && event["total"] == 2);
    assert_eq!(of_two.count(), 6);
    let works: Vec<usize> = (0..3)
        .map(|step| scene.json(&format!("epoch_00/step_{step:02}/batch.json")).as_array().unwrap().len())
        .collect();
    assert_eq!(works, [4; 3]);
}

#[test]
fn an_epoch_goes_through_every_task_once_in_an_order_of_its_own() {
    let scene = Scene::new().with("train.batch_size", 5).with("train.num_epochs", 2).with("train.freeze", true);
    // Rollouts are not used again, so that each step's own calls tell its tasks.
    let scene = scene.with("train.workers", 1);
    scene.train(&["--fresh"]).ok();
    let orders: Vec<Vec<String>> =
        (0..2).map(|epoch| (0..3).flat_map(|step| tasks(&scene, epoch, step)).collect()).collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!((order.len(), sorted.len()), (12, 12));
    }
    assert_ne!(orders[0], orders[1]);
}

#[test]
fn only_failures_teach_where_that_is_wanted() {
    for (only, works) in [(false, 12), (true, 6)] {
        let scene = Scene::new().with_cards(&FACTS[..3]).with("gradient.failure_only", only);
        scene.result();
        let batch = scene.json("epoch_00/step_00/batch.json");
        assert_eq!(batch.as_array().unwrap().len(), works, "{only}");
        // Failures come first.
        let failed = |place: usize| {
            scene
                .world
                .read(format!("run/epoch_00/step_00/{}", batch[place]["loss_report"].as_str().unwrap()))
                .contains("Right: 0 of 1")
        };
        assert!((0..6).all(failed), "{only}");
        assert!((6..works).all(|place| !failed(place)), "{only}");
    }
}

#[test]
fn minibatches_are_micro_steps_each_with_its_commit() {
    let scene = Scene::new().with_agent("card 01_craft_elements/c$CALL.md \"$(sed -n ${CALL}p $ROOT/facts)\"; commit");
    scene.world.write(
        "facts",
        FACTS.map(|[_, what, thing, value]| format!("The {what} of the {thing} is {value}.\n")).concat(),
    );
    let scene = scene.with("gradient.minibatch_size", 5);
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], &step["cards"]["created"], scene.world.calls()), (&json!("accepted"), &json!(3), 3));
    let subjects = scene.git(&["log", "--reverse", "--format=%s"]);
    let wanted = [1, 2, 3].map(|group| format!("train run-epoch_00-step_00-g{group:02}"));
    assert_eq!(subjects.lines().skip(1).collect::<Vec<_>>(), wanted);
    assert!(scene.world.path("run/epoch_00/step_00/backward/g03/commit.txt").exists());
    // With typed edits each minibatch is an analysis of its own, and all become one candidate.
    let scene = stale("patch").with("gradient.minibatch_size", 4);
    scene.result();
    for name in ["failures-00", "failures-01", "failures-02", "successes-00"] {
        assert!(scene.world.path(format!("run/epoch_00/step_00/patch/{name}.json")).exists(), "{name}");
    }
    assert_eq!(scene.git(&["rev-list", "--count", "HEAD"]), "2");
}

/// The tasks of a step, in the order in which they were attempted.
fn tasks(scene: &Scene, epoch: usize, step: usize) -> Vec<String> {
    let calls = scene.world.read(format!("run/epoch_{epoch:02}/step_{step:02}/calls.jsonl"));
    calls
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["place"].as_str().map(str::to_owned))
        .collect()
}

/// A target that opens the card of the yard, where there is one, before it answers.
fn opens(seen: &Seen) -> Step {
    let messages = seen.body["messages"].as_array().unwrap();
    let listed = text(seen, "system").contains(YARD_CARD);
    if !listed || messages.iter().any(|message| message["role"] == "tool") {
        let said = seen.body["messages"].to_string().to_lowercase();
        return crate::scene::answers(&said, &text(seen, "user"));
    }
    let call = json!({"id": "c1", "type": "function",
        "function": {"name": "read_card", "arguments": json!({"path": YARD_CARD}).to_string()}});
    json_reply(&completion(json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls"))
}

#[test]
fn an_edit_of_a_card_that_no_task_opened_costs_no_rollout() {
    let script = "if [ $CALL = 1 ]; then card 01_craft_elements/cats.md 'Cats are fed at noon.'
        else sed -i 's/^- .*/- Cats are fed at night./' 01_craft_elements/cats.md; fi; commit";
    let scene = Scene::by(|seen, _| Some(opens(seen))).with_cards(&FACTS[..2]).with_agent(script);
    let scene = scene.with("target.mode", "routed").with("evaluation.use_gate", false).with("train.batch_size", 6);
    let summary = scene.result();
    assert_eq!(summary["selection"][0]["means"]["hard"], json!(2.0 / 6.0));
    let (header, rule) = (scene.step(0, 0), scene.step(0, 1));
    assert_eq!((&header["cards"]["created"], &rule["cards"]["changed"]), (&json!(1), &json!(1)));
    assert_eq!((&header["gate_new"], &rule["gate_new"]), (&json!(6), &json!(0)));
    assert_eq!(rule["gate_saved"], json!(12));
}

#[test]
fn an_optimizer_that_is_not_there_is_told_before_anything_is_paid() {
    let mut scene = Scene::new().with("optimizer.name", "command:no-such-program");
    let error = scene.train(&[]).fails(3);
    assert!(error.contains("not on PATH: no-such-program"), "{error}");
    assert_eq!(scene.asked(), 0);
    // A control needs none.
    scene.set("train.freeze", true);
    assert_eq!(scene.result()["unchanged"], json!(1));
}

#[test]
fn a_micro_step_that_fails_leaves_those_before_it_to_be_judged() {
    let script = format!(
        "{YARD} [ $CALL = 2 ] && exit 3
        yard 'The mooring fee of the east pontoon is 12 crowns.'"
    );
    let scene = Scene::new().with_agent(&script).with("gradient.minibatch_size", 6);
    scene.result();
    let step = scene.step(0, 0);
    assert_eq!((&step["outcome"], scene.world.calls()), (&json!("accepted"), 2));
    assert!(step["skipped"].to_string().contains("g02: no attempt passed"), "{step:#}");
    assert_eq!(scene.git(&["log", "-1", "--format=%s"]), "train run-epoch_00-step_00-g01");
}

#[test]
fn typed_edits_that_delete_too_much_go_back_once_and_are_refused_then() {
    let path = |name: &str| format!("01_craft_elements/{name}.md");
    for mended in [false, true] {
        let scene = Scene::with_optimizer(move |asked, _, _| match asked {
            Asked::Failures => {
                json!({"edits": [edit("remove", &path("one"), "", ""), edit("remove", &path("two"), "", "")]})
            }
            Asked::Repair if mended => {
                json!({"edits": [create(YARD_CARD, "The radio channel of the lock keeper is 74.")]})
            }
            _ => json!({"edits": []}),
        });
        for name in ["one", "two"] {
            let text =
                format!("---\ndescription: Use when {name} is asked. Not for two.\n---\n\n## Rules\n- Say {name}.\n");
            scene.world.write(format!("cards/{}", path(name)), text);
        }
        let cards = scene.world.path("cards").display().to_string();
        let scene = scene.with("train.init_pool", cards).with("optimizer.max_deletions", 1);
        scene.with("optimizer.use_meta_skill", false).check(|step| {
            let outcome = if mended { "accepted" } else { "failed" };
            assert_eq!((&step["outcome"], &step["cards"]["deleted"]), (&json!(outcome), &json!(0)), "{step:#}");
            assert_eq!(step["reason"].as_str().unwrap().contains("2 cards are taken away"), !mended, "{step:#}");
        });
    }
}

#[test]
fn replies_that_hold_no_edits_change_nothing() {
    let scene = Scene::by(|seen, _| {
        Some(if seen.body["model"] == "opt" { answer("Let us all be nice.") } else { reads(seen) })
    });
    let name = format!("openai:opt@{}", scene.server.url());
    scene.with("optimizer.name", name).with("optimizer.strategy", "patch").check(|step| {
        assert_eq!((&step["outcome"], &step["candidate"]), (&json!("failed"), &Value::Null));
        assert!(step["reason"].as_str().unwrap().contains("no JSON object"), "{step:#}");
    });
}
