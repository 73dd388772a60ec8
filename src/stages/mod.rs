//! The stages of a step: each takes what it needs and gives a result; none moves a branch or writes a run.

pub mod guard;
pub mod overlap;
pub mod reduce;
