//! The prompts of an optimizer that reads: slots filled from the pool and the evidence, everything bounded.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::hash::Hasher as _;

use super::{BackwardTask, Bounds, Memory, ReduceTask};
use crate::batch::{Evidence, Sample};
use crate::ground::error::Result;
use crate::ground::prompts::{Prompts, frame};
use crate::ground::text::clip;
use crate::pool::card::Card;
use crate::pool::headers;
use crate::pool::history::Record;
use crate::pool::profile::Profile;

/// What each part of a prompt may take: the headers in tokens (four bytes each, an estimate), the rest in bytes.
mod budget {
    pub(super) const HEADERS: usize = 12_000;
    pub(super) const HISTORY: usize = 6_000;
    pub(super) const SUMMARY: usize = 48_000;
    pub(super) const REJECTED: usize = 12_000;
    pub(super) const NOTES: usize = 8_000;
    pub(super) const READS: usize = 4_000;
    pub(super) const REPORTS: usize = 240_000;
}

/// The prompt of a backward pass's first turn.
pub fn backward(task: &BackwardTask<'_>, prompts: &Prompts) -> Result<String> {
    let reports: Vec<&str> = task.evidence.iter().map(|sample| sample.loss_report.as_str()).collect();
    let score = relevance(&reports);
    let headers = headers::headers(task.profile, task.cards, Some(budget::HEADERS), Some(&score));
    let slots = [
        ("policy", policy(task.profile, prompts)?),
        ("headers", headers.text),
        ("history", frame("history", "newest first", &clip(&history(task.history), budget::HISTORY))),
        ("memory", memory(task.memory)),
        ("summary", summary(task)),
        ("works", works(task.samples, task.evidence)),
        ("bounds", bounds(task.bounds)),
    ];
    prompts.render("backward", &slots)
}

/// The prompt of a repair turn. A client that cannot resume its session gets the first prompt before it.
pub fn repair(task: &BackwardTask<'_>, problems: &str, resumes: bool, prompts: &Prompts) -> Result<String> {
    let before = task.checkout.before().to_string();
    let text = prompts.render("repair", &[("problems", problems.trim_end().to_owned()), ("before", before)])?;
    if resumes { Ok(text) } else { Ok(format!("{}\n\n{text}", backward(task, prompts)?)) }
}

/// The prompt of a chat model's backward pass, with what has to be mended where it was done before.
pub(super) fn chat(task: &BackwardTask<'_>, prompts: &Prompts) -> Result<String> {
    let reports: Vec<&str> = task.evidence.iter().map(|sample| sample.loss_report.as_str()).collect();
    let score = relevance(&reports);
    let headers = headers::headers(task.profile, task.cards, Some(budget::HEADERS), Some(&score));
    let slots = [
        ("policy", policy(task.profile, prompts)?),
        ("headers", headers.text),
        ("memory", memory(task.memory)),
        ("summary", summary(task)),
        ("works", numbered(task.evidence)),
        ("bounds", bounds(task.bounds)),
    ];
    let text = prompts.render("backward-chat", &slots)?;
    let Some(repair) = &task.repair else { return Ok(text) };
    let mend = prompts.render("repair-chat", &[("problems", repair.problems.trim_end().to_owned())])?;
    Ok(format!("{text}\n\n{mend}"))
}

/// The works by number, with their reads.
fn numbered(evidence: &[Evidence]) -> String {
    let mut text = String::new();
    for (n, sample) in evidence.iter().enumerate() {
        let reads = if sample.reads.is_empty() { "(no file was opened)".to_owned() } else { sample.reads.join("\n") };
        let _ = writeln!(text, "{}. {}", n + 1, sample.title);
        text.push_str(&frame("reads of", &sample.title, &clip(&reads, budget::READS)));
    }
    text
}

/// The prompt of a reduce.
pub fn reduce(task: &ReduceTask<'_>, prompts: &Prompts) -> Result<String> {
    let share = budget::REPORTS / task.evidence.len().max(1);
    let reports: String = task
        .evidence
        .iter()
        .map(|sample| frame("loss report of", &sample.title, &clip(&sample.loss_report, share)) + "\n")
        .collect();
    prompts.render("reduce", &[("reports", reports)])
}

