//! What people read: terminal tables and summaries, from a run's events and the pool's history.

pub mod steps;
