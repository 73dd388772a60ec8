//! Killed anywhere, by anything, the same command goes on and comes to the same end.

#[path = "../support/mod.rs"]
mod support;

mod moments;
mod points;
mod scene;
mod signals;
