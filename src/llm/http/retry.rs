//! When to ask again: pure arithmetic over an attempt's number, the server's wish and a fraction of chance.

use std::time::Duration;

use crate::ground::digest;

/// How often a call is tried, and how long it waits in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// The longest wait before the second attempt; it doubles with each.
    pub base: Duration,
    /// The longest wait before any attempt.
    pub cap: Duration,
    /// The longest wait that a server may ask for.
    pub server_cap: Duration,
    /// Where chance begins. Two programs with the same seed that fail together come back together.
    pub seed: u64,
}

impl Retry {
    /// Six attempts over about half a minute, and a seed of this process.
    pub fn of_process() -> Retry {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let seed = now.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32);
        Retry {
            attempts: 6,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            server_cap: Duration::from_secs(120),
            seed,
        }
    }

    /// The wait after the failed attempt of this number (from 1): what the server asked for, at most `server_cap`,
    /// and a part of `base` so that not all come back at once; else any part of a span that doubles ("full jitter").
    pub fn wait(&self, attempt: u32, asked: Option<Duration>, fraction: f64) -> Duration {
        match asked {
            Some(asked) => asked.min(self.server_cap) + self.base.mul_f64(fraction),
            None => {
                let doubled = self.base.saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)));
                doubled.min(self.cap).mul_f64(fraction)
            }
        }
    }

    /// A fraction from 0 to 1 for an attempt of a call, the same for the same seed.
    pub fn fraction(&self, digest: &str, attempt: u32) -> f64 {
        let parts = [&self.seed.to_le_bytes()[..], digest.as_bytes(), &attempt.to_le_bytes()];
        let hash = digest::of_parts(parts);
        let number = u32::from_str_radix(&hash[..8], 16).unwrap_or(0);
        f64::from(number) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry() -> Retry {
        Retry { seed: 1, ..Retry::of_process() }
    }

    #[test]
    fn waits_double_up_to_a_cap_and_the_server_is_heard() {
        let seconds = |attempt, asked: Option<u64>, fraction| {
            retry().wait(attempt, asked.map(Duration::from_secs), fraction).as_secs_f64()
        };
        let spans: Vec<f64> = (1..9).map(|attempt| seconds(attempt, None, 1.0)).collect();
        assert_eq!(spans, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(seconds(u32::MAX, None, 1.0), 30.0);
        assert_eq!(seconds(3, None, 0.0), 0.0);
        assert_eq!(seconds(1, Some(7), 1.0), 7.5);
        assert_eq!(seconds(1, Some(9_999_999), 0.0), 120.0);
    }

    #[test]
    fn chance_is_spread_and_repeats() {
        let fractions: Vec<f64> = (0..200).map(|n| retry().fraction(&format!("call {n}"), 1)).collect();
        assert!(fractions.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
        let mean = fractions.iter().sum::<f64>() / 200.0;
        assert!((0.4..0.6).contains(&mean), "{mean}");
        assert_eq!(retry().fraction("x", 2), retry().fraction("x", 2));
        assert_ne!(retry().fraction("x", 2), Retry { seed: 2, ..retry() }.fraction("x", 2));
    }
}
