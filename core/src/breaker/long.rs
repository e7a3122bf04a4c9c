//! Count windows of 21 to 1024 calls, exact: a head word and a ring of blocks.
//!
//! # The words
//! The newest one to eight calls lie in the breaker's own word, which decides everything. Older ones
//! lie in a ring of blocks of eight, each with the counts of all calls before it.
//!
//! | breaker's word, closed | 40..33 | 32..17 | 16..0 |
//! |---|---|---|---|
//! | long window | held: whole blocks before the newest that count | number of the newest block | the newest block: `1`, then {failed, slow} per call |
//!
//! | ring word | 63..38 | 37..27 | 26..16 | 15..0 |
//! |---|---|---|---|---|
//! | `slots[block % words]` | tag: generation and lap | failed before | slow before | {failed, slow} of its eight calls |
//!
//! What failed in a window is the difference of two cumulative counts, taken modulo 2048: nothing is ever
//! added to or taken from a stored count, so counts cannot drift. A read takes two ring words, however
//! long the window.
//!
//! # Writers
//! *Record*, seven times out of eight: one compare-and-swap of the breaker's word, which takes the
//! call into its block. When the block is full: (1) load the word of the block before and the block's
//! own ring word; (2) load the breaker's word again and find it unmoved; (3) compare-and-swap the
//! ring word from what (1) found to the finished block; (4) compare-and-swap the breaker's word, which
//! opens the next block with the new call. What (3) writes follows from the breaker's word and the
//! block before alone, so all who stand at the same word write the same, and whoever comes first does it
//! for all.
//!
//! *Opening, closing, resetting* write no ring word. A new window holds no block, and reads none that
//! it did not finish itself.
//!
//! # Linearisation
//! A record takes effect at its compare-and-swap of the breaker's word; what it read of the ring was in
//! force then, since a ring word in use is rewritten only after the breaker's word has moved on. A reader
//! (figures) takes effect at its second load of the breaker's word.
//!
//! Why (2): the ring word that (1) found may be the work of a later lap. Then the breaker's word has moved,
//! and (2) sees it. If it moves after (2), somebody has done (3) before, and (3) fails; or the breaker was
//! tripped or reset, which write no ring word, and (3) may put an old block where a new window will put
//! its own. Who finds (3) failed therefore looks at the breaker's word again and repeats it while that is
//! unmoved: nobody comes twice with an old block. The tag keeps a ring word from ever being what it was: it counts
//! laps, and the generation above them.
//!
//! # What a stopped thread costs
//! Nothing: before (3) it has done nothing, after (3) others go on from its block. One that wakes later
//! finds another word and starts over. It would be deceived if exactly a multiple of 2^19 outcomes had been
//! recorded meanwhile that end in the same eight, in the same generation: then one block may carry old
//! counts until it has left the window.
//!
//! # Orders
//! Acquire and Release throughout: (4) makes (3) visible to whoever sees the new block, and (1) makes
//! the move of the breaker's word visible to (2). The models of `loom/long_window.rs` fail when (2)
//! is left out or (3) becomes a store (`loom/mutants/long_window.toml`).

use super::config::Settings;
use super::room::{BLOCK_CALLS, Room, WindowWord, held_at_most};
use super::step::Figures;
use super::window::Window;
use super::word::{GENERATION, State};
use crate::atomic::{AtomicU64, Ordering};
use crate::word::bits::Bits;

pub(super) const HELD: Bits = Bits::new(33, 8);
pub(super) const BLOCK: Bits = Bits::new(17, 16);
pub(super) const INLINE: Bits = Bits::new(0, 17);

const TAG: Bits = Bits::new(38, 26);
const FAILED: Bits = Bits::new(27, 11);
const SLOW: Bits = Bits::new(16, 11);
const OUTCOMES: Bits = Bits::new(0, 16);

/// Bits of a lap below the generation in a tag; a longer count carries into it.
const LAP_BITS: u32 = 8;

/// How many calls failed and were slow, modulo 2048.
#[derive(Clone, Copy, Default)]
struct Counts {
    failed: u64,
    slow: u64,
}

