//! What tokens cost: a table from the configuration, and exact sums of money.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::reply::Used;
use crate::ground::error::{Error, Result};

/// US dollars in units of 10^-12, so that sums are exact and do not depend on the order of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Money(u64);

const UNITS: f64 = 1e12;

impl Money {
    /// This many dollars; what is negative or no number is nothing.
    pub fn usd(dollars: f64) -> Money {
        Money((dollars * UNITS).round() as u64)
    }

    /// In dollars.
    pub fn as_usd(self) -> f64 {
        self.0 as f64 / UNITS
    }

    /// The sum, at most what the type holds (18 million dollars).
    #[must_use]
    pub fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }

    /// The difference, at least nothing.
    #[must_use]
    pub fn minus(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }

    /// So many times this.
    #[must_use]
    pub fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(count))
    }
}

impl fmt::Display for Money {
    /// Cents, and for less than ten of them more digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.as_usd() >= 0.1 || self.0 == 0 { 2 } else { 4 };
        write!(f, "${:.digits$}", self.as_usd())
    }
}

/// The price of a model's tokens, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens sent.
    pub input: f64,
    /// Tokens received.
    pub output: f64,
    /// Tokens sent that the provider read from its cache; the price of any sent one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Tokens sent that the provider wrote into its cache; a quarter more than any sent one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<f64>,
}

impl Price {
    /// What a call cost: what the provider states, else by its tokens.
    pub fn of(&self, used: &Used) -> Money {
        if let Some(stated) = used.usage.cost_usd {
            return Money::usd(stated);
        }
        let written = used.written_tokens.min(used.usage.input_tokens);
        let cached = used.usage.cached_tokens.min(used.usage.input_tokens - written);
        let fresh = used.usage.input_tokens - written - cached;
        token(self.input)
            .times(fresh)
            .plus(token(self.cached.unwrap_or(self.input)).times(cached))
            .plus(token(self.written()).times(written))
            .plus(token(self.output).times(used.usage.output_tokens))
    }

    /// The most that a call with so many tokens can cost; `cache` tells that it may write into the cache.
    pub fn bound(&self, input: u64, output: u64, cache: bool) -> Money {
        let dearest = if cache { self.written().max(self.input) } else { self.input };
        token(dearest.max(self.cached.unwrap_or(0.0))).times(input).plus(token(self.output).times(output))
    }

    fn written(&self) -> f64 {
        self.written.unwrap_or(self.input * 1.25)
    }

    fn is_sane(&self) -> bool {
        let all = [Some(self.input), Some(self.output), self.cached, self.written];
        all.iter().flatten().all(|price| price.is_finite() && (0.0..=1e6).contains(price))
    }
}

/// One token's price, from one per million.
fn token(per_million: f64) -> Money {
    Money::usd(per_million / 1e6)
}

/// Prices by model: names with `*` for anything. A table of the configuration:
///
/// ```toml
/// [prices]
/// "gpt-5-mini*" = { input = 0.25, output = 2.0, cached = 0.025 }
/// "qwen3*" = { input = 0, output = 0 }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// Checks the numbers. Kind `Usage`, naming the entry, for one that is negative or absurd.
    pub fn check(&self) -> Result<()> {
        match self.0.iter().find(|(_, price)| !price.is_sane()) {
            Some((name, _)) => Err(Error::usage(format!("the price of `{name}` is not one"))
                .hint("prices are US dollars per million tokens, 0 or more")),
            None => Ok(()),
        }
    }

    /// A model's price: of all names that fit, the one with the most characters spelt out.
    pub fn of(&self, model: &str) -> Option<Price> {
        let fits = self.0.iter().filter(|(name, _)| matches(name, model));
        fits.max_by_key(|(name, _)| name.chars().filter(|c| *c != '*').count()).map(|(_, price)| *price)
    }
}

/// Whether a name with `*` for anything fits a model's.
fn matches(pattern: &str, model: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = model.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Usage;

    fn used(input: u64, cached: u64, written: u64, output: u64) -> Used {
        let usage = Usage { input_tokens: input, cached_tokens: cached, output_tokens: output, cost_usd: None };
        Used { usage, written_tokens: written }
    }

    #[test]
    fn money_is_exact_and_readable() {
        let third = Money::usd(0.0375 / 1e6);
        assert_eq!(third.times(1_000_000), Money::usd(0.0375));
        assert_eq!(
            [0.0, 0.42, 12.5, 0.0123].map(|usd| Money::usd(usd).to_string()),
            ["$0.00", "$0.42", "$12.50", "$0.0123"]
        );
        assert_eq!(Money::usd(f64::NAN), Money::default());
        assert_eq!(Money::usd(-1.0), Money::default());
    }

    #[test]
    fn a_call_costs_what_its_tokens_cost_and_never_more_than_its_bound() {
        let price = Price { input: 3.0, output: 15.0, cached: Some(0.3), written: None };
        assert_eq!(price.of(&used(1_000_000, 0, 0, 0)), Money::usd(3.0));
        assert_eq!(price.of(&used(1_000_000, 1_000_000, 0, 0)), Money::usd(0.3));
        assert_eq!(price.of(&used(1_000_000, 0, 1_000_000, 100_000)), Money::usd(5.25));
        assert_eq!(price.of(&used(10, 99, 99, 0)), price.of(&used(10, 0, 10, 0)), "counts that lie do not overflow");
        let stated = Used { usage: Usage { cost_usd: Some(0.5), ..Usage::default() }, written_tokens: 0 };
        assert_eq!(price.of(&stated), Money::usd(0.5));
        for (cached, written) in [(0, 0), (50, 0), (0, 100), (60, 40)] {
            assert!(price.of(&used(100, cached, written, 7)) <= price.bound(100, 7, true));
        }
    }

    #[test]
    fn the_most_specific_name_wins_and_an_unknown_model_has_no_price() {
        let table = r#"
            "gpt-5*" = { input = 1, output = 10 }
            "gpt-5-mini*" = { input = 2, output = 10 }
            "*/free" = { input = 0, output = 0 }
            "a*c*e" = { input = 7, output = 7 }
        "#;
        let prices: Prices = toml::from_str(table).unwrap();
        let input = |model: &str| prices.of(model).map(|price| price.input);
        assert_eq!(input("gpt-5-mini-2026"), Some(2.0));
        assert_eq!(input("gpt-5"), Some(1.0));
        assert_eq!(input("x/free"), Some(0.0));
        assert_eq!(input("abcde"), Some(7.0));
        assert_eq!([input("gpt-4"), input("ace!"), input("ae")], [None; 3]);
        assert!(prices.check().is_ok());
        assert!(toml::from_str::<Prices>(r#"a = { input = 1, output = 1, inptu = 2 }"#).is_err());
        let wrong: Prices = toml::from_str(r#""a" = { input = -1, output = 1 }"#).unwrap();
        assert!(wrong.check().unwrap_err().to_string().contains("`a`"));
    }
}
