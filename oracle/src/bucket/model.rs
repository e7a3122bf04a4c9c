//! A token bucket as one would write it on a whiteboard: so many tokens, and the instant at which so
//! many were there. Fractions of tokens are exact: a token is cut into as many parts as an interval has
//! ticks, and a part flows in with every tick.
//!
//! Where the engine states a limit of its word, the model states the same limit in plain numbers: the
//! tick, its repetition, and how far into debt and how far back in time still counts.

use seawall::config::Config;
use seawall::{Fill, Instant, Layer, Reason, Refund, TokenBucketConfig, When};

use super::ops::{Answer, Op, Step};
use crate::breaker::No;

const DAY: u128 = 86_400_000_000_000;
/// The bucket's contents repeat after so many ticks.
const REPEATS: i128 = 1 << 58;
/// Debt beyond another full bucket, and slack for a clock that went back, in ticks.
const DEBT: i128 = 1 << 45;
const SLACK: i128 = 1 << 46;
/// A full bucket holds at most so many parts.
const FULLEST: u128 = 1 << 55;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    /// Ticks per nanosecond.
    ticks: u64,
    /// Parts of a token: ticks until the next.
    parts: u64,
    capacity: u64,
}

impl Rules {
    fn of(config: &TokenBucketConfig) -> Option<(Self, Fill)> {
        let given = |name: &str| {
            let place = TokenBucketConfig::FIELDS.iter().position(|field| field.name == name)?;
            Config::get(config, place)
        };
        let period = u128::from(given("period").unwrap_or(1_000_000_000));
        let (rate, capacity) = (u128::from(given("rate")?), given("capacity")?);
        let fill = match given("start") {
            None | Some(0) => Fill::Full,
            Some(1) => Fill::Empty,
            Some(_) => return None,
        };
        let possible = (1..=365 * DAY).contains(&period)
            && rate > 0
            && rate * DAY >= period
            && rate <= period * 10
            && (1..1 << 40).contains(&capacity);
        if !possible {
            return None;
        }
        // The coarsest tick of which an interval has 4096; an interval takes whole ticks.
        let mut ticks = 1;
        while period * ticks < rate * 4096 {
            ticks *= 2;
        }
        let parts = (period * ticks).div_ceil(rate);
        let rules = Self { ticks: ticks as u64, parts: parts as u64, capacity };
        (parts * u128::from(capacity) <= FULLEST).then_some((rules, fill))
    }

    fn full(&self) -> i128 {
        i128::from(self.parts) * i128::from(self.capacity)
    }

    /// The least that is ever in it: debt is negative.
    fn least(&self) -> i128 {
        -self.full() - DEBT
    }

    /// Ticks as nanoseconds, rounded up.
    fn nanos(&self, ticks: i128) -> u64 {
        u64::try_from((ticks + i128::from(self.ticks) - 1) / i128::from(self.ticks)).unwrap_or(u64::MAX)
    }
}

/// What is in the bucket: so many parts at that instant.
#[derive(Clone, Copy, Debug)]
struct Contents {
    parts: i128,
    at: u64,
    /// How many refunds left later takers in place, and configurations came, modulo 16.
    moves: u8,
    /// How many configurations there have been, modulo the 4 slots.
    slot: u8,
}

#[derive(Clone, Copy, Debug)]
struct Reservation {
    cost: u64,
    made: u64,
    before: Contents,
    after: Contents,
    rules: Rules,
}

/// The plain model of a token bucket.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Rules,
    contents: Contents,
    reservations: Vec<Reservation>,
}

impl Model {
    /// A bucket that starts at `now`, or `None` when the configuration is impossible.
    #[must_use]
    pub fn new(config: &TokenBucketConfig, now: u64) -> Option<Self> {
        let (rules, fill) = Rules::of(config)?;
        let parts = if fill == Fill::Full { rules.full() } else { 0 };
        Some(Self { rules, contents: Contents { parts, at: now, moves: 0, slot: 0 }, reservations: Vec::new() })
    }

    /// How many reservations it has made.
    #[must_use]
    pub fn reservations(&self) -> usize {
        self.reservations.len()
    }

    /// Does what is asked.
    ///
    /// # Panics
    /// When a cancellation names a reservation that was never made.
    pub fn apply(&mut self, step: &Step) -> Answer {
        let now = step.now;
        match step.op {
            Op::Take { cost } => self.take(cost, now, true),
            Op::Peek { cost } => self.take(cost, now, false),
            Op::Reserve { cost, max_wait } => self.reserve(cost, max_wait, now),
            Op::Cancel { reservation } => Answer::Refunded(self.cancel(self.reservations[reservation], now)),
            Op::Drain => {
                if self.parts(now) > 0 {
                    self.put(0, now);
                }
                Answer::Done
            }
            Op::Reset => {
                if self.parts(now) < self.rules.full() {
                    self.put(self.rules.full(), now);
                }
                Answer::Done
            }
            Op::Configure(config) => match Rules::of(&config) {
                Some((rules, _)) => {
                    self.change(rules, now);
                    Answer::Configured(true)
                }
                None => Answer::Configured(false),
            },
        }
    }

