//! A pool's layout and limits, from `.skilltrain.toml` at its root. No folder name and no limit stands in code.

use serde::{Deserialize, Serialize};

/// The profile's file, at the pool's root.
pub const PROFILE_FILE: &str = ".skilltrain.toml";

/// What a pool's cards must look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The format's version; 1.
    pub version: u32,
    /// The layout's name: `rules`.
    pub profile: String,
    /// Size limits of one card.
    pub limits: Limits,
    /// What a card is made of.
    pub card: CardShape,
    /// The folders that hold cards, in reading order.
    pub folders: Vec<Folder>,
    /// Text that no card may hold.
    #[serde(default)]
    pub forbidden: Vec<Forbidden>,
}

/// Size limits of one card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Lines of the whole file.
    pub max_lines: usize,
    /// Characters (Unicode scalar values) of the body.
    pub max_body_chars: usize,
    /// Characters of the description.
    pub max_description_chars: usize,
}

/// What a card is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardShape {
    /// The text of its one second-level heading.
    pub heading: String,
    /// The front matter keys it has: all of these, no others.
    pub front_matter: Vec<String>,
}

/// A folder of cards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folder {
    /// Its name at the pool's root.
    pub path: String,
    /// What its cards are for, one sentence: shown to optimizers.
    pub purpose: String,
    /// The part it plays: `general` (always read), `craft` (read on demand), `specific` (holds inside one kind of work).
    pub role: Role,
}

/// The part that a folder plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Principles, always read.
    General,
    /// How to do one component, read on demand.
    Craft,
    /// Holds only inside one kind of work.
    Specific,
}

/// Text that no card may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forbidden {
    /// The problem's stable code, in kebab case.
    pub code: String,
    /// A regular expression (the `regex` crate's syntax).
    pub pattern: String,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}
