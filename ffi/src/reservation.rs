//! Tokens that are taken already, in the caller's memory.

use core_seawall::Reservation;
use portable_atomic::{AtomicU64, Ordering};

use crate::caller::{Atomic, Caller};
use crate::claim::Claim;
use crate::status::sw_status;

/// Tokens that are taken already, good from `at_ns` on. Cancelling it empties it. It holds no pointer
/// and may be kept and moved at will; cancelling a byte copy as well is misuse.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct sw_reservation {
    opaque: u64,
    /// What it took.
    pub cost: u64,
    /// The instant from which it may be used.
    pub at_ns: u64,
    more: [u64; 5],
}

impl sw_reservation {
    pub(crate) const EMPTY: Self = Self { opaque: 0, cost: 0, at_ns: 0, more: [0; 5] };

    pub(crate) fn made(reservation: &Reservation) -> Self {
        let [cost, at_ns, more @ ..] = reservation.to_words();
        Self { opaque: Claim::word(0), cost, at_ns, more }
    }
}

/// A reservation as we work on it.
#[derive(Debug)]
#[repr(C)]
struct Held {
    claim: Claim,
    words: [AtomicU64; Reservation::WORDS],
}

// SAFETY: repr(C), 64-bit atomics throughout; a claim is a transparent wrapper of one.
unsafe impl Atomic for Held {}

const _: () = assert!(size_of::<Held>() == size_of::<sw_reservation>());

/// Empties a reservation.
pub(crate) fn take(caller: Caller<'_>, reservation: *mut sw_reservation) -> Result<Reservation, sw_status> {
    let held: &Held = caller.shared(reservation.cast())?;
    held.claim.take()?;
    Ok(Reservation::from_words(held.words.each_ref().map(|word| word.load(Ordering::Relaxed))))
}