    /// What is in it at `now`. What is missing is known only within a repetition, and what is missing
    /// by more than any debt and any step back of the clock is not missing.
    fn parts(&self, now: u64) -> i128 {
        let full = self.rules.full();
        let flowed = (i128::from(now) - i128::from(self.contents.at)) * i128::from(self.rules.ticks);
        let missing = (full - self.contents.parts - flowed).rem_euclid(REPEATS);
        if missing > full - self.rules.least() + SLACK { full } else { full - missing }
    }

    fn put(&mut self, parts: i128, now: u64) {
        self.contents = Contents { parts, at: now, ..self.contents };
    }

    fn cost(&self, tokens: u64) -> i128 {
        i128::from(tokens) * i128::from(self.rules.parts)
    }

    fn take(&mut self, cost: u64, now: u64, really: bool) -> Answer {
        if cost > self.rules.capacity {
            return too_much();
        }
        let left = self.parts(now) - self.cost(cost);
        if cost > 0 && left < 0 {
            return Answer::Refused(limited(self.in_ticks(-left, now)));
        }
        if cost > 0 && really {
            self.put(left, now);
        }
        let remaining = (left / i128::from(self.rules.parts)).max(0) as u64;
        Answer::Granted { remaining, reset_after: self.rules.nanos(self.rules.full() - left) }
    }

    fn reserve(&mut self, cost: u64, max_wait: u64, now: u64) -> Answer {
        if cost > self.rules.capacity {
            return too_much();
        }
        let left = self.parts(now) - self.cost(cost);
        let at = if cost == 0 || left >= 0 { now } else { self.in_ticks(-left, now) };
        if cost > 0 && (at - now > max_wait || left < self.rules.least()) {
            return Answer::Refused(limited(at));
        }
        let before = self.contents;
        if cost > 0 {
            self.put(left, now);
        }
        self.reservations.push(Reservation { cost, made: now, before, after: self.contents, rules: self.rules });
        Answer::Reserved { at }
    }

    fn cancel(&mut self, held: Reservation, now: u64) -> Refund {
        if held.cost == 0 {
            return Refund::Full;
        }
        let parts = self.parts(now);
        if self.same(&held) {
            // Nobody has taken anything since: as if it had not been made, though never more than it took.
            let without = Self { contents: held.before, ..self.clone() }.parts(now);
            self.put(without.min(parts + self.cost(held.cost)).max(parts), now);
            return Refund::Full;
        }
        if self.contents.slot != held.after.slot || self.rules != held.rules || parts < 0 {
            return Refund::Nothing;
        }
        let flowed = i128::from(now.saturating_sub(held.made)) * i128::from(self.rules.ticks);
        let taken = self.cost(held.cost);
        let refund = (taken - flowed).min(self.rules.full() - parts);
        if refund <= 0 {
            return Refund::Nothing;
        }
        self.put(parts + refund, now);
        self.contents.moves = (self.contents.moves + 1) % 16;
        if refund == taken { Refund::Full } else { Refund::Part }
    }

    /// Whether the contents are those that a reservation left, as far as the engine can tell.
    fn same(&self, held: &Reservation) -> bool {
        let full_at = |c: &Contents, rules: &Rules| i128::from(c.at) * i128::from(rules.ticks) + rules.full() - c.parts;
        let (mine, other) = (&self.contents, &held.after);
        mine.slot == other.slot
            && mine.moves == other.moves
            && (full_at(mine, &self.rules) - full_at(other, &held.rules)).rem_euclid(REPEATS) == 0
    }

    /// Other rules: the tokens that are there stay as far as they fit, a debt stays a debt as far as one
    /// can be kept; fractions of a part are lost to the taker.
    fn change(&mut self, rules: Rules, now: u64) {
        let (old, new) = (i128::from(self.rules.parts), i128::from(rules.parts));
        let parts = (self.parts(now) * new).div_euclid(old).min(rules.full()).max(rules.least());
        self.put(parts, now);
        self.contents.slot = (self.contents.slot + 1) % 4;
        self.contents.moves = (self.contents.moves + 1) % 16;
        self.rules = rules;
    }

    fn in_ticks(&self, ticks: i128, now: u64) -> u64 {
        now.saturating_add(self.rules.nanos(ticks).max(1))
    }
}

fn too_much() -> Answer {
    Answer::Refused(No { layer: Layer::RateLimit, reason: Reason::ExceedsCapacity, when: When::Never })
}

fn limited(at: u64) -> No {
    No { layer: Layer::RateLimit, reason: Reason::RateLimited, when: When::At(Instant::from_nanos(at)) }
}
