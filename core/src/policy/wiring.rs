//! Which parts a call asks.

use super::config::{PolicyConfig, Settings};
use crate::breaker::{CircuitBreaker, WindowWord};
use crate::config::ConfigError;
use crate::deadline::Timeouts;
use crate::rate::TokenBucket;
use crate::retry::{Backoff, Retry, RetryBudget};

/// The wiring of a call: its rules by value, the parts that calls share by reference. It is made once
/// and shared, or put together anew for every poll; it holds no state of its own.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    pub(super) settings: Settings,
    pub(super) timeouts: Timeouts,
    pub(super) retry: Option<(Retry, Backoff)>,
    pub(super) budget: Option<&'a RetryBudget>,
    pub(super) breaker: Option<&'a CircuitBreaker<[WindowWord]>>,
    pub(super) rate_limit: Option<&'a TokenBucket>,
}

impl<'a> Policy<'a> {
    /// One attempt within these timeouts, which must be stated.
    ///
    /// # Errors
    /// Which field is impossible.
    pub const fn new(config: &PolicyConfig, timeouts: Timeouts) -> Result<Self, ConfigError> {
        match config.settings() {
            Ok(settings) => Ok(Self { settings, timeouts, retry: None, budget: None, breaker: None, rate_limit: None }),
            Err(error) => Err(error),
        }
    }

    /// Retries by these rules, with these pauses.
    #[must_use]
    pub const fn retry(self, retry: Retry, backoff: Backoff) -> Self {
        Self { retry: Some((retry, backoff)), ..self }
    }

    /// Only as many retries as this budget allows, which all calls to the dependency share.
    #[must_use]
    pub const fn budget(self, budget: &'a RetryBudget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Every attempt asks this circuit breaker, and its end is told to it.
    #[must_use]
    pub const fn breaker(self, breaker: &'a CircuitBreaker<[WindowWord]>) -> Self {
        Self { breaker: Some(breaker), ..self }
    }

    /// Every attempt takes its cost from this rate limit.
    #[must_use]
    pub const fn rate_limit(self, rate_limit: &'a TokenBucket) -> Self {
        Self { rate_limit: Some(rate_limit), ..self }
    }
}

const WORDS: usize = Settings::WORDS + Timeouts::WORDS + 1 + Retry::WORDS + Backoff::WORDS;

/// The rules alone, without what is shared, as plain words: for faces that keep them themselves.
impl<'a> Policy<'a> {
    /// How many words [`rules_to_words`](Self::rules_to_words) makes.
    pub const WORDS: usize = WORDS;

    /// Settings, timeouts, and the rules and pauses of retrying, where there are any.
    #[must_use]
    pub fn rules_to_words(&self) -> [u64; WORDS] {
        let retry = self.retry.map(|(retry, backoff)| (retry.to_words(), backoff.to_words()));
        let (rules, pauses) = retry.unwrap_or_default();
        let mut words = self
            .settings
            .to_words()
            .into_iter()
            .chain(self.timeouts.to_words())
            .chain([u64::from(self.retry.is_some())])
            .chain(rules)
            .chain(pauses);
        core::array::from_fn(|_| words.next().unwrap_or(0))
    }

    /// A policy by the rules of these words, with nothing shared. Any words are some rules.
    #[must_use]
    pub const fn from_words(words: [u64; WORDS]) -> Self {
        let [a, b, c, d, connect, attempt, total, retries, r0, r1, r2, r3, p0, p1, p2, p3, p4, p5, p6] = words;
        let rules = (Retry::from_words([r0, r1, r2, r3]), Backoff::from_words([p0, p1, p2, p3, p4, p5, p6]));
        Self {
            settings: Settings::from_words([a, b, c, d]),
            timeouts: Timeouts::from_words([connect, attempt, total]),
            retry: if retries == 1 { Some(rules) } else { None },
            budget: None,
            breaker: None,
            rate_limit: None,
        }
    }
}
