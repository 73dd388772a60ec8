//! Typed edits of the extractive optimizer, applied as training applies them: they make the pool that its backward pass
//! makes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use skilltrain::batch::{Batch, Evidence, Sample};
use skilltrain::edit::Source;
use skilltrain::ground::env::Env;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::optimizer::extractive::{Change, Extractive, plan};
use skilltrain::optimizer::tasks::{AnalyseTask, Memory, Seat, Sight, UpdateMode};
use skilltrain::optimizer::{Bounds, Desk, Host, Optimizer as _};
use skilltrain::pool::card::Card;
use skilltrain::pool::profile::Profile;
use skilltrain::stages::update::{Rules, apply};

fn evidence(batch: &Path) -> Vec<Evidence> {
    Batch::load(batch).unwrap().samples.iter().map(Sample::load).collect::<Result<_, _>>().unwrap()
}

fn cards(files: &BTreeMap<String, String>) -> Vec<Card> {
    files.iter().map(|(path, text)| Card::parse(path, text.as_bytes()).unwrap()).collect()
}

/// What the typed edits of some evidence make of a pool.
fn edited(files: &BTreeMap<String, String>, evidence: &[Evidence], mode: UpdateMode) -> BTreeMap<String, String> {
    let (profile, cards) = (Profile::default_rules(), cards(files));
    let desk = Desk { folder: "x".into(), stem: "ask", private: "x".into(), hold: "x".into() };
    let seat = Seat { place: "p".into(), desk, memory: Memory::default() };
    let sight = Sight { profile: &profile, cards: &cards };
    let task = AnalyseTask { seat, source: Source::Failures, evidence, sight, mode, most: 100 };
    let (env, cancel, prompts, watch) = (Env::default(), Cancel::default(), Prompts::default(), |_: &_| {});
    let (timeout, sandbox) = (Duration::from_secs(9), Sandbox::Off);
    let host = Host { env: &env, cancel: &cancel, prompts: &prompts, timeout, sandbox, watch: &watch };
    let edits = Extractive.analyse(&task, &host).unwrap().value;
    let is_card = |path: &str| profile.is_card_path(path);
    let applied = apply(files, &edits, &Rules { is_card: &is_card, protected: &[], regions: &[] });
    assert!(applied.refused.is_empty() && applied.dropped.is_empty(), "{applied:#?}");
    applied.result(files)
}

/// What its plan makes of the pool.
fn planned(files: &BTreeMap<String, String>, evidence: &[Evidence]) -> BTreeMap<String, String> {
    let bounds = Bounds { learning_rate: None, max_deletions: 1 };
    let mut files = files.clone();
    for change in plan(evidence, None, &cards(&files), &Profile::default_rules(), bounds).changes {
        match change {
            Change::Write { path, text } => drop(files.insert(path, text)),
            Change::Remove { path } => drop(files.remove(&path)),
        }
    }
    files
}

#[test]
fn edits_make_what_the_backward_pass_makes() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs");
    let batches: Vec<_> = walkdir::WalkDir::new(example)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .filter(|entry| entry.file_name() == "batch.json")
        .map(walkdir::DirEntry::into_path)
        .collect();
    assert!(!batches.is_empty());
    let (mut files, mut steps) = (BTreeMap::new(), 0);
    for batch in &batches {
        for group in evidence(batch).chunks(4) {
            let wanted = planned(&files, group);
            for mode in [UpdateMode::Patch, UpdateMode::FullRewrite] {
                let made = edited(&files, group, mode);
                let folded = |files: &BTreeMap<String, String>| -> BTreeMap<String, Vec<String>> {
                    let lines =
                        |text: &String| text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
                    files.iter().map(|(path, text)| (path.clone(), lines(text))).collect()
                };
                assert_eq!(folded(&made), folded(&wanted), "{mode:?}");
            }
            steps += usize::from(wanted != files);
            files = wanted;
        }
    }
    assert!(steps >= 2, "{steps}");
}
