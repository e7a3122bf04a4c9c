//! A retry budget as one would write it on a whiteboard: so many millionths of a retry, and when that was.
//!
//! Where the engine states a limit of its word, the model states the same limit in plain numbers: the unit of
//! time, after how many units the count begins again, and how far back a clock may go.

use seawall::config::Config;
use seawall::{Instant, Layer, Reason, RetryBudgetConfig, When};

use super::ops::{Answer, Op};
use crate::breaker::No;

const RETRY: u128 = 1_000_000;
/// A unit of time, in nanoseconds.
const UNIT: u64 = 1 << 24;
/// After so many units the count begins again.
const REPEATS: i128 = 1 << 20;
/// So many units a clock may go back.
const SLACK: i128 = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct Rules {
    ratio: u128,
    capacity: u128,
    per_second: u128,
}

impl Rules {
    fn of(config: &RetryBudgetConfig) -> Option<Self> {
        let given = |name: &str, default: u64| {
            let place = RetryBudgetConfig::FIELDS.iter().position(|field| field.name == name);
            u128::from(place.and_then(|place| Config::get(config, place)).unwrap_or(default))
        };
        let rules = Self {
            ratio: given("ratio", 100_000),
            capacity: given("capacity", 10),
            per_second: given("min_per_second", 0),
        };
        let possible = rules.ratio <= RETRY && (1..=100_000).contains(&rules.capacity) && rules.per_second <= 1_000;
        possible.then_some(rules)
    }
}

/// The plain model of a retry budget.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Rules,
    balance: u128,
    /// The unit in which the balance was written down.
    written: u64,
}

impl Model {
    /// A full budget, or `None` when the configuration is impossible.
    #[must_use]
    pub fn new(config: &RetryBudgetConfig, now: u64) -> Option<Self> {
        let rules = Rules::of(config)?;
        Some(Self { rules, balance: rules.capacity * RETRY, written: now / UNIT })
    }

    /// Does what is asked.
    pub fn apply(&mut self, op: Op, now: u64) -> Answer {
        let there = self.there(now);
        match op {
            // A full budget is left as it is, the time included.
            Op::Deposit if self.balance == self.rules.capacity * RETRY => {}
            Op::Deposit => self.write(there + self.rules.ratio, now),
            Op::Refund => self.write(there + RETRY, now),
            Op::Reset => self.write(self.rules.capacity * RETRY, now),
            Op::Balance => return Answer::Balance(there as u64),
            Op::Withdraw | Op::Peek if there < RETRY => return Answer::Refused(self.refusal(now)),
            Op::Withdraw => self.write(there - RETRY, now),
            Op::Peek => {}
            Op::Configure(config) => {
                let Some(rules) = Rules::of(&config) else { return Answer::Configured(false) };
                if self.rules.per_second == 0 {
                    // Nobody has kept the time.
                    self.written = now / UNIT;
                }
                self.rules = rules;
                self.write(there, now);
                return Answer::Configured(true);
            }
        }
        Answer::Done
    }

    fn elapsed(&self, now: u64) -> u128 {
        let elapsed = (i128::from(now / UNIT) - i128::from(self.written)).rem_euclid(REPEATS);
        if elapsed >= REPEATS - SLACK { 0 } else { elapsed as u128 }
    }

    fn there(&self, now: u64) -> u128 {
        let inflow = self.elapsed(now) * u128::from(UNIT) * self.rules.per_second / 1_000;
        (self.balance + inflow).min(self.rules.capacity * RETRY)
    }

    fn write(&mut self, balance: u128, now: u64) {
        if self.rules.per_second != 0 && self.elapsed(now) != 0 {
            self.written = now / UNIT;
        }
        self.balance = balance.min(self.rules.capacity * RETRY);
    }

    fn refusal(&self, now: u64) -> No {
        let per_unit = self.rules.per_second * u128::from(UNIT);
        let estimate = (per_unit != 0).then(|| {
            let units = ((RETRY - self.balance) * 1_000).div_ceil(per_unit) - self.elapsed(now);
            let unit = u128::from(now / UNIT) + units.max(1);
            Instant::from_nanos(u64::try_from(unit * u128::from(UNIT)).unwrap_or(u64::MAX))
        });
        No { layer: Layer::RetryBudget, reason: Reason::BudgetEmpty, when: When::Depends { estimate } }
    }
}
