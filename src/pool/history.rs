//! What `git log` knows of the training: steps, their trailers, what each changed.

use std::collections::{HashMap, HashSet};

use git2::{Oid, Sort};
use serde::Serialize;

use super::repo::{Pool, wrap};
use crate::ground::error::Result;

/// The trailers of a step's commit.
pub mod trailer {
    /// The run that the step belongs to.
    pub const RUN: &str = "Skilltrain-Run";
    /// The step's label: one gradient, applied once.
    pub const STEP: &str = "Skilltrain-Step";
    /// Who edited.
    pub const OPTIMIZER: &str = "Skilltrain-Optimizer";
    /// The digest of the evidence.
    pub const EVIDENCE: &str = "Skilltrain-Evidence";
    /// Tokens that the step took.
    pub const TOKENS: &str = "Skilltrain-Tokens";
    /// Money that the step took, or "unknown".
    pub const COST: &str = "Skilltrain-Cost";
}

/// One commit of the pool's branch.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Its full id.
    pub commit: String,
    /// Unix time, seconds.
    pub time: i64,
    /// The first line of its message.
    pub subject: String,
    /// The works that its body lists ("shift-mon 01-06"); empty for a commit that is no step.
    pub works: Vec<String>,
    /// Its trailers, in their order.
    pub trailers: Vec<(String, String)>,
    /// Paths with what happened to them: 'A' added, 'M' changed, 'D' deleted.
    pub changed: Vec<(char, String)>,
    /// The later commit that takes it back (`git revert`), where the history was looked through for one.
    pub reverted_by: Option<String>,
    /// The commits that it takes back itself.
    #[serde(skip)]
    reverts: Vec<String>,
}

impl Record {
    /// A trailer's value.
    pub fn trailer(&self, key: &str) -> Option<&str> {
        self.trailers.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Whether a training step made this commit.
    pub fn is_step(&self) -> bool {
        self.trailer(trailer::STEP).is_some()
    }
}

/// A branch's history, walked once for all the questions that a pass has: a pass of a thousand steps must not walk a
/// thousand times.
#[derive(Debug, Default)]
pub struct Past {
    commits: HashSet<Oid>,
    steps: HashMap<(String, String), Oid>,
}

impl Past {
    /// Whether the history has this commit.
    pub fn has(&self, commit: Oid) -> bool {
        self.commits.contains(&commit)
    }

    /// The newest commit that a step of this label made of this evidence.
    pub fn step(&self, label: &str, evidence: &str) -> Option<Oid> {
        self.steps.get(&(label.to_owned(), evidence.to_owned())).copied()
    }
}

impl Pool {
    /// The branch's commits, newest first, at most `limit`. What each changed is left out unless asked for.
    pub fn history(&self, limit: usize, with_changes: bool) -> Result<Vec<Record>> {
        let mut taken_back = HashMap::new();
        let mut records = Vec::new();
        for id in self.walk(true)?.take(limit) {
            let mut record = self.record(id, with_changes)?;
            note_reverts(&mut record, &mut taken_back);
            records.push(record);
        }
        Ok(records)
    }

    /// The commits of the branch's history that a later one takes back, each with that one.
    pub fn reverts(&self) -> Result<HashMap<String, String>> {
        let mut taken_back = HashMap::new();
        for id in self.walk(true)? {
            note_reverts(&mut self.record(id, false)?, &mut taken_back);
        }
        Ok(taken_back)
    }

    /// The branch's whole history as of now, what a merge brought in too.
    pub fn past(&self) -> Result<Past> {
        let mut past = Past::default();
        for id in self.walk(false)? {
            let record = self.record(id, false)?;
            if let (Some(label), Some(evidence)) = (record.trailer(trailer::STEP), record.trailer(trailer::EVIDENCE)) {
                past.steps.entry((label.to_owned(), evidence.to_owned())).or_insert(id);
            }
            past.commits.insert(id);
        }
        Ok(past)
    }

    /// A local branch whose history has this commit, when there is one.
    pub fn branch_with(&self, commit: Oid) -> Result<Option<String>> {
        if self.repo.find_commit(commit).is_err() {
            return Ok(None);
        }
        let branches =
            self.repo.branches(Some(git2::BranchType::Local)).map_err(|error| wrap(error, "cannot list branches"))?;
        for (branch, _) in branches.flatten() {
            let tip = branch.get().target();
            let has = |tip| tip == commit || self.repo.graph_descendant_of(tip, commit).unwrap_or(false);
            if tip.is_some_and(has) {
                return Ok(branch.name().ok().flatten().map(str::to_owned));
            }
        }
        Ok(None)
    }

    /// Whether the history was cut off by a shallow clone, so that older steps cannot be seen.
    pub fn is_shallow(&self) -> bool {
        self.repo.is_shallow()
    }

