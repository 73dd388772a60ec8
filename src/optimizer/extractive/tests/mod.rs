//! Whole plans: over the example evidence, over reports of other fields, and over arbitrary text.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{Bounds, Change, Plan, plan, reduce};
use crate::batch::{Batch, Evidence};
use crate::pool::card::Card;
use crate::pool::lint::{Linter, Problem};
use crate::pool::profile::Profile;

mod against;
mod arbitrary;
mod cards;
mod examples;
mod fields;
mod pairs;
mod voices;
mod wording;

const BOUNDS: Bounds = Bounds { learning_rate: Some(4), max_deletions: 2 };

/// Parsed once: checking its patterns takes long in a debug build.
fn profile() -> Profile {
    static PROFILE: LazyLock<Profile> = LazyLock::new(Profile::default_rules);
    PROFILE.clone()
}

fn problems(path: &str, text: &str) -> Vec<Problem> {
    static LINTER: LazyLock<Linter> = LazyLock::new(|| Linter::new(&profile()).unwrap());
    LINTER.card(path, text.as_bytes())
}

fn run(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("runs").join(name)
}

fn evidence(name: &str) -> Vec<Evidence> {
    let batch = Batch::load(&run(name).join("batch.json")).unwrap();
    batch.samples.iter().map(|sample| sample.load().unwrap()).collect()
}

/// A sample whose report is this text.
fn report(work: &str, text: &str) -> Evidence {
    Evidence { work: work.into(), title: format!("{work} 01-01"), loss_report: text.into(), ..Evidence::default() }
}

fn card(path: &str, text: &str) -> Card {
    Card::parse(path, text.as_bytes()).unwrap()
}

fn seed() -> Vec<Card> {
    let root = run("example-second/seed");
    let mut cards = Vec::new();
    for folder in ["00_general_rules", "01_craft_elements", "02_genre_specifics"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = format!("{folder}/{name}");
            cards.push(card(&path, &std::fs::read_to_string(root.join(&path)).unwrap()));
        }
    }
    cards.sort_by(|a, b| a.path.cmp(&b.path));
    cards
}

/// The pool after a plan.
fn applied(cards: &[Card], plan: &Plan) -> Vec<Card> {
    let mut out = cards.to_vec();
    for change in &plan.changes {
        match change {
            Change::Remove { path } => out.retain(|card| card.path != *path),
            Change::Write { path, text } => {
                out.retain(|card| card.path != *path);
                out.push(card(path, text));
            }
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out
}

/// All files of a plan and its report, as one text.
fn shown(plan: &Plan) -> String {
    let mut out = String::new();
    for change in &plan.changes {
        match change {
            Change::Remove { path } => out.push_str(&format!("=== removed {path}\n")),
            Change::Write { path, text } => out.push_str(&format!("=== {path}\n{text}")),
        }
    }
    format!("{out}=== report\n{}", plan.report)
}

fn path(change: &Change) -> &str {
    match change {
        Change::Write { path, .. } | Change::Remove { path } => path,
    }
}

/// What holds for every card that a plan writes.
fn keeps_the_rules(before: &[Card], plan: &Plan, evidence: &[Evidence]) {
    let mut last = "";
    for change in &plan.changes {
        assert!(last < path(change), "in path order, once each");
        last = path(change);
        let Change::Write { path, text } = change else { continue };
        let problems = problems(path, text);
        assert!(problems.is_empty(), "{problems:?}\n{text}");
        assert!(text.contains("\ndescription: ") && text.contains("Use "), "{text}");
        assert!(path.is_ascii() && path.ends_with(".md") && *path == path.to_lowercase(), "{path}");
        let body = card(path, text).body;
        for sample in evidence {
            assert!(!text.contains(&sample.work), "{text}");
        }
        // Of a card that was there, the lines that the plan doesn't speak of are the same.
        if let Some(old) = before.iter().find(|card| card.path == *path) {
            for line in old.body.lines() {
                let rule = line.trim_start_matches("- ");
                assert!(body.contains(line) || plan.report.contains(&format!("{rule} →")), "{line}");
            }
        }
    }
}
