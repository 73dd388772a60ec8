//! A server that is asked over HTTP: waits for its turn, pays, asks, and asks again where that can help.

mod connection;
mod deadline;
mod retry;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use retry::Retry;

use super::backend::{Answered, Backend, Call};
use super::clock::Clock;
use super::failure::{Failure, Why};
use super::key::Key;
use super::limit::{Limiter, Rates};
use super::reply::Reply;
use super::spec::{Endpoint, Provider, Spec};
use super::wire::{Abilities, Dialect, failure_of, retry_after};
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use connection::{Connection, Raw};

/// How a server is used: a table of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The variable that holds the key; absent, the provider's usual one.
    pub key_env: Option<String>,
    /// Seconds for one attempt, from connecting to the reply's last byte.
    pub timeout: f64,
    /// Seconds for the making of a connection.
    pub connect_timeout: f64,
    /// How often an attempt that failed for a passing reason is made again.
    pub retries: u32,
    /// Requests in any minute.
    pub requests_per_minute: Option<u32>,
    /// Tokens in any minute.
    pub tokens_per_minute: Option<u64>,
    /// Requests at the same time.
    pub max_in_flight: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            key_env: None,
            timeout: 300.0,
            connect_timeout: 15.0,
            retries: 5,
            requests_per_minute: None,
            tokens_per_minute: None,
            max_in_flight: None,
        }
    }
}

impl Settings {
    /// A time in seconds. Kind `Usage`, naming the key, for one that is no time.
    fn time(key: &str, seconds: f64) -> Result<Duration> {
        let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        time.ok_or_else(|| Error::usage(format!("{key} = {seconds} is no time")).hint("it is in seconds, above 0"))
    }
}

/// A model on a server.
#[derive(Debug)]
pub struct Http {
    spec: Spec,
    endpoint: Endpoint,
    key: Option<Key>,
    dialect: Dialect,
    connection: Connection,
    time: Duration,
    limiter: Limiter,
    retry: Retry,
    clock: Arc<dyn Clock>,
    /// Learnt from refusals: the server takes no schema; it wants the other name of the limit.
    lacks_schema: AtomicBool,
    other_limit: AtomicBool,
}

impl Http {
    /// A model on its server; nothing is sent yet. Kind `Unreachable` without a key where one is needed, `Usage`
    /// for settings that make no sense.
    pub fn new(spec: &Spec, settings: &Settings, env: &Env, clock: Arc<dyn Clock>) -> Result<Http> {
        let endpoint = spec.endpoint(env)?;
        let key = spec.key(env, &endpoint, settings.key_env.as_deref())?;
        if !connection::is_sendable(&endpoint.url) {
            return Err(Error::usage(format!("{} is no address", endpoint.url)));
        }
        let time = Settings::time("timeout", settings.timeout)?;
        let connect = Settings::time("connect_timeout", settings.connect_timeout)?;
        let rates = Rates {
            requests_per_minute: settings.requests_per_minute,
            tokens_per_minute: settings.tokens_per_minute,
            max_in_flight: settings.max_in_flight,
        };
        Ok(Http {
            spec: spec.clone(),
            connection: Connection::new(&endpoint, env, time, connect)?,
            dialect: if spec.provider == Provider::Anthropic { Dialect::Anthropic } else { Dialect::OpenAi },
            key,
            time,
            limiter: Limiter::new(rates, Arc::clone(&clock)),
            retry: Retry { attempts: settings.retries.saturating_add(1), ..Retry::of_process() },
            clock,
            lacks_schema: AtomicBool::new(false),
            other_limit: AtomicBool::new(endpoint.is_openai),
            endpoint,
        })
    }

    /// The same with another way of retrying.
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Http {
        Http { retry, ..self }
    }

