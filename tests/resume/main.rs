//! Killed anywhere, by anything, the same command goes on and comes to the same end.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test that cannot go on fails"
)]

#[path = "../support/crash.rs"]
mod crash;
#[path = "../support/mod.rs"]
mod support;

mod moments;
mod points;
mod scene;
mod signals;
