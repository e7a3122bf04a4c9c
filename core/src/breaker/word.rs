//! The breaker's word, bit by bit.
//!
//! | state | 63..62 | 61..60 | 59..42 | 41 | 40..0 |
//! |---|---|---|---|---|---|
//! | closed | 0 | slot | generation | clean | consecutive mode: failures in a row, 20 bits; rate mode: the window |
//! | open | 1 | slot | generation | 0 | reopened 4 (40..37), until 37 |
//! | half-open | 2 | slot | generation | 0 | reopened 4 (40..37), in flight 4, succeeded 4, settled 4, lease 25 |
//!
//! - **slot**: which configuration slot is current.
//! - **generation**: moves on whenever a half-open round ends, and whenever the configuration slots come
//!   round (every fourth change), so that no word ever means two things and (generation, trial or not)
//!   tells every period apart. 2^18 open periods bring it round: 91 days of 30 s periods without a
//!   pause. A call would have to be pending for exactly that long to be taken for a fresh one, and
//!   would cost one wrong outcome.
//! - **clean**: a fast success would leave the word as it is, so nobody needs to look further. All of
//!   the upper 32 bits of a clean word are fixed by slot and generation: a face may compare that half
//!   alone, and the half it read is its permit.
//! - **window**: a 1, then two bits per call, the newest lowest: failed, slow. 20 calls take 41 bits.
//! - **until**, **lease**: [deadlines](crate::word::deadline) in units of 1.05 ms.

use crate::word::bits::Bits;

pub(super) const STATE: Bits = Bits::new(62, 2);
pub(super) const SLOT: Bits = Bits::new(60, 2);
pub(super) const GENERATION: Bits = Bits::new(42, 18);
pub(super) const CLEAN: Bits = Bits::new(41, 1);

pub(super) const FAILURES: Bits = Bits::new(0, 20);
pub(super) const WINDOW: Bits = Bits::new(0, 41);

pub(super) const REOPENED: Bits = Bits::new(37, 4);
pub(super) const UNTIL: Bits = Bits::new(0, 37);

pub(super) const IN_FLIGHT: Bits = Bits::new(33, 4);
pub(super) const SUCCEEDED: Bits = Bits::new(29, 4);
pub(super) const SETTLED: Bits = Bits::new(25, 4);
pub(super) const LEASE: Bits = Bits::new(0, 25);

/// What says whether a word is clean: closed (state 0) with the clean bit.
pub(super) const CLEAN_MASK: u64 = STATE.mask() | CLEAN.mask();
pub(super) const CLEAN_VALUE: u64 = CLEAN.mask();

/// What a permit's token must share with the word to be settled without a look at anything else.
pub(super) const TOKEN_MASK: u64 = STATE.mask() | GENERATION.mask() | CLEAN.mask();

/// The measured state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum State {
    /// Calls pass.
    Closed = 0,
    /// No call passes until a stated instant.
    Open = 1,
    /// A few trial calls pass.
    HalfOpen = 2,
}

impl State {
    /// `closed`, `open` or `half-open`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        }
    }

    /// The state with that number; closed when there is none.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Open,
            2 => Self::HalfOpen,
            _ => Self::Closed,
        }
    }

    pub(super) const fn of(word: u64) -> Self {
        Self::from_number(STATE.get(word))
    }
}

impl core::fmt::Display for State {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// The last calls of a rate-mode breaker, at most 20: `1`, then {failed, slow} per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    calls: u32,
    pairs: u64,
}

const FAILED: u64 = 0x2AA_AAAA_AAAA_AAAA & 0xFF_FFFF_FFFF;
const SLOW: u64 = 0x5555_5555_5555_5555 & 0xFF_FFFF_FFFF;

impl Window {
    pub(super) const EMPTY: Self = Self { calls: 0, pairs: 0 };

    /// The newest `longest` calls of what is stored. Any bits are some window.
    pub(super) const fn read(stored: u64, longest: u64) -> Self {
        let stored = stored | (stored == 0) as u64;
        let calls = stored.ilog2() / 2;
        let calls = if calls as u64 > longest { longest as u32 } else { calls };
        Self { calls, pairs: stored & ((1 << (2 * calls)) - 1) }
    }

