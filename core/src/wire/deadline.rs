//! How much time a caller has left, between services that use seawall.
//!
//! | field | value |
//! |---|---|
//! | `seawall-deadline-ms` | whole milliseconds that remain; clocks need not agree |
//! | `seawall-attempt` | which attempt of its caller this is, from 1 |
//! | `seawall-retry` | in a response, `no`: do not try again, at any layer above |
//!
//! The time that remains is rounded down, so that nobody below works longer than the caller waits.

use core::fmt::Write;
use core::time::Duration;

use super::{digits, trimmed};

/// The field with the remaining milliseconds.
pub const REMAINING: &str = "seawall-deadline-ms";
/// The field with the attempt's number.
pub const ATTEMPT: &str = "seawall-attempt";
/// The field that forbids a retry.
pub const RETRY: &str = "seawall-retry";
/// Its one value.
pub const NO: &str = "no";

/// Reads the remaining milliseconds. More than a [`Duration`] of 64-bit nanoseconds holds is cut to that. `None`: it is
/// malformed, and there is no deadline from this side.
#[must_use]
pub fn parse_remaining(value: &[u8]) -> Option<Duration> {
    Some(Duration::from_millis(digits(trimmed(value))?.min(u64::MAX / 1_000_000)))
}

/// Writes the remaining milliseconds. `None` when less than one remains: fail at once and send nothing.
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::deadline::write_remaining;
///
/// assert_eq!(write_remaining(Duration::from_micros(1_999)).as_deref(), Some("1"));
/// assert_eq!(write_remaining(Duration::from_micros(999)), None);
/// ```
#[must_use]
pub fn write_remaining(remaining: Duration) -> Option<heapless::String<20>> {
    let millis = u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX);
    if millis == 0 {
        return None;
    }
    let mut text = heapless::String::new();
    // 20 digits are as many as 64 bits have.
    let _ = write!(text, "{millis}");
    Some(text)
}

/// Reads the attempt's number; `None` when there is none from 1 to 2^32 - 1.
#[must_use]
pub fn parse_attempt(value: &[u8]) -> Option<u32> {
    digits(trimmed(value)).and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

/// Whether a response forbids a retry.
#[must_use]
pub fn forbids_retry(value: &[u8]) -> bool {
    trimmed(value).eq_ignore_ascii_case(NO.as_bytes())
}
