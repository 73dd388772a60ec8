//! Whoever edits the pool.

pub mod extractive;
