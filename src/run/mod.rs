//! A run's folder: where everything lies, its lock, its marker, its events, what was made before.

pub mod event;
pub mod layout;
pub mod lock;
pub mod marker;
pub mod memo;
pub mod writer;
