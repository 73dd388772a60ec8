//! The crash points that the source names, and which of them only some commands pass.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

use std::collections::BTreeSet;

/// Points that only measuring passes: `tests/eval`, `tests/chat` and `tests/train_resume` die at them.
pub const OF_EVAL: &[&str] = &["exchange-recorded", "round-drafted"];

/// Points that only training passes: `tests/train_resume` dies at them.
pub const OF_TRAIN: &[&str] = &[
    "call-taped",
    "candidate-made",
    "candidate-placed",
    "gate-decided",
    "judged",
    "noted",
    "proposal-kept",
    "proposed",
    "reflected",
    "rolled-out",
    "run-begun",
    "run-extended",
    "run-planted",
    "stretch-done",
    "summed-up",
    "taken-back",
];

/// All that the source names.
pub fn points() -> BTreeSet<String> {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut points = BTreeSet::new();
    for file in walkdir::WalkDir::new(source).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
        let text = std::fs::read_to_string(file.path()).unwrap();
        points.extend(text.split("crash::point(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()));
    }
    points
}
