//! A training run that is killed, stopped, starved and played again ends as one that nobody disturbed.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod budgets;
#[path = "../support/crash.rs"]
mod crash;
#[path = "../support/desk.rs"]
mod desk;
mod longer;
mod moments;
mod points;
mod programs;
mod recordings;
mod scene;
#[expect(dead_code, reason = "another test binary uses the rest")]
#[path = "../llm/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod workers;
