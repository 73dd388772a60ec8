//! A world with a batch, an optimizer, and all that training on it leaves, so that two ways there can be compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::{Run, World};

/// Who edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// The built-in optimizer.
    Extractive,
    /// A program whose first attempt at g02 fails for good, and whose second needs a repair turn.
    Stubborn,
    /// A program that needs a repair turn at g02.
    Sloppy,
}

/// A world in which one thing is trained.
pub(crate) struct Scene {
    pub(crate) world: World,
    who: Who,
}

/// What training left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The pool's commits with their messages, newest first.
    history: String,
    /// The micro-steps' files.
    files: BTreeMap<String, String>,
    /// Calls of the optimizer that came to their end.
    ended: usize,
}

/// A micro-step's files that are the same whatever happened on the way.
const SAME: &[&str] = &[
    "batch.json",
    "commit.txt",
    "memory.patch",
    "memory_before/",
    "memory_after/",
    "summary.md",
    "report.md",
    "backward_trajectory.md",
    "backward_reads.txt",
    "lint_report.txt",
];

impl Scene {
    pub(crate) fn new(who: Who) -> Scene {
        let world = World::in_memory();
        world.skilltrain(&["init", "pool"]).ok();
        world.batch(if who == Who::Sloppy { 2 } else { 4 });
        if who != Who::Extractive {
            world.agent(SCRIPT);
            world.write("first_fails", if who == Who::Stubborn { "yes" } else { "no" });
        }
        Scene { world, who }
    }

    /// The one command that trains and resumes.
    pub(crate) fn command(&self) -> Command {
        let (optimizer, size) = match self.who {
            Who::Extractive => ("extractive", "3"),
            Who::Stubborn => ("command:./agent.sh", "2"),
            Who::Sloppy => ("command:./agent.sh", "1"),
        };
        self.world.backward_command(optimizer, &["--group-size", size])
    }

    /// Runs it to its end.
    pub(crate) fn run(&self) -> Run {
        Run::of(self.command().output().unwrap())
    }

    /// What it left; asserts that nothing else is left.
    pub(crate) fn outcome(&self) -> Outcome {
        self.world.assert_clean();
        self.assert_tidy();
        let history = self.world.git("pool", &["log", "--format=%H%n%B"]);
        let subjects = self.world.subjects();
        assert_eq!(subjects.len(), 3, "one commit a micro-step: {subjects:?}");
        let out = self.world.path("backward");
        let root = self.world.root().display().to_string();
        let mut files = BTreeMap::new();
        for path in paths(&out) {
            let (_, name) = path.split_once('/').unwrap_or(("", &path));
            if SAME.iter().any(|same| name == *same || (same.ends_with('/') && name.starts_with(same))) {
                files.insert(path.clone(), self.world.read(out.join(&path)).replace(&root, "ROOT"));
            }
        }
        Outcome { history, files, ended: self.ended() }
    }

    /// How many calls of the optimizer have the record of their end on disk.
    pub(crate) fn ended(&self) -> usize {
        let paths = paths(&self.world.path("backward"));
        paths.iter().filter(|path| path.contains("_end") && path.ends_with(".json")).count()
    }

    fn assert_tidy(&self) {
        let all = paths(&self.world.root());
        let odd = |path: &&String| {
            let in_home = path.starts_with("home/");
            !in_home && (path.contains(".tmp-") || path.contains("/private") || path.contains("/checkout/"))
        };
        assert_eq!(all.iter().filter(odd).collect::<Vec<_>>(), Vec::<&String>::new());
        let locks: Vec<_> =
            all.iter().filter(|path| path.starts_with("pool/.git") && path.ends_with(".lock")).collect();
        assert!(locks.is_empty(), "{locks:?}");
        let own: Vec<_> = all.iter().filter(|path| path.starts_with("pool/.git/skilltrain/")).collect();
        assert_eq!(own, ["pool/.git/skilltrain/lock"]);
    }
}

/// All files below a folder, relative to it, in order.
pub(crate) fn paths(folder: &Path) -> Vec<String> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    walk.filter(|entry| !entry.file_type().is_dir())
        .map(|entry| entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned())
        .collect()
}

/// Works by what lies on disk, not by how often it was called, so that a call that was killed can be made again.
const SCRIPT: &str = r#"
bad() { mkdir -p 00_general_rules; echo 'no front matter' > 00_general_rules/two.md; git add -A; git commit -q --no-verify -m bad >/dev/null; }
save() { git add -A; git commit -q --no-verify --allow-empty -m work >/dev/null; }
case $(basename "$(dirname "$PWD")") in
g01) card 00_general_rules/one.md "a question is asked twice"; save ;;
g02) if [ "$(cat "$ROOT/first_fails")" = yes ] && ! ls ../guards_attempt*.txt >/dev/null 2>&1; then bad
     elif [ -e ../repair_prompt.md ]; then
       card 00_general_rules/two.md "the answer is long"; rm -f 00_general_rules/one.md; save
     else bad; fi ;;
esac
exit 0
"#;

impl Outcome {
    /// Calls of the optimizer that came to their end.
    pub(crate) fn ended(&self) -> usize {
        self.ended
    }
}
