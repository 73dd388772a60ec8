//! Models over HTTP against servers that misbehave in every way, scripted call by call.

mod answers;
mod budgets;
mod deadlines;
mod load;
mod recordings;
mod refusals;
mod server;
mod world;
