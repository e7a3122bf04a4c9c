//! The token bucket as a pure function: `step(word, settings, event, now) -> (word, answer)`.
//!
//! | 63..6 | 5..2 | 1..0 |
//! |---|---|---|
//! | TAT in ticks of 2^-shift ns, modulo 2^58 | moves | slot |
//!
//! TAT, the *theoretical arrival time*, is the instant at which the bucket is full again. **moves**
//! counts the refunds that left later takers in place, so that a reservation can tell whether the
//! word is still the one it made, and the changes of configuration, so that a word in one unit is
//! never taken for the same number in another. **slot** names the current configuration.

use super::config::Settings;
use super::{Grant, Held, Refund};
use crate::decision::{Layer, Reason, Rejection, When};
use crate::time::{Instant, saturating_nanos};
use crate::word::bits::Bits;

pub(super) const SLOT: Bits = Bits::new(0, 2);
const MOVES: Bits = Bits::new(2, 4);
const TAT_LOW: u32 = 6;
const TAT: u64 = !0 << TAT_LOW;

/// How far TAT may lie ahead beyond what was granted and still count: the slack for a clock that went
/// back, in ticks.
const SLACK: u64 = 1 << 46;

/// How far reservations may run into debt beyond one full bucket more.
const DEBT: u64 = 1 << 45;

/// What happens to a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// So many tokens now or not at all.
    Take { cost: u64 },
    /// So many tokens, now or after at most so many nanoseconds.
    Reserve { cost: u64, max_wait: u64 },
    /// A reservation is given back.
    Cancel { held: Held },
    /// All tokens go.
    Drain,
    /// All tokens come back.
    Refill,
}

/// What a step answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Granted(Grant),
    Reserved(Held),
    Refused(Rejection),
    Refunded(Refund),
    Done,
}

#[inline]
pub(super) fn step(word: u64, settings: &Settings, event: Event, now: Instant) -> (u64, Answer) {
    let bucket = Bucket { word, settings, now };
    match event {
        Event::Take { cost } => match bucket.take(cost) {
            (next, Ok(grant)) => (next, Answer::Granted(grant)),
            (next, Err(rejection)) => (next, Answer::Refused(rejection)),
        },
        Event::Reserve { cost, max_wait } => bucket.reserve(cost, max_wait),
        Event::Cancel { held } => bucket.cancel(&held),
        Event::Drain if bucket.ahead() >= settings.full() => (word, Answer::Done),
        Event::Drain => (bucket.with_ahead(settings.full()), Answer::Done),
        Event::Refill if bucket.ahead() == 0 => (word, Answer::Done),
        Event::Refill => (bucket.with_ahead(0), Answer::Done),
    }
}

/// [`Event::Take`] by itself, as small as it can be where it is inlined.
#[inline(always)]
pub(super) fn take(word: u64, settings: &Settings, cost: u64, now: Instant) -> (u64, Result<Grant, Rejection>) {
    Bucket { word, settings, now }.take(cost)
}

/// The word of a bucket that is full, or empty, at `now`.
pub(super) const fn start(settings: &Settings, empty: bool, now: Instant) -> u64 {
    let ahead = if empty { settings.full() } else { 0 };
    ticks(now, settings.shift).wrapping_add(ahead << TAT_LOW)
}

/// The word under other settings: the tokens that are there at `now` stay, as far as they fit, and a
/// debt stays a debt; fractions round against the taker.
pub(super) fn carry_over(word: u64, old: &Settings, new: &Settings, now: Instant) -> u64 {
    let ahead = Bucket { word, settings: old, now }.ahead();
    let old_interval = u128::from(old.interval.max(1));
    let scaled = |ticks: u64| u128::from(ticks) * u128::from(new.interval);
    let ahead = if ahead <= old.full() {
        let tokens = scaled(old.full() - ahead) / old_interval;
        new.full().saturating_sub(u64::try_from(tokens).unwrap_or(u64::MAX))
    } else {
        let debt = scaled(ahead - old.full()).div_ceil(old_interval);
        new.full().saturating_add(u64::try_from(debt).unwrap_or(u64::MAX))
    };
    let next = Bucket { word, settings: new, now }.with_ahead(ahead.min(most_ahead(new)));
    MOVES.put(next, MOVES.get(next) + 1)
}

/// `now` in ticks, at the place of TAT in the word. Wraps as the word does.
#[inline]
const fn ticks(now: Instant, shift: u32) -> u64 {
    now.as_nanos() << (shift + TAT_LOW)
}

/// The most that TAT is ever put ahead.
#[inline]
const fn most_ahead(settings: &Settings) -> u64 {
    settings.full().wrapping_mul(2).wrapping_add(DEBT) & (TAT >> (TAT_LOW + 1))
}

/// One bucket at one instant.
struct Bucket<'a> {
    word: u64,
    settings: &'a Settings,
    now: Instant,
}