    /// The key, for who must keep it out of what is written ([`Recorder`](super::Recorder)).
    pub fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The rate limiter, for who wants to know how it fares.
    pub fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if self.dialect == Dialect::Anthropic {
            headers.push(("anthropic-version", "2023-06-01".to_owned()));
        }
        if let Some(key) = &self.key {
            headers.push(match (self.dialect, self.endpoint.is_azure) {
                (Dialect::Anthropic, _) => ("x-api-key", key.expose().to_owned()),
                (_, true) => ("api-key", key.expose().to_owned()),
                _ => ("authorization", format!("Bearer {}", key.expose())),
            });
        }
        headers
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            schema: !self.lacks_schema.load(Ordering::Relaxed),
            completion_limit: self.other_limit.load(Ordering::Relaxed),
        }
    }

    /// One attempt. A server that refuses a field which it need not know is asked again without it, at once.
    fn ask(&self, call: &Call<'_>) -> Result<Reply, Failure> {
        let mut abilities = self.abilities();
        loop {
            let body = self.dialect.encode(call.request, &self.spec.model, abilities).to_string().into_bytes();
            let time = call.meter.budget.time_left().map_or(self.time, |left| left.min(self.time));
            let raw = self.connection.post(&self.headers(), body, time, call.cancel).map_err(|failure| {
                let ran_out = failure.why == Why::Timeout && time < self.time;
                let message = "the budget is used up: max_minutes ended a call".to_owned();
                if ran_out { Failure { why: Why::Budget, message, ..failure } } else { failure }
            });
            let failure = match raw.and_then(|raw| self.read(&raw)) {
                Ok(reply) => return Ok(reply),
                Err(failure) => self.cleaned(failure),
            };
            match self.learn(&failure, abilities) {
                Some(fewer) => abilities = fewer,
                None => return Err(failure),
            }
        }
    }

    /// What a reply says.
    fn read(&self, raw: &Raw) -> Result<Reply, Failure> {
        let header = |name: &str| raw.headers.get(name).and_then(|value| value.to_str().ok());
        if raw.status != 200 {
            let wait = retry_after(header("retry-after"), header("retry-after-ms"), self.clock.unix());
            let mut failure = Failure { retry_after: wait, ..failure_of(raw.status, &raw.body) };
            if let Some(place) = header("location").filter(|_| (300..400).contains(&raw.status)) {
                failure.message = format!("{}, to {}", failure.message, crate::ground::text::first_line(place, 200));
            }
            return Err(failure);
        }
        let body: Value = serde_json::from_slice(&raw.body).map_err(|error| {
            let text = String::from_utf8_lossy(&raw.body);
            let start = crate::ground::text::first_line(&text, 120);
            Failure::new(Why::Malformed, format!("the server's reply is no JSON: {error}: {start}")).lost()
        })?;
        // Routers in front of many providers report their failures with a status of 200.
        if let Some(error) = body.get("error").filter(|error| error.is_object() && body.get("choices").is_none()) {
            let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            return Err(failure_of(status.filter(|code| *code >= 400).unwrap_or(502), &raw.body));
        }
        self.dialect.decode(&body)
    }

    /// A failure without the key, should the server have said it.
    fn cleaned(&self, mut failure: Failure) -> Failure {
        if let Some(key) = &self.key {
            failure.message = key.scrub(failure.message);
            failure.text = failure.text.map(|text| key.scrub(text));
        }
        failure
    }

    /// What to leave out after a refusal that names it; remembered for the calls to come.
    fn learn(&self, failure: &Failure, tried: Abilities) -> Option<Abilities> {
        let says = |word: &str| failure.message.contains(word);
        if !matches!(failure.status, Some(400 | 404 | 422 | 501)) {
            return None;
        }
        let refuses_schema = says("response_format") || says("json_schema") || says("tool_choice");
        if tried.schema && refuses_schema {
            self.lacks_schema.store(true, Ordering::Relaxed);
            return Some(Abilities { schema: false, ..tried });
        }
        if !tried.completion_limit && says("max_completion_tokens") {
            self.other_limit.store(true, Ordering::Relaxed);
            return Some(Abilities { completion_limit: true, ..tried });
        }
        None
    }

    /// One attempt with its turn and its pay.
    fn attempt(&self, call: &Call<'_>) -> Result<Reply, Failure> {
        // A guess at the usual ratio; corrected when the answer tells.
        let guess = call.input_bound / 4 + u64::from(call.request.max_tokens);
        let pass = self.limiter.enter(guess, call.cancel)?;
        let attempt = call.open()?;
        let result = self.ask(call);
        match &result {
            Ok(reply) => {
                pass.answered(reply.usage.map(|used| used.usage.tokens()));
                attempt.answered(reply);
            }
            Err(failure) => {
                if failure.why == Why::Busy {
                    pass.throttled(failure.retry_after.map(|wait| wait.min(self.retry.server_cap)));
                }
                attempt.failed(failure);
            }
        }
        result
    }
}

impl Backend for Http {
    fn model(&self) -> &str {
        &self.spec.model
    }

    fn call(&self, call: &Call<'_>) -> Answered {
        let mut failed: Vec<Failure> = Vec::new();
        loop {
            let number = failed.len() as u32 + 1;
            let failure = match self.attempt(call) {
                Ok(reply) => return Answered { outcome: Ok(reply), failed },
                Err(failure) => failure,
            };
            let is_too_long = failure.retry_after.is_some_and(|wait| wait > self.retry.server_cap);
            if !failure.is_passing() || number >= self.retry.attempts || is_too_long {
                let outcome = Err(named(failure, &self.spec, number));
                return Answered { outcome, failed };
            }
            let fraction = self.retry.fraction(call.digest, number);
            let wait = self.retry.wait(number, failure.retry_after, fraction);
            failed.push(failure);
            if !self.clock.sleep(wait, call.cancel) {
                return Answered { outcome: Err(Failure::cancelled()), failed };
            }
        }
    }
}

/// A failure that says which model it is about, and how often it was asked.
fn named(failure: Failure, spec: &Spec, attempts: u32) -> Failure {
    if matches!(failure.why, Why::Budget | Why::Cancelled) {
        return failure;
    }
    let wait = failure.retry_after.filter(|wait| !wait.is_zero());
    let wait = wait.map_or_else(String::new, |wait| format!(", and asks for {} s of rest", wait.as_secs()));
    let tries = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
    Failure { message: format!("{spec}: {}{wait}{tries}", failure.message), ..failure }
}
