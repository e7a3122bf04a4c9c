//! What the thread whose compare-and-swap changed the state gets to know, exactly once.

use super::word::State;
use crate::decision::stable_enum;
use crate::time::Instant;
use crate::word::bits::Bits;
use crate::word::deadline;
use crate::word::ring::{EventRing, Packed, RingCursor};

stable_enum! {
    /// Why a breaker changed its state.
    pub enum Cause {
        /// As many calls failed as `failure_threshold` says, in a row or in the window.
        FailureThreshold = 1 "failure_threshold",
        /// Too many of the last calls failed.
        FailureRate = 2 "failure_rate",
        /// Too many of the last calls were slow.
        SlowRate = 3 "slow_rate",
        /// The dependency said when it will be back.
        RetryAfter = 4 "retry_after",
        /// Too many trials failed.
        TrialFailed = 5 "trial_failed",
        /// Enough trials succeeded.
        TrialsSucceeded = 6 "trials_succeeded",
        /// Trials were not settled in time.
        TrialsExpired = 7 "trials_expired",
        /// The open period was over when somebody asked.
        Due = 8 "due",
        /// Opened by hand.
        Tripped = 9 "tripped",
        /// Reset by hand.
        Reset = 10 "reset",
        /// Half-opened by hand.
        HalfOpened = 11 "half_opened",
    }
}

/// A change of a breaker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transition {
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// Why.
    pub cause: Cause,
    /// When, on the caller's clock.
    pub at: Instant,
    /// Until when it is open; `None` in other states.
    pub until: Option<Instant>,
    /// The generation after the change.
    pub generation: u32,
    /// How many calls were judged (the window, the failures in a row, or the settled trials).
    pub calls: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many of them were slow.
    pub slow: u32,
    /// How many times in a row it has reopened without closing, at most 15.
    pub reopened: u8,
    /// Jitter was asked for, but there was no randomness, so there is none.
    pub unseeded: bool,
}

// A transition in a ring: four words of 48 bits.
//
// | word | from the highest bit on |
// |---|---|
// | 0 | source 16, from 2, to 2, cause 5, unseeded 1, reopened 4, generation 18 |
// | 1 | scale 3 (in steps of two bits), slow 15, failed 15, calls 15 |
// | 2 | at, the low 48 bits (ns) |
// | 3 | at, the high 16 bits; the open period 32 (units of 2^20 ns) |
const SOURCE: Bits = Bits::new(32, 16);
const FROM: Bits = Bits::new(30, 2);
const TO: Bits = Bits::new(28, 2);
const CAUSE: Bits = Bits::new(23, 5);
const UNSEEDED: Bits = Bits::new(22, 1);
const REOPENED: Bits = Bits::new(18, 4);
const GENERATION: Bits = Bits::new(0, 18);

const CALLS: Bits = Bits::new(0, 15);
const FAILED: Bits = Bits::new(15, 15);
const SLOW: Bits = Bits::new(30, 15);
const SCALE: Bits = Bits::new(45, 3);

const AT_LOW: Bits = Bits::new(0, 48);
const AT_HIGH: Bits = Bits::new(32, 16);
const PERIOD: Bits = Bits::new(0, 32);

impl Transition {
    /// A change without figures, for faces that put one together again from numbers.
    #[must_use]
    pub const fn new(from: State, to: State, cause: Cause, at: Instant) -> Self {
        Self {
            from,
            to,
            cause,
            at,
            until: None,
            generation: 0,
            calls: 0,
            failed: 0,
            slow: 0,
            reopened: 0,
            unseeded: false,
        }
    }

