//! Turns: work that several threads may come to want is done by one of them at a time, each piece by its name.

use std::collections::HashSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// The names whose turn is taken.
#[derive(Debug, Default)]
pub struct Turns {
    taken: Mutex<HashSet<String>>,
    freed: Condvar,
}

/// A turn; free again when dropped.
#[derive(Debug)]
#[must_use]
pub struct Turn<'a> {
    turns: &'a Turns,
    name: String,
}

impl Turns {
    /// Waits until nobody else has the turn of this name, and takes it. A thread that has a turn may only take
    /// one of a later kind: whoever has that one waits for nobody.
    pub fn take(&self, name: &str) -> Turn<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(taken, |taken| taken.contains(name));
        free.unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        Turn { turns: self, name: name.to_owned() }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
        self.turns.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_at_a_time_by_name() {
        let (turns, inside, most) = (Turns::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _turn = turns.take("a");
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
            let _other = turns.take("b");
        });
        assert_eq!(most.into_inner(), 1);
    }
}
