//! The rules of retrying: how often, what may be done twice, and what a told wait is worth.

use core::time::Duration;

use crate::config::{ConfigError, Invalid, choice, declare};
use crate::time::saturating_nanos;

choice! {
    /// Whether doing it twice is the same as doing it once. A call that timed out may have succeeded.
    pub enum Idempotent {
        /// It may be done again (a read, a deletion).
        Yes = 0 "yes",
        /// It must not, so it is never retried.
        No = 1 "no",
        /// It carries an idempotency key, by which the dependency knows it again.
        ByKey = 2 "by_key",
    }
}

choice! {
    /// What a wait that the dependency told (`Retry-After`) does to the pause.
    pub enum OnRetryAfter {
        /// At least as long, and the drawn pause on top, so that not all come back at one instant.
        Wait = 0 "wait",
        /// The call ends at once and carries the instant.
        Fail = 1 "fail",
        /// Exactly as long, and the pauses begin anew (gRPC's pushback).
        Grpc = 2 "grpc",
        /// As long, but neither shorter than the drawn pause nor more than 5 s longer (the AWS SDKs).
        Aws = 3 "aws",
    }
}

const DAY: u64 = 86_400_000_000_000;
const AWS_MOST: Duration = Duration::from_secs(5);

declare! {
    /// How a call is tried again. `idempotent` must be stated: it is the design.
    ///
    /// ```
    /// use seawall::{Idempotent, Retry, RetryConfig};
    ///
    /// let retry = Retry::new(&RetryConfig::new().idempotent(Idempotent::Yes))?;
    /// assert_eq!(retry.attempts(), 3);
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct RetryConfig as "retry" {
        /// So many attempts in all, the first included. Three: what goes away mostly has by then, and layers multiply.
        attempts: count [1, 1_000_000] = 3,
        /// Whether the operation may be done twice. There is no default: a retried payment is a second payment.
        idempotent: (Idempotent) [0, 2] = none,
        /// What a told wait does to the pause. `wait`: never earlier than the dependency asked.
        on_retry_after: (OnRetryAfter) [0, 3] = 0,
        /// A told wait longer than this ends the call at once, which carries the instant. A minute: somebody is waiting.
        max_retry_after: span [0, DAY] = 60_000_000_000,
    }
}

/// The rules of retrying as a plain value, 32 bytes. All bits zero: no attempt after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Retry {
    attempts: u64,
    idempotent: u64,
    on_retry_after: u64,
    max_retry_after: u64,
}

impl RetryConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    pub const fn check(&self) -> Result<(), ConfigError> {
        match self.build() {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    const fn build(&self) -> Result<Retry, ConfigError> {
        macro_rules! value {
            ($field:ident, $default:expr) => {
                match self.value(Index::$field, $default, u64::MAX) {
                    Ok(value) => value,
                    Err(error) => return Err(error),
                }
            };
        }
        let attempts = value!(attempts, 3);
        if self.given(Index::idempotent).is_none() {
            return Err(ConfigError::invalid(&Self::FIELDS[Index::idempotent as usize], Invalid::Missing));
        }
        Ok(Retry {
            attempts,
            idempotent: value!(idempotent, 0),
            on_retry_after: value!(on_retry_after, 0),
            max_retry_after: value!(max_retry_after, 60_000_000_000),
        })
    }
}

impl Retry {
    /// The rules that `config` describes.
    ///
    /// # Errors
    /// Which field is impossible or missing, and what would be possible.
    pub const fn new(config: &RetryConfig) -> Result<Self, ConfigError> {
        config.build()
    }

    /// How many words [`to_words`](Self::to_words) makes.
    pub const WORDS: usize = 4;

    /// As plain words, for faces that keep it themselves.
    #[must_use]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        [self.attempts, self.idempotent, self.on_retry_after, self.max_retry_after]
    }

    /// From plain words. Any words are some rules.
    #[must_use]
    pub const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [attempts, idempotent, on_retry_after, max_retry_after] = words;
        Self { attempts, idempotent, on_retry_after, max_retry_after }
    }

    /// How many attempts in all.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        if self.attempts > u32::MAX as u64 { u32::MAX } else { self.attempts as u32 }
    }

    /// Whether it may be done twice.
    #[must_use]
    pub const fn may_repeat(&self) -> bool {
        !matches!(Idempotent::from_number(self.idempotent), Idempotent::No)
    }

    /// The longest told wait that is waited for.
    #[must_use]
    pub const fn max_retry_after(&self) -> Duration {
        Duration::from_nanos(self.max_retry_after)
    }

    /// The pause before the next attempt, given what the dependency `told` and what the backoff has
    /// drawn; `jittered` says whether that is a draw, which then goes on top of what was told.
    /// `None`: the told wait is not waited for.
    #[must_use]
    pub fn pause(&self, told: Option<Duration>, drawn: Duration, jittered: bool) -> Option<Duration> {
        let Some(told) = told else { return Some(drawn) };
        let on_retry_after = OnRetryAfter::from_number(self.on_retry_after);
        let too_long = saturating_nanos(told) > self.max_retry_after;
        match on_retry_after {
            OnRetryAfter::Aws => Some(told.max(drawn).min(drawn.saturating_add(AWS_MOST))),
            _ if too_long => None,
            OnRetryAfter::Fail => None,
            OnRetryAfter::Grpc => Some(told),
            OnRetryAfter::Wait if jittered => Some(told.saturating_add(drawn)),
            OnRetryAfter::Wait => Some(told.max(drawn)),
        }
    }

    /// Whether the pauses begin anew after one that was told.
    #[must_use]
    pub const fn begins_anew(&self) -> bool {
        matches!(OnRetryAfter::from_number(self.on_retry_after), OnRetryAfter::Grpc)
    }
}
