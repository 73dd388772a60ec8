//! A run's folder: where everything lies, its lock, its marker, its events.

pub mod event;
pub mod layout;
pub mod lock;
pub mod marker;