impl Counts {
    /// Of the eight calls of a block. Both counts at once: slow calls in the lower lane of 16 bits, failed ones
    /// in the upper.
    #[inline(always)]
    fn of(outcomes: u64) -> Self {
        let lanes = outcomes & 0x5555 | (outcomes & 0xAAAA) << 15;
        let lanes = (lanes & 0x3333_3333) + (lanes >> 2 & 0x3333_3333);
        let lanes = (lanes & 0x0F0F_0F0F) + (lanes >> 4 & 0x0F0F_0F0F);
        let lanes = (lanes & 0x00FF_00FF) + (lanes >> 8 & 0x00FF_00FF);
        Self { failed: lanes >> 16, slow: lanes & 0xFFFF }
    }

    fn before(block: u64) -> Self {
        Self { failed: FAILED.get(block), slow: SLOW.get(block) }
    }

    fn plus(self, more: Self) -> Self {
        Self { failed: self.failed + more.failed, slow: self.slow + more.slow }
    }

    /// Since `earlier`; at most `calls`, whatever the words hold.
    fn since(self, earlier: Self, calls: u64) -> Self {
        let difference = |now: u64, then: u64| (now.wrapping_sub(then) & FAILED.max()).min(calls);
        Self { failed: difference(self.failed, earlier.failed), slow: difference(self.slow, earlier.slow) }
    }
}

/// The words beside a breaker as a ring of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a>(&'a [WindowWord]);

impl<'a> Ring<'a> {
    #[inline(always)]
    pub(super) fn of(words: &'a [WindowWord]) -> Self {
        Self(words.get(..Room::of(words.len()).words()).unwrap_or(&[]))
    }

    #[inline(always)]
    pub(super) fn room(self) -> Room {
        Room::of(self.0.len())
    }

    /// Only the first words of it.
    #[inline(always)]
    pub(super) fn at_most(self, words: usize) -> Self {
        self.0.get(..words).map_or(self, Self)
    }

    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn slot(self, block: u64) -> Option<&'a AtomicU64> {
        let index = block as usize & self.0.len().wrapping_sub(1);
        self.0.get(index).map(|WindowWord(word)| word)
    }

    pub(super) fn load(self, block: u64) -> u64 {
        self.slot(block).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// The newest `most` calls of the window in `word`, or all of them.
    pub(super) fn newest(self, word: u64, most: u64) -> Figures {
        let newest = Window::read(INLINE.get(word), BLOCK_CALLS);
        let calls = most.min(available(word));
        let Some(beyond) = calls.checked_sub(u64::from(newest.calls())) else {
            return newest.shorter(most).figures();
        };
        if beyond == 0 {
            return newest.figures();
        }
        let block = BLOCK.get(word);
        let last = self.load(block.wrapping_sub(1));
        let first = self.load(block.wrapping_sub(beyond.div_ceil(BLOCK_CALLS)));
        // Of the oldest block, what lies before the window: its first calls, which are the highest bits.
        let inside = (beyond - 1) % BLOCK_CALLS + 1;
        let outside = Counts::of(OUTCOMES.get(first) >> (2 * inside));
        let end = Counts::before(last).plus(Counts::of(OUTCOMES.get(last)));
        let counts = end.since(Counts::before(first).plus(outside), beyond).plus(Counts::of(newest.pairs()));
        Figures { calls: calls as u32, failed: counts.failed as u32, slow: counts.slow as u32 }
    }

    /// The newest calls, as many as a window in one word holds.
    pub(super) fn newest_in_one_word(self, word: u64, settings: &Settings) -> Window {
        let newest = Window::read(INLINE.get(word), BLOCK_CALLS);
        let block = BLOCK.get(word);
        let before = |back: u64| OUTCOMES.get(self.load(block.wrapping_sub(back)));
        // With one call in the newest block, 20 reach into the third before it.
        let older = before(3) << (2 * OUTCOMES_BITS) | before(2) << OUTCOMES_BITS | before(1);
        Window::of(newest.pairs() | older << (2 * newest.calls()), available(word).min(settings.window).min(20) as u32)
    }

    /// How many of the newest calls failed without a success between.
    pub(super) fn failures_in_a_row(self, word: u64, settings: &Settings) -> u64 {
        let newest = Window::read(INLINE.get(word), BLOCK_CALLS);
        let mut failures = u64::from(newest.failures_in_a_row());
        if failures < u64::from(newest.calls()) {
            return failures;
        }
        for back in 1..=HELD.get(word) {
            let outcomes = OUTCOMES.get(self.load(BLOCK.get(word).wrapping_sub(back)));
            let more = u64::from(Window::of(outcomes, BLOCK_CALLS as u32).failures_in_a_row());
            failures += more;
            if more < BLOCK_CALLS {
                break;
            }
        }
        failures.min(settings.window)
    }

    /// Finishes the full newest block of `word`, which `is_unmoved` says is still the breaker's.
    pub(super) fn finish(self, word: u64, is_unmoved: impl Fn() -> bool) {
        let block = BLOCK.get(word);
        let before = match HELD.get(word) {
            0 => Counts::default(),
            _ => {
                let last = self.load(block.wrapping_sub(1));
                Counts::before(last).plus(Counts::of(OUTCOMES.get(last)))
            }
        };
        let lap = block >> self.0.len().max(1).ilog2();
        let finished = TAG.of((GENERATION.get(word) << LAP_BITS) + lap)
            | FAILED.of(before.failed)
            | SLOW.of(before.slow)
            | OUTCOMES.of(INLINE.get(word));
        let Some(slot) = self.slot(block) else { return };
        let mut seen = slot.load(Ordering::Acquire);
        while seen != finished && is_unmoved() {
            // Lost: somebody at the same word was first, or one from before a trip and a reset, which write no ring
            // word. Each of those comes once.
            match slot.compare_exchange(seen, finished, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(found) => seen = found,
            }
        }
    }
}

