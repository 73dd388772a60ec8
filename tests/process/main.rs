//! Real agents that misbehave, under the real supervisor. Nothing here waits for luck: each wait is for a condition.

mod endings;
mod limits;
mod streams;
mod support;
