//! The loss report of a work, written from what evaluators said: Markdown that a person, a model and the extractive
//! optimizer read alike.

use std::fmt::Write as _;

use crate::score::Score;

/// Characters of an input or an answer that are quoted.
const QUOTED: usize = 280;
/// Characters of an answer that went well: it only has to be known again.
const QUOTED_RIGHT: usize = 140;

/// One attempt, scored.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// What the item is about, a few words; none leaves it to its question.
    pub title: Option<&'a str>,
    /// What the target was asked.
    pub input: &'a str,
    /// What came back.
    pub answer: &'a str,
    /// What the evaluator says.
    pub score: &'a Score,
}

/// The report of a work's attempts, in their order. Text that the target said or was asked stands in quotation marks on one
/// line, so that it can be told from advice; advice stands behind it in the evaluator's own words. The same attempts give
/// the same bytes.
///
/// Every attempt that failed is an item with its advice. Advice that several items share is counted once more below, for
/// that is what a rule is made of; what went right is listed last, in short.
pub fn report(work: &str, attempts: &[Attempt<'_>]) -> String {
    let right = attempts.iter().filter(|attempt| !attempt.score.is_failure()).count();
    let mut out = format!("# Loss report: {}\n\n", one_line(work));
    // Writing to a string cannot fail, here and below.
    write!(out, "{} attempted. Right: {right} of {}.\n\n", count(attempts.len(), "task"), attempts.len()).ok();
    if right < attempts.len() {
        out.push_str("## Task by task\n\n");
    }
    for (number, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| attempt.score.is_failure()) {
        out.push_str(&failed(number + 1, attempt));
    }
    let shared = shared(attempts);
    if !shared.is_empty() {
        out.push_str("\n## Across the tasks\n\n");
        for (advice, times) in shared {
            writeln!(out, "- {times} of {} replies need this. {advice}", attempts.len()).ok();
        }
    }
    if right > 0 {
        out.push_str(if right < attempts.len() { "\n## What went right\n\n" } else { "## What went right\n\n" });
    }
    for (number, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| !attempt.score.is_failure()) {
        let (input, answer) = (quote(attempt.input, QUOTED_RIGHT), quote(attempt.answer, QUOTED_RIGHT));
        writeln!(out, "- **{}** (right). Asked: {input} The reply is right: {answer}", label(number + 1, attempt)).ok();
    }
    out
}

fn failed(number: usize, attempt: &Attempt<'_>) -> String {
    let Score { soft, feedback, .. } = attempt.score;
    let part = if *soft > 0.0 { format!(", {:.0} % of it right", soft * 100.0) } else { String::new() };
    let reply = match attempt.answer.trim() {
        "" => "There is no reply.".to_owned(),
        answer => format!("The reply is wrong: {}", quote(answer, QUOTED)),
    };
    let label = label(number, attempt);
    let mut line = format!("- **{label}** (wrong{part}). Asked: {} {reply}", quote(attempt.input, QUOTED));
    for advice in feedback {
        line.push(' ');
        line.push_str(&sentence(advice));
    }
    line.push('\n');
    line
}

fn label(number: usize, attempt: &Attempt<'_>) -> String {
    match attempt.title.map(one_line).filter(|title| !title.is_empty()) {
        Some(title) => format!("{number}. {}", title.replace('*', "")),
        None => format!("{number}."),
    }
}

/// Advice that more than one item got, with how many, the most frequent first, then as it came.
fn shared(attempts: &[Attempt<'_>]) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for advice in
        attempts.iter().filter(|attempt| attempt.score.is_failure()).flat_map(|attempt| &attempt.score.feedback)
    {
        let advice = sentence(advice);
        match counts.iter_mut().find(|(known, _)| *known == advice) {
            Some((_, times)) => *times += 1,
            None => counts.push((advice, 1)),
        }
    }
    counts.retain(|(_, times)| *times > 1);
    counts.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    counts
}

/// Text in quotation marks on one line, at most `limit` characters of it: its own quotation marks become single ones, and
/// what could pass for Markdown's structure is on no line of its own.
fn quote(text: &str, limit: usize) -> String {
    let line = one_line(text).replace(['"', '“', '”'], "'");
    let cut: String = line.chars().take(limit).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("\"{}{more}\"", cut.trim_end())
}

/// Advice as a sentence on one line.
fn sentence(text: &str) -> String {
    let line = one_line(text);
    if line.ends_with(['.', '!', '?', ':', '"', ')', '`', '…']) { line } else { format!("{line}.") }
}

/// A text on one line, without control characters.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests;
