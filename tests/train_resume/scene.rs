//! A world with a training and its model, and all that training leaves, so that two ways there can be compared.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::desk;
use crate::server::{Seen, Server, Step, answer};
use crate::support::{Run, World};

/// How evidence becomes an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// By the built-in optimizer, in a checkout.
    Backward,
    /// By the built-in optimizer, as edits.
    Patch,
    /// By a chat model, as edits, with notes and guidance of its own.
    Chat,
}

/// A world in which one training goes on.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) server: Server,
}

/// What a training left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// References, and all commits with their messages and notes.
    pub(crate) history: String,
    /// The run's files.
    pub(crate) files: BTreeMap<String, String>,
    /// What the model was asked, and how often.
    pub(crate) asked: BTreeMap<String, usize>,
}

impl Scene {
    pub(crate) fn new(who: Who) -> Scene {
        Scene::with(who, "", |seen, _| said(seen))
    }

    /// A scene with more sections of configuration and a model of another behaviour.
    pub(crate) fn with(who: Who, sections: &str, play: impl Fn(&Seen, usize) -> Step + Send + Sync + 'static) -> Scene {
        let world = World::in_memory();
        let server = Server::by(move |seen, number| Some(play(seen, number)));
        let url = server.url();
        let optimizer = match who {
            Who::Backward => "strategy = \"backward\"".to_owned(),
            Who::Patch => "strategy = \"patch\"".to_owned(),
            Who::Chat => {
                format!("strategy = \"patch\"\nname = \"openai:editor@{url}\"\n[gradient]\nfailure_only = true")
            }
        };
        let text = format!(
            "[optimizer]\nlearning_rate = 2\nmin_learning_rate = 1\n{optimizer}\n\
             [target]\nname = \"openai:m@{url}\"\nretries = 0\n{sections}"
        );
        desk::training(&world, &text);
        Scene { world, server }
    }

    /// The one command that trains and resumes.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        let mut args = vec!["train"];
        args.extend(more);
        self.world.command(&args)
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, more: &[&str]) -> Run {
        Run::of(self.command(more).output().unwrap())
    }

    /// Runs it until it dies at a pass of a point, if it comes by; whether it did.
    pub(crate) fn dies(&self, point: &str, pass: usize) -> bool {
        self.dies_with(point, pass, &[])
    }

    /// The same with more arguments.
    pub(crate) fn dies_with(&self, point: &str, pass: usize, more: &[&str]) -> bool {
        let output = self.command(more).env("SKILLTRAIN_CRASH_AT", format!("{point}:{pass}")).output().unwrap();
        let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
        let run = Run::of(output);
        assert!(killed || run.code == Some(0), "{point}:{pass}: {run:?}");
        killed
    }

    /// Answers that are on disk.
    pub(crate) fn kept(&self) -> usize {
        let journals = paths(&self.world.path("run")).into_iter().filter(|path| path.ends_with("calls.jsonl"));
        journals.map(|path| self.world.read(format!("run/{path}")).matches('\n').count()).sum()
    }

    /// Calls that reached the model and have no answer on disk, once their caller is dead: they were under way.
    pub(crate) fn lost(&self) -> usize {
        self.server.settle();
        self.server.seen().len() - self.kept()
    }

    /// What the run in folder `run` left; asserts that nothing else is left.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome_of("run")
    }

    pub(crate) fn outcome_of(&self, run: &str) -> Outcome {
        let pool = format!("{run}/memory");
        assert_eq!(self.world.git(&pool, &["status", "--porcelain", "--ignored"]), "");
        self.world.git(&pool, &["fsck", "--strict", "--no-dangling"]);
        self.assert_tidy(run);
        let refs = self.world.git(&pool, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        // The notes' own history says in which order they were written, and how often.
        let refs: Vec<&str> = refs.lines().filter(|line| !line.starts_with("refs/notes/")).collect();
        let log = ["log", "--exclude=refs/notes/*", "--all", "--notes=skilltrain", "--format=%H%n%ad%n%B%n%N"];
        let history = format!("{}\n{}", refs.join("\n"), self.world.git(&pool, &log));
        let (folder, url) = (self.world.path(run).display().to_string(), self.server.url());
        let mut files = BTreeMap::new();
        for path in paths(&self.world.path(run)) {
            // What happened, process by process; the folder's own git; the name that differs from run to run.
            if path == "events.jsonl"
                || path == "config.toml"
                || path.starts_with("memory/.git/")
                || path.ends_with(".lock")
            {
                continue;
            }
            let mut text = self.world.read(format!("{run}/{path}")).replace(&folder, "RUN").replace(&url, "URL");
            if path.ends_with("calls.jsonl") {
                text = calls(&text);
            }
            files.insert(path, text);
        }
        let mut asked = BTreeMap::new();
        for seen in self.server.seen() {
            *asked.entry(seen.body.to_string()).or_default() += 1;
        }
        Outcome { history, files, asked }
    }

    fn assert_tidy(&self, run: &str) {
        let all = paths(&self.world.path(run));
        let odd = |path: &&String| {
            path.contains(".tmp-") || path.contains("/private") || path.contains("/checkout/") || path.contains("desk/")
        };
        assert_eq!(all.iter().filter(odd).collect::<Vec<_>>(), Vec::<&String>::new());
        let locks: Vec<_> =
            all.iter().filter(|path| path.starts_with("memory/.git") && path.ends_with(".lock")).collect();
        assert!(locks.is_empty(), "{locks:?}");
    }
}

/// What the models say: the target's, and the optimizer's.
pub(crate) fn said(seen: &Seen) -> Step {
    let is_editor = seen.body["model"] == "editor";
    answer(&if is_editor { desk::edit(&seen.body) } else { desk::reply(&seen.body) })
}

impl Outcome {
    /// Asserts that this is what `wanted` is; calls that were under way when a run was killed, `lost` of them, may have
    /// been made twice.
    pub(crate) fn assert_is(&self, wanted: &Outcome, lost: usize, why: &str) {
        assert_eq!(self.history, wanted.history, "{why}");
        let names = |outcome: &Outcome| outcome.files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(self), names(wanted), "{why}");
        for (path, text) in &self.files {
            assert_eq!(text, &wanted.files[path], "{why}: {path}");
        }
        let repeated: usize = self
            .asked
            .iter()
            .map(|(body, times)| {
                let once = wanted.asked.get(body).unwrap_or_else(|| panic!("{why}: nobody asks this: {body}"));
                times.checked_sub(*once).unwrap_or_else(|| panic!("{why}: not asked often enough: {body}"))
            })
            .sum();
        assert_eq!(self.asked.len(), wanted.asked.len(), "{why}");
        assert!(repeated <= lost, "{why}: {repeated} calls were repeated, and {lost} were under way");
    }
}

/// A journal's lines without what time they took, in an order of their own.
fn calls(text: &str) -> String {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if let Some(reply) = line["reply"].as_object_mut() {
            reply.remove("seconds");
        }
        line.to_string() + "\n"
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines.concat()
}

/// All files below a folder, relative to it, in order.
pub(crate) fn paths(folder: &Path) -> Vec<String> {
    let walk = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    walk.filter(|entry| !entry.file_type().is_dir())
        .map(|entry| entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned())
        .collect()
}
