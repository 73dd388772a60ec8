//! What an optimizer may do to a pool, each row once, through the real program on real git.

#![expect(unreachable_pub, reason = "the shared support is public to whoever includes it")]

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
