//! A run whose answers a model judges: each answer is paid for once, and a verdict that was none is asked for again.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::scene::{Scene, YARD, reads};
use crate::server::answer;

/// A judge that gives no usable score until it is mended.
fn judged(mended: &Arc<AtomicBool>) -> Scene {
    let works = Arc::clone(mended);
    let scene = Scene::by(move |seen, _| {
        Some(match seen.body["model"] == "judge" {
            false => reads(seen),
            true if !works.load(Ordering::SeqCst) => answer(&json!({"score": 7.0, "feedback": []}).to_string()),
            true => {
                let right = !seen.last().contains("I do not know.");
                answer(&json!({"score": if right { 1.0 } else { 0.0 }, "feedback": ["State it."]}).to_string())
            }
        })
    });
    let name = format!("openai:judge@{}", scene.server.url());
    let agent = format!("{YARD} yard 'The crane limit of the old slipway is 9 tons.'");
    let scene = scene.with("evaluation.evaluator", "judge").with("evaluation.judge", name);
    scene.with("evaluation.rubric", "It states the fact.").with("train.num_epochs", 1).with_agent(&agent)
}

#[test]
fn an_answer_is_judged_once_and_an_unusable_verdict_is_asked_for_again() {
    let mended = Arc::new(AtomicBool::new(false));
    let scene = judged(&mended);
    scene.train(&[]).fails(1);
    let before = scene.server.seen().len();
    mended.store(true, Ordering::SeqCst);
    let summary = scene.result();
    let seen = scene.server.seen();
    let judged: Vec<String> =
        seen[before..].iter().filter(|seen| seen.body["model"] == "judge").map(|seen| seen.body.to_string()).collect();
    let distinct: HashSet<&String> = judged.iter().collect();
    assert!(!judged.is_empty(), "the verdicts that were none are asked for again");
    assert_eq!(judged.len(), distinct.len(), "no answer is judged twice");
    assert!(summary["selection"][1]["means"]["hard"].as_f64() > summary["selection"][0]["means"]["hard"].as_f64());
    let calls = scene.server.seen().len();
    assert_eq!(scene.result(), summary);
    assert_eq!(scene.server.seen().len(), calls);
}
