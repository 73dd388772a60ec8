//! Where everything lies in a run, said once.

use std::path::{Path, PathBuf};

use crate::ground::error::Result;
use crate::ground::files;

/// The pool's folder in a run.
pub const MEMORY: &str = "memory";

/// The folder with the cards that a run's pool starts from, when the pool does not exist yet.
pub const SEED: &str = "seed";

/// The nearest folder at or above `place` that is a run: it holds a pool, or the seed of one.
pub fn run_of(place: &Path) -> Option<&Path> {
    place.ancestors().find(|folder| folder.join(MEMORY).join(".git").exists() || folder.join(SEED).is_dir())
}

/// A text as a part of a reference's name: letters, digits, `_`, `-` and inner dots.
pub fn slug(text: &str) -> String {
    let safe: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' }).collect();
    let mut slug = safe.trim_matches(['.', '-']).replace("..", "-");
    if slug.ends_with(".lock") {
        slug.push('_');
    }
    if slug.is_empty() { "step".into() } else { slug }
}

/// The folder of one micro-step.
#[derive(Debug, Clone)]
pub struct StepDir(PathBuf);

/// The files of a turn that a failed attempt leaves behind under another name.
const OF_AN_ATTEMPT: &[&str] = &[
    "backward_prompt.md",
    "backward.jsonl",
    "backward_stderr.txt",
    "backward_end.json",
    "backward_trajectory.md",
    "backward_reads.txt",
    "repair_prompt.md",
    "repair.jsonl",
    "repair_stderr.txt",
    "repair_end.json",
    "report.md",
    "lint_report.txt",
    "guards.txt",
    "memory.patch",
    "memory_before",
    "memory_after",
];

impl StepDir {
    /// The folder of group `number` (from 1) below `out`: `g01`, `g02`, …
    pub fn of_group(out: &Path, number: usize) -> StepDir {
        StepDir(out.join(format!("g{number:02}")))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The marker, written last.
    pub fn marker(&self) -> PathBuf {
        self.file("commit.txt")
    }

    /// What was started: attempt, turn, base.
    pub fn started(&self) -> PathBuf {
        self.file("started.json")
    }

    /// The commonality report.
    pub fn summary(&self) -> PathBuf {
        self.file("summary.md")
    }

    /// The optimizer's private checkout.
    pub fn checkout(&self) -> PathBuf {
        self.file("checkout")
    }

    /// The optimizer's private home and temporary folder; gone when the micro-step is done.
    pub fn private(&self) -> PathBuf {
        self.file("private")
    }

    /// Takes away what a killed call may have left and nobody wants: temporary files and, of a finished step, the
    /// optimizers' private folders.
    pub fn tidy(&self, finished: bool) -> Result<()> {
        files::sweep(&self.0)?;
        if finished {
            files::remove_dir(&self.private())?;
            files::remove_dir(&self.private_reduce())?;
        }
        Ok(())
    }

    /// The private folder of the call that reduces.
    pub fn private_reduce(&self) -> PathBuf {
        self.file("private_reduce")
    }

    /// Locked for as long as a process of the optimizer may live.
    pub fn hold(&self) -> PathBuf {
        self.file("agent.lock")
    }

    /// Moves the files of a failed attempt aside, as `*_attempt<n>*`.
    pub fn put_aside(&self, attempt: usize) -> Result<()> {
        for name in OF_AN_ATTEMPT {
            let from = self.file(name);
            if from.symlink_metadata().is_ok() {
                let (stem, end) =
                    name.split_once('.').map_or((*name, String::new()), |(stem, end)| (stem, format!(".{end}")));
                let to = self.file(&format!("{stem}_attempt{attempt}{end}"));
                if to.is_dir() {
                    files::remove_dir(&to)?;
                }
                files::rename(&from, &to)?;
            }
        }
        Ok(())
    }

    /// The highest attempt whose files were put aside here; 0 when there is none.
    pub fn last_attempt(&self) -> usize {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let number = |name: String| {
            name.split_once("_attempt").and_then(|(_, rest)| {
                rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
            })
        };
        names.filter_map(number).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_attempts_files_move_aside_and_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let step = StepDir::of_group(folder.path(), 3);
        assert!(step.path().ends_with("g03"));
        files::write(&step.file("backward.jsonl"), "x").unwrap();
        files::write(&step.file("memory_after/a.md"), "x").unwrap();
        assert_eq!(step.last_attempt(), 0);
        step.put_aside(2).unwrap();
        assert!(step.file("backward_attempt2.jsonl").is_file() && step.file("memory_after_attempt2/a.md").is_file());
        assert_eq!(step.last_attempt(), 2);
    }

    #[test]
    fn a_slug_is_a_safe_reference_part() {
        for (text, want) in [("a b/c", "a-b-c"), ("..", "step"), ("x.lock", "x.lock_"), ("a..b", "a-b"), ("é", "step")]
        {
            assert_eq!(slug(text), want, "{text}");
        }
    }
}
