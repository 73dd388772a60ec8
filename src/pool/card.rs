//! A card: one rule, one file.

/// One card, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its path in the pool, with `/`, for instance `01_craft_elements/site-facts.md`.
    pub path: String,
    /// When to read it: the front matter's `description`, folded text unfolded.
    pub description: String,
    /// All that follows the front matter, the `## Rules` heading included.
    pub body: String,
}
