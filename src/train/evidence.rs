//! A group's evidence, read and hashed before an optimizer runs, and hashed again after.

use std::path::{Path, PathBuf};

use crate::batch::{Evidence, Sample};
use crate::ground::digest;
use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::run::layout::StepDir;

/// An evidence file as it was read.
#[derive(Debug, Clone)]
pub struct Original {
    /// Where it lies.
    pub path: PathBuf,
    /// What it held.
    pub bytes: Vec<u8>,
}

/// One group of a batch. Its files are hashed when it is made and read only when it is trained on.
#[derive(Debug, Clone)]
pub struct Group {
    /// Its number, from 1.
    pub number: usize,
    /// Its label: one gradient, applied once.
    pub label: String,
    /// Its samples.
    pub samples: Vec<Sample>,
    /// The digest of all its evidence.
    pub digest: String,
    hashes: Vec<(PathBuf, String)>,
}

impl Group {
    /// Hashes a group's evidence: the samples' names, the bytes of their files wherever these lie, and the user's
    /// commonality report (`summary`), which is evidence too.
    pub fn hash(number: usize, label: &str, samples: &[Sample], summary: Option<&str>) -> Result<Group> {
        let mut parts: Vec<String> = Vec::new();
        let mut hashes = Vec::new();
        for sample in samples {
            parts.push(format!("{}\n{}\n{}", sample.work, sample.first, sample.last));
            for file in sample.files() {
                let is_report = file == sample.loss_report;
                let hash = digest::of(if is_report { read_report(file)?.into_bytes() } else { files::read(file)? });
                parts.push(hash.clone());
                hashes.push((file.to_owned(), hash));
            }
        }
        parts.extend(summary.map(digest::of));
        Ok(Group {
            number,
            label: format!("{label}-g{number:02}"),
            samples: samples.to_vec(),
            digest: digest::of_parts(parts.iter().map(String::as_bytes)),
            hashes,
        })
    }

    /// Writes `batch.json`: the samples as they were given, their paths absolute.
    pub fn write_batch(&self, dir: &StepDir) -> Result<()> {
        let absolute = |sample: &Sample| {
            let mut raw = sample.raw.clone();
            for (key, path) in ["loss_report", "reads", "trajectory"].into_iter().zip(sample.files()) {
                raw.insert(key.to_owned(), path.to_string_lossy().into_owned().into());
            }
            serde_json::Value::from(raw)
        };
        let samples: Vec<serde_json::Value> = self.samples.iter().map(absolute).collect();
        files::write_json(&dir.file("batch.json"), &samples)
    }

    /// Reads the samples' files, in the samples' order.
    pub fn evidence(&self) -> Result<Vec<Evidence>> {
        self.samples.iter().map(Sample::load).collect()
    }

    /// The bytes of all its files, as they were when it was hashed.
    ///
    /// Errors, kind `Failed`: one was changed since.
    pub fn originals(&self) -> Result<Vec<Original>> {
        let changed = self.changed();
        if !changed.is_empty() {
            let list = changed.join(", ");
            return Err(Error::failed(format!(
                "{}: the evidence was changed since this call began: {list}",
                self.label
            ))
            .hint("look at it: the optimizer of an earlier micro-step may have written it")
            .hint("run the same command to train on it as it is now"));
        }
        self.hashes.iter().map(|(path, _)| Ok(Original { path: path.clone(), bytes: files::read(path)? })).collect()
    }

    /// The samples' titles.
    pub fn works(&self) -> Vec<String> {
        self.samples.iter().map(Sample::title).collect()
    }

    /// Files whose bytes are not what they were when the group was hashed.
    pub fn changed(&self) -> Vec<String> {
        let now = |path: &PathBuf| files::read(path).map(digest::of).ok();
        let differing = self.hashes.iter().filter(|(path, hash)| now(path).as_ref() != Some(hash));
        differing.map(|(path, _)| path.display().to_string()).collect()
    }
}

/// Reads a loss report. One that is not UTF-8 is refused: a broken character of it could end up in a card.
fn read_report(path: &Path) -> Result<String> {
    files::read_text(path).map_err(|error| error.context("a loss report").with_kind(Kind::Usage))
}