impl Bucket<'_> {
    /// How many ticks until the bucket is full, and the word as it would stand if it had been written
    /// now: a TAT that has passed is now.
    ///
    /// Told apart by range, not by half: what lies further ahead than any grant and any tolerated
    /// step back of the clock lies in the past.
    #[inline]
    fn current(&self) -> (u64, u64) {
        let ahead = self.word.wrapping_sub(ticks(self.now, self.settings.shift)) >> TAT_LOW;
        let limit = self.settings.full().wrapping_mul(2).wrapping_add(DEBT + SLACK);
        if ahead <= limit { (ahead, self.word) } else { (0, self.with_ahead(0)) }
    }

    /// How many ticks until the bucket is full; 0 when it is.
    #[inline]
    fn ahead(&self) -> u64 {
        self.current().0
    }

    /// The word with the bucket full in `ahead` ticks.
    #[inline]
    fn with_ahead(&self, ahead: u64) -> u64 {
        let tat = ticks(self.now, self.settings.shift).wrapping_add(ahead << TAT_LOW);
        (tat & TAT) | (self.word & !TAT)
    }

    #[inline(always)]
    fn take(&self, cost: u64) -> (u64, Result<Grant, Rejection>) {
        if cost > self.settings.capacity {
            return (self.word, Err(impossible(self.settings.capacity)));
        }
        let taken = cost.wrapping_mul(self.settings.interval);
        let (ahead, word) = self.current();
        let after = ahead.wrapping_add(taken);
        if cost == 0 {
            (self.word, Ok(self.grant(ahead)))
        } else if after <= self.settings.full() {
            // Added to the word as it stands: the way from one exchange to the next is short then.
            (word.wrapping_add(taken << TAT_LOW), Ok(self.grant(after)))
        } else {
            (self.word, Err(limited(self.instant(after.wrapping_sub(self.settings.full())))))
        }
    }

    fn reserve(&self, cost: u64, max_wait: u64) -> (u64, Answer) {
        if cost > self.settings.capacity {
            return (self.word, Answer::Refused(impossible(self.settings.capacity)));
        }
        let after = self.ahead().wrapping_add(cost.wrapping_mul(self.settings.interval));
        let wait = if cost == 0 { 0 } else { after.saturating_sub(self.settings.full()) };
        let at = if wait == 0 { self.now } else { self.instant(wait) };
        // Nothing costs nothing, however deep the debt.
        let too_deep = cost > 0 && after > most_ahead(self.settings);
        if saturating_nanos(at.since(self.now)) > max_wait || too_deep {
            return (self.word, Answer::Refused(limited(at)));
        }
        let next = if cost == 0 { self.word } else { self.with_ahead(after) };
        let made = Held { cost, at, made: self.now, before: self.word, after: next, settings: self.settings.pack() };
        (next, Answer::Reserved(made))
    }

    /// Gives back what a reservation took, never more than is certain not to be needed twice.
    fn cancel(&self, held: &Held) -> (u64, Answer) {
        let unchanged = |refund| (self.word, Answer::Refunded(refund));
        if held.cost == 0 || held.before == held.after {
            return unchanged(Refund::Full);
        }
        let ahead = self.ahead();
        let taken = held.cost.wrapping_mul(self.settings.interval);
        if self.word == held.after {
            // Nobody has taken anything since: the word before is the word without the reservation.
            let before = Bucket { word: held.before, ..*self }.ahead();
            let ahead = before.max(ahead.saturating_sub(taken)).min(ahead);
            return (self.with_ahead(ahead), Answer::Refunded(Refund::Full));
        }
        let changed = SLOT.get(self.word) != SLOT.get(held.after) || self.settings.pack() != held.settings;
        if changed || ahead > self.settings.full() {
            // Another configuration; or somebody waits for an instant that counts on this one.
            return unchanged(Refund::Nothing);
        }
        // Had the reservation not been made, the bucket might have been full for as long as it has
        // been held, and have lost that much: so much is not given back.
        let elapsed = u128::from(saturating_nanos(self.now.since(held.made))) << self.settings.shift;
        let refund = u64::try_from(u128::from(taken).saturating_sub(elapsed)).unwrap_or(0).min(ahead);
        if refund == 0 {
            return unchanged(Refund::Nothing);
        }
        let next = self.with_ahead(ahead - refund);
        let next = MOVES.put(next, MOVES.get(next) + 1);
        (next, Answer::Refunded(if refund == taken { Refund::Full } else { Refund::Part }))
    }

    #[inline]
    fn grant(&self, ahead: u64) -> Grant {
        Grant { ahead, full: self.settings.full(), interval: self.settings.interval, shift: self.settings.shift }
    }

    /// The instant `ticks` (at least one) from now, rounded up.
    #[inline]
    fn instant(&self, ticks: u64) -> Instant {
        let nanos = (ticks.wrapping_sub(1) >> self.settings.shift).saturating_add(1);
        Instant::from_nanos(self.now.as_nanos().saturating_add(nanos))
    }
}

/// More than the bucket ever holds; a bucket that holds nothing was never configured.
#[inline]
const fn impossible(capacity: u64) -> Rejection {
    let reason = if capacity == 0 { Reason::Unconfigured } else { Reason::ExceedsCapacity };
    Rejection::new(Layer::RateLimit, reason, When::Never)
}

#[inline]
fn limited(at: Instant) -> Rejection {
    Rejection::new(Layer::RateLimit, Reason::RateLimited, When::At(at))
}

/// Ticks as nanoseconds, rounded up.
#[inline]
pub(super) const fn nanos(ticks: u64, shift: u32) -> u64 {
    (ticks >> shift) + ((ticks & ((1 << shift) - 1)) != 0) as u64
}
