//! The ground: errors, whole files, digests, the environment, processes, signals, prompts, chance, JSON in replies. Uses nothing above it.

pub mod crash;
pub mod digest;
pub mod env;
pub mod error;
pub mod files;
pub mod process;
pub mod prompts;
pub mod random;
pub mod reply;
pub mod sandbox;
pub mod signals;
pub mod supervise;
pub mod text;
pub mod turns;

mod bwrap;
mod confine;
mod hold;
mod inside;
mod pipes;
mod tree;
