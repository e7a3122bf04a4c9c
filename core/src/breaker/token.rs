//! What a permit is made of.

use super::word::{GENERATION, STATE, State, TOKEN_MASK};
use crate::word::bits::Bits;

/// A permit's claim: the upper half of the word it was granted from, 32 bits.
///
/// | 31..30 | 29..28 | 27..10 | 9 | 8..0 |
/// |---|---|---|---|---|
/// | 0 call, 2 trial, 3 bypass | slot (not looked at) | generation | clean | not looked at |
///
/// The half of a clean word, as a face reads it, is a call's token as it stands. Faces that hand out
/// permits of their own pass tokens back with [`from_bits`](Self::from_bits); any bits are some token,
/// and one that was never granted is at worst one wrong outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Token(u32);

const KIND: Bits = Bits::new(62, 2);
const BYPASS: u64 = 3;

/// What was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Call,
    Trial,
    Bypass,
}

impl Token {
    pub(super) const fn call(word: u64) -> Self {
        Self::half(STATE.put(word, State::Closed as u64))
    }

    pub(super) const fn trial(word: u64) -> Self {
        Self::half(STATE.put(word, State::HalfOpen as u64))
    }

    pub(super) const fn bypass(word: u64) -> Self {
        Self::half(KIND.put(word, BYPASS))
    }

    const fn half(word: u64) -> Self {
        Self(((word & TOKEN_MASK) >> 32) as u32)
    }

    /// The token whose bits these are.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Its bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether it is a trial of a half-open breaker.
    #[must_use]
    pub const fn is_trial(self) -> bool {
        matches!(self.kind(), Kind::Trial)
    }

    /// Whether nothing will be recorded: granted by a disabled breaker, or in shadow against what it
    /// would have said.
    #[must_use]
    pub const fn is_bypass(self) -> bool {
        matches!(self.kind(), Kind::Bypass)
    }

    pub(super) const fn kind(self) -> Kind {
        match KIND.get(self.word()) {
            0 => Kind::Call,
            2 => Kind::Trial,
            _ => Kind::Bypass,
        }
    }

    pub(super) const fn generation(self) -> u64 {
        GENERATION.get(self.word())
    }

    /// The word with this upper half, as far as a token goes.
    pub(super) const fn word(self) -> u64 {
        ((self.0 as u64) << 32) & TOKEN_MASK
    }
}
