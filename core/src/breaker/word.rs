//! The breaker's word, bit by bit.
//!
//! | state | 63..62 | 61..60 | 59..42 | 41 | 40..0 |
//! |---|---|---|---|---|---|
//! | closed | 0 | slot | generation | clean | consecutive mode: failures in a row, 20 bits; rate mode: the window, or of a longer one what `long.rs` and `timed.rs` say |
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
}
