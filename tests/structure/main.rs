//! The shape of the code, held by tests: which layer may use which, how long a file may be, what is absent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Stands for the plain data modules in a row of the table.
const DATA: &str = "data";
const DATA_MODULES: &[&str] = &["batch", "edit", "score", "task", "trajectory"];

/// What each layer may name besides itself, top to bottom: ARCHITECTURE.md draws it.
const LAYERS: &[(&str, &[&str])] = &[
    ("cli", &["commands", "run", "config", "ground"]),
    (
        "commands",
        &[
            "train",
            "stages",
            "optimizer",
            "target",
            "evaluator",
            "agent",
            "llm",
            "pool",
            "run",
            "report",
            "config",
            DATA,
            "ground",
        ],
    ),
    ("train", &["stages", "optimizer", "target", "evaluator", "llm", "pool", "run", "config", DATA, "ground"]),
    ("stages", &["optimizer", "target", "evaluator", "pool", DATA, "ground"]),
    ("optimizer", &["agent", "llm", "pool", DATA, "ground"]),
    ("target", &["agent", "llm", "pool", DATA, "ground"]),
    ("evaluator", &["agent", "llm", "pool", DATA, "ground"]),
    ("agent", &[DATA, "ground"]),
    ("llm", &[DATA, "ground"]),
    ("pool", &[DATA, "ground"]),
    ("run", &["config", DATA, "ground"]),
    ("report", &["run", "pool", DATA, "ground"]),
    ("config", &["ground"]),
    ("batch", &["ground"]),
    ("edit", &["ground"]),
    ("score", &["ground"]),
    ("task", &["ground"]),
    ("trajectory", &["ground"]),
    ("ground", &[]),
];

/// Lines that a source file may have.
const MOST_LINES: usize = 350;

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let walk = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().map(Result::unwrap);
    walk.filter(|entry| entry.path().extension().is_some_and(|end| end == "rs"))
        .map(|entry| {
            let path = entry.path().strip_prefix(&root).unwrap().to_owned();
            (path, std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

fn layer(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// Every `crate::name` in a text, whether in a `use` or in a path.
fn named(text: &str) -> impl Iterator<Item = String> + '_ {
    text.match_indices("crate::")
        .map(|(at, word)| text[at + word.len()..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect())
}

fn may_use(allowed: &[&str], name: &str) -> bool {
    allowed.contains(&name) || (allowed.contains(&DATA) && DATA_MODULES.contains(&name))
}

#[test]
fn a_layer_uses_only_those_below_it() {
    let table: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let own = layer(&path);
        if own == "lib" || own == "main" {
            continue;
        }
        let Some(allowed) = table.get(own.as_str()) else {
            wrong.push(format!("{}: no layer `{own}` is drawn", path.display()));
            continue;
        };
        for name in named(&text).filter(|name| *name != own && !may_use(allowed, name)) {
            wrong.push(format!("{}: `{own}` may not use `{name}`", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_outgrows_its_one_thing() {
    let long = |(path, text): (PathBuf, String)| {
        let lines = text.lines().count();
        (lines > MOST_LINES).then(|| format!("{}: {lines} lines", path.display()))
    };
    let wrong: Vec<String> = sources().into_iter().filter_map(long).collect();
    assert!(wrong.is_empty(), "over {MOST_LINES} lines:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_says_why_it_exists() {
    let silent = |(path, text): (PathBuf, String)| {
        let tests = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("tests"));
        (!tests && !text.starts_with("//!")).then(|| path.display().to_string())
    };
    let wrong: Vec<String> = sources().into_iter().filter_map(silent).collect();
    assert!(wrong.is_empty(), "no head:\n{}", wrong.join("\n"));
}

/// What is deliberately absent: a word, and the only places that may hold it.
const ABSENT: &[(&str, &[&str])] = &[
    ("git2", &["pool"]),
    ("clap", &["cli", "commands"]),
    ("ureq", &["llm"]),
    ("Repository::discover", &[]),
    ("open_from_env", &[]),
    ("add_all(", &[]),
    ("statuses(", &[]),
    ("unimplemented!", &[]),
    ("todo!", &[]),
    ("process::exit", &[]),
    ("env::vars_os", &["ground"]),
];

#[test]
fn what_is_absent_stays_absent() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        for (word, places) in ABSENT.iter().filter(|(word, _)| code.contains(word)) {
            if !places.contains(&layer(&path).as_str()) {
                wrong.push(format!("{}: `{word}` belongs into {places:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
