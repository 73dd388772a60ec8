//! `skilltrain eval` as a user runs it, against scripted models on loopback and programs.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod agents;
mod answers;
mod calibrate;
mod failures;
mod judge;
mod measure;
mod programs;
mod resume;
mod reuse;
mod scene;
#[expect(dead_code, reason = "another test binary uses the rest")]
#[path = "../llm/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
