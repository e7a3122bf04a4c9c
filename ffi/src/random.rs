//! A source of randomness in the caller's memory.

use core_seawall::Random;

use crate::caller::Caller;
use crate::status::{status, sw_status};

/// A seeded, wait-free source of 64-bit values, for the argument `r`. Any number of threads may share
/// one. Zero is its static initialiser and means *unseeded*: it then yields 0 only, which is "no
/// randomness", and there is no jitter. Not for secrets.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_random {
    opaque: [u64; 2],
}

/// Seeds a source; equal seeds give equal sequences. Nobody else may draw from it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_random_init(random: *mut sw_random, seed: u64) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let random: &Random = caller.state(random)?;
        random.init(seed);
        Ok(sw_status::SW_OK)
    })
}

/// Seeds a source from the system's randomness, as every process should. After `fork` do it again in
/// the child, or parent and child draw the same values. Hosted builds only. Not signal-safe.
#[cfg(feature = "std")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_random_init_from_system(random: *mut sw_random) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let random: &Random = caller.state(random)?;
        random.init(seawall_host::seed().map_err(|_| sw_status::SW_ERR_RANDOMNESS)?);
        Ok(sw_status::SW_OK)
    })
}

/// The next value; 0 from a source that is unseeded, NULL or misaligned.
///
/// Cost: one atomic addition.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_random_next(random: *mut sw_random) -> u64 {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    caller.state::<Random, _>(random).map_or(0, Random::next)
}
