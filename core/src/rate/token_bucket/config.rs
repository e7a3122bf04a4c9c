//! The token bucket's configuration: declared, checked, packed.

use crate::config::{ConfigError, Invalid, choice, declare};
use crate::word::bits::Bits;

choice! {
    /// How a new bucket starts.
    pub enum Fill {
        /// With `capacity` tokens.
        Full = 0 "full",
        /// With none.
        Empty = 1 "empty",
    }
}

const DAY: u64 = 86_400_000_000_000;
const YEAR: u64 = 365 * DAY;

declare! {
    /// How fast, and how much at once. `rate` and `capacity` must be stated: they are the design.
    ///
    /// ```
    /// use seawall::{Instant, TokenBucket, TokenBucketConfig};
    ///
    /// const LIMIT: TokenBucketConfig = TokenBucketConfig::new().rate(100).capacity(20);
    /// let bucket = TokenBucket::new(&LIMIT, Instant::ZERO)?;
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct TokenBucketConfig as "token_bucket" {
        /// The period that `rate` counts in. A second: the field's unit.
        period: span [1, YEAR] = 1_000_000_000,
        /// So many tokens flow in per `period`: from one a day to 10^10 a second.
        rate: count [1, 10_000_000_000_000_000_000] = none,
        /// So many tokens fit, and so many are admitted at once after a pause.
        capacity: count [1, 1_099_511_627_775] = none,
        /// How it starts. Full: a service that has just started owes nobody anything.
        start: (Fill) [0, 1] = 0,
    }
}

impl TokenBucketConfig {
    /// `rate` tokens a second, `capacity` at once.
    #[must_use]
    pub const fn per_second(rate: u64, capacity: u64) -> Self {
        Self::new().rate(rate).capacity(capacity)
    }

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

    pub(super) const fn starts_empty(&self) -> bool {
        matches!(self.given(Index::start), Some(1))
    }

    pub(super) const fn settings(&self) -> Result<Settings, ConfigError> {
        macro_rules! value {
            ($field:ident, $default:expr) => {
                match self.value(Index::$field, $default, u64::MAX) {
                    Ok(value) => value,
                    Err(error) => return Err(error),
                }
            };
            ($field:ident) => {
                match self.given(Index::$field) {
                    Some(_) => value!($field, 0),
                    None => {
                        return Err(ConfigError::invalid(&Self::FIELDS[Index::$field as usize], Invalid::Missing));
                    }
                }
            };
        }
        let period = value!(period, 1_000_000_000);
        let rate = value!(rate);
        let (slowest, fastest) = (period.div_ceil(DAY), period.saturating_mul(10));
        if rate < slowest || rate > fastest {
            let spec = &Self::FIELDS[Index::rate as usize];
            return Err(ConfigError::range(spec, rate, slowest, fastest).because("from one a day to 10^10 a second"));
        }
        let (interval, shift) = interval(rate, period);
        let capacity = value!(capacity);
        // An interval is never 0; said so that no panic can be reached.
        let most = match MOST_TICKS.checked_div(interval) {
            Some(most) => most,
            None => 0,
        };
        if capacity > most {
            let spec = &Self::FIELDS[Index::capacity as usize];
            return Err(ConfigError::range(spec, capacity, 1, if most < spec.max { most } else { spec.max })
                .because("at this rate it would take too long to fill"));
        }
        value!(start, 0);
        Ok(Settings { interval, capacity, shift })
    }
}

/// An interval has at least so many ticks, so that rounding it up costs at most 1/4096 of the rate.
const FINENESS: u128 = 1 << 12;

/// A full bucket's worth of ticks is at most this: 1.1 years at one tick a nanosecond.
const MOST_TICKS: u64 = 1 << 55;

/// The emission interval in ticks of 2^-shift ns, rounded up; `shift` is the least that is fine enough.
const fn interval(rate: u64, period: u64) -> (u64, u32) {
    let (rate, period) = (rate as u128, period as u128);
    let mut shift = 0;
    while (period << shift) < rate * FINENESS {
        shift += 1;
    }
    // A rate is never 0; said so that no panic can be reached.
    match ((period << shift) + (rate - 1)).checked_div(rate) {
        Some(interval) => (interval as u64, shift),
        None => (0, shift),
    }
}

/// The checked configuration as a step reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Ticks per token.
    pub(super) interval: u64,
    /// Tokens that fit.
    pub(super) capacity: u64,
    /// A tick is 2^-this ns.
    pub(super) shift: u32,
}

/// How many words a configuration takes.
///
/// | word | from the lowest bit on |
/// |---|---|
/// | 0 | interval 48 (ticks) |
/// | 1 | capacity 40 (tokens), shift 5 |
pub(super) const WORDS: usize = 2;

const INTERVAL: Bits = Bits::new(0, 48);
const CAPACITY: Bits = Bits::new(0, 40);
const SHIFT: Bits = Bits::new(40, 5);

impl Settings {
    pub(super) const fn pack(&self) -> [u64; WORDS] {
        [INTERVAL.of(self.interval), CAPACITY.of(self.capacity) | SHIFT.of(self.shift as u64)]
    }

    /// Any words are some settings; shifts are cut to range by their width.
    #[inline]
    pub(super) const fn unpack(words: &[u64; WORDS]) -> Self {
        Self { interval: INTERVAL.get(words[0]), capacity: CAPACITY.get(words[1]), shift: SHIFT.get(words[1]) as u32 }
    }

    /// A full bucket's worth of ticks. Wrapping matters only for words that no configuration made.
    #[inline]
    pub(super) const fn full(&self) -> u64 {
        self.interval.wrapping_mul(self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_fine_and_never_short() {
        const S: u64 = 1_000_000_000;
        for (rate, period, want) in [
            (1, DAY, (DAY, 0)),
            (1, S, (S, 0)),
            (3, S, (333_333_334, 0)),
            (1_000_000, S, (8_000, 3)),
            (1_000_000_000, S, (4_096, 12)),
            (10_000_000_000, S, (6_554, 16)),
        ] {
            assert_eq!(interval(rate, period), want, "{rate} per {period} ns");
        }
    }
}
