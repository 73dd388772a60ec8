//! Time as an input: what waits here asks a clock, so that tests take no time and need no luck.

use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::ground::signals::Cancel;

/// How long a wait goes on before it looks whether the user asked to stop.
pub(super) const SLICE: Duration = Duration::from_millis(50);

/// A source of time.
pub trait Clock: Debug + Send + Sync {
    /// The time since this clock began; never goes back.
    fn now(&self) -> Duration;

    /// The time since 1970, for the dates that servers send.
    fn unix(&self) -> Duration;

    /// Waits; false when the user asked to stop meanwhile.
    fn sleep(&self, time: Duration, cancel: &Cancel) -> bool;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn unix(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn sleep(&self, time: Duration, cancel: &Cancel) -> bool {
        let end = Instant::now() + time;
        while !cancel.is_asked() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(SLICE));
        }
        false
    }
}

/// A clock that stands still but for those who sleep on it, which takes no time.
#[derive(Debug, Default)]
pub struct VirtualClock {
    state: Mutex<(Duration, Vec<Duration>)>,
}

impl VirtualClock {
    /// Moves the time on.
    pub fn advance(&self, time: Duration) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 += time;
    }

    /// What was slept so far, in order.
    pub fn slept(&self) -> Vec<Duration> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn unix(&self) -> Duration {
        // The first second of 2026.
        Duration::from_secs(1_767_225_600) + self.now()
    }

    fn sleep(&self, time: Duration, cancel: &Cancel) -> bool {
        if cancel.is_asked() {
            return false;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += time;
        state.1.push(time);
        true
    }
}
