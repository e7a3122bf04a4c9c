//! How long a window the words beside a breaker can hold.

use crate::atomic::{AtomicU64, const_fn};
use crate::config::{ConfigError, Given};

/// The longest count window that fits a breaker's own word.
pub(super) const ONE_WORD: u64 = 20;

/// The calls of one block of a long count window.
pub(super) const BLOCK_CALLS: u64 = 8;

/// More words than this are never used.
const MOST_WORDS: usize = 256;

/// One word of a window's storage; see [`window_words`] and [`bucket_words`].
#[derive(Debug)]
#[repr(transparent)]
pub struct WindowWord(pub(super) AtomicU64);

impl WindowWord {
    const_fn! {
        /// An empty word.
        #[must_use]
        pub const fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }
}

impl Default for WindowWord {
    fn default() -> Self {
        Self::new()
    }
}

/// The words beside a breaker: none, `[WindowWord; N]`, or `[WindowWord]`.
pub trait WindowWords: sealed::Sealed {
    /// All of them.
    fn words(&self) -> &[WindowWord];
}

impl<const N: usize> WindowWords for [WindowWord; N] {
    #[inline(always)]
    fn words(&self) -> &[WindowWord] {
        self
    }
}

impl WindowWords for [WindowWord] {
    #[inline(always)]
    fn words(&self) -> &[WindowWord] {
        self
    }
}

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for [super::WindowWord; N] {}
    impl Sealed for [super::WindowWord] {}
}

#[cfg(not(any(seawall_loom, seawall_shuttle)))]
pub(super) const fn empty<const N: usize>() -> [WindowWord; N] {
    [const { WindowWord::new() }; N]
}

#[cfg(any(seawall_loom, seawall_shuttle))]
pub(super) fn empty<const N: usize>() -> [WindowWord; N] {
    core::array::from_fn(|_| WindowWord::new())
}

/// How many [`WindowWord`]s a window of so many calls needs beside the breaker: none up to 20 calls; else
/// the least power of two that holds a block of eight calls per word and one block more.
///
/// ```
/// assert_eq!([20, 21, 100, 1_000, 1_024].map(seawall::window_words), [0, 4, 16, 128, 256]);
/// ```
#[must_use]
pub const fn window_words(calls: u64) -> usize {
    if calls <= ONE_WORD {
        0
    } else if calls >= 1_024 {
        MOST_WORDS
    } else {
        (held_at_most(calls) as usize + 1).next_power_of_two()
    }
}

/// How many [`WindowWord`]s a window of time with so many buckets needs: the next power of two.
///
/// ```
/// assert_eq!([10, 16, 60].map(seawall::bucket_words), [16, 16, 64]);
/// ```
#[must_use]
pub const fn bucket_words(buckets: u64) -> usize {
    if buckets >= MOST_WORDS as u64 { MOST_WORDS } else { (buckets as usize).next_power_of_two() }
}

/// How many whole blocks before the newest a window of so many calls can reach into.
pub(super) const fn held_at_most(calls: u64) -> u64 {
    calls.saturating_sub(1).div_ceil(BLOCK_CALLS)
}

/// How many words there are, as a power of two: the others are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room(usize);

impl Room {
    /// Room for any window.
    pub(super) const MOST: Self = Self(MOST_WORDS);

    #[inline(always)]
    pub(super) const fn of(words: usize) -> Self {
        match words {
            0 => Self(0),
            MOST_WORDS.. => Self(MOST_WORDS),
            _ => Self(1 << words.ilog2()),
        }
    }

    #[inline(always)]
    pub(super) const fn words(self) -> usize {
        self.0
    }

    /// Why a window is impossible, if it is for want of room.
    pub(super) const fn explaining(self, error: ConfigError) -> ConfigError {
        match error.given {
            Given::Value(calls) if calls > error.max && self.0 < MOST_WORDS => {
                error.because("a longer one needs more storage")
            }
            _ => error,
        }
    }

    /// Whether so many buckets of time have room.
    #[inline(always)]
    pub(super) const fn has(self, buckets: u64) -> bool {
        self.0 as u64 >= buckets
    }

    /// The longest count window.
    #[inline(always)]
    pub(super) const fn calls(self) -> u64 {
        match self.0 {
            0..=3 => ONE_WORD,
            MOST_WORDS.. => 1_024,
            words => BLOCK_CALLS * (words as u64 - 1) + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_words_are_enough_and_half_as_many_are_not() {
        for calls in 21..=1_024 {
            let words = window_words(calls);
            assert!(words.is_power_of_two());
            assert!(Room::of(words).calls() >= calls, "{calls}");
            assert!(Room::of(words / 2).calls() < calls, "{calls}");
        }
    }

    #[test]
    fn a_window_never_reaches_into_a_block_that_is_being_overwritten() {
        // With one call in the newest block, the others lie in as many whole blocks as they fill.
        for calls in 21..=1_024 {
            assert!(1 + BLOCK_CALLS * held_at_most(calls) >= calls);
            assert!((held_at_most(calls) as usize) < window_words(calls));
        }
    }
}
