//! Ctrl-C and its kin: the first asks to stop at the next safe edge, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::error::{Error, Result};

/// One cancel value, handed down to everything that waits.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicU8>);

impl Cancel {
    /// A value that the first INT, TERM or HUP sets to "stop" and the second to "stop now".
    pub fn on_signals() -> Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let cancel = Cancel::default();
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
            .map_err(|error| Error::failed(error).context("cannot listen for signals"))?;
        // A file-size limit is then an error that names the file, not a silent death.
        let limit = Arc::new(std::sync::atomic::AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGXFSZ, limit).map_err(Error::failed)?;
        let flag = cancel.clone();
        std::thread::spawn(move || {
            for _ in signals.forever() {
                flag.ask();
            }
        });
        Ok(cancel)
    }

    /// Asks to stop; asked twice, it means at once.
    pub fn ask(&self) {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |level| Some((level + 1).min(2))).ok();
    }

    /// Whether a stop was asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Whether the stop must not wait for anything.
    pub fn is_urgent(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }

    /// An `Interrupted` error once a stop was asked for.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(Error::interrupted()) } else { Ok(()) }
    }
}
