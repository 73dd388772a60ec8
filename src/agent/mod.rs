//! Agent clients: arguments in, typed events, reads and usage out.

mod commands;
mod globs;
mod reads;
mod shell;
