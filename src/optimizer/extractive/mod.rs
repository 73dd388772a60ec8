//! The built-in optimizer: deterministic, no model, no network. A baseline that a reader can check by hand.

mod optimizer;

pub use optimizer::Extractive;

use super::Bounds;
use crate::batch::Evidence;
use crate::pool::card::Card;
use crate::pool::profile::Profile;

/// One change of the pool's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Create the card or put this text in its place: the whole file.
    Write { path: String, text: String },
    /// Delete the card.
    Remove { path: String },
}

/// What the optimizer decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The changes, at most one a path, in path order. Empty: nothing was worth changing.
    pub changes: Vec<Change>,
    /// Markdown: each decision with the works behind it, and what was left alone and why.
    pub report: String,
}

/// Folds the loss reports of a group into one commonality report (Markdown), every work named.
pub fn reduce(_evidence: &[Evidence]) -> String {
    unimplemented!("being written")
}

/// Decides what to change. A pure function: same inputs, same bytes.
///
/// `summary` is a commonality report given by the user in place of the loss reports (`--summary`): when there,
/// findings are taken from it.
pub fn plan(
    _evidence: &[Evidence],
    _summary: Option<&str>,
    _cards: &[Card],
    _profile: &Profile,
    _bounds: Bounds,
) -> Plan {
    unimplemented!("being written")
}
