//! The three splits of the tasks: what trains, what selects, what is only looked at in the end. None shares a task.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::str::FromStr;

use crate::ground::error::{Error, Kind, Result};
use crate::ground::files;
use crate::ground::random::Random;
use crate::task::{self, Task};

/// The splits by name, in the order of ratios.
pub const NAMES: [&str; 3] = ["train", "selection", "test"];

/// A ratio of train, selection and test, such as `2:1:7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio(pub [u32; 3]);

impl FromStr for Ratio {
    type Err = Error;

    fn from_str(text: &str) -> Result<Ratio> {
        let wrong = || {
            Error::usage(format!("data.split_ratio is {text:?}, not three whole numbers"))
                .hint("write train:selection:test, for instance \"2:1:7\"; the first must be 1 or more")
        };
        let parts: Vec<u32> = text.split(':').map_while(|part| part.trim().parse().ok()).collect();
        let numbers: [u32; 3] = parts.try_into().map_err(|_| wrong())?;
        if numbers[0] == 0 || text.split(':').count() != 3 { Err(wrong()) } else { Ok(Ratio(numbers)) }
    }
}

impl Ratio {
    /// How many of `n` go to each split: the largest remainder method (Hamilton's), ties to the earlier split.
    pub fn counts(self, n: usize) -> [usize; 3] {
        let total: u128 = self.0.iter().map(|part| u128::from(*part)).sum::<u128>().max(1);
        let exact = self.0.map(|part| u128::from(part) * n as u128);
        let mut counts = exact.map(|share| (share / total) as usize);
        let mut order = [0, 1, 2];
        order.sort_by_key(|split| std::cmp::Reverse(exact[*split] % total));
        let missing = n - counts.iter().sum::<usize>();
        order.iter().take(missing).for_each(|split| counts[*split] += 1);
        counts
    }
}

/// The tasks of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Tasks that train.
    pub train: Vec<Task>,
    /// Tasks by which the gate decides.
    pub selection: Vec<Task>,
    /// Tasks that are opened once, at the end.
    pub test: Vec<Task>,
}

impl Split {
    /// Splits tasks by ratio. The same tasks, ratio and seed give the same split on every machine. Tasks of one group, and
    /// tasks whose inputs are the same, stay together, so that counts are met as nearly as whole groups allow. Within a
    /// split tasks keep their order.
    pub fn by_ratio(tasks: Vec<Task>, ratio: Ratio, seed: u64) -> Split {
        let wanted = ratio.counts(tasks.len());
        let mut units = units(&tasks);
        Random::of(seed, "split").shuffle(&mut units);
        // Large groups first: the small ones then even out what those left.
        units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
        let mut filled = [0_usize; 3];
        let mut home = vec![0; tasks.len()];
        for unit in units {
            let room = |split: &usize| wanted[*split] as i64 - filled[*split] as i64;
            // `max_by_key` takes the last of equals; ties go to the earlier split.
            let split = (0..3).rev().filter(|split| ratio.0[*split] > 0).max_by_key(room).unwrap_or(0);
            filled[split] += unit.len();
            unit.into_iter().for_each(|task| home[task] = split);
        }
        let mut splits: [Vec<Task>; 3] = Default::default();
        tasks.into_iter().zip(home).for_each(|(task, split)| splits[split].push(task));
        let [train, selection, test] = splits;
        Split { train, selection, test }
    }

    /// Reads `train.jsonl`, `selection.jsonl` and `test.jsonl` of a folder. The last two may be missing; what was written
    /// empty stays empty.
    ///
    /// # Errors
    /// As [`task::load`]; of kind `Usage` when there is no `train.jsonl`.
    pub fn read(folder: &Path) -> Result<Split> {
        let [train, selection, test] = NAMES.map(|name| {
            let path = folder.join(format!("{name}.jsonl"));
            match files::read_if_there(&path).map_err(|error| error.with_kind(Kind::Usage))? {
                None if name == "train" => Err(Error::usage(format!("there is no {}", path.display()))
                    .hint("a folder of splits holds train.jsonl, selection.jsonl and test.jsonl")),
                Some(bytes) if bytes.trim_ascii().is_empty() && name != "train" => Ok(Vec::new()),
                None => Ok(Vec::new()),
                Some(_) => task::load(&path),
            }
        });
        Ok(Split { train: train?, selection: selection?, test: test? })
    }