pub(super) fn policy(profile: &Profile, prompts: &Prompts) -> Result<String> {
    let folders: Vec<String> =
        profile.folders.iter().map(|folder| format!("- `{}/`: {}", folder.path, folder.purpose)).collect();
    prompts.render(
        "policy",
        &[
            ("front_matter", format!("`{}`", profile.card.front_matter.join("`, `"))),
            ("heading", profile.card.heading.clone()),
            ("guidance", format!("`{}`", profile.guidance_path())),
            ("max_lines", profile.limits.max_lines.to_string()),
            ("max_body_chars", profile.limits.max_body_chars.to_string()),
            ("max_description_chars", profile.limits.max_description_chars.to_string()),
            ("folders", folders.join("\n")),
        ],
    )
}

fn summary(task: &BackwardTask<'_>) -> String {
    let framed = |kind, name: &str, text: &str| frame(kind, name, &clip(text, budget::SUMMARY));
    match (task.summary, task.evidence) {
        (Some(text), _) => framed("commonality report", "", text),
        (None, [only]) => framed("loss report of", &only.title, &only.loss_report),
        (None, _) => String::new(),
    }
}

fn works(samples: &[Sample], evidence: &[Evidence]) -> String {
    let mut text = String::new();
    for (sample, read) in samples.iter().zip(evidence) {
        let reads = if read.reads.is_empty() { "(no file was opened)".to_owned() } else { read.reads.join("\n") };
        let _ = writeln!(text, "- {}", sample.title());
        let _ = writeln!(text, "  - loss report: {}", sample.loss_report.display());
        let _ = writeln!(text, "  - trajectory: {}", sample.trajectory.display());
        text.push_str(&frame("reads of", &sample.title(), &clip(&reads, budget::READS)));
    }
    text
}

fn history(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let changed: Vec<String> = record.changed.iter().map(|(letter, path)| format!("{letter} {path}")).collect();
        let _ = writeln!(text, "{} {}: {}", &record.commit[..9], record.subject, changed.join(", "));
    }
    text
}

fn bounds(bounds: Bounds) -> String {
    let touched = match bounds.learning_rate {
        Some(most) => format!("This step may touch at most {most} cards (created, changed and deleted together)"),
        None => "Touch as few cards as the evidence needs".to_owned(),
    };
    format!("{touched}, and delete at most {}.", bounds.max_deletions)
}

/// What training remembers, as a part of a prompt: nothing where there is nothing.
pub(super) fn memory(memory: Memory<'_>) -> String {
    let mut text = String::new();
    if !memory.rejected.trim().is_empty() {
        let framed = frame("rejected steps", "", &clip(memory.rejected, budget::REJECTED));
        let _ = writeln!(
            text,
            "# What was tried in this epoch and rejected\n\nThese edits were measured and did not help. Do not propose them \
             again unless you can say what would be different.\n\n{framed}"
        );
    }
    if !memory.meta_skill.trim().is_empty() {
        let framed = frame("notes", "", &clip(memory.meta_skill, budget::NOTES));
        let _ = writeln!(text, "# Your notes from earlier epochs\n\n{framed}");
    }
    text
}

/// How well a card fits some texts, for choosing which to show when not all fit.
pub(super) fn relevance(texts: &[&str]) -> impl Fn(&Card) -> f64 + use<> {
    let wanted: HashSet<u64> = texts.iter().flat_map(|text| words(text)).collect();
    move |card: &Card| overlap(card, &wanted)
}

/// How many of a card's different words the evidence uses, over the root of how many it has: a long description does
/// not win by its length alone.
fn overlap(card: &Card, wanted: &HashSet<u64>) -> f64 {
    let mut own: Vec<u64> = words(&card.description).chain(words(&card.path)).collect();
    own.sort_unstable();
    own.dedup();
    let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    count(own.iter().filter(|word| wanted.contains(word)).count()) / count(own.len().max(1)).sqrt()
}

/// The words of four letters and more, as hashes of their lower case. A pool has ten thousand descriptions: nothing
/// is allocated for them.
fn words(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(3).is_some()).map(|word| {
        let mut hasher = std::hash::DefaultHasher::new();
        word.chars().flat_map(char::to_lowercase).for_each(|c| hasher.write_u32(u32::from(c)));
        hasher.finish()
    })
}
