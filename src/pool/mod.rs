//! The pool: cards, their profile and lint, and the git repository that holds them. Only this layer names git2.

pub mod card;
pub(crate) mod front_matter;
pub mod headers;
pub mod lint;
pub mod profile;
pub(crate) mod yaml;
