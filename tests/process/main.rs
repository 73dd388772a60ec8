//! Real agents that misbehave, under the real supervisor. Nothing here waits for luck: each wait is for a condition.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that cannot go on fails")]

mod deaths;
mod endings;
mod limits;
mod streams;
mod support;
