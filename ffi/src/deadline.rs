//! Until when: a deadline is an instant, so the functions are about numbers.

use core::time::Duration;

use core_seawall::{Deadline, Instant};

use crate::caller::Caller;
use crate::decision::sw_rejection;
use crate::status::{status, sw_status};

/// The deadline `span_ns` after `now_ns`; UINT64_MAX, which is never, when the clock ends before that.
#[unsafe(no_mangle)]
pub extern "C" fn sw_deadline_after_ns(now_ns: u64, span_ns: u64) -> u64 {
    Deadline::after(Instant::from_nanos(now_ns), Duration::from_nanos(span_ns)).instant().as_nanos()
}

/// The deadline for those below: so much earlier, for what the way back takes. UINT64_MAX, never, stays.
#[unsafe(no_mangle)]
pub extern "C" fn sw_deadline_shrunk_ns(deadline_ns: u64, margin_ns: u64) -> u64 {
    let deadline = Deadline::at(Instant::from_nanos(deadline_ns));
    deadline.shrunk_by(Duration::from_nanos(margin_ns)).instant().as_nanos()
}

/// Whether work that takes about `expected_ns` may begin: ask before starting it, not after.
///
/// SW_OK: `remaining_ns` is what remains, UINT64_MAX without a deadline. SW_REFUSED: the deadline has passed
/// (SW_REASON_DEADLINE_EXCEEDED), or less remains than is expected (SW_REASON_WONT_FINISH). Both pointers may be NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_deadline_check(
    deadline_ns: u64,
    expected_ns: u64,
    now_ns: u64,
    remaining_ns: *mut u64,
    rejection: *mut sw_rejection,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let (remaining, rejection) = (caller.wanted(remaining_ns)?, caller.wanted(rejection)?);
        let deadline = Deadline::at(Instant::from_nanos(deadline_ns));
        match deadline.check(Instant::from_nanos(now_ns), Duration::from_nanos(expected_ns)) {
            Ok(left) => {
                remaining.put(|| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
                rejection.put(sw_rejection::default);
                Ok(sw_status::SW_OK)
            }
            Err(no) => {
                remaining.put(|| 0);
                rejection.put(|| no.into());
                Ok(sw_status::SW_REFUSED)
            }
        }
    })
}
