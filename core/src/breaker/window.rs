//! The last calls of a breaker in few enough bits for one word.

use super::step::Figures;

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

    /// The newest `calls` of these pairs, at most 20.
    #[inline(always)]
    pub(super) const fn of(pairs: u64, calls: u32) -> Self {
        let calls = if calls > 20 { 20 } else { calls };
        Self { calls, pairs: pairs & ((1 << (2 * calls)) - 1) }
    }

    /// Without all but the newest `longest` calls.
    pub(super) const fn shorter(self, longest: u64) -> Self {
        if self.calls as u64 <= longest { self } else { Self::of(self.pairs, longest as u32) }
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

    pub(super) const fn pairs(self) -> u64 {
        self.pairs
    }

    #[inline(always)]
    pub(super) const fn figures(self) -> Figures {
        Figures { calls: self.calls(), failed: self.failed(), slow: self.slow() }
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
    use super::super::word::WINDOW;
    use super::*;
    use std::{vec, vec::Vec};

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
}