    /// Four words of 48 bits; counts above 32 767 are kept to 14 significant bits or more, `until` to the unit
    /// of 1.05 ms.
    fn pack(&self, source: u16) -> Packed {
        let largest = u64::from(self.calls.max(self.failed).max(self.slow));
        let scale = (0..SCALE.max()).find(|scale| largest >> (2 * scale) <= CALLS.max()).unwrap_or(SCALE.max());
        let count = |n: u32| (u64::from(n) >> (2 * scale)).min(CALLS.max());
        let period =
            self.until.map_or(0, |until| deadline::units(until.as_nanos()).saturating_sub(deadline::present(self.at)));
        [
            SOURCE.of(u64::from(source))
                | FROM.of(self.from as u64)
                | TO.of(self.to as u64)
                | CAUSE.of(self.cause as u64)
                | UNSEEDED.of(u64::from(self.unseeded))
                | REOPENED.of(u64::from(self.reopened))
                | GENERATION.of(u64::from(self.generation)),
            SCALE.of(scale) | CALLS.of(count(self.calls)) | FAILED.of(count(self.failed)) | SLOW.of(count(self.slow)),
            AT_LOW.of(self.at.as_nanos()),
            AT_HIGH.of(self.at.as_nanos() >> 48) | PERIOD.of(period.min(PERIOD.max())),
        ]
    }

    fn unpack(words: Packed) -> Option<(u16, Self)> {
        let [head, figures, at, rest] = words;
        let at = Instant::from_nanos(AT_LOW.get(at) | AT_HIGH.get(rest) << 48);
        let period = PERIOD.get(rest);
        let count = |field: Bits| (field.get(figures) << (2 * SCALE.get(figures))) as u32;
        let transition = Self {
            from: State::from_number(FROM.get(head)),
            to: State::from_number(TO.get(head)),
            cause: Cause::from_number(CAUSE.get(head) as u8)?,
            at,
            until: (period != 0).then(|| deadline::instant(at, period)),
            generation: GENERATION.get(head) as u32,
            calls: count(CALLS),
            failed: count(FAILED),
            slow: count(SLOW),
            reopened: REOPENED.get(head) as u8,
            unseeded: UNSEEDED.get(head) == 1,
        };
        Some((SOURCE.get(head) as u16, transition))
    }
}

impl EventRing {
    /// Adds a transition of the breaker that the caller calls `source`.
    pub fn push(&self, source: u16, transition: &Transition) {
        self.push_packed(transition.pack(source));
    }

    /// The next transition after the cursor with its source, or `None` when there is none yet.
    pub fn poll(&self, cursor: &mut RingCursor) -> Option<(u16, Transition)> {
        // Bytes that were never an event (memory filled by somebody else) are passed over; there are
        // at most as many as the ring holds.
        for _ in 0..self.capacity() {
            if let Some(event) = Transition::unpack(self.poll_packed(cursor)?) {
                return Some(event);
            }
            cursor.missed = cursor.missed.saturating_add(1);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_survives_the_ring() {
        let transition = Transition {
            from: State::HalfOpen,
            to: State::Open,
            cause: Cause::TrialFailed,
            at: Instant::from_nanos(0x1234_5678_9ABC_DEF0),
            until: Some(deadline::instant(Instant::from_nanos(0x1234_5678_9ABC_DEF0), 28_611)),
            generation: 0x3_FFFF,
            calls: 3,
            failed: 1,
            slow: 2,
            reopened: 15,
            unseeded: true,
        };
        assert_eq!(Transition::unpack(transition.pack(9)), Some((9, transition)));
        let closed = Transition { to: State::Closed, until: None, ..transition };
        assert_eq!(Transition::unpack(closed.pack(65_535)), Some((65_535, closed)));
        let many = Transition { calls: 31_457_220, failed: 15_728_610, slow: 1, ..transition };
        let (_, kept) = Transition::unpack(many.pack(9)).unwrap();
        assert!(kept.calls <= many.calls && many.calls - kept.calls < many.calls / 4_096, "{}", kept.calls);
        assert!(kept.failed <= many.failed && many.failed - kept.failed < many.failed / 4_096, "{}", kept.failed);
    }
}
