//! The retry budget as a pure function: `step(word, settings, event, now) -> (word, answer)`.
//!
//! | 63..44 | 43..7 | 6 | 5..2 | 1..0 |
//! |---|---|---|---|---|
//! | when the balance was written, in units of 2^24 ns, modulo 2^20 | balance in millionths of a retry | full | changes | slot |
//!
//! **full** says that the balance is the largest there is, so that a deposit need not look at anything else.
//! **changes** counts changes of configuration, so that a word in which `full` meant another capacity is
//! never taken for this one.

use super::config::Settings;
use crate::time::Instant;
use crate::word::bits::Bits;

pub(super) const SLOT: Bits = Bits::new(0, 2);
const CHANGES: Bits = Bits::new(2, 4);
const FULL: Bits = Bits::new(6, 1);
const BALANCE: Bits = Bits::new(7, 37);
const WRITTEN: Bits = Bits::new(44, 20);

/// One retry, in millionths.
pub(super) const RETRY: u64 = 1_000_000;

/// A unit of time is 2^this ns, 16.8 ms.
const UNIT: u32 = 24;

/// How far the clock may step back, in units: 68.7 s. What looks longer ago than that before the
/// counter comes round is a clock that went back.
const SLACK: u64 = 1 << 12;

/// What happens to a budget.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// A request pays in.
    Deposit,
    /// A retry is paid for.
    Withdraw,
    /// A retry that was paid for is not sent.
    Refund,
    /// It starts over.
    Reset,
}

/// What a step answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Done,
    /// Too little is there. How many units until there is enough, if requests pay nothing in meanwhile.
    Empty(Option<u64>),
}

/// Whether a deposit into `word` leaves it as it is, whatever its configuration and the time.
#[inline]
pub(super) const fn is_full(word: u64) -> bool {
    FULL.get(word) == 1
}

#[inline]
pub(super) fn step(word: u64, settings: &Settings, event: Event, now: Instant) -> (u64, Answer) {
    let budget = Budget { word, settings, now };
    match event {
        Event::Deposit if is_full(word) => (word, Answer::Done),
        Event::Deposit => (budget.with(budget.balance() + settings.ratio), Answer::Done),
        Event::Refund => (budget.with(budget.balance() + RETRY), Answer::Done),
        Event::Reset => (budget.with(settings.full()), Answer::Done),
        Event::Withdraw => match budget.balance().checked_sub(RETRY) {
            Some(rest) => (budget.with(rest), Answer::Done),
            None => (word, Answer::Empty(budget.units_until_one())),
        },
    }
}

/// The word of a new budget.
pub(super) const fn start(settings: &Settings, now: Instant) -> u64 {
    BALANCE.of(settings.full()) | FULL.of(1) | WRITTEN.of(present(now))
}

/// The word under other settings: what is there at `now` stays, as far as it fits.
pub(super) fn carry_over(word: u64, old: &Settings, new: &Settings, now: Instant) -> u64 {
    let balance = Budget { word, settings: old, now }.balance();
    // Where nothing flowed in, nobody has kept the time.
    let word = if old.min_per_second == 0 { WRITTEN.put(word, present(now)) } else { word };
    let next = Budget { word, settings: new, now }.with(balance);
    CHANGES.put(next, CHANGES.get(next) + 1)
}

/// The balance at `now`, in millionths of a retry.
pub(super) fn balance(word: u64, settings: &Settings, now: Instant) -> u64 {
    Budget { word, settings, now }.balance()
}

const fn present(now: Instant) -> u64 {
    now.as_nanos() >> UNIT
}

/// One budget at one instant.
struct Budget<'a> {
    word: u64,
    settings: &'a Settings,
    now: Instant,
}

impl Budget<'_> {
    /// Units since the balance was written; 0 when the clock went back. After 4.9 h without a write the
    /// count begins again, so less flows in than was due, never more.
    #[inline]
    fn elapsed(&self) -> u64 {
        let elapsed = present(self.now).wrapping_sub(WRITTEN.get(self.word)) & WRITTEN.max();
        if elapsed > WRITTEN.max() - SLACK { 0 } else { elapsed }
    }

    /// Millionths of a retry that flow in during so many units, rounded down; at most
    /// 2^20 * 1000 * 2^24 / 1000, which fits.
    #[inline]
    fn inflow(&self, units: u64) -> u64 {
        ((units * self.settings.min_per_second) << UNIT) / 1_000
    }

    #[inline]
    fn balance(&self) -> u64 {
        let stored = BALANCE.get(self.word);
        let balance = match self.settings.min_per_second {
            0 => stored,
            _ => stored + self.inflow(self.elapsed()),
        };
        balance.min(self.settings.full())
    }

    /// The word with this balance, written now. A clock that went back does not take the time of writing
    /// with it, or what has flowed in would flow in again.
    #[inline]
    fn with(&self, balance: u64) -> u64 {
        let full = self.settings.full();
        let mut next = BALANCE.put(self.word, balance.min(full));
        next = FULL.put(next, u64::from(balance >= full));
        match self.settings.min_per_second {
            0 => next,
            _ if self.elapsed() == 0 => next,
            _ => WRITTEN.put(next, present(self.now)),
        }
    }

    /// Units until a whole retry is there; `None` when nothing flows in by itself.
    fn units_until_one(&self) -> Option<u64> {
        let missing = RETRY.saturating_sub(BALANCE.get(self.word));
        let per_unit = self.settings.min_per_second << UNIT;
        let units = (missing * 1_000).checked_add(per_unit.checked_sub(1)?)?.checked_div(per_unit)?;
        Some(units.saturating_sub(self.elapsed()).max(1))
    }
}

/// The instant `units` from now.
pub(super) fn instant(now: Instant, units: u64) -> Instant {
    let unit = present(now).saturating_add(units);
    if unit > u64::MAX >> UNIT { Instant::MAX } else { Instant::from_nanos(unit << UNIT) }
}
