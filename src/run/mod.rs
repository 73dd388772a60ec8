//! A run's folder: where everything lies, its lock, its marker, its events, what was made before.

pub mod cycle;
pub mod event;
pub mod folder;
pub mod layout;
pub mod lock;
pub mod log;
pub mod marker;
pub mod memo;
pub mod writer;
