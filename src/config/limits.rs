//! The keys of `[budget]`, `[prices]` and `[rates]`: what a run may take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the whole run may take. A limit that is left out does not bind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// US dollars, by the prices below and by what agents state.
    #[schemars(range(min = 0), example = 5.0)]
    pub max_usd: Option<f64>,
    /// Tokens, sent and received.
    #[schemars(example = 2_000_000)]
    pub max_tokens: Option<u64>,
    /// Calls of models, failed attempts counted.
    #[schemars(example = 1_000)]
    pub max_calls: Option<u64>,
    /// Minutes of wall-clock time, of all starts of the command together.
    #[schemars(range(min = 0, max = 525_600), example = 60.0)]
    pub max_minutes: Option<f64>,
}

/// The price of a model's tokens, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars per million tokens sent.
    #[schemars(range(min = 0, max = 1_000_000), example = 0.25)]
    pub input: f64,
    /// US dollars per million tokens received.
    #[schemars(range(min = 0, max = 1_000_000), example = 2.0)]
    pub output: f64,
    /// Of tokens sent that the provider read from its cache. Left out: the price of any sent one.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000), example = 0.025)]
    pub cached: Option<f64>,
    /// Of tokens sent that the provider wrote into its cache. Left out: a quarter more than any sent one.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000), example = 0.3125)]
    pub written: Option<f64>,
}

/// What a backend may be asked, and with which key. A limit that is left out does not bind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Requests in any 60 seconds.
    #[schemars(range(min = 1), example = 500)]
    pub requests_per_minute: Option<u32>,
    /// Tokens in any 60 seconds, sent and received.
    #[schemars(range(min = 1), example = 200_000)]
    pub tokens_per_minute: Option<u64>,
    /// Requests at the same time.
    #[schemars(range(min = 1), example = 8)]
    pub max_in_flight: Option<u32>,
    /// The name of the environment variable that holds the key. Left out: the provider's usual one.
    #[schemars(length(min = 1), example = &"MY_KEY")]
    pub key_env: Option<String>,
}
