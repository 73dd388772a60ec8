//! The evidence of one backward pass: `batch.json`, its samples and their files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::ground::error::{Context as _, Error, Kind, Result};
use crate::ground::{files, text};

/// Characters that a work's name may have: it stands in commits and messages.
const LONGEST_NAME: usize = 200;

/// One work's evidence.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What was attempted.
    pub work: String,
    /// First and last part of the work that the evidence covers (both inclusive).
    pub first: u64,
    /// See `first`.
    pub last: u64,
    /// The loss report, absolute.
    pub loss_report: PathBuf,
    /// The read trace, absolute.
    pub reads: PathBuf,
    /// The transcript, absolute.
    pub trajectory: PathBuf,
    /// The sample as it was written, unknown keys included.
    pub raw: Map<String, Value>,
}

impl Sample {
    /// "shift-mon 01-06", as commits and reports name it.
    pub fn title(&self) -> String {
        format!("{} {:02}-{:02}", self.work, self.first, self.last)
    }

    /// The paths of the three evidence files.
    pub fn files(&self) -> [&Path; 3] {
        [&self.loss_report, &self.reads, &self.trajectory]
    }

    /// Reads the three files.
    pub fn load(&self) -> Result<Evidence> {
        Ok(Evidence {
            work: self.work.clone(),
            title: self.title(),
            loss_report: files::read_lossy(&self.loss_report)?,
            reads: read_lines(&files::read_lossy(&self.reads)?),
            trajectory: files::read_lossy(&self.trajectory)?,
        })
    }
}

/// A sample's files, read.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// What was attempted.
    pub work: String,
    /// The sample's title, with its parts.
    pub title: String,
    /// The loss report's Markdown.
    pub loss_report: String,
    /// The files that the agent opened, in order, as the trace names them.
    pub reads: Vec<String>,
    /// The transcript's Markdown.
    pub trajectory: String,
}

fn read_lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The samples of one backward pass.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The batch file, absolute.
    pub path: PathBuf,
    /// The samples in their order; never empty.
    pub samples: Vec<Sample>,
}

impl Batch {
    /// Reads and checks a batch file. Every fault is kind `Usage` and names the file, the index and the key.
    pub fn load(path: &Path) -> Result<Batch> {
        let path = files::canonical(path).context("cannot read the batch")?;
        let text = files::read_text(&path).map_err(|error| error.with_kind(Kind::Usage))?;
        let fault = |message: String| Error::usage(format!("{}: {message}", path.display()));
        let value: Value = serde_json::from_str(&text).map_err(|error| {
            let bom =
                if text.starts_with('\u{feff}') { " (it begins with a byte order mark: save it without)" } else { "" };
            fault(format!("not JSON: {error}{bom}"))
                .hint("a batch is a JSON list of samples; see `skilltrain backward --help`")
        })?;
        let Value::Array(items) = value else {
            return Err(fault("a batch is a JSON list of samples".into()));
        };
        if items.is_empty() {
            return Err(fault("the list is empty: there is nothing to learn from".into()));
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        let mut samples = Vec::with_capacity(items.len());
        let mut seen = HashMap::new();
        for (index, item) in items.into_iter().enumerate() {
            let sample = sample(item, folder).map_err(|message| fault(format!("sample {index}: {message}")))?;
            let key = (sample.work.clone(), sample.first, sample.last);
            if let Some(earlier) = seen.insert(key, index) {
                return Err(fault(format!("sample {index}: the same work, first and last as sample {earlier}")));
            }
            samples.push(sample);
        }
        Ok(Batch { path, samples })
    }

    /// Cuts the samples into groups of at most `size`, in order; 0 means one group.
    pub fn groups(&self, size: usize) -> Vec<&[Sample]> {
        self.samples.chunks(if size == 0 { self.samples.len() } else { size }).collect()
    }
}

fn sample(item: Value, folder: &Path) -> Result<Sample, String> {
    let Value::Object(raw) = item else {
        return Err("not an object".into());
    };
    let work = words(&raw, "work")?.to_owned();
    if work.chars().any(text::steers) || work.chars().count() > LONGEST_NAME {
        return Err(format!("key `work`: a name is one line of plain text, of at most {LONGEST_NAME} characters"));
    }
    let (first, last) = (number(&raw, "first")?, number(&raw, "last")?);
    if first > last {
        return Err(format!("key `last`: {last} is before `first`, {first}"));
    }
    Ok(Sample {
        work,
        first,
        last,
        loss_report: file(&raw, "loss_report", folder)?,
        reads: file(&raw, "reads", folder)?,
        trajectory: file(&raw, "trajectory", folder)?,
        raw,
    })
}

fn words<'a>(raw: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    match raw.get(key) {
        None => Err(format!("key `{key}` is missing")),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        Some(other) => {
            Err(format!("key `{key}`: a non-empty string is wanted, not {}", text::clip(&other.to_string(), 200)))
        }
    }
}

fn number(raw: &Map<String, Value>, key: &str) -> Result<u64, String> {
    match raw.get(key) {
        None => Err(format!("key `{key}` is missing")),
        Some(value) => value.as_u64().ok_or_else(|| {
            format!("key `{key}`: a whole number is wanted, not {}", text::clip(&value.to_string(), 200))
        }),
    }
}

fn file(raw: &Map<String, Value>, key: &str, folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join(words(raw, key)?);
    match std::fs::metadata(&path) {
        Ok(data) if data.is_file() => Ok(path),
        Ok(_) => Err(format!("key `{key}`: {} is not a file", path.display())),
        Err(error) => Err(format!("key `{key}`: cannot read {}: {error}", path.display())),
    }
}
