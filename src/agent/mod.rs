//! Agent clients: arguments in, typed events, reads and usage out.
