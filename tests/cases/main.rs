//! What an optimizer may do to a pool, each row once, through the real program on real git.

#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it must be")]

mod bounds;
mod cards;
mod check;
mod commits;
mod contained;
mod endings;
mod history;
mod hostile;
mod inputs;
mod output;
mod repository;
mod reviewed;
mod strays;
#[path = "../support/mod.rs"]
mod support;
