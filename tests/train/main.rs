//! `skilltrain train` as a user runs it, against a scripted model on loopback and programs.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod epochs;
mod example;
mod gates;
mod inputs;
mod judged;
mod outputs;
mod pools;
mod rates;
mod scene;
#[expect(dead_code, reason = "another test binary uses the rest")]
#[path = "../llm/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod troubles;
mod updates;
