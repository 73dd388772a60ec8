//! What an evaluation came to, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Answer;
use super::measuring::Setting;
use crate::ground::error::{Error, Kind, Result};
use crate::llm::Role;
use crate::stages::rollout::{self, Ending, Measured};
use crate::task::Task;

/// The results of one evaluation.
pub(super) struct Scores<'a> {
    /// What was measured, and how.
    pub(super) setting: &'a Setting,
    /// The target's name.
    pub(super) target: &'a str,
    /// How a model saw the pool; none for another target.
    pub(super) mode: Option<&'static str>,
    /// The split's name, when there is one.
    pub(super) split: Option<&'a str>,
    /// Attempts at each task.
    pub(super) repeats: u32,
    /// What became of each, in their order.
    pub(super) measured: &'a [Measured],
}

impl Scores<'_> {
    /// How many tasks have a score.
    pub(super) fn scored(&self) -> usize {
        self.measured.iter().filter(|measured| measured.score().is_some()).count()
    }

    /// Why tasks have no score: those that the provider lost, those that the evaluator could not score.
    fn missing(&self) -> [Vec<(&Task, &str)>; 2] {
        let (mut lost, mut unscored) = (Vec::new(), Vec::new());
        for (task, measured) in self.setting.tasks.iter().zip(self.measured) {
            match &measured.end {
                Ending::Scored(_) => {}
                Ending::Lost(why) => lost.push((task, why.as_str())),
                Ending::Unscored(why) => unscored.push((task, why.as_str())),
            }
        }
        [lost, unscored]
    }

    /// Refuses to speak of means when too few tasks were measured.
    ///
    /// # Errors
    /// Of kind `Unreachable` when it is the provider's doing, else `Failed`; how many of how many, and the first reason.
    pub(super) fn check_coverage(&self, least: f64) -> Result<()> {
        let (scored, all) = (self.scored(), self.setting.tasks.len());
        if scored > 0 && scored as f64 >= least * all as f64 {
            return Ok(());
        }
        let [lost, unscored] = self.missing();
        let kind = if lost.is_empty() { Kind::Failed } else { Kind::Unreachable };
        let reasons = [("without an answer", lost), ("that the evaluator could not score", unscored)];
        let reasons = reasons.iter().filter_map(|(what, tasks)| {
            let (task, why) = tasks.first()?;
            Some(format!("{} {what} (`{}`: {why})", tasks.len(), task.id))
        });
        let reasons: Vec<String> = reasons.collect();
        let text =
            format!("{scored} of {all} tasks have a score, and --min-coverage is {least}: {}", reasons.join("; "));
        Err(Error::new(kind, text)
            .hint("what was answered is kept: run the same command again, and only the rest is attempted"))
    }

    /// The answer of the command.
    pub(super) fn answer(&self) -> Answer {
        Answer::new(self.text(), self.json())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |key: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key:<10}{value}");
        };
        let (all, scored) = (self.setting.tasks.len(), self.scored());
        line("pool", self.setting.described());
        line("target", self.mode.map_or(self.target.to_owned(), |mode| format!("{}, {mode}", self.target)));
        let split = self.split.map(|split| format!(" of the {split} split")).unwrap_or_default();
        let times = if self.repeats > 1 { format!(", {} attempts at each", self.repeats) } else { String::new() };
        line("tasks", format!("{scored} of {all}{split} measured{times}"));
        if let Some((hard, soft)) = rollout::means(self.measured) {
            line("hard", format!("{hard:.4}"));
            line("soft", format!("{soft:.4}"));
        }
        let reused = self.measured.iter().filter(|measured| measured.reused).count();
        line("answers", format!("{} new, {reused} used again", scored.max(self.answered()) - reused));
        // A program's calls are its own affair.
        if self.mode.is_some() {
            line("calls", self.setting.paid(Role::Target).unwrap_or_default().to_string());
        }
        if let Some(sums) = self.setting.paid(Role::Judge) {
            line("judge", sums.to_string());
        }
        line("files", self.setting.out.join("rollouts").display().to_string());
        self.failures(&mut text);
        let [lost, unscored] = self.missing();
        for (title, tasks) in [("No answer (the provider failed)", lost), ("No score (the evaluator failed)", unscored)]
        {
            if !tasks.is_empty() {
                let _ = write!(text, "\n{title}:\n");
                for (task, why) in tasks {
                    let _ = writeln!(text, "  {}  {why}", task.id);
                }
            }
        }
        text
    }

    fn answered(&self) -> usize {
        self.measured.iter().filter(|measured| measured.digest.is_some()).count()
    }

    /// The table of tasks that were not all right, each with what was wrong.
    fn failures(&self, text: &mut String) {
        let failed = || {
            let rows = self.setting.tasks.iter().zip(self.measured);
            rows.filter_map(|(task, measured)| Some((task, measured.score().filter(|score| score.is_failure())?)))
        };
        let Some(width) = failed().map(|(task, _)| task.id.chars().count().max("failed".len())).max() else { return };
        let _ = write!(text, "\n{:<width$}  hard  soft  what was wrong\n", "failed");
        for (task, score) in failed() {
            let feedback: Vec<&str> = score.feedback.iter().flat_map(|line| line.split_whitespace()).collect();
            let feedback = feedback.join(" ");
            let row = format!("{:<width$}  {:.2}  {:.2}  {feedback}", task.id, score.hard, score.soft);
            let _ = writeln!(text, "{}", row.trim_end());
        }
    }

    fn json(&self) -> Value {
        let Setting { pool, view, .. } = self.setting;
        let means = rollout::means(self.measured);
        let rows = self.setting.tasks.iter().zip(self.measured).map(|(task, measured)| {
            let mut row = json!({ "id": task.id, "rollout": measured.digest, "reused": measured.reused });
            match &measured.end {
                Ending::Scored(score) => {
                    row["hard"] = json!(score.hard);
                    row["soft"] = json!(score.soft);
                    row["feedback"] = json!(score.feedback);
                }
                Ending::Lost(why) => row["lost"] = json!(why),
                Ending::Unscored(why) => row["unscored"] = json!(why),
            }
            row
        });
        let rows: Vec<Value> = rows.collect();
        let [lost, unscored] = self.missing().map(|tasks| tasks.len());
        json!({
            "pool": pool.root().to_string_lossy(), "commit": view.commit, "cards": view.cards.len(),
            "target": self.target, "mode": self.mode, "split": self.split, "repeats": self.repeats, "tasks": self.setting.tasks.len(),
            "measured": self.scored(), "lost": lost, "unscored": unscored,
            "reused": self.measured.iter().filter(|measured| measured.reused).count(),
            "hard": means.map(|(hard, _)| hard), "soft": means.map(|(_, soft)| soft),
            "usage": self.setting.shared.ledger.total(), "judge_usage": self.setting.paid(Role::Judge), "results": rows,
        })
    }
}
