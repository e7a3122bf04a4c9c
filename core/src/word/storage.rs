//! State of any size in a `static`, a box, a C struct or mapped memory.
//!
//! A state struct is `#[repr(C)]`, made of 64-bit atomics only, and begins with a [`Head`]. So every
//! bit pattern is a valid value, all zero means *unconfigured*, and the bytes may lie anywhere: what
//! is needed is 8-byte alignment and enough of them.
//!
//! State of variable size is one type `X<S: ?Sized = [AtomicU64]> { head, slots: S }`. Its algorithms
//! are written once, on the unsized form; `X<[AtomicU64; N]>` coerces to it. Memory that Rust did not
//! lay out (C storage, a mapping, a slab) enters through [`place`], the one unsafe function.

use super::bits::Bits;
use crate::atomic::{AtomicU64, Ordering, const_fn};

/// What a state struct is, in its first 8 bytes.
///
/// | 63..32 | 31..24 | 23..16 | 15..8 | 7..0 |
/// |---|---|---|---|---|
/// | words behind the fixed part | 0 | flags | layout version | kind |
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Head(AtomicU64);

const KIND: Bits = Bits::new(0, 8);
const LAYOUT: Bits = Bits::new(8, 8);
const LENGTH: Bits = Bits::new(32, 32);

impl Head {
    const_fn! {
        /// The head of a configured state.
        pub(crate) const fn new(kind: Kind, length: usize) -> Self {
            Self(AtomicU64::new(KIND.of(kind as u64) | LAYOUT.of(VERSION) | LENGTH.of(length as u64)))
        }
    }

    const_fn! {
        /// The head of a state that was never configured.
        pub(crate) const fn unconfigured() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// Makes this the head of a configured state.
    pub(crate) fn set(&self, kind: Kind, length: usize) {
        self.0.store(KIND.of(kind as u64) | LAYOUT.of(VERSION) | LENGTH.of(length as u64), Ordering::Release);
    }

    /// How many words lie behind the fixed part of a configured state of that kind; none behind any other.
    pub(crate) fn length(&self, kind: Kind) -> usize {
        let word = self.0.load(Ordering::Acquire);
        let length = LENGTH.get(word) as usize;
        if self.is(kind, length) { length } else { 0 }
    }

    /// Whether this is the head of a configured state of that kind, layout and length.
    pub(crate) fn is(&self, kind: Kind, length: usize) -> bool {
        let word = self.0.load(Ordering::Acquire);
        word == KIND.of(kind as u64) | LAYOUT.of(VERSION) | LENGTH.of(length as u64)
    }
}

/// The version of all layouts; it changes with any of them.
const VERSION: u64 = 1;

/// The kinds of state, for heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    CircuitBreaker = 1,
    TokenBucket = 2,
    EventRing = 3,
    Random = 4,
    RetryBudget = 5,
}

/// Why memory cannot hold a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageError {
    /// The memory does not begin at a multiple of 8 bytes.
    Misaligned,
    /// The memory has fewer bytes than the state needs.
    TooSmall {
        /// How many it needs.
        needed: usize,
        /// How many it has.
        given: usize,
    },
}

impl core::fmt::Display for StorageError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Misaligned => f.write_str("storage must be aligned to 8 bytes"),
            Self::TooSmall { needed, given } => write!(f, "storage has {given} bytes; {needed} are needed"),
        }
    }
}

impl core::error::Error for StorageError {}

/// A state struct that may lie in memory laid out by others.
///
/// # Safety
/// The type is `#[repr(C)]`, consists of `AtomicU64` (and transparent wrappers and arrays of them)
/// throughout, and every bit pattern of it is a value on which no operation panics, hangs or has
/// undefined behaviour. `at` returns a pointer to the same address as `memory`, to a value that lies
/// within `bytes` bytes.
pub unsafe trait Stored {
    /// How many of `bytes` bytes the state would use, or how many it needs at least.
    fn fits(bytes: usize) -> Result<usize, StorageError>;

    /// The same address as a pointer to the state.
    fn at(memory: *const u64, bytes: usize) -> *const Self;
}

/// The one entrance: memory becomes state. Nothing is written; zeroed memory is *unconfigured* state.
///
/// # Errors
/// When the memory is misaligned or too small.
///
/// # Safety
/// `memory` is valid for reads and writes of `bytes` bytes for all of `'a`, and during `'a` it is
/// accessed through atomics only, by this process and by any other that maps it.
pub unsafe fn place<'a, T: Stored + ?Sized>(memory: *mut u64, bytes: usize) -> Result<&'a T, StorageError> {
    if memory.is_null() || !(memory as usize).is_multiple_of(8) {
        return Err(StorageError::Misaligned);
    }
    T::fits(bytes)?;
    let state = T::at(memory, bytes);
    // SAFETY: the caller vouches for the memory and for 'a; it is aligned (checked above) and large
    // enough (`fits`); `Stored` vouches that every bit pattern is a value; all fields are atomics, so
    // a shared reference allows the writes of others.
    Ok(unsafe { &*state })
}

/// Implements [`Stored`] for a state struct of fixed size.
macro_rules! stored {
    ($($state:ty),*) => {$(
        // SAFETY: the struct is repr(C) and made of 64-bit atomics throughout; its operations are
        // fuzzed over arbitrary bytes (`fuzz/fuzz_targets`).
        unsafe impl $crate::word::storage::Stored for $state {
            fn fits(bytes: usize) -> Result<usize, $crate::word::storage::StorageError> {
                let needed = core::mem::size_of::<Self>();
                if bytes < needed {
                    return Err($crate::word::storage::StorageError::TooSmall { needed, given: bytes });
                }
                Ok(needed)
            }

            fn at(memory: *const u64, _bytes: usize) -> *const Self {
                memory.cast()
            }
        }
    )*};
}
pub(crate) use stored;
