//! The retry budget's configuration: declared, checked, packed.

use crate::config::{ConfigError, declare};
use crate::word::bits::Bits;

declare! {
    /// How many retries a client may afford.
    ///
    /// ```
    /// use seawall::{Instant, Ratio, RetryBudget, RetryBudgetConfig};
    ///
    /// let budget = RetryBudget::new(&RetryBudgetConfig::new().ratio(Ratio::percent(20)), Instant::ZERO)?;
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct RetryBudgetConfig as "retry_budget" {
        /// So much of a retry each request pays in. A tenth: when everything fails, the provider gets 1.1
        /// calls per request and not three.
        ratio: ratio [0, 1_000_000] = 100_000,
        /// How many retries it starts with, and the most it holds. 10: enough for a hiccup, too few for a storm.
        capacity: count [1, 100_000] = 10,
        /// So many retries flow in per second besides, for clients with so few requests that a share of them
        /// would never make up one. 0: what is not paid for is not spent.
        min_per_second: count [0, 1_000] = 0,
    }
}

impl RetryBudgetConfig {
    /// Checks every field and every relation between fields.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    pub const fn check(&self) -> Result<(), ConfigError> {
        match self.settings() {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) const fn settings(&self) -> Result<Settings, ConfigError> {
        macro_rules! value {
            ($field:ident, $default:expr) => {
                match self.value(Index::$field, $default, u64::MAX) {
                    Ok(value) => value,
                    Err(error) => return Err(error),
                }
            };
        }
        let ratio = value!(ratio, 100_000);
        let capacity = value!(capacity, 10);
        let min_per_second = value!(min_per_second, 0);
        Ok(Settings { ratio, capacity, min_per_second })
    }
}

/// The checked configuration as a step reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Millionths of a retry that a request pays in.
    pub(super) ratio: u64,
    /// Retries it holds.
    pub(super) capacity: u64,
    /// Retries that flow in per second.
    pub(super) min_per_second: u64,
}

/// How many words a configuration takes: ratio 20, capacity 17, retries per second 10, from the lowest bit on.
pub(super) const WORDS: usize = 1;

const RATIO: Bits = Bits::new(0, 20);
const CAPACITY: Bits = Bits::new(20, 17);
const PER_SECOND: Bits = Bits::new(37, 10);

impl Settings {
    pub(super) const fn pack(&self) -> [u64; WORDS] {
        [RATIO.of(self.ratio) | CAPACITY.of(self.capacity) | PER_SECOND.of(self.min_per_second)]
    }

    /// Any word is some settings.
    #[inline]
    pub(super) const fn unpack([word]: &[u64; WORDS]) -> Self {
        Self { ratio: RATIO.get(*word), capacity: CAPACITY.get(*word), min_per_second: PER_SECOND.get(*word) }
    }

    /// The largest balance, in millionths of a retry.
    #[inline]
    pub(super) const fn full(&self) -> u64 {
        self.capacity * super::step::RETRY
    }
}
