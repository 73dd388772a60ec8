//! Models over HTTP against servers that misbehave in every way, scripted call by call.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod answers;
mod budgets;
mod deadlines;
mod load;
mod recordings;
mod refusals;
mod server;
mod world;
