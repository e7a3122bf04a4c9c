//! Windows of time: a ring of buckets, each with the counts of its share of the span.
//!
//! # The words
//! Time is counted in buckets of equal width from the clock's zero. The breaker's word says which bucket
//! is current; the ring holds that one and those before it.
//!
//! | breaker's word, closed | 40 | 39..36 | 35..0 |
//! |---|---|---|---|
//! | time window | begun | tag | number of the current bucket |
//!
//! | ring word | 63..60 | 59..57 | 56..38 | 37..19 | 18..0 |
//! |---|---|---|---|---|---|
//! | `slots[bucket % words]` | tag | lap | calls | failed | slow |
//!
//! The window is the current bucket and the `buckets - 1` before it: between `buckets - 1` and `buckets`
//! times the width. A ring word counts while its tag and lap are those of the bucket it stands for. The
//! tag is the low end of the generation that the window began in, and stays until the window ends.
//!
//! # Writers
//! *Record*: (1) if the present lies in a later bucket, or the window has not begun, set the ring words
//! of all buckets entered since to zero, each with a compare-and-swap after another look at the
//! breaker's word, then (2) compare-and-swap the breaker's word to the new bucket. (3) Compare-and-swap
//! the outcome into the current bucket; (4) a fence; (5) sum the window and judge; when it is over the
//! limit, (6) compare-and-swap the breaker's word to open.
//!
//! *Opening, closing, resetting* write no ring word: a new window has not begun, and its first record
//! clears the ring.
//!
//! # Linearisation
//! A record takes effect at (3), a change of state at its compare-and-swap of the breaker's word. The sum
//! of (5) is no snapshot: of calls that end at the same time it may see some and not others. But of
//! several recorders the one whose fence comes last sees the bucket and the outcome of all others, so an
//! opening is never missed. A record that overlaps with an opening counts for the window that it closes.
//!
//! # A clock that goes back
//! A record from before the current bucket counts in the current one; the window never goes back. Beyond the
//! [`SLACK`](crate::time::SLACK) it is taken for another clock, and the window begins again.
//!
//! # What a stopped thread costs
//! Nothing for others: before (2) anybody clears the rest, between (3) and (5) the next record judges. One
//! that wakes later finds another tag or lap and starts over. After exactly a multiple of eight laps, with
//! the same counts, it would put its one outcome into the wrong bucket, or clear that.
//!
//! # Limits
//! A bucket counts to 524 287 calls exactly; then its three counts are halved together, which keeps their
//! ratio. Widths are kept to 21 significant bits and round up, by less than a millionth. The number of the bucket
//! repeats after 2^36 buckets (132 days at the narrowest): a window that rested for exactly that
//! long takes old calls for new ones.

use super::config::Settings;
use super::long::Ring;
use super::step::Figures;
use super::word::{GENERATION, State};
use crate::atomic::{Ordering, fence};
use crate::time::{Instant, SLACK_NS};
use crate::word::bits::Bits;

const BEGUN: Bits = Bits::new(40, 1);
const TAG: Bits = Bits::new(36, 4);
const CURRENT: Bits = Bits::new(0, 36);

const BUCKET_TAG: Bits = Bits::new(60, 4);
const LAP: Bits = Bits::new(57, 3);
const CALLS_LOW: u32 = 38;
const FAILED_LOW: u32 = 19;
const CALLS: Bits = Bits::new(CALLS_LOW, 19);
const FAILED: Bits = Bits::new(FAILED_LOW, 19);
const SLOW: Bits = Bits::new(0, 19);

/// What names a bucket in its ring word.
const NAME: u64 = BUCKET_TAG.mask() | LAP.mask();

/// More ring words than this are not used: the next power of two above the most buckets.
const MOST_WORDS: usize = 64;

/// The width of a bucket: 21 bits, times a power of two, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Width(u64);

const DIGITS: Bits = Bits::new(0, 21);
const SHIFT: Bits = Bits::new(21, 5);

impl Width {
    /// How many bits it takes.
    pub(super) const BITS: u32 = 26;

    /// Anything, for windows that have none.
    pub(super) const NONE: Self = Self(0);

