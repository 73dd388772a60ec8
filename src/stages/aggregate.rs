//! Aggregate: many analyses folded into one by a merge tree, whoever does the merging.

use crate::edit::Source;
use crate::ground::error::{Error, Result};
use crate::stages::reduce::side_by_side;

/// One merge of the tree, as the one who merges sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What its inputs were learnt from; none for the last merge, in which failures win over successes.
    pub source: Option<Source>,
    /// Height above the leaves, from 1.
    pub level: usize,
    /// Its place in its level, from 0.
    pub index: usize,
}

impl Node {
    /// A name for its files: `failures-1-00`, `last-3-00`.
    pub fn name(&self) -> String {
        let of = match self.source {
            Some(Source::Failures) => "failures",
            Some(Source::Successes) => "successes",
            None => "last",
        };
        format!("{of}-{}-{:02}", self.level, self.index)
    }
}

/// Merges what failures and what successes taught: a tree of `fan_in` for each, then both together, failures first. Merges
/// of a level run side by side on `workers` threads; the result does not depend on who ends first. An input that is alone
/// passes on unmerged. None when there is no input.
///
/// # Errors
/// Of kind `Usage` when `fan_in` is below 2 (such a tree has no end); the first error of `merge`, by place.
pub fn merge<T: Clone + Send + Sync>(
    failures: Vec<T>,
    successes: Vec<T>,
    fan_in: usize,
    workers: usize,
    merge: &(dyn Fn(Node, &[T]) -> Result<T> + Sync),
) -> Result<Option<T>> {
    if fan_in < 2 {
        return Err(Error::usage(format!("gradient.merge_batch_size is {fan_in}: merging needs 2 or more at a time"))
            .hint("set gradient.merge_batch_size to 2 or more; the default is 8"));
    }
    let (failures, height) = tree(failures, Source::Failures, fan_in, workers, merge)?;
    let (successes, other) = tree(successes, Source::Successes, fan_in, workers, merge)?;
    match (failures, successes) {
        (Some(failures), Some(successes)) => {
            let last = Node { source: None, level: height.max(other) + 1, index: 0 };
            merge(last, &[failures, successes]).map(Some)
        }
        (one, other) => Ok(one.or(other)),
    }
}

fn tree<T: Clone + Send + Sync>(
    leaves: Vec<T>,
    source: Source,
    fan_in: usize,
    workers: usize,
    merge: &(dyn Fn(Node, &[T]) -> Result<T> + Sync),
) -> Result<(Option<T>, usize)> {
    let (mut items, mut level) = (leaves, 0);
    while items.len() > 1 {
        level += 1;
        let groups: Vec<(usize, &[T])> = items.chunks(fan_in).enumerate().collect();
        let merged = side_by_side(&groups, workers, |(index, group)| match group {
            [alone] => Ok(alone.clone()),
            _ => merge(Node { source: Some(source), level, index: *index }, group),
        });
        items = merged.into_iter().collect::<Result<_>>()?;
    }
    Ok((items.pop(), level))
}

#[cfg(test)]
mod tests;
