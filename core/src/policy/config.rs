//! What is the policy's own to configure: declared, checked.

use crate::config::{ConfigError, choice, declare};

choice! {
    /// What becomes of a success that arrives after its attempt's instant, where the attempt could not be
    /// cut off (a synchronous call).
    pub enum Late {
        /// It is a timeout like any other.
        Discard = 0 "discard",
        /// It is the call's answer. The breaker hears of the timeout all the same.
        Use = 1 "use",
    }
}

const DAY: u64 = 86_400_000_000_000;

declare! {
    /// What no part of a policy has to itself.
    ///
    /// ```
    /// use core::time::Duration;
    /// use seawall::policy::PolicyConfig;
    ///
    /// const SEARCH: PolicyConfig = PolicyConfig::new().expected(Duration::from_millis(40));
    /// ```
    pub struct PolicyConfig as "policy" {
        /// How long an attempt usually takes: none starts when less than this remains until the deadline. 0: not known, so every attempt that has any time left starts.
        expected: span [0, DAY] = 0,
        /// How long an attempt may wait for the rate limit. 0: a rate limit's refusal is final, since a queue that nobody asked for hides the overload.
        max_wait: span [0, DAY] = 0,
        /// How many of the rate limit's tokens an attempt takes.
        cost: count [1, 1_099_511_627_775] = 1,
        /// What becomes of a success that arrives after its attempt's instant. `discard`: then an attempt that can be cut off and one that cannot are decided alike.
        late: (Late) [0, 1] = 0,
    }
}

/// The checked configuration as a call reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) expected: u64,
    pub(super) max_wait: u64,
    pub(super) cost: u64,
    pub(super) late: Late,
}

impl Settings {
    pub(super) const WORDS: usize = 4;

    pub(super) const fn to_words(self) -> [u64; Self::WORDS] {
        [self.expected, self.max_wait, self.cost, self.late as u64]
    }

    pub(super) const fn from_words([expected, max_wait, cost, late]: [u64; Self::WORDS]) -> Self {
        Self { expected, max_wait, cost, late: Late::from_number(late) }
    }
}

impl PolicyConfig {
    /// Checks every field.
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
        Ok(Settings {
            expected: value!(expected, 0),
            max_wait: value!(max_wait, 0),
            cost: value!(cost, 1),
            late: Late::from_number(value!(late, 0)),
        })
    }
}