    /// The width of `buckets` buckets that cover `span` nanoseconds, rounded up.
    pub(super) const fn of(span: u64, buckets: u64) -> Self {
        let nanos = span.div_ceil(buckets);
        let mut shift = 0;
        while nanos.div_ceil(1 << shift) > DIGITS.max() {
            shift += 1;
        }
        Self(DIGITS.of(nanos.div_ceil(1 << shift)) | SHIFT.of(shift))
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits & (DIGITS.mask() | SHIFT.mask()))
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    /// The number of the bucket that `now` lies in.
    #[inline]
    fn bucket(self, now: Instant) -> u64 {
        (now.as_nanos() >> SHIFT.get(self.0)).checked_div(DIGITS.get(self.0)).unwrap_or(0) & CURRENT.max()
    }

    /// How many buckets a clock may go back at least before it is taken for another.
    fn slack(self) -> u64 {
        (SLACK_NS >> SHIFT.get(self.0)).checked_div(DIGITS.get(self.0)).unwrap_or(0) + 1
    }
}

/// The payload of a window that has not begun.
pub(super) const fn fresh(generation: u64) -> u64 {
    TAG.of(generation)
}

/// The payload once `now` has come, and how many buckets have been entered since.
fn arrival(word: u64, settings: &Settings, now: Instant) -> (u64, u64) {
    let present = settings.width.bucket(now);
    let there = BEGUN.of(1) | TAG.of(TAG.get(word)) | CURRENT.of(present);
    if BEGUN.get(word) == 0 {
        return (there, u64::MAX);
    }
    let ahead = present.wrapping_sub(CURRENT.get(word)) & CURRENT.max();
    let behind = CURRENT.get(word).wrapping_sub(present) & CURRENT.max();
    if behind == 0 || behind <= settings.width.slack() {
        (CURRENT.put(there, CURRENT.get(word)), 0)
    } else {
        (there, ahead)
    }
}

/// Whether the window in `word` has begun and `now` lies in its current bucket.
#[inline]
pub(super) fn is_there(word: u64, settings: &Settings, now: Instant) -> bool {
    BEGUN.get(word) == 1 && settings.width.bucket(now) == CURRENT.get(word)
}

/// The payload once `now` has come.
pub(super) fn arrived(word: u64, settings: &Settings, now: Instant) -> u64 {
    arrival(word, settings, now).0
}

/// What the ring word of that bucket is called in the window of `word`.
fn name(word: u64, bucket: u64, words: usize) -> u64 {
    BUCKET_TAG.of(TAG.get(word)) | LAP.of(bucket >> words.max(1).ilog2())
}

/// A bucket with one more call.
fn plus(bucket: u64, failed: bool, slow: bool) -> u64 {
    let halved = |count: u64| if CALLS.get(bucket) == CALLS.max() { count / 2 } else { count };
    // In bytes that no record made, a part may exceed the whole; it saturates.
    let add = |count: u64, more: bool, field: Bits| field.of((halved(count) + u64::from(more)).min(field.max()));
    (bucket & NAME)
        | add(CALLS.get(bucket), true, CALLS)
        | add(FAILED.get(bucket), failed, FAILED)
        | add(SLOW.get(bucket), slow, SLOW)
}

