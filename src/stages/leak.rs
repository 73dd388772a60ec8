//! The leak scan: what a candidate took over from the tasks it is examined by.
//!
//! A card teaches by rules; one that holds a task's own words, its id, or an answer that was never taught has learnt the
//! examination instead.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::overlap::split_quotes;
use super::runs::{line_of, passage, runs, whole};
use super::split::Split;
use crate::task::{Place, Task};

/// Words in a row that make a passage a task's own.
pub const LEAKED_WORDS: usize = 8;

/// Answers of one word that say nothing by themselves.
const COMMON: &[&str] = &["yes", "no", "true", "false", "none", "null", "unknown", "all", "both", "neither", "other"];

/// What was found in a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A run of [`LEAKED_WORDS`] or more words of a task's input.
    Input,
    /// The same of its reference.
    Reference,
    /// Its id.
    Id,
    /// An answer that no train task holds.
    Answer,
}

/// One leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The card.
    pub card: String,
    /// The card's line, from 1, on which it begins.
    pub line: usize,
    /// What it is.
    pub kind: Kind,
    /// The task.
    pub task: String,
    /// The split that holds the task.
    pub split: &'static str,
    /// Where the task stands.
    pub place: Place,
    /// The card's words.
    pub passage: String,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::Input => format!("repeats the input of {} task", self.split),
            Kind::Reference => format!("repeats the reference of {} task", self.split),
            Kind::Id => format!("names {} task", self.split),
            Kind::Answer => format!("holds an answer that was never taught, of {} task", self.split),
        };
        let Leak { card, line, task, place, passage, .. } = self;
        write!(f, "{card}:{line}: {what} `{task}` ({place}): {passage:?}")
    }
}

/// One thing that must not be in a card.
#[derive(Debug, Clone)]
struct Mark {
    kind: Kind,
    task: usize,
}

/// What must not be in a card, prepared once for a run's splits.
pub struct Leaks {
    /// Task, split and place of each task.
    tasks: Vec<(String, &'static str, Place)>,
    /// Marks by length in words, then by run.
    marks: HashMap<usize, HashMap<u64, Mark>>,
    /// Ids by length in words, then by run.
    ids: HashMap<usize, HashMap<u64, usize>>,
}

impl Leaks {
    /// Prepares the scan of a run's splits.
    pub fn of(split: &Split) -> Leaks {
        let mut taught = Taught::of(&split.train);
        let mut leaks = Leaks { tasks: Vec::new(), marks: HashMap::new(), ids: HashMap::new() };
        // What is found in several splits is named after the one that matters most.
        let [train, selection, test] = split.all();
        for (name, tasks) in [test, selection, train] {
            for task in tasks {
                leaks.add(task, name, &mut taught);
            }
        }
        leaks
    }

    fn add(&mut self, task: &Task, split: &'static str, taught: &mut Taught) {
        let number = self.tasks.len();
        self.tasks.push((task.id.clone(), split, task.place.clone()));
        let answers = task.answers();
        let input = std::iter::once((Kind::Input, &task.input));
        for (kind, text) in input.chain(answers.iter().map(|answer| (Kind::Reference, answer))) {
            for (run, _) in runs(text, LEAKED_WORDS).filter(|(run, _)| !taught.advice.contains(run)) {
                self.mark(LEAKED_WORDS, run, &kind, number);
            }
        }
        if is_name(&task.id) && !taught.mentions(&task.id) {
            let (run, length) = whole(&task.id);
            self.ids.entry(length).or_default().entry(run).or_insert(number);
        }
        let untaught =
            answers.iter().filter(|answer| split != "train" && is_telling(answer) && !taught.mentions(answer));
        for answer in untaught {
            let (run, length) = whole(answer);
            self.mark(length, run, &Kind::Answer, number);
        }
    }

    fn mark(&mut self, length: usize, run: u64, kind: &Kind, task: usize) {
        self.marks.entry(length).or_default().entry(run).or_insert_with(|| Mark { kind: kind.clone(), task });
    }

