//! The backoff's configuration: declared and checked.

use super::Backoff;
use super::power::Power;
use crate::config::{ConfigError, choice, declare};

choice! {
    /// How the ceiling of a wait grows from retry to retry.
    pub enum Growth {
        /// `base * factor^retry`.
        Exponential = 0 "exponential",
        /// `base * (retry + 1)`.
        Linear = 1 "linear",
        /// `base`.
        Constant = 2 "constant",
    }
}

choice! {
    /// How a wait is drawn below its ceiling. With e the ceiling of this retry:
    pub enum Jitter {
        /// Anything from 0 to e.
        Full = 0 "full",
        /// e/2, and anything from 0 to e/2 more.
        Equal = 1 "equal",
        /// Anything from `base` to three times the wait before, at most `cap`; `growth` is not looked at.
        Decorrelated = 2 "decorrelated",
        /// e, and up to the share `spread` of it less or more; never above `cap`.
        Proportional = 3 "proportional",
        /// e.
        None = 4 "none",
    }
}

const DAY: u64 = 86_400_000_000_000;

declare! {
    /// How long to wait before trying again.
    ///
    /// ```
    /// use core::time::Duration;
    /// use seawall::{Backoff, BackoffConfig, Jitter};
    ///
    /// let backoff = Backoff::new(&BackoffConfig::new().base(Duration::from_millis(50)).jitter(Jitter::None))?;
    /// assert_eq!(backoff.delay(2, Duration::ZERO, 0), Duration::from_millis(200));
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct BackoffConfig as "backoff" {
        /// The ceiling of the first wait. 100 ms: a blip is over by then, and a person does not notice.
        base: span [1, DAY] = 100_000_000,
        /// The longest wait. 2 s, or `base` if that is longer: beyond it whoever waits has given up.
        cap: span [1, DAY] = ("2 s, at least `base`"),
        /// How the ceiling grows. Exponential: the longer it lasts, the less there is to be gained by asking.
        growth: (Growth) [0, 2] = 0,
        /// Exponential growth: each ceiling is this many times the one before.
        factor: factor [1_000, 100_000] = 2_000,
        /// How a wait is drawn below its ceiling. Full: of all, it costs a provider that is coming back the
        /// fewest calls.
        jitter: (Jitter) [0, 4] = 0,
        /// Proportional jitter: up to this share less or more. A fifth, as gRPC has it.
        spread: ratio [1, 1_000_000] = 200_000,
    }
}

impl BackoffConfig {
    /// Checks every field and every relation between fields.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    pub const fn check(&self) -> Result<(), ConfigError> {
        match self.build() {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) const fn build(&self) -> Result<Backoff, ConfigError> {
        macro_rules! value {
            ($field:ident, $default:expr) => {
                match self.value(Index::$field, $default, u64::MAX) {
                    Ok(value) => value,
                    Err(error) => return Err(error),
                }
            };
        }
        let base = value!(base, 100_000_000);
        let cap = value!(cap, if base > 2_000_000_000 { base } else { 2_000_000_000 });
        if cap < base {
            let spec = &Self::FIELDS[Index::cap as usize];
            return Err(ConfigError::range(spec, cap, base, spec.max).because("at least base"));
        }
        let growth = value!(growth, Growth::Exponential as u64);
        let factor = Power::of_thousandths(value!(factor, 2_000));
        let jitter = value!(jitter, Jitter::Full as u64);
        let spread = value!(spread, 200_000);
        Ok(Backoff { base, cap, growth, factor, jitter, spread })
    }
}
