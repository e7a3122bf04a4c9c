//! Header text to values and back.

use core::ffi::c_char;
use core::time::Duration;

use core_seawall::wire::{http_date, retry_after};

use crate::caller::Caller;
use crate::status::{status, sw_status};
use crate::text;

/// Reads `Retry-After`: `size` bytes at `value`, whole seconds or a date in one of HTTP's three forms. `now_unix` is
/// the time of the response in seconds since 1970: its Date field where it has one, else your own. More than
/// 584 years is cut to that; a date that is over is no wait.
///
/// SW_EMPTY: it is none of the forms, and `wait_ns` is UINT64_MAX.
///
/// Thread- and signal-safe. Cost: one pass over the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_parse_retry_after(
    value: *const c_char,
    size: usize,
    now_unix: i64,
    wait_ns: *mut u64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(wait_ns)?;
        let wait = retry_after::parse(caller.bytes(value, size)?, now_unix);
        out.put(|| wait.map_or(u64::MAX, |wait| u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)));
        Ok(if wait.is_some() { sw_status::SW_OK } else { sw_status::SW_EMPTY })
    })
}

/// Writes a wait as whole seconds for `Retry-After`, rounded up and at least 1; as snprintf does, it returns the
/// length without the NUL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_format_retry_after(wait_ns: u64, text: *mut c_char, size: usize) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    text::put(caller, text, size, retry_after::write(Duration::from_nanos(wait_ns)))
}

/// Reads a date in one of HTTP's three forms: seconds since 1970. `now_unix` decides the century of a two-digit year.
///
/// SW_EMPTY: it is none of the forms, and `seconds` is 0.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_parse_http_date(
    value: *const c_char,
    size: usize,
    now_unix: i64,
    seconds: *mut i64,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let out = caller.out(seconds)?;
        let at = http_date::parse(caller.bytes(value, size)?, now_unix);
        out.put(|| at.unwrap_or(0));
        Ok(if at.is_some() { sw_status::SW_OK } else { sw_status::SW_EMPTY })
    })
}

/// Writes a date as HTTP wants it, `Sun, 06 Nov 1994 08:49:37 GMT`; as snprintf does, it returns the length
/// without the NUL. Years beyond 0 to 9999 become the nearest of them.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_format_http_date(seconds: i64, text: *mut c_char, size: usize) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    text::put(caller, text, size, http_date::write(seconds))
}