    /// The leaks in a card's new text, by line, each task once. What the pool said already (`old`, its cards' texts) is
    /// not at issue, nor is what the step's loss reports (`taught`) say in their own voice: they were made of train tasks.
    pub fn find(&self, card: &str, text: &str, old: &[&str], taught: &[&str]) -> Vec<Leak> {
        let mut found: Vec<(usize, Leak)> = Vec::new();
        let advice: Vec<String> = taught.iter().flat_map(|report| split_quotes(report).0).collect();
        let allowed: Vec<&str> = old.iter().copied().chain(advice.iter().map(String::as_str)).collect();
        for (length, marks) in &self.marks {
            let hits: Vec<(usize, u64, &Mark)> =
                runs(text, *length).filter_map(|(run, at)| marks.get(&run).map(|mark| (at, run, mark))).collect();
            if hits.is_empty() {
                continue;
            }
            let known: HashSet<u64> = allowed.iter().flat_map(|text| runs(text, *length)).map(|(run, _)| run).collect();
            let fresh = hits.into_iter().filter(|(_, run, _)| !known.contains(run));
            found.extend(fresh.map(|(at, _, mark)| (at, self.leak(card, text, at, *length, mark))));
        }
        // An id is allowed where the pool has it, but not because a report is titled with it.
        for (length, ids) in &self.ids {
            for task in runs(text, *length).filter_map(|(run, _)| ids.get(&run)) {
                let id = &self.tasks[*task].0;
                let Some(at) = token(text, id).filter(|_| !old.iter().any(|text| token(text, id).is_some())) else {
                    continue;
                };
                let mark = Mark { kind: Kind::Id, task: *task };
                found.push((at, self.leak(card, text, at, 1, &mark)));
            }
        }
        found.sort_by_key(|(at, leak)| (leak.line, leak.kind.clone() as u8, *at));
        let mut named = HashSet::new();
        found.into_iter().map(|(_, leak)| leak).filter(|leak| named.insert(leak.task.clone())).collect()
    }

    fn leak(&self, card: &str, text: &str, at: usize, length: usize, mark: &Mark) -> Leak {
        let (task, split, place) = self.tasks[mark.task].clone();
        Leak {
            card: card.to_owned(),
            line: line_of(text, at),
            kind: mark.kind.clone(),
            task,
            split,
            place,
            passage: passage(text, at, length),
        }
    }
}

/// What the train split teaches.
struct Taught {
    /// Runs of words of the advice that its checks give.
    advice: HashSet<u64>,
    /// Inputs, references and advice of its tasks.
    texts: Vec<String>,
    /// All runs of their words, by length; made when a length is first asked for.
    held: HashMap<usize, HashSet<u64>>,
}

impl Taught {
    fn of(train: &[Task]) -> Taught {
        let (mut advice, mut texts) = (HashSet::new(), Vec::new());
        for task in train {
            let messages = task.checks.iter().filter_map(|check| check.get("message")?.as_str());
            for message in messages {
                advice.extend(runs(message, LEAKED_WORDS).map(|(run, _)| run));
                texts.push(message.to_owned());
            }
            texts.push(task.input.clone());
            texts.extend(task.answers());
        }
        Taught { advice, texts, held: HashMap::new() }
    }

    /// Whether a train task holds these words in a row.
    fn mentions(&mut self, text: &str) -> bool {
        let (run, length) = whole(text);
        let all = || self.texts.iter().flat_map(|text| runs(text, length)).map(|(run, _)| run).collect();
        self.held.entry(length).or_insert_with(all).contains(&run)
    }
}

/// Whether an id cannot be taken for an ordinary word or number.
fn is_name(id: &str) -> bool {
    let has = |of: fn(char) -> bool| id.chars().any(of);
    id.chars().count() >= 4 && has(char::is_alphabetic) && has(|c| !c.is_alphabetic() && !c.is_whitespace())
}

/// Whether an answer cannot be in a card by chance: more than a short number or a common word.
fn is_telling(answer: &str) -> bool {
    let letters: Vec<char> = answer.chars().filter(|c| c.is_alphanumeric()).collect();
    let digits = letters.iter().filter(|c| c.is_ascii_digit()).count();
    let mixed = digits > 0 && digits < letters.len();
    (letters.len() >= 3 || (mixed && letters.len() == 2)) && !COMMON.contains(&answer.trim().to_lowercase().as_str())
}

/// The first byte at which a name stands by itself in a text.
fn token(text: &str, name: &str) -> Option<usize> {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

#[cfg(test)]
mod tests;
