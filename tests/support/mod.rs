//! A sealed world to run the program in: its own home, its own git configuration, its own clock.
//!
//! The only way in which a test starts skilltrain or git. Nothing of the user's reaches either.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of this")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The card that a test's optimizer writes when it has nothing better to say.
pub const CARD: &str =
    "---\ndescription: Use when answering a question. Not for letters.\n---\n\n## Rules\n- Answer first.\n";

/// Seconds since 1970 at which every test takes place.
pub const NOW: &str = "1790000000";

/// A folder with a home, a pool and evidence, removed at the end.
pub struct World {
    folder: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

/// How a run of the program ended.
#[must_use]
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl World {
    /// An empty world.
    pub fn new() -> World {
        World::named("world")
    }

    /// An empty world whose folder's name is given: for odd paths.
    pub fn named(name: &str) -> World {
        World::in_folder(&std::env::temp_dir(), name)
    }

    /// An empty world in memory where that can be had: for tests that start the program hundreds of times, whose
    /// flushes would only keep the disk busy.
    pub fn in_memory() -> World {
        let memory = Path::new("/dev/shm");
        let disk = std::env::temp_dir();
        World::in_folder(if memory.is_dir() { memory } else { &disk }, "world")
    }

    fn in_folder(place: &Path, name: &str) -> World {
        let folder = tempfile::tempdir_in(place).unwrap();
        std::fs::create_dir_all(folder.path().join(name).join("home")).unwrap();
        let root = folder.path().join(name);
        let variables = [
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", root.join("home").display().to_string()),
            ("SOURCE_DATE_EPOCH", NOW.to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("TMPDIR", root.display().to_string()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("SKILLTRAIN_TEST_ROOT", root.display().to_string()),
        ];
        World { folder, variables: variables.into_iter().map(|(key, value)| (key.to_owned(), value)).collect() }
    }

    /// A world with a pool made by `skilltrain init` at `pool`.
    pub fn with_pool() -> World {
        let world = World::new();
        world.skilltrain(&["init", "pool"]).ok();
        world
    }

    /// Its folder.
    pub fn root(&self) -> PathBuf {
        PathBuf::from(&self.variables["SKILLTRAIN_TEST_ROOT"])
    }

    /// A path in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join(name)
    }

    /// Sets a variable for every run that follows.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.variables.insert(key.to_owned(), value.into());
    }

    /// Unsets one.
    pub fn unset(&mut self, key: &str) {
        self.variables.remove(key);
    }

    /// Writes a file, its folders made.
    pub fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A batch of works `w1`, `w2`, … with evidence, at `batch.json`.
    pub fn batch(&self, works: usize) -> PathBuf {
        let samples: Vec<serde_json::Value> = (1..=works)
            .map(|n| {
                let name = format!("w{n}");
                self.write(format!("evidence/{name}.md"), report(n));
                self.write(format!("evidence/{name}.reads"), "00_general_rules/a.md\n");
                self.write(
                    format!("evidence/{name}.trajectory.md"),
                    format!("# Trajectory {name}\n\nIt said hello {n}.\n"),
                );
                serde_json::json!({
                    "work": name, "first": 1, "last": 5,
                    "loss_report": format!("evidence/{name}.md"),
                    "reads": format!("evidence/{name}.reads"),
                    "trajectory": format!("evidence/{name}.trajectory.md"),
                })
            })
            .collect();
        self.write("batch.json", serde_json::to_string_pretty(&samples).unwrap())
    }

    /// An optimizer: a shell script whose working folder is the checkout. `$1` of a shell function `card NAME TEXT`
    /// writes a card; `commit` commits all. The call's number is in `$CALL`, counted in `calls` at the world's root
    /// (outside the sandbox, so run such tests with `--sandbox off`).
    pub fn agent(&self, script: &str) -> String {
        let text = format!("#!/bin/sh\nROOT='{}'\n{PRELUDE}\n{script}\n", self.root().display());
        let path = self.write("agent.sh", text);
        executable(&path);
        format!("command:{}", path.display())
    }

    /// How often the optimizer was called.
    pub fn calls(&self) -> usize {
        std::fs::read_to_string(self.path("calls")).map_or(0, |text| text.lines().count())
    }

    /// The program, ready to start in this world's folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skilltrain"));
        command.args(args).current_dir(self.root()).env_clear().envs(&self.variables).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn skilltrain(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// `skilltrain backward` on `batch.json` and `pool`, the sandbox off, with more arguments.
    pub fn backward(&self, optimizer: &str, more: &[&str]) -> Run {
        Run::of(self.backward_command(optimizer, more).output().unwrap())
    }

    /// The same, ready to start.
    pub fn backward_command(&self, optimizer: &str, more: &[&str]) -> Command {
        let mut args =
            vec!["backward", "--batch", "batch.json", "--pool", "pool", "--sandbox", "off", "--optimizer", optimizer];
        args.extend(more);
        self.command(&args)
    }

    /// Runs git in a folder of the world and gives what it says; it must go well.
    pub fn git(&self, folder: &str, args: &[&str]) -> String {
        let run = self.try_git(folder, args);
        assert_eq!(run.code, Some(0), "git {args:?}: {}", run.err);
        run.out.trim_end().to_owned()
    }

    /// Runs git, however it ends. The world's own `GIT_*` variables do not reach it.
    pub fn try_git(&self, folder: &str, args: &[&str]) -> Run {
        let own = self.variables.iter().filter(|(key, _)| !key.starts_with("GIT_") || *key == "GIT_CONFIG_NOSYSTEM");
        let identity = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"];
        let mut command = Command::new("git");
        command.args(identity).args(args).current_dir(self.path(folder)).env_clear().envs(own);
        Run::of(command.output().unwrap())
    }

    /// The pool's commits, oldest first, as subjects.
    pub fn subjects(&self) -> Vec<String> {
        self.git("pool", &["log", "--reverse", "--format=%s"]).lines().map(str::to_owned).collect()
    }

    /// The pool's tip.
    pub fn tip(&self) -> String {
        self.git("pool", &["rev-parse", "HEAD"])
    }

    /// Asserts that the pool's files, index and commit agree and nothing else lies there.
    pub fn assert_clean(&self) {
        assert_eq!(self.git("pool", &["status", "--porcelain", "--ignored"]), "");
        assert_eq!(self.git("pool", &["diff", "HEAD", "--stat"]), "");
        self.git("pool", &["fsck", "--strict", "--no-dangling"]);
    }

    /// The references under `refs/skilltrain/`.
    pub fn kept(&self) -> Vec<String> {
        let refs = self.git("pool", &["for-each-ref", "--format=%(refname)", "refs/skilltrain"]);
        refs.lines().map(str::to_owned).collect()
    }
}

impl Run {
    /// Reads how a program ended.
    pub fn of(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts exit code 0 and gives standard output.
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self.out
    }

    /// Asserts an exit code and gives standard error.
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err
    }
}

/// Makes a file executable.
pub fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn report(n: usize) -> String {
    format!(
        "# Loss report: w{n}\n\n## What went wrong\n\n- The reply came late. Asked: \"Where is it?\" Answer in one short \
         sentence that gives the value.\n\n## What went right\n\n- It stayed polite.\n"
    )
}

const PRELUDE: &str = r#"
{ echo x >> "$ROOT/calls"; } 2>/dev/null
CALL=$(wc -l < "$ROOT/calls" 2>/dev/null | tr -d ' ')
cat > /dev/null
card() { mkdir -p "$(dirname "$1")"; printf -- '---\ndescription: Use when %s. Not for letters.\n---\n\n## Rules\n- %s\n' "$2" "$2" > "$1"; }
commit() { git add -A && git commit -q -m "${1:-work}"; }
"#;