impl Ring<'_> {
    /// As many of its words as buckets are kept in.
    fn buckets(self) -> Self {
        self.at_most(MOST_WORDS)
    }

    /// (1): clears the buckets entered on the way from `word` to `next`, while `is_unmoved` says that `word` is
    /// still the breaker's.
    pub(super) fn enter(self, word: u64, next: u64, is_unmoved: impl Fn() -> bool) {
        let ring = self.buckets();
        let entered = match BEGUN.get(word) {
            0 => u64::MAX,
            _ => CURRENT.get(next).wrapping_sub(CURRENT.get(word)) & CURRENT.max(),
        };
        for back in 0..entered.min(ring.len() as u64) {
            let bucket = CURRENT.get(next).wrapping_sub(back) & CURRENT.max();
            let Some(slot) = ring.slot(bucket) else { return };
            let empty = name(next, bucket, ring.len());
            let mut seen = slot.load(Ordering::Acquire);
            while seen != empty {
                if !is_unmoved() {
                    return;
                }
                match slot.compare_exchange(seen, empty, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => break,
                    Err(found) => seen = found,
                }
            }
        }
    }

    /// (3) and (4): one more outcome in the current bucket of `word`. `false`: the breaker's word has moved
    /// on, as far as that matters.
    pub(super) fn record(self, word: u64, failed: bool, slow: bool, is_unmoved: impl Fn() -> bool) -> bool {
        let ring = self.buckets();
        let bucket = CURRENT.get(word);
        let Some(slot) = ring.slot(bucket) else { return true };
        let empty = name(word, bucket, ring.len());
        let mut seen = slot.load(Ordering::Acquire);
        loop {
            let is_named = seen & NAME == empty;
            // Bytes that no record made may bear any name; nobody else gives a current bucket another.
            if !is_named && !is_unmoved() {
                return false;
            }
            let next = plus(if is_named { seen } else { empty }, failed, slow);
            match slot.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(found) => seen = found,
            }
        }
        // Of two recorders, the second to pass here sees what the first has done.
        fence(Ordering::SeqCst);
        true
    }

    /// (5): the counts of the window in `word` as it is at `now`.
    pub(super) fn within(self, word: u64, settings: &Settings, now: Instant) -> Figures {
        let (there, entered) = arrival(word, settings, now);
        self.sum(word, CURRENT.get(there), entered, settings.window)
    }

    /// The counts of the buckets from `nearest` to `farthest` (without it) before `last`.
    fn sum(self, word: u64, last: u64, nearest: u64, farthest: u64) -> Figures {
        let ring = self.buckets();
        let (laps, tag) = (ring.len().max(1).ilog2(), BUCKET_TAG.of(TAG.get(word)));
        // Two fields of a sum side by side: with the third one masked out between them, sixty buckets fit.
        const OUTER: u64 = CALLS.mask() | SLOW.mask();
        let (mut outer, mut failed) = (0, 0);
        for back in nearest..farthest {
            let bucket = last.wrapping_sub(back) & CURRENT.max();
            let counts = ring.load(bucket);
            if counts & NAME == tag | LAP.of(bucket >> laps) {
                outer += counts & OUTER;
                failed += counts & FAILED.mask();
            }
        }
        let calls = (outer >> CALLS_LOW) as u32;
        let slow = (outer & ((1 << CALLS_LOW) - 1)) as u32;
        Figures { calls, failed: ((failed >> FAILED_LOW) as u32).min(calls), slow: slow.min(calls) }
    }

    /// The counts of the window in `word`, whose current bucket is the present one.
    #[inline]
    pub(super) fn present(self, word: u64, settings: &Settings) -> Figures {
        self.sum(word, CURRENT.get(word), 0, settings.window)
    }
}

/// Whether going from `word` to `next` enters a bucket.
pub(super) fn enters_a_bucket(word: u64, next: u64) -> bool {
    State::of(next) == State::Closed
        && GENERATION.get(next) == GENERATION.get(word)
        && BEGUN.get(next) == 1
        && (CURRENT.get(next) != CURRENT.get(word) || BEGUN.get(word) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_never_narrower_and_hardly_wider_than_asked() {
        for (span, buckets) in [(10_000_000, 60), (1_000_000_000, 10), (60_000_000_000, 10), (86_400_000_000_000, 10)] {
            let width = Width::of(span, buckets);
            let nanos = DIGITS.get(width.0) << SHIFT.get(width.0);
            let exact = span.div_ceil(buckets);
            assert!(nanos >= exact && nanos - exact <= exact / 1_000_000, "{span} / {buckets}: {nanos}");
            assert_eq!(Width::from_bits(width.bits()), width);
            assert!(width.bits() < 1 << Width::BITS);
            for bucket in [0, 1, 2, 1_000] {
                assert_eq!(width.bucket(Instant::from_nanos(bucket * nanos)), bucket);
                assert_eq!(width.bucket(Instant::from_nanos((bucket + 1) * nanos - 1)), bucket);
            }
        }
    }

    #[test]
    fn a_full_bucket_is_halved_and_keeps_its_ratio() {
        let mut bucket = name(0, 5, 16);
        for call in 0..CALLS.max() {
            bucket = plus(bucket, call % 4 == 0, call % 2 == 0);
        }
        assert_eq!((CALLS.get(bucket), FAILED.get(bucket), SLOW.get(bucket)), (524_287, 131_072, 262_144));
        let halved = plus(bucket, true, false);
        assert_eq!((CALLS.get(halved), FAILED.get(halved), SLOW.get(halved)), (262_144, 65_537, 131_072));
        assert_eq!(halved & NAME, bucket & NAME);
    }

    #[test]
    fn any_bucket_takes_one_more() {
        for bucket in [u64::MAX, 0, FAILED.mask(), SLOW.mask() | FAILED.mask(), CALLS.mask()] {
            assert_eq!(plus(bucket, true, true) & NAME, bucket & NAME);
        }
    }
}
