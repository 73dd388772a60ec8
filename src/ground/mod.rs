//! The ground: errors, whole files, digests, the environment, processes, signals, prompts. Uses nothing above it.

pub mod digest;
pub mod env;
pub mod error;
pub mod files;
pub mod process;
pub mod sandbox;
pub mod signals;
pub mod supervise;

mod bwrap;
mod confine;
mod hold;
mod inside;
mod pipes;
mod tree;
