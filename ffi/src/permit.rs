//! The right to make one call, in the caller's memory.

use core_seawall::{Instant, Token};
use portable_atomic::{AtomicU64, Ordering};

use crate::caller::{Atomic, Caller};
use crate::claim::Claim;
use crate::status::sw_status;

/// The right to make one call, granted by `sw_circuit_breaker_admit` and settled exactly once, with
/// `_success`, `_failure`, `_failure_until` or `_ignore`. Settling goes through a pointer and empties
/// it; zero is empty. It holds no pointer, so it may be kept and moved at will, but a byte copy that is
/// settled as well is misuse: it counts twice, within the breaker's bounds.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct sw_permit {
    opaque: [u64; 2],
}

/// What a permit was granted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sw_permit_kind {
    /// Empty: never granted, or settled.
    SW_PERMIT_EMPTY = 0,
    /// A call of a closed breaker.
    SW_PERMIT_CALL = 1,
    /// A trial of a half-open breaker.
    SW_PERMIT_TRIAL = 2,
    /// Nothing will be recorded: the breaker is disabled, or in shadow against what it would have said.
    SW_PERMIT_BYPASS = 3,
}

impl sw_permit {
    pub(crate) const EMPTY: Self = Self { opaque: [0; 2] };

    pub(crate) const fn granted(token: Token, at: Instant) -> Self {
        Self { opaque: [Claim::word(token.bits() as u64), at.as_nanos()] }
    }
}

/// A permit as we work on it.
#[derive(Debug)]
#[repr(C)]
struct Permit {
    claim: Claim,
    granted: AtomicU64,
}

// SAFETY: repr(C), two 64-bit atomics; a claim is a transparent wrapper of one.
unsafe impl Atomic for Permit {}

const _: () = assert!(size_of::<Permit>() == size_of::<sw_permit>());

/// Empties a permit: the token and when it was granted.
pub(crate) fn take(caller: Caller<'_>, permit: *mut sw_permit) -> Result<(Token, Instant), sw_status> {
    let permit: &Permit = caller.shared(permit.cast())?;
    let granted = permit.granted.load(Ordering::Relaxed);
    let token = permit.claim.take()?;
    Ok((Token::from_bits(token as u32), Instant::from_nanos(granted)))
}

/// What a permit was granted as; empty when it is NULL or misaligned.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_permit_kind_of(permit: *const sw_permit) -> sw_permit_kind {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    let token = caller.shared::<Permit>(permit.cast()).ok().and_then(|permit| permit.claim.peek());
    match token.map(|bits| Token::from_bits(bits as u32)) {
        None => sw_permit_kind::SW_PERMIT_EMPTY,
        Some(token) if token.is_trial() => sw_permit_kind::SW_PERMIT_TRIAL,
        Some(token) if token.is_bypass() => sw_permit_kind::SW_PERMIT_BYPASS,
        Some(_) => sw_permit_kind::SW_PERMIT_CALL,
    }
}
