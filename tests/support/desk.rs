//! A training of six short steps, and the model that is asked in it: it does what the rules in its prompt say, so that
//! good rules raise its score and a bad one ruins it.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

use serde_json::{Value, json};

use crate::support::World;

/// What a reply wants, as its check finds it, and the advice that a check gives where it is missing.
const WANTS: [(&str, &str); 4] = [
    ("Depot North", "Sign every reply with the name Depot North."),
    ("Good morning", "Open every reply with the greeting Good morning."),
    ("Ada", "Name the clerk Ada in every reply."),
    ("so sorry", "Close every reply with a long apology."),
];

/// The last of them is bad advice: a model that follows it says nothing else.
const BAD: usize = 3;

/// The train tasks whose checks give the bad advice too: four of six, so that two of them share a batch of two.
const MISLED: std::ops::Range<usize> = 0..4;

const TOPICS: [&str; 12] = [
    "crates", "pallets", "labels", "ropes", "lamps", "doors", "barrels", "keys", "ladders", "scales", "trolleys",
    "gloves",
];

/// Writes `split/` and `skilltrain.toml` with these sections on top of those that every such training has.
pub fn training(world: &World, sections: &str) {
    let task = |number: usize, wants: &[usize]| {
        let checks: Vec<Value> =
            wants.iter().map(|want| json!({"contains": WANTS[*want].0, "message": WANTS[*want].1})).collect();
        let topic = TOPICS[number];
        json!({"id": format!("about-{topic}"), "input": format!("Write to the yard about {topic}."), "checks": checks})
            .to_string()
            + "\n"
    };
    let good: &[usize] = &[0, 1, 2];
    let of = |numbers: std::ops::Range<usize>| {
        numbers.map(|n| task(n, if MISLED.contains(&n) { &[0, 1, 2, BAD] } else { good })).collect::<String>()
    };
    world.write("split/train.jsonl", of(0..6));
    world.write("split/selection.jsonl", of(6..10));
    world.write("split/test.jsonl", of(10..12));
    world.write("skilltrain.toml", format!("{FIXED}{sections}"));
}

const FIXED: &str = r#"
[data]
split_dir = "split"

[train]
num_epochs = 2
batch_size = 2
out = "run"
sandbox = "off"

[evaluation]
evaluator = "checks"
gate_metric = "soft"
"#;

/// What the model of the target says to a request.
pub fn reply(body: &Value) -> String {
    let text = body["messages"].to_string();
    let topic = TOPICS.iter().find(|topic| text.contains(&format!("about {topic}."))).unwrap();
    let follows = |want: usize| text.contains(WANTS[want].1.trim_end_matches('.'));
    if follows(BAD) {
        return format!("I am so sorry, so very sorry, for all that was said of the {topic}.");
    }
    let said = (0..BAD).filter(|want| follows(*want)).map(|want| WANTS[want].0);
    format!("The {topic} are here. {}", said.collect::<Vec<_>>().join(", "))
}

/// What the model of the optimizer says: it writes a card for one advice of the evidence that it sees neither in the cards
/// nor among what was rejected, the bad one first, so that its edits depend on what it is told of earlier ones; and it keeps
/// notes and guidance.
pub fn edit(body: &Value) -> String {
    let text = body["messages"].to_string();
    let is_new = |want: &&usize| text.contains(WANTS[**want].1) && !text.contains(&format!("- {}", WANTS[**want].1));
    let edits: Vec<Value> = [BAD, 0, 1, 2].iter().find(is_new).into_iter().map(|want| {
        json!({"op": "create", "card": format!("00_general_rules/rule-{want}.md"), "support": 1, "reason": "it failed",
               "description": "Use when writing to the yard. Not for invoices.", "content": format!("## Rules\n- {}", WANTS[*want].1)})
    }).collect();
    let notes = format!("- {} bytes were told.", text.len());
    json!({"edits": edits, "order": [0], "guidance": "- Read the rules of the yard before each reply.", "notes": notes})
        .to_string()
}
