//! Randomness is an argument too.
//!
//! An operation that needs randomness takes `r: u64`. Zero means "there is none": the operation then
//! does without jitter and its transition says `unseeded`. [`Random`] is a source for those who want
//! one: wait-free, seeded by the caller, never zero once seeded.
//!
//! Algorithm: a Weyl sequence (one `fetch_add` of an odd constant) finished by the mixer of
//! SplitMix64 (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, 2014). Period
//! 2^64. Not for secrets.

use crate::atomic::{AtomicU64, Ordering, const_fn};
use crate::word::storage::{Head, Kind, stored};

/// The golden ratio in 64 bits, odd: the step of the Weyl sequence.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A seeded, wait-free source of 64-bit values; one cache line may be shared by any number of threads.
///
/// ```
/// use seawall::Random;
///
/// assert_eq!(Random::unseeded().next(), 0, "no seed, no randomness");
/// let source = Random::seeded(7);
/// assert_ne!(source.next(), source.next());
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Random {
    head: Head,
    state: AtomicU64,
}

stored!(Random);

impl Random {
    const_fn! {
        /// A source that yields only zero, which means "none".
        #[must_use]
        pub const fn unseeded() -> Self {
            Self { head: Head::unconfigured(), state: AtomicU64::new(0) }
        }
    }

    const_fn! {
        /// A source that starts at `seed`; equal seeds give equal sequences.
        #[must_use]
        pub const fn seeded(seed: u64) -> Self {
            Self { head: Head::new(Kind::Random, 0), state: AtomicU64::new(seed) }
        }
    }

    /// Seeds a source that lies in memory of the caller's. Nobody else may draw from it meanwhile.
    pub fn init(&self, seed: u64) {
        self.state.store(seed, Ordering::Relaxed);
        self.head.set(Kind::Random, 0);
    }

    /// The next value; zero only from an unseeded source.
    #[must_use = "drawing a value moves the sequence on"]
    pub fn next(&self) -> u64 {
        if !self.head.is(Kind::Random, 0) {
            return 0;
        }
        let mixed = mix(self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP));
        // One value of 2^64 means "none", so it is passed over.
        if mixed == 0 { STEP } else { mixed }
    }
}

/// SplitMix64's finaliser: a bijection of u64 whose every output bit depends on every input bit.
#[must_use]
pub(crate) const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A value in `low..=high` drawn from `r` (multiply-high, so every value is as likely as the next to
/// within 2^-64 of the width). `high` when the range is empty.
#[must_use]
pub(crate) const fn between(r: u64, low: u64, high: u64) -> u64 {
    if high <= low {
        return high;
    }
    let width = (high - low) as u128 + 1;
    low + ((r as u128 * width) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_sequences() {
        let (a, b) = (Random::seeded(42), Random::seeded(42));
        for _ in 0..100 {
            assert_eq!(a.next(), b.next());
        }
    }

    #[test]
    fn a_source_in_memory_of_the_callers_is_the_same_source() {
        let (here, there) = (Random::seeded(42), Random::unseeded());
        assert_eq!(there.next(), 0);
        there.init(42);
        assert_eq!(there.next(), here.next());
    }

    #[test]
    fn zero_is_a_seed_like_any_other() {
        assert_ne!(Random::seeded(0).next(), 0);
    }

    #[test]
    fn a_draw_reaches_both_ends_and_nothing_beyond() {
        assert_eq!(between(0, 10, 20), 10);
        assert_eq!(between(u64::MAX, 10, 20), 20);
        assert_eq!(between(u64::MAX, 0, u64::MAX), u64::MAX);
        assert_eq!(between(5, 20, 10), 10, "an empty range yields its upper end");
    }

    #[test]
    fn draws_spread_over_the_range() {
        let source = Random::seeded(1);
        let mut hits = [0u32; 4];
        for _ in 0..4000 {
            hits[between(source.next(), 0, 3) as usize] += 1;
        }
        assert!(hits.iter().all(|&n| (850..1150).contains(&n)), "{hits:?}");
    }
}
