//! `skilltrain backward` and `reduce` with a chat model as optimizer, against a scripted model on loopback.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod agents;
mod edits;
mod endings;
mod links;
mod resume;
mod scene;
#[expect(dead_code, reason = "another test binary uses the rest")]
#[path = "../llm/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod talks;