    /// With one more call; beyond `longest` the oldest goes.
    pub(super) const fn push(self, failed: bool, slow: bool, longest: u64) -> Self {
        let calls = if self.calls as u64 >= longest { longest as u32 } else { self.calls + 1 };
        let pairs = self.pairs << 2 | (failed as u64) << 1 | slow as u64;
        Self { calls, pairs: pairs & ((1 << (2 * calls)) - 1) }
    }

    pub(super) const fn stored(self) -> u64 {
        self.pairs | 1 << (2 * self.calls)
    }

    pub(super) const fn calls(self) -> u32 {
        self.calls
    }

    pub(super) const fn failed(self) -> u32 {
        (self.pairs & FAILED).count_ones()
    }

    pub(super) const fn slow(self) -> u32 {
        (self.pairs & SLOW).count_ones()
    }

    /// How many of the newest calls failed without a success between.
    pub(super) const fn failures_in_a_row(self) -> u32 {
        let succeeded = !self.pairs & FAILED & ((1 << (2 * self.calls)) - 1);
        if succeeded == 0 { self.calls } else { succeeded.trailing_zeros() / 2 }
    }

    /// Whether what is stored is full of fast successes: one more changes nothing.
    pub(super) const fn is_clean(stored: u64, longest: u64) -> bool {
        stored == 1 << (2 * longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_fill_the_word_without_overlap() {
        let layouts: [&[Bits]; 4] = [
            &[STATE, SLOT, GENERATION, CLEAN, WINDOW],
            &[STATE, SLOT, GENERATION, CLEAN, REOPENED, UNTIL],
            &[STATE, SLOT, GENERATION, CLEAN, REOPENED, IN_FLIGHT, SUCCEEDED, SETTLED, LEASE],
            &[STATE, SLOT, GENERATION, CLEAN, FAILURES],
        ];
        for fields in layouts {
            let sum = fields.iter().fold(0u64, |sum, field| {
                assert_eq!(sum & field.mask(), 0, "{field:?} overlaps");
                sum | field.mask()
            });
            assert!(sum == u64::MAX || fields.len() == 5, "{sum:x}");
        }
    }

    #[test]
    fn a_window_keeps_the_newest_calls_and_counts_them() {
        for longest in 2..=20u64 {
            let mut window = Window::EMPTY;
            let mut plain: Vec<(bool, bool)> = vec![];
            for i in 0..60u64 {
                let (failed, slow) = (i % 3 == 0, i % 5 == 0);
                window = window.push(failed, slow, longest);
                plain.push((failed, slow));
                let last = &plain[plain.len().saturating_sub(longest as usize)..];
                assert_eq!(window.calls() as usize, last.len());
                assert_eq!(window.failed() as usize, last.iter().filter(|c| c.0).count());
                assert_eq!(window.slow() as usize, last.iter().filter(|c| c.1).count());
                let in_a_row = last.iter().rev().take_while(|c| c.0).count();
                assert_eq!(window.failures_in_a_row() as usize, in_a_row);
                assert_eq!(Window::read(window.stored(), longest), window);
                assert!(window.stored() <= WINDOW.max());
            }
        }
    }

    #[test]
    fn a_shorter_window_keeps_the_newest() {
        let window = [true, true, false, true].iter().fold(Window::EMPTY, |w, &f| w.push(f, false, 20));
        let shorter = Window::read(window.stored(), 2);
        assert_eq!((shorter.calls(), shorter.failed(), shorter.failures_in_a_row()), (2, 1, 1));
    }

    #[test]
    fn any_bits_are_some_window() {
        for stored in [0, 1, 2, 3, WINDOW.max(), 1 << 39, 1 << 40, 0x155_5555_5555] {
            for longest in [1, 2, 20] {
                let window = Window::read(stored, longest);
                assert!(u64::from(window.calls()) <= longest);
                assert!(window.failed() <= window.calls() && window.slow() <= window.calls());
            }
        }
    }

    use std::{vec, vec::Vec};
}
