//! An epoch: its steps, then what is learnt from it as a whole.

use super::state::State;
use super::{Run, meta, slow, step};
use crate::ground::error::Result;
use crate::run::event::Event;

/// Goes through an epoch, from the first step that has no record.
pub(super) fn train(run: &Run<'_>, state: &mut State, epoch: usize) -> Result<()> {
    let per_epoch = run.steps_per_epoch();
    for number in state.reports.len()..(epoch + 1) * per_epoch {
        if state.is_out_of_patience(run) {
            let patience = run.config().evaluation.patience;
            let text = format!("{patience} steps in a row were not accepted: training stops (evaluation.patience)");
            run.tell(&Event::Note { text });
            return Ok(());
        }
        run.setup.cancel.check()?;
        let report = step::train(run, state, epoch, number % per_epoch)?;
        if number == 0 {
            super::budget::forecast(run, &report);
        }
        state.took(report)?;
    }
    if state.ends.len() <= epoch {
        let slow = slow::update(run, state, epoch)?;
        let meta = meta::update(run, state, epoch)?;
        state.ended(slow, meta)?;
    }
    run.pool.tag(&format!("epoch-{}", epoch + 1), state.ends[epoch])
}
