//! What can be used once only: a word that is taken whole, by whoever comes first.

use portable_atomic::{AtomicU64, Ordering};

use crate::status::sw_status;

/// Empty (0), or a value with [`LIVE`] set.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Claim(AtomicU64);

/// Set in every claim that is not empty.
const LIVE: u64 = 1;

impl Claim {
    /// A claim's word, with room for 63 bits.
    pub(crate) const fn word(value: u64) -> u64 {
        value << 1 | LIVE
    }

    /// The value, if it is not empty.
    pub(crate) fn peek(&self) -> Option<u64> {
        Self::value(self.0.load(Ordering::Acquire))
    }

    /// Takes the value and leaves it empty. Of two threads that try, one gets it.
    pub(crate) fn take(&self) -> Result<u64, sw_status> {
        Self::value(self.0.swap(0, Ordering::AcqRel)).ok_or(sw_status::SW_ERR_SETTLED)
    }

    fn value(word: u64) -> Option<u64> {
        (word & LIVE != 0).then_some(word >> 1)
    }
}
