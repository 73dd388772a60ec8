//! The recorded training of a real model, replayed: the same commits, offline, and the figures that the README names.

use std::path::Path;

use crate::support::World;

#[test]
fn the_recorded_training_replays_to_the_same_commits_and_scores() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs/example-train");
    let world = World::new();
    let path = |name: &str| example.join(name).to_str().unwrap().to_owned();
    let (config, recording) = (path("skilltrain.toml"), path("recording.jsonl"));
    let out = world.path("watched").to_str().unwrap().to_owned();
    let args = ["train", "--config", &config, "--replay", &recording, "--out", &out, "--json"];
    let summary: serde_json::Value = serde_json::from_str(&world.skilltrain(&args).ok()).unwrap();
    let hard = |split: &str, pool: usize| summary[split][pool]["means"]["hard"].as_f64().unwrap();
    assert!(hard("test", 1) - hard("test", 0) >= 0.45, "{summary}");
    assert!(summary["rejected"].as_u64().unwrap() > 0, "{summary}");
    let commits = world.git("watched/memory", &["log", "--format=%H %s"]);
    assert_eq!(commits.trim_end(), std::fs::read_to_string(path("commits.txt")).unwrap().trim_end());
}
