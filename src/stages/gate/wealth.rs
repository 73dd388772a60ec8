//! A betting e-process: how much one would have won by betting that the candidate is better.

/// Stakes λ, and the share of the first money that each gets. Splits are small and levels strict, so that only effects
/// near "fixes much, breaks little" can be seen at all: most of the money bets high.
const BETS: [(f64, f64); 5] = [(0.3, 0.1), (0.5, 0.15), (0.7, 0.2), (0.85, 0.25), (1.0, 0.3)];

/// The wealth of a gambler who starts with 1 and bets on each difference d in [-1, 1], in order.
///
/// K = Σⱼ wⱼ ∏ᵢ (1 + λⱼ dᵢ): a mixture over constant stakes, which is the same as the predictable plug-in bet
/// λᵢ = Σⱼ wⱼ Kⱼ λⱼ / Σⱼ wⱼ Kⱼ of what was won before dᵢ. When no difference is above 0 in expectation, whatever went
/// before, K is a supermartingale that is never negative, so that the chance of its ever reaching 1/α is at most α (Ville
/// 1939), at whatever time one stops. Betting on means of bounded variables: Waudby-Smith and Ramdas, "Estimating means of
/// bounded random variables by betting", JRSS-B 86 (2024), where averaging over stakes is the diversified Kelly bet;
/// mixtures over constant stakes go back to Cover, "Universal portfolios", Mathematical Finance 1 (1991).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wealth([f64; BETS.len()]);

impl Default for Wealth {
    fn default() -> Self {
        Wealth(BETS.map(|(_, share)| share))
    }
}

impl Wealth {
    /// Bets on one difference, in [-1, 1].
    pub fn bet(&mut self, difference: f64) {
        for (at, (stake, _)) in BETS.iter().enumerate() {
            self.0[at] *= 1.0 + stake * difference;
        }
    }

    /// What there is now; 1 at the start.
    pub fn is(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// The tasks that a candidate must fix, breaking none, for the test to accept at this level; levels are in (0, 1).
pub fn wins_needed(level: f64) -> usize {
    let mut wealth = Wealth::default();
    let mut wins = 0;
    // Each win multiplies the largest purse by two: a level of 1e-300 is reached within a thousand.
    while wealth.is() < 1.0 / level && wins < 1_100 {
        wealth.bet(1.0);
        wins += 1;
    }
    wins
}
