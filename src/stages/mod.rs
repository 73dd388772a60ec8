//! The stages of a step: each takes what it needs and gives a result; none moves a branch or writes a run.

pub mod aggregate;
pub mod calibrate;
pub mod gate;
pub mod guard;
pub mod leak;
pub mod loss;
pub mod overlap;
pub mod reduce;
pub mod rollout;
pub(crate) mod runs;
pub mod scheduler;
pub mod scoring;
pub mod select;
pub mod split;
pub mod update;