    /// A commit's only parent; none for a root or a merge.
    pub fn only_parent(&self, commit: Oid) -> Result<Option<Oid>> {
        let commit = self.repo.find_commit(commit).map_err(|error| wrap(error, "cannot read a commit"))?;
        Ok(if commit.parent_count() == 1 { commit.parent_id(0).ok() } else { None })
    }

    /// A commit as a record.
    pub fn record(&self, id: Oid, with_changes: bool) -> Result<Record> {
        let commit = self.repo.find_commit(id).map_err(|error| wrap(error, "cannot read a commit"))?;
        let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
        let (works, trailers) = parse_body(&message);
        let changed = if with_changes { self.changed(&commit)? } else { Vec::new() };
        Ok(Record {
            commit: id.to_string(),
            time: commit.time().seconds(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
            works: if trailers.is_empty() { Vec::new() } else { works },
            trailers,
            changed,
            reverted_by: None,
            reverts: reverts(&message),
        })
    }

    fn changed(&self, commit: &git2::Commit<'_>) -> Result<Vec<(char, String)>> {
        let fail = |error| wrap(error, "cannot compare two commits");
        let old = match commit.parent(0) {
            Ok(parent) => Some(parent.tree().map_err(fail)?),
            Err(_) => None,
        };
        let new = commit.tree().map_err(fail)?;
        if old.as_ref().is_some_and(|old| old.id() == new.id()) {
            return Ok(Vec::new());
        }
        let diff = self.repo.diff_tree_to_tree(old.as_ref(), Some(&new), None).map_err(fail)?;
        Ok(diff
            .deltas()
            .map(|delta| {
                let (letter, file) = match delta.status() {
                    git2::Delta::Added => ('A', delta.new_file()),
                    git2::Delta::Deleted => ('D', delta.old_file()),
                    _ => ('M', delta.new_file()),
                };
                (letter, file.path_bytes().map(|path| String::from_utf8_lossy(path).into_owned()).unwrap_or_default())
            })
            .collect())
    }

    fn walk(&self, first_parents: bool) -> Result<impl Iterator<Item = Oid>> {
        let fail = |error| wrap(error, "cannot walk the pool's history");
        let mut walk = self.repo.revwalk().map_err(fail)?;
        walk.push(self.tip()?).map_err(fail)?;
        if first_parents {
            walk.simplify_first_parent().map_err(fail)?;
        }
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(fail)?;
        Ok(walk.flatten())
    }
}

/// Goes on from newer commits to an older one: what a revert that was itself reverted took back stands again.
fn note_reverts(record: &mut Record, taken_back: &mut HashMap<String, String>) {
    record.reverted_by = taken_back.get(&record.commit).cloned();
    if record.reverted_by.is_none() {
        taken_back.extend(record.reverts.iter().map(|id| (id.clone(), record.commit.clone())));
    }
}

/// The commits that a message of `git revert` names.
fn reverts(message: &str) -> Vec<String> {
    let named = message.split("This reverts commit ").skip(1);
    named
        .filter_map(|rest| rest.get(..40))
        .filter(|id| super::repo::parse_id(id).is_some())
        .map(str::to_owned)
        .collect()
}

/// A step's message: subject, a line a work, trailers.
pub fn message(subject: &str, works: &[String], trailers: &[(&str, String)]) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = format!("{}\n\n", one_line(subject));
    for work in works {
        text.push_str(&one_line(work));
        text.push('\n');
    }
    text.push('\n');
    for (key, value) in trailers {
        text.push_str(&format!("{key}: {}\n", one_line(value)));
    }
    text
}

/// The body's lines and the trailers of a message: only the last paragraph can hold trailers, and only ours count.
fn parse_body(message: &str) -> (Vec<String>, Vec<(String, String)>) {
    let mut paragraphs: Vec<&str> = message.trim_end().split("\n\n").skip(1).collect();
    let last = paragraphs.pop().unwrap_or_default();
    let trailers: Vec<(String, String)> = last
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(key, _)| key.starts_with("Skilltrain-"))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let works = paragraphs.iter().flat_map(|text| text.lines()).filter(|line| !line.is_empty());
    (works.map(str::to_owned).collect(), trailers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back_and_a_work_cannot_forge_a_trailer() {
        let works = ["ep 01-05".to_owned(), "evil\n\nSkilltrain-Step: x 01-02".to_owned()];
        let text = message("train\nx", &works, &[(trailer::STEP, "x-g01".into()), (trailer::EVIDENCE, "ab".into())]);
        assert_eq!(text.lines().next(), Some("train x"));
        let (read, trailers) = parse_body(&text);
        assert_eq!(read, ["ep 01-05", "evil Skilltrain-Step: x 01-02"]);
        assert_eq!(trailers, [("Skilltrain-Step".into(), "x-g01".into()), ("Skilltrain-Evidence".into(), "ab".into())]);
    }
}
