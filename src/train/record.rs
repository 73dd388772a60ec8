//! What a micro-step leaves in its folder: transcript, usage, patch, snapshots, and the report of what it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ground::error::{AtPath as _, Result};
use crate::ground::files;
use crate::optimizer::Turn;
use crate::pool::Oid;
use crate::pool::history::trailer;
use crate::run::event::{StepReport, StepState};
use crate::run::layout::StepDir;
use crate::train::context::Context;
use crate::train::evidence::Group;
use crate::trajectory::Usage;

/// Writes a turn's transcript, reads and report.
pub fn turn(dir: &StepDir, turn: &Turn) -> Result<()> {
    files::write(&dir.file("backward_trajectory.md"), &turn.trajectory)?;
    let reads: String = turn.reads.iter().map(|path| format!("{path}\n")).collect();
    files::write(&dir.file("backward_reads.txt"), reads)?;
    files::write(&dir.file("report.md"), format!("{}\n", turn.report.trim_end()))
}

/// One call's usage, one line of `usage.jsonl`.
#[derive(Serialize, Deserialize)]
struct Spent {
    call: String,
    usage: Option<Usage>,
}

/// Notes what an attempt took; noted twice (after a crash) it counts once.
pub fn usage(dir: &StepDir, attempt: usize, turn: &Turn) -> Result<()> {
    spent(dir, &format!("attempt {attempt}"), turn.usage)
}

/// Notes what a call took, under its name.
pub fn spent(dir: &StepDir, call: &str, usage: Option<Usage>) -> Result<()> {
    let path = dir.file("usage.jsonl");
    let mut calls = read_spent(dir)?;
    calls.insert(call.to_owned(), usage);
    let lines = calls.into_iter().filter_map(|(call, usage)| serde_json::to_string(&Spent { call, usage }).ok());
    files::write(&path, lines.map(|line| line + "\n").collect::<String>())
}

/// What all calls of a micro-step took; none when one of them did not tell.
pub fn total_usage(dir: &StepDir) -> Result<Option<Usage>> {
    let mut total = Usage::default();
    for usage in read_spent(dir)?.into_values() {
        let Some(usage) = usage else {
            return Ok(None);
        };
        total += usage;
    }
    Ok(Some(total))
}

fn read_spent(dir: &StepDir) -> Result<BTreeMap<String, Option<Usage>>> {
    let bytes = files::read_if_there(&dir.file("usage.jsonl"))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Spent>(line).ok());
    Ok(lines.map(|spent| (spent.call, spent.usage)).collect())
}

/// Writes `memory.patch`, `memory_before/` and `memory_after/`.
pub fn snapshots(context: &Context<'_>, dir: &StepDir, before: Oid, after: Oid) -> Result<()> {
    let pool = &context.pool;
    files::write(&dir.file("memory.patch"), pool.patch(before, after)?)?;
    let touched: Vec<String> = pool.changes(before, after)?.into_keys().collect();
    for (name, commit) in [("memory_before", before), ("memory_after", after)] {
        let folder = dir.file(name);
        files::remove_dir(&folder)?;
        files::create_dir(&folder)?;
        let there = pool.files(commit)?;
        let paths =
            if context.options.snapshot_full { there.keys().collect() } else { touched.iter().collect::<Vec<_>>() };
        for (path, entry) in paths.into_iter().filter_map(|path| there.get_key_value(path)) {
            let place = folder.join(path);
            files::create_dir(place.parent().unwrap_or(&folder))?;
            plain(&place, &pool.blob(entry.id)?)?;
        }
    }
    Ok(())
}

/// A snapshot's file: the pool's history holds the same bytes, so it need not be flushed one by one.
fn plain(path: &std::path::Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path).at("create", path)?;
    file.write_all(bytes).at("write", path)
}

/// What a finished step did, read from the pool's history.
pub fn report(
    context: &Context<'_>,
    group: &Group,
    dir: &StepDir,
    before: Oid,
    after: Oid,
    state: StepState,
) -> Result<StepReport> {
    let pool = &context.pool;
    let commit = pool.record(after, false)?;
    let trailer = |key| commit.trailer(key).unwrap_or("unknown");
    let mut report = StepReport {
        label: group.label.clone(),
        state,
        optimizer: trailer(trailer::OPTIMIZER).to_owned(),
        reverted_by: None,
        report: Some(dir.file("report.md"))
            .filter(|path| path.is_file())
            .map(|path| path.to_string_lossy().into_owned()),
        before: before.to_string(),
        after: after.to_string(),
        subject: commit.subject.clone(),
        works: group.works(),
        created: Vec::new(),
        changed: Vec::new(),
        merged: Vec::new(),
        deleted: Vec::new(),
        tokens: trailer(trailer::TOKENS).parse().ok(),
        cost_usd: trailer(trailer::COST).strip_prefix('$').and_then(|cost| cost.parse().ok()),
        folder: dir.path().to_owned(),
    };
    let mut kept: Vec<(String, String)> = Vec::new();
    let mut gone: Vec<(String, String)> = Vec::new();
    let there = pool.files(before)?;
    for (path, new) in pool.changes(before, after)? {
        let old = there.get(&path).map(|entry| pool.blob(entry.id)).transpose()?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        match (old, new) {
            (Some(old), None) => gone.push((path, text(old))),
            (None, Some(entry)) => {
                report.created.push(path.clone());
                kept.push((path, text(pool.blob(entry.id)?)));
            }
            (_, Some(entry)) => {
                report.changed.push(path.clone());
                kept.push((path, text(pool.blob(entry.id)?)));
            }
            (None, None) => {}
        }
    }
    for (path, text) in gone {
        match merged_into(&text, &kept) {
            Some(into) => report.merged.push((path, into)),
            None => report.deleted.push(path),
        }
    }
    Ok(report)
}

/// The card that took over at least half of a deleted card's rule lines.
fn merged_into(gone: &str, kept: &[(String, String)]) -> Option<String> {
    let lines: Vec<&str> = rule_lines(gone).collect();
    let shared = |text: &str| {
        let there: Vec<&str> = rule_lines(text).collect();
        lines.iter().filter(|line| there.contains(line)).count()
    };
    let best = kept
        .iter()
        .map(|(path, text)| (shared(text), path))
        .max_by(|one, two| one.0.cmp(&two.0).then(two.1.cmp(one.1)));
    best.filter(|(count, _)| *count > 0 && *count * 2 >= lines.len()).map(|(_, path)| path.clone())
}

fn rule_lines(card: &str) -> impl Iterator<Item = &str> {
    card.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("---") && !line.starts_with("description:")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_card_whose_rules_live_on_was_merged() {
        let kept = [
            ("a.md".to_owned(), "## Rules\n- one\n- two\n- three\n".to_owned()),
            ("b.md".to_owned(), "- four\n".to_owned()),
        ];
        assert_eq!(merged_into("---\ndescription: x\n---\n\n## Rules\n- one\n- four x\n", &kept), Some("a.md".into()));
        assert_eq!(merged_into("## Rules\n- one\n- 2\n- 3\n", &kept), None);
        assert_eq!(merged_into("", &kept), None);
    }
}
