//! A breaker's configuration as a model reads it, from the tables in the docs.

use std::collections::BTreeMap;

use seawall::config::Config;
use seawall::{Cause, CircuitBreakerConfig, Mode};

use super::model::Counts;

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
    /// Windows of time: the width of a bucket in nanoseconds; `window` is how many there are.
    pub(super) width: Option<u64>,
    pub(super) minimum_calls: usize,
}

fn units(nanos: u64) -> u64 {
    nanos / UNIT + u64::from(!nanos.is_multiple_of(UNIT))
}

impl Rules {
    /// The rules that a configuration states, or `None` when it is impossible for a breaker that has room
    /// for so many calls and so many buckets.
    pub(super) fn of(config: &CircuitBreakerConfig, longest: u64, buckets: u64) -> Option<Self> {
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
        let rate_mode = ["failure_rate", "window", "window_span", "buckets", "minimum_calls", "slow_rate"]
            .iter()
            .any(|name| given.contains_key(name));
        let slow_after = possible("slow_after", 0, DAY, 0)?;
        if slow_after == 0 && given.contains_key("slow_rate") {
            return None;
        }
        let window = possible("window", 2, longest, 20)?;
        let width = match given.get("window_span") {
            Some(_) if given.contains_key("window") => return None,
            None if given.contains_key("buckets") => return None,
            None => None,
            Some(_) => {
                let span = possible("window_span", 10 * MS, DAY, 0)?;
                Some(width(span, possible("buckets", 10, 60.min(buckets), 10).filter(|&b| b <= buckets)?))
            }
        };
        let calls = |most: u64| if width.is_some() { most } else { window };
        let most_failures = if rate_mode { calls(1_000_000) } else { 1_000_000 };
        let failure_threshold = possible("failure_threshold", 1, most_failures, 5)?;
        let minimum_calls = possible("minimum_calls", 1, calls(100_000), calls(10).min(10))?;
        let window = if width.is_some() { possible("buckets", 10, 60, 10)? } else { window };
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
            width,
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
        self.rate.as_ref().is_some_and(|rate| rate.width.is_none() && rate.window > 20)
    }

    /// The width of the buckets of a window of time.
    pub(super) fn width(&self) -> Option<u64> {
        self.rate.as_ref().and_then(|rate| rate.width)
    }

    /// What a window of these counts says.
    pub(super) fn judge(&self, counts: Counts) -> Option<Cause> {
        let rate = self.rate.as_ref().expect("a window means rate mode");
        let reaches = |bad: u64, most: u64| u128::from(bad) * 1_000_000 >= u128::from(most) * u128::from(counts.calls);
        if rate.failure_threshold.is_some_and(|most| counts.failed >= most) {
            Some(Cause::FailureThreshold)
        } else if counts.calls < rate.minimum_calls as u64 {
            None
        } else if rate.failure_rate.is_some_and(|most| reaches(counts.failed, most)) {
            Some(Cause::FailureRate)
        } else if self.slow_after.is_some() && reaches(counts.slow, rate.slow_rate) {
            Some(Cause::SlowRate)
        } else {
            None
        }
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

/// The width of a bucket, rounded up to 21 significant bits.
fn width(span: u64, buckets: u64) -> u64 {
    let exact = span.div_ceil(buckets);
    let mut step = 1;
    while exact.div_ceil(step) >= 1 << 21 {
        step *= 2;
    }
    exact.div_ceil(step) * step
}

fn reach(longest: u64) -> u64 {
    let longest = longest + 1 + SLACK;
    let mut power = 1;
    while power <= longest {
        power *= 2;
    }
    power
}
