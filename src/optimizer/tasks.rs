//! The inputs of an optimizer's operations that need no checkout: they return typed edits, or text.

use serde::{Deserialize, Serialize};

use super::Desk;
use crate::batch::Evidence;
use crate::edit::{Edit, Source};
use crate::pool::card::Card;
use crate::pool::profile::Profile;
use crate::trajectory::Usage;

/// How an analysis says what is to change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateMode {
    /// Edits inside cards: `append`, `insert_after`, `replace`, `delete`, and those of whole cards.
    #[default]
    Patch,
    /// Suggestions in words (`suggest`), from which [`super::Optimizer::rewrite`] makes the new cards.
    RewriteFromSuggestions,
    /// Whole cards anew (`rewrite`), and new ones.
    FullRewrite,
}

/// What training remembers, told with every question. Markdown; empty when there is nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Memory<'a> {
    /// The steps of this epoch that were rejected: their edits and what these did to the scores.
    pub rejected: &'a str,
    /// The optimizer's own notes from earlier epochs.
    pub meta_skill: &'a str,
}

/// Where a question is asked: a place for recordings and a desk for files.
#[derive(Debug, Clone)]
pub struct Seat<'a> {
    /// The place in the run, such as `epoch_00/step_01/reflect/failures-03`.
    pub place: String,
    /// Where an agent client leaves its files; a chat model needs none.
    pub desk: Desk,
    /// What training remembers.
    pub memory: Memory<'a>,
}

/// A pool as an optimizer without a checkout sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Its profile.
    pub profile: &'a Profile,
    /// Its cards.
    pub cards: &'a [Card],
}

/// The inputs of an analysis: one minibatch of attempts, all failed or all right.
pub struct AnalyseTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// Whether the attempts failed.
    pub source: Source,
    /// The attempts.
    pub evidence: &'a [Evidence],
    /// The pool that they were made with.
    pub sight: Sight<'a>,
    /// How changes are said.
    pub mode: UpdateMode,
    /// Edits that are wanted at most; at least 1.
    pub most: usize,
}

/// The inputs of a merge of several lists of edits into one.
pub struct MergeTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// What all of them were learnt from; none where failures (first) and successes meet.
    pub source: Option<Source>,
    /// The lists.
    pub lists: &'a [Vec<Edit>],
    /// The pool.
    pub sight: Sight<'a>,
    /// How changes are said.
    pub mode: UpdateMode,
}

/// The inputs of a ranking.
pub struct RankTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// The edits.
    pub edits: &'a [Edit],
    /// How many will be made; none asks the optimizer for that number too.
    pub budget: Option<usize>,
}

/// A ranking.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranking {
    /// Places in the list of edits, from 0, best first. May be incomplete.
    pub order: Vec<usize>,
    /// How many to make, where that was asked.
    pub budget: Option<usize>,
}

/// The inputs of a rewrite: cards made anew from the suggestions that were selected.
pub struct RewriteTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// The pool.
    pub sight: Sight<'a>,
    /// The suggestions (`suggest`) and edits of whole cards that were selected, best first.
    pub suggestions: &'a [Edit],
}

/// The inputs of a repair: edits that did not fit, or a candidate that its checks refused.
pub struct RepairTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// The pool that the edits were meant for.
    pub sight: Sight<'a>,
    /// The edits as they were.
    pub edits: &'a [Edit],
    /// What is wrong, Markdown, a line each.
    pub problems: &'a str,
    /// How changes are said.
    pub mode: UpdateMode,
}

/// One train task under the pools of two epochs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The task's id.
    pub task: String,
    /// What was asked.
    pub input: String,
    /// What became of it.
    pub change: Change,
    /// The answers: with the earlier pool, with the later one.
    pub answers: [String; 2],
    /// The hard scores, in the same order.
    pub scores: [f64; 2],
    /// What the evaluator says of the later answer.
    pub feedback: Vec<String>,
}

/// What became of a task between two epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Better than before.
    Improved,
    /// Worse than before.
    Regressed,
    /// Failed both times.
    PersistentFailure,
    /// Right both times.
    StableSuccess,
}

/// The inputs of a slow update.
pub struct SlowTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// The later pool.
    pub sight: Sight<'a>,
    /// The tasks that are told, in the order of the sample.
    pub pairs: &'a [Pair],
    /// The guidance that stands in the pool now; empty when there is none.
    pub guidance: &'a str,
}

/// The inputs of a meta skill.
pub struct MetaTask<'a> {
    /// Where it is asked.
    pub seat: Seat<'a>,
    /// The epoch's steps with their edits, scores and verdicts, Markdown.
    pub story: &'a str,
}

/// An operation's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said<T> {
    /// The result.
    pub value: T,
    /// What of the reply could not be read, a line each; told once to the optimizer already.
    pub unread: Vec<String>,
    /// What an agent client says it took. None for a chat model, whose calls the account counts by themselves, and
    /// where nobody tells.
    pub usage: Option<Usage>,
}

impl<T> Said<T> {
    /// A result that cost nothing.
    pub fn free(value: T) -> Said<T> {
        Said { value, unread: Vec::new(), usage: Some(Usage { cost_usd: Some(0.0), ..Usage::default() }) }
    }
}
