//! A breaker's configuration as a model reads it, from the tables in the docs.

use std::collections::BTreeMap;

use seawall::config::Config;
use seawall::{CircuitBreakerConfig, Mode};

/// Deadlines are kept in units of so many nanoseconds, rounded up (`core/src/word/deadline.rs`).
pub(super) const UNIT: u64 = 1 << 20;

const MS: u64 = 1_000_000;
const HOUR: u64 = 3_600_000 * MS;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// The stated slack for a clock that went back, in units.
const SLACK: u64 = (1 << 36) / UNIT;

/// What follows when trials expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    Again,
    Open,
    Close,
}

/// The rules of one breaker; periods in units, `slow_after` in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) mode: Mode,
    /// `None`: consecutive mode.
    pub(super) rate: Option<Rate>,
    pub(super) failure_threshold: u64,
    pub(super) slow_after: Option<u64>,
    pub(super) trials: u64,
    pub(super) close_after: u64,
    pub(super) reset_after: u64,
    pub(super) reset_factor: u64,
    pub(super) reset_cap: u64,
    pub(super) reset_jitter: u64,
    pub(super) max_retry_after: u64,
    pub(super) trial_timeout: u64,
    pub(super) expired: Expired,
}

/// The rules of rate mode.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    pub(super) failure_threshold: Option<u64>,
    pub(super) failure_rate: Option<u64>,
    pub(super) slow_rate: u64,
    pub(super) window: usize,
    pub(super) minimum_calls: usize,
}

fn units(nanos: u64) -> u64 {
    nanos / UNIT + u64::from(!nanos.is_multiple_of(UNIT))
}

impl Rules {
    /// The rules that a configuration states, or `None` when it is impossible for a breaker that has room
    /// for so many calls.
    pub(super) fn of(config: &CircuitBreakerConfig, longest: u64) -> Option<Self> {
        let given: BTreeMap<&str, u64> = CircuitBreakerConfig::FIELDS
            .iter()
            .enumerate()
            .filter_map(|(place, field)| Some((field.name, Config::get(config, place)?)))
            .collect();
        let possible = |name: &str, low: u64, high: u64, default: u64| match given.get(name) {
            Some(&value) if (low..=high).contains(&value) => Some(value),
            Some(_) => None,
            None => Some(default),
        };
        let rate_mode =
            ["failure_rate", "window", "minimum_calls", "slow_rate"].iter().any(|name| given.contains_key(name));
        let slow_after = possible("slow_after", 0, DAY, 0)?;
        if slow_after == 0 && given.contains_key("slow_rate") {
            return None;
        }
        let window = possible("window", 2, longest, 20)?;
        let failure_threshold = possible("failure_threshold", 1, if rate_mode { window } else { 1_000_000 }, 5)?;
        let minimum_calls = possible("minimum_calls", 1, window, window.min(10))?;
        let failure_rate = possible("failure_rate", 1, 1_000_000, 500_000)?;
        let slow_rate = possible("slow_rate", 1, 1_000_000, 1_000_000)?;
        let trials = possible("trials", 1, 15, if rate_mode { 3 } else { 1 })?;
        let reset_after = possible("reset_after", MS, WEEK, 30_000 * MS)?;
        let reset_cap = possible("reset_cap", reset_after, WEEK, reset_after.max(300_000 * MS))?;
        let counts = given.contains_key("failure_threshold");
        let rate = Rate {
            failure_threshold: counts.then_some(failure_threshold),
            failure_rate: (!counts || given.contains_key("failure_rate")).then_some(failure_rate),
            slow_rate,
            window: window as usize,
            minimum_calls: minimum_calls as usize,
        };
        Some(Self {
            mode: Mode::from_number(possible("mode", 0, 3, 0)?),
            rate: rate_mode.then_some(rate),
            failure_threshold,
            slow_after: (slow_after > 0).then_some(slow_after),
            trials,
            close_after: possible("close_after", 1, trials, trials)?,
            reset_after: units(reset_after),
            reset_factor: possible("reset_factor", 1_000, 32_000, 1_000)?,
            reset_cap: units(reset_cap),
            reset_jitter: possible("reset_jitter", 0, 900_000, 0)?,
            max_retry_after: units(possible("max_retry_after", MS, WEEK, HOUR)?),
            trial_timeout: units(possible("trial_timeout", MS, HOUR, reset_after.min(HOUR))?),
            expired: match possible("expired_trials", 0, 2, 0)? {
                0 => Expired::Again,
                1 => Expired::Open,
                _ => Expired::Close,
            },
        })
    }

    /// Whether the window takes more than the breaker's word.
    pub(super) fn is_long(&self) -> bool {
        self.rate.as_ref().is_some_and(|rate| rate.window > 20)
    }

    /// How far ahead an open period's end may lie and still count, in units: what it can have been set
    /// for and the slack for a clock that went back, up to the next power of two.
    pub(super) fn open_reach(&self) -> u64 {
        reach(self.reset_cap.max(self.max_retry_after))
    }

    /// The same for the trials' lease.
    pub(super) fn lease_reach(&self) -> u64 {
        reach(self.trial_timeout)
    }

    /// The open period after so many reopenings, in units.
    ///
    /// Randomness `r` draws from the range that the jitter allows: its low end at 0, its high end at
    /// `u64::MAX`, evenly between.
    pub(super) fn period(&self, reopened: u64, r: u64) -> u64 {
        let cap = u128::from(self.reset_cap);
        // In 4096ths of a unit, rounded up to a unit at the end.
        let mut period = u128::from(self.reset_after).min(cap) * 4096;
        for _ in 0..reopened {
            period = (period * u128::from(self.reset_factor) / 1000).min(cap * 4096);
        }
        let period = period.div_ceil(4096);
        if r == 0 || self.reset_jitter == 0 {
            return period as u64;
        }
        let spread = period * u128::from(self.reset_jitter) / 1_000_000;
        let (low, high) = (period - spread, (period + spread).min(cap));
        let drawn = low + ((u128::from(r) * (high - low + 1)) >> 64);
        (drawn as u64).max(1)
    }
}

fn reach(longest: u64) -> u64 {
    let longest = longest + 1 + SLACK;
    let mut power = 1;
    while power <= longest {
        power *= 2;
    }
    power
}
