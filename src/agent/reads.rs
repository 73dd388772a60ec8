//! The read trace: which files an agent opened, from what its client tells and from its shell commands.
//!
//! Commands are only read as text here, nothing is run; a path counts when the command succeeded and the file
//! is there, or when the command could not have succeeded without it.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use super::commands;
use super::globs;
use crate::trajectory::Event;

/// At most so many places are remembered for one turn.
const LIMIT: usize = 50_000;

/// Something that was read, before anyone looks at the disk. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// One file; `sure` when it must have been there.
    File { path: PathBuf, sure: bool },
    /// The files that a pattern names.
    Glob(String),
    /// The files below a folder whose names match one of the patterns.
    Below { folder: PathBuf, names: Vec<String> },
}

/// Collects what a turn read, event by event.
#[derive(Debug)]
pub(super) struct Trace {
    workdir: PathBuf,
    folder: PathBuf,
    keeps_folder: bool,
    places: Vec<Place>,
    seen: HashSet<Place>,
    created: HashMap<PathBuf, usize>,
}

impl Trace {
    /// A trace of an agent that works in `workdir`. `keeps_folder`: a `cd` in one command holds for the next.
    pub(super) fn new(workdir: &Path, keeps_folder: bool) -> Self {
        Trace {
            workdir: workdir.to_owned(),
            folder: workdir.to_owned(),
            keeps_folder,
            places: Vec::new(),
            seen: HashSet::new(),
            created: HashMap::new(),
        }
    }

    /// Takes one event.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::Read { path } => {
                let path = join(&self.workdir, path);
                self.add(Place::File { path, sure: true });
            }
            Event::Wrote { path, created: true } if self.created.len() < LIMIT => {
                self.created.entry(join(&self.workdir, path)).or_insert(self.places.len());
            }
            Event::Ran { command, output, exit } if matches!(exit, None | Some(0)) => {
                let folder = if self.keeps_folder { self.folder.clone() } else { self.workdir.clone() };
                let said = commands::Said { output, succeeded: *exit == Some(0) };
                let (places, folder) = commands::read_by(command, &folder, &said);
                self.folder = folder;
                places.into_iter().for_each(|place| self.add(place));
            }
            _ => {}
        }
    }

    fn add(&mut self, place: Place) {
        if self.places.len() < LIMIT && self.seen.insert(place.clone()) {
            self.places.push(place);
        }
    }

    /// The files, in the order in which they were first read: relative to the working folder when they lie in
    /// it, else absolute. The disk is looked at now, so this gives the same after a crash as before it.
    pub(super) fn resolve(&self) -> Vec<String> {
        let roots = [Some(self.workdir.clone()), std::fs::canonicalize(&self.workdir).ok()];
        let mut out = Vec::new();
        let mut seen = HashSet::new();
        for (index, place) in self.places.iter().enumerate() {
            for (path, sure) in self.files(place) {
                let later = self.created.get(&path).is_some_and(|at| *at > index);
                if later && !sure {
                    continue;
                }
                let name = roots.iter().flatten().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(&path);
                let name = name.to_string_lossy().into_owned();
                let plain = !name.is_empty() && !name.starts_with(".git/") && !name.chars().any(char::is_control);
                if plain && seen.insert(name.clone()) {
                    out.push(name);
                }
            }
        }
        out
    }

    fn files(&self, place: &Place) -> Vec<(PathBuf, bool)> {
        match place {
            Place::File { path, sure } if path.is_file() => vec![(path.clone(), *sure)],
            Place::File { path, sure: true } if !path.exists() => vec![(path.clone(), true)],
            Place::File { .. } => Vec::new(),
            Place::Glob(pattern) => unsure(globs::files(pattern)),
            Place::Below { folder, names } if folder.starts_with(&self.workdir) => {
                unsure(globs::files_below(folder, names))
            }
            Place::Below { .. } => Vec::new(),
        }
    }
}

fn unsure(paths: Vec<PathBuf>) -> Vec<(PathBuf, bool)> {
    paths.into_iter().map(|path| (path, false)).collect()
}

