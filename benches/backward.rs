//! What a micro-step costs us, with an optimizer that only commits: our own CPU, the agent's and git's not counted.
//!
//! `cargo bench --bench backward`. Beside each figure stands what `git add -A && git commit` of one changed card and
//! reading every file cost on the same pool, so that the figures can be compared between machines.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use skilltrain::ground::env::Env;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::optimizer::{Bounds, registry};
use skilltrain::pool::profile::{PROFILE_FILE, RULES_TEMPLATE};
use skilltrain::run::event::Event;
use skilltrain::train::backward::backward;
use skilltrain::train::context::Options;

const STEPS: usize = 5;

fn main() {
    println!(
        "{:>7} {:>11} {:>11} {:>11} {:>14} {:>12}",
        "cards", "first", "next", "again", "git add+commit", "read all"
    );
    for cards in sizes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bench = Bench::new(folder.path(), cards);
        let (first, next) = bench.train();
        let (again, _) = bench.train();
        let git = bench.git_commit();
        let read = bench.read_all();
        println!("{cards:>7} {first:>11.1?} {next:>11.1?} {again:>11.1?} {git:>14.1?} {read:>12.1?}");
    }
    println!(
        "\nfirst, next: our CPU for the first micro-step of a pass and for each one after it; again: the whole pass when done"
    );
}

/// The pool sizes to measure: those given as arguments, or the usual three.
fn sizes() -> Vec<usize> {
    let given: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    if given.is_empty() { vec![100, 1_000, 10_000] } else { given }
}

struct Bench {
    root: PathBuf,
    cards: usize,
}

impl Bench {
    fn new(root: &Path, cards: usize) -> Bench {
        let bench = Bench { root: root.to_owned(), cards };
        let pool = root.join("pool");
        std::fs::create_dir_all(root.join("home")).expect("a folder");
        for (number, folder) in
            (0..cards).zip(["00_general_rules", "01_craft_elements", "02_genre_specifics"].iter().cycle())
        {
            std::fs::create_dir_all(pool.join(folder)).expect("a folder");
            put(&pool.join(folder).join(format!("card-{number:05}.md")), &card(number));
        }
        put(&pool.join(PROFILE_FILE), RULES_TEMPLATE);
        bench.git(&["init", "-q", "-b", "main"]);
        bench.git(&["add", "-A"]);
        bench.git(&["commit", "-q", "-m", "pool"]);
        let samples: Vec<serde_json::Value> = (0..STEPS).map(|n| sample(root, n)).collect();
        put(&root.join("batch.json"), &serde_json::Value::from(samples).to_string());
        put(&root.join("agent.sh"), "cat > /dev/null\ngit commit -q --no-verify --allow-empty -m nothing\n");
        bench
    }

    /// Our CPU for the first micro-step (the whole pass up to its end) and for each of the others.
    fn train(&self) -> (Duration, Duration) {
        let variables =
            [("PATH", std::env::var_os("PATH").unwrap_or_default()), ("HOME", self.root.join("home").into())];
        let env = Env::of(env!("CARGO_BIN_EXE_skilltrain"), variables);
        let script = self.root.join("agent.sh");
        let optimizer = registry::find(&format!("command:sh {}", script.display()), None, None, Default::default())
            .expect("an optimizer");
        let options = Options {
            batch: self.root.join("batch.json"),
            pool: self.root.join("pool"),
            out: self.root.join("out"),
            label: "bench".into(),
            run: "bench".into(),
            summary: None,
            group_size: 1,
            timeout: Duration::from_secs(600),
            retries: 0,
            bounds: Bounds { learning_rate: None, max_deletions: 2 },
            sandbox: Sandbox::Off,
            snapshot_full: false,
            rejected: String::new(),
            meta_skill: String::new(),
            seconds: None,
            reduce_workers: 8,
        };
        let begun = cpu();
        let ends = Mutex::new(Vec::new());
        let observer = |event: &Event| {
            if let Event::StepDone { .. } = event {
                ends.lock().expect("no panic holds it").push(cpu());
            }
        };
        backward(&options, optimizer.as_ref(), &env, &Cancel::default(), &Prompts::default(), &observer)
            .expect("a pass");
        let ends = ends.into_inner().expect("no panic holds it");
        let first = ends[0] - begun;
        (first, (cpu() - ends[0]) / u32::try_from(ends.len() - 1).expect("few steps"))
    }

    fn git_commit(&self) -> Duration {
        put(&self.root.join("pool/00_general_rules/card-00000.md"), &card(1_000_000));
        let begun = Instant::now();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "one card"]);
        begun.elapsed()
    }

    fn read_all(&self) -> Duration {
        let begun = Instant::now();
        let files =
            walkdir::WalkDir::new(self.root.join("pool")).into_iter().filter_entry(|entry| entry.file_name() != ".git");
        let bytes: usize = files
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| std::fs::read(entry.path()).expect("a card").len())
            .sum();
        assert!(bytes > self.cards * 100);
        begun.elapsed()
    }

    fn git(&self, args: &[&str]) {
        let identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"];
        let mut git = Command::new("git");
        git.args(identity).args(args).current_dir(self.root.join("pool")).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(git.status().expect("git").success());
    }
}

fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn card(number: usize) -> String {
    let lines: String = (0..10)
        .map(|line| format!("- State value {line} of item {number} before anything else, then stop and wait.\n"))
        .collect();
    format!(
        "---\ndescription: Use when a question asks for a value of item {number}. Not for letters or reports.\n---\n\n## Rules\n{lines}"
    )
}

fn sample(root: &Path, number: usize) -> serde_json::Value {
    let file = |end: &str, text: &str| {
        let path = root.join(format!("w{number}.{end}"));
        put(&path, text);
        path
    };
    serde_json::json!({
        "work": format!("w{number}"), "first": 1, "last": 1,
        "loss_report": file("md", "# Loss report\n\n- The reply came late. Answer first.\n"),
        "reads": file("txt", "00_general_rules/card-00000.md\n"),
        "trajectory": file("trajectory.md", "# Trajectory\n\nIt said hello.\n"),
    })
}

/// CPU time of this process so far, its children not counted.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
