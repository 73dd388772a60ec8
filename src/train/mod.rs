//! The training itself: the only place that moves the pool's branch and writes a run.

pub mod adopt;
pub mod attempt;
pub mod backward;
pub mod check;
pub mod context;
pub mod cycle;
pub mod evidence;
pub mod keep;
pub mod measure;
pub mod record;
pub mod started;
pub mod step;
mod tally;
pub mod taped;