/// A path as a command names it, made absolute; `.` and `..` are resolved by name.
pub(super) fn join(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["INDEX.md", "rules/one.md", "rules/two.md", "rules/deep/three.md", "rules/a b.md", "x.txt"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::ground::files::write(&path, "text\n").unwrap();
        }
        folder
    }

    fn trace_of(folder: &Path, keeps: bool, events: &[Event]) -> Vec<String> {
        let mut trace = Trace::new(folder, keeps);
        events.iter().for_each(|event| trace.note(event));
        trace.resolve()
    }

    fn ran(command: &str, output: &str) -> Event {
        Event::Ran { command: command.into(), output: output.into(), exit: Some(0) }
    }

    #[test]
    fn every_way_of_reading_is_seen() {
        let folder = folder();
        let root = folder.path().display().to_string();
        let rows: &[(&str, &[&str])] = &[
            ("cat INDEX.md rules/one.md", &["INDEX.md", "rules/one.md"]),
            ("cat 'rules/a b.md'", &["rules/a b.md"]),
            ("cat rules/a\\ b.md", &["rules/a b.md"]),
            ("cat ROOT/INDEX.md", &["INDEX.md"]),
            ("/bin/bash -lc \"cat 'ROOT/rules/one.md'\"", &["rules/one.md"]),
            ("bash -lc 'cd rules && sed -n \"1,20p\" one.md; head -n 5 two.md'", &["rules/one.md", "rules/two.md"]),
            ("cd rules && cat ../INDEX.md", &["INDEX.md"]),
            ("(cd rules && cat one.md) && cat INDEX.md", &["rules/one.md", "INDEX.md"]),
            ("sed -n '1,5p' rules/one.md | nl | less", &["rules/one.md"]),
            ("sed -e s/a/b/ rules/one.md", &["rules/one.md"]),
            ("sed -i s/a/b/ rules/one.md", &[]),
            ("head -5 INDEX.md; tail -n +3 rules/two.md", &["INDEX.md", "rules/two.md"]),
            ("nl -ba INDEX.md && awk '{print $1}' x.txt", &["INDEX.md", "x.txt"]),
            ("wc -l < INDEX.md", &["INDEX.md"]),
            ("grep -n text INDEX.md", &["INDEX.md"]),
            ("grep -l text INDEX.md", &[]),
            ("rg -n -g '*.md' text INDEX.md", &["INDEX.md"]),
            ("git show HEAD:rules/one.md", &["rules/one.md"]),
            ("cd rules && git --no-pager show HEAD~2:./one.md", &["rules/one.md"]),
            ("git show HEAD --stat", &[]),
            ("cat rules/*.md", &["rules/a b.md", "rules/one.md", "rules/two.md"]),
            ("cat rules/{one,two}.md", &["rules/one.md", "rules/two.md"]),
            ("cat 'rules/*.md' || true", &[]),
            ("for f in rules/o*.md INDEX.md; do echo \"== $f\"; cat \"$f\"; done", &["rules/one.md", "INDEX.md"]),
            ("for f in one two; do cat rules/$f.md; done", &["rules/one.md", "rules/two.md"]),
            ("D=rules; cat $D/one.md", &["rules/one.md"]),
            ("find rules -name 't*.md' | xargs cat", &["rules/deep/three.md", "rules/two.md"]),
            ("find rules -name 'one.md' -exec cat {} +", &["rules/one.md"]),
            ("find . -name one.md | sort | while read -r f; do cat \"$f\"; done", &["rules/one.md"]),
            ("find rules -name '*.md'", &[]),
            ("cat $(git ls-files 'th*.md')", &["rules/deep/three.md"]),
            ("ls rules/*.md | head -1 | xargs cat", &[]),
            ("cat > rules/new.md <<'EOF'\ncat INDEX.md\nEOF", &[]),
            ("cat <<EOF > rules/new.md\nx\nEOF\ncat x.txt", &["x.txt"]),
            ("cat INDEX.md > copy.md 2>/dev/null", &["INDEX.md"]),
            ("ls -la; pwd; git status --short", &[]),
            ("cat gone.md && cat INDEX.md", &["gone.md", "INDEX.md"]),
            ("cat missing.md 2>/dev/null; cat INDEX.md", &["INDEX.md"]),
            ("timeout 5 cat INDEX.md", &["INDEX.md"]),
            ("cat rules", &[]),
            ("echo cat INDEX.md", &[]),
            ("if [ -f INDEX.md ]; then cat INDEX.md; fi", &["INDEX.md"]),
        ];
        for (command, wanted) in rows {
            let command = command.replace("ROOT", &root);
            assert_eq!(trace_of(folder.path(), false, &[ran(&command, "")]), *wanted, "{command}");
        }
    }

    #[test]
    fn a_search_reads_what_it_shows() {
        let folder = folder();
        let shown = "./rules/two.md:1:text\nrules/one.md:3:text\nnothing\n";
        let wanted = ["rules/two.md", "rules/one.md"];
        for command in ["grep -rn text .", "rg text", "git grep -n text", "grep text rules/*.md | head"] {
            assert_eq!(trace_of(folder.path(), false, &[ran(command, shown)]), wanted, "{command}");
        }
    }

    #[test]
    fn failed_and_later_made_files_are_not_read() {
        let folder = folder();
        let failed = Event::Ran { command: "cat INDEX.md".into(), output: String::new(), exit: Some(1) };
        let made = Event::Wrote { path: folder.path().join("rules/two.md").display().to_string(), created: true };
        let reads = trace_of(folder.path(), false, &[failed, ran("cat rules/t*.md rules/o*.md", ""), made]);
        assert_eq!(reads, ["rules/one.md"]);
    }

    #[test]
    fn the_folder_holds_between_commands_where_the_client_keeps_it() {
        let folder = folder();
        let events = [ran("cd rules", ""), ran("cat two.md", "")];
        assert_eq!(trace_of(folder.path(), true, &events), ["rules/two.md"]);
        // Without a kept folder the second command cannot have succeeded: the text is believed all the same.
        assert_eq!(trace_of(folder.path(), false, &events), ["two.md"]);
    }

    #[test]
    fn files_outside_are_absolute_and_first_readings_count() {
        let (folder, outside) = (folder(), tempfile::tempdir().unwrap());
        let path = outside.path().join("loss.md");
        crate::ground::files::write(&path, "x").unwrap();
        let read = |path: &str| Event::Read { path: path.into() };
        let path = path.display().to_string();
        assert_eq!(trace_of(folder.path(), true, &[read(&path), read("x.txt"), read(&path)]), [path.as_str(), "x.txt"]);
    }
}