const OUTCOMES_BITS: u32 = 16;

/// How many calls the word and its blocks hold.
fn available(word: u64) -> u64 {
    HELD.get(word) * BLOCK_CALLS + u64::from(Window::read(INLINE.get(word), BLOCK_CALLS).calls())
}

/// The payload of a window that begins with these calls, the newest eight at most.
pub(super) const fn begun(newest: Window) -> u64 {
    INLINE.of(newest.shorter(BLOCK_CALLS).stored())
}

/// The payload with one more call.
pub(super) fn push(word: u64, failed: bool, slow: bool, longest: u64) -> u64 {
    let newest = Window::read(INLINE.get(word), BLOCK_CALLS);
    let (held, block) = (HELD.get(word), BLOCK.get(word));
    if u64::from(newest.calls()) < BLOCK_CALLS {
        HELD.of(held) | BLOCK.of(block) | INLINE.of(newest.push(failed, slow, BLOCK_CALLS).stored())
    } else {
        let held = (held + 1).min(held_at_most(longest));
        HELD.of(held) | BLOCK.of(block + 1) | INLINE.of(Window::EMPTY.push(failed, slow, BLOCK_CALLS).stored())
    }
}

/// Whether going from `word` to `next` leaves a block behind.
pub(super) fn leaves_a_block(word: u64, next: u64) -> bool {
    State::of(next) == State::Closed
        && GENERATION.get(next) == GENERATION.get(word)
        && BLOCK.get(next) != BLOCK.get(word)
}

/// The payload under a window of another length. A longer one goes on from the whole blocks that lie inside the
/// present one: what has left a window does not come back.
pub(super) fn resized(word: u64, from: u64, to: u64) -> u64 {
    let newest = u64::from(Window::read(INLINE.get(word), BLOCK_CALLS).calls());
    let inside = if to > from { from.saturating_sub(newest) / BLOCK_CALLS } else { held_at_most(to) };
    HELD.of(HELD.get(word).min(inside)) | BLOCK.of(BLOCK.get(word)) | INLINE.of(INLINE.get(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_counts_of_every_block_are_its_bits() {
        for outcomes in 0..=u64::from(u16::MAX) {
            let counts = Counts::of(outcomes);
            let bits = |mask: u64| u64::from((outcomes & mask).count_ones());
            assert_eq!((counts.failed, counts.slow), (bits(0xAAAA), bits(0x5555)));
        }
    }

    #[test]
    fn a_block_of_an_earlier_window_does_not_pass_for_one_of_this() {
        let words = [const { WindowWord::new() }; 16];
        let ring = Ring::of(&words);
        let newest = |failed| INLINE.of((0..8).fold(Window::EMPTY, |w, _| w.push(failed, false, 8)).stored());
        let (old, new) = (GENERATION.of(1) | newest(true), GENERATION.of(2) | newest(false));
        // Trip and reset write no ring word: a finisher of before may still put its block where this one's belongs,
        // between this one's load and its exchange.
        ring.finish(old, || true);
        let late = ring.load(0);
        words[0].0.store(0, Ordering::Release);
        ring.finish(new, || {
            let _ = words[0].0.compare_exchange(0, late, Ordering::AcqRel, Ordering::Acquire);
            true
        });
        assert_eq!(OUTCOMES.get(ring.load(0)), 0, "the block of this window: eight successes");
    }
}
