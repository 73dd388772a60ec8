//! A deadline that really ends a call: the work goes to a thread of its own, and who waits for it stops waiting.
//!
//! The client's own timeouts end that thread a little later. They alone would not do: a name that is being looked
//! up or a connection that is being made cannot be interrupted when the user stops the program.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::ground::signals::Cancel;
use crate::llm::clock::SLICE;

/// Why work was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// Its time was up.
    TimedOut,
    /// The user stopped the program.
    Cancelled,
    /// No thread could be started.
    NoThread,
    /// The work died.
    Died,
}

/// Does work for at most `time`; returns promptly when that is over or the user stops the program, whatever the
/// work does.
pub(super) fn within<T: Send + 'static>(
    time: Duration,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, GivenUp> {
    let (done, result) = mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("model call".into());
    let started = thread.spawn(move || {
        // Nobody may be waiting any more.
        let _ = done.send(work());
    });
    started.map_err(|_| GivenUp::NoThread)?;
    let end = Instant::now().checked_add(time);
    loop {
        let left = end.map_or(SLICE, |end| end.saturating_duration_since(Instant::now()));
        match result.recv_timeout(left.min(SLICE)) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => return Err(GivenUp::Died),
            Err(RecvTimeoutError::Timeout) if cancel.is_asked() => return Err(GivenUp::Cancelled),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(GivenUp::TimedOut),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work that never ends by itself.
    fn stuck(seconds: f64, cancel: &Cancel) -> Result<(), GivenUp> {
        let (keep, never) = mpsc::channel::<()>();
        let result = within(Duration::from_secs_f64(seconds), cancel, move || {
            let _ = never.recv();
        });
        drop(keep);
        result
    }

    #[test]
    fn work_that_does_not_end_is_given_up() {
        let cancel = Cancel::default();
        assert_eq!(within(Duration::from_secs(600), &cancel, || 7), Ok(7));
        assert_eq!(stuck(0.01, &cancel), Err(GivenUp::TimedOut));
        let asker = cancel.clone();
        std::thread::spawn(move || asker.ask());
        assert_eq!(stuck(600.0, &cancel), Err(GivenUp::Cancelled));
        assert_eq!(within(Duration::MAX, &Cancel::default(), || 7), Ok(7));
    }
}