    /// The files of this split by name, as [`Split::read`] reads them.
    pub fn files(&self) -> [(String, String); 3] {
        let [train, selection, test] = self.all().map(|(name, tasks)| (format!("{name}.jsonl"), task::render(tasks)));
        [train, selection, test]
    }

    /// Writes the three files into a folder, each whole.
    ///
    /// # Errors
    /// Of I/O, naming the path.
    pub fn write(&self, folder: &Path) -> Result<()> {
        self.files().iter().try_for_each(|(name, text)| files::write(&folder.join(name), text))
    }

    /// The splits with their names.
    pub fn all(&self) -> [(&'static str, &[Task]); 3] {
        [(NAMES[0], &self.train), (NAMES[1], &self.selection), (NAMES[2], &self.test)]
    }

    /// Refuses a split that would let a task be learnt and examined, and one that a gate cannot judge by.
    ///
    /// # Errors
    /// Of kind `Usage`: the same id or the same input (white space and case aside) in two splits, naming both lines; a
    /// group in two splits; no task to train on; no task to select by while the gate is on.
    pub fn check(&self, use_gate: bool) -> Result<()> {
        self.nothing_shared()?;
        if self.train.is_empty() {
            return Err(Error::usage("the train split is empty")
                .hint("give more tasks, or raise the first number of data.split_ratio"));
        }
        if self.selection.is_empty() && use_gate {
            return Err(Error::usage("the selection split is empty, and the gate decides by it")
                .hint("give it tasks (selection.jsonl, or the second number of data.split_ratio), or set evaluation.use_gate = false"));
        }
        Ok(())
    }

    fn nothing_shared(&self) -> Result<()> {
        let mut seen: HashMap<(&str, String), (usize, &Task)> = HashMap::new();
        for (split, (name, tasks)) in self.all().into_iter().enumerate() {
            for task in tasks {
                let mut marks = vec![("id", task.id.clone()), ("input", normalised(&task.input))];
                marks.extend(task.group.clone().map(|group| ("group", group)));
                for mark in marks {
                    let what = mark.0;
                    match seen.get(&mark) {
                        Some((other, earlier)) if *other != split => {
                            return Err(shared(what, task, name, earlier, NAMES[*other]));
                        }
                        Some(_) => {}
                        None => drop(seen.insert(mark, (split, task))),
                    }
                }
            }
        }
        Ok(())
    }
}

fn shared(what: &str, task: &Task, name: &str, earlier: &Task, other: &str) -> Error {
    let same = match what {
        "id" => format!("task `{}`", task.id),
        "input" => format!("the input of `{}` and `{}`", earlier.id, task.id),
        _ => format!("group `{}`", task.group.as_deref().unwrap_or_default()),
    };
    Error::usage(format!("{same} is in two splits: {other} ({}) and {name} ({})", earlier.place, task.place))
        .hint("a task that is trained on says nothing when it is examined: keep it in one split")
}

/// An input as it is compared: in lower case, white space folded.
fn normalised(input: &str) -> String {
    input.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The places of tasks that belong together: by group, and by the same input.
fn units(tasks: &[Task]) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..tasks.len()).collect();
    let mut first: HashMap<(bool, String), usize> = HashMap::new();
    for (place, task) in tasks.iter().enumerate() {
        let input = Some((false, normalised(&task.input)));
        for mark in [input, task.group.clone().map(|group| (true, group))].into_iter().flatten() {
            let other = *first.entry(mark).or_insert(place);
            let (one, two) = (find(&leader, other), find(&leader, place));
            leader[one.max(two)] = one.min(two);
        }
    }
    let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for place in 0..tasks.len() {
        units.entry(find(&leader, place)).or_default().push(place);
    }
    units.into_values().collect()
}

fn find(leader: &[usize], mut place: usize) -> usize {
    while leader[place] != place {
        place = leader[place];
    }
    place
}

#[cfg(test)]
mod tests;
