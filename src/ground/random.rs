//! Chance as an input: a small generator whose stream is the same on every machine and in every later version.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Fixed for ever:
/// splits and orders of old runs depend on it.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The stream of a seed for one purpose; streams of two purposes have nothing to do with each other.
    pub fn of(seed: u64, purpose: &str) -> Self {
        // FNV-1a over the purpose: any fixed mixing will do.
        let mixed = purpose
            .bytes()
            .fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
        Random(Random(seed ^ mixed).bits())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number in [0, 1), in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `n`, each equally likely; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        // The last, incomplete run of n values is thrown away, or the low numbers would come more often.
        let most = u64::MAX - u64::MAX % n;
        loop {
            let bits = self.bits();
            if bits < most {
                return (bits % n) as usize;
            }
        }
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Puts items into a random order (Fisher and Yates), each equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_in_range_and_a_shuffle_loses_nothing() {
        let mut random = Random::of(42, "split");
        assert_eq!(random.below(0), 0);
        assert!((0..1_000).all(|_| random.below(7) < 7 && (0.0..1.0).contains(&random.unit())));
        let mut items: Vec<usize> = (0..100).collect();
        random.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
        assert_ne!(Random::of(42, "a").bits(), Random::of(42, "b").bits());
    }
}
