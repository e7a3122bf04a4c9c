//! `Retry-After` (RFC 9110, section 10.2.3): whole seconds, or a date.

use core::fmt::Write;
use core::time::Duration;

use super::{digits, http_date, trimmed};

/// How long to wait. `now` is the time of the response, in seconds since 1970: its `Date` field where it has
/// one, since that is the clock the date was written by, else the reader's own.
///
/// Digits alone are seconds, however many there are; more than a [`Duration`] of 64-bit nanoseconds holds (584 years) is cut to
/// that, so whoever asks decides how much is too much. A date that is over is no wait. A sign, a fraction,
/// and any other text are no value.
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::retry_after;
///
/// let now = 784_111_777; // Sun, 06 Nov 1994 08:49:37 GMT
/// assert_eq!(retry_after::parse(b"120", now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after::parse(b"Sun, 06 Nov 1994 08:50:00 GMT", now), Some(Duration::from_secs(23)));
/// assert_eq!(retry_after::parse(b"Sun, 06 Nov 1994 08:00:00 GMT", now), Some(Duration::ZERO));
/// assert_eq!(retry_after::parse(b"soon", now), None);
/// assert_eq!(retry_after::parse(b"-1", now), None);
/// ```
#[must_use]
pub fn parse(value: &[u8], now: i64) -> Option<Duration> {
    let value = trimmed(value);
    let longest = u64::MAX / 1_000_000_000;
    if value.first().is_some_and(u8::is_ascii_digit) {
        return digits(value).map(|seconds| Duration::from_secs(seconds.min(longest)));
    }
    let at = http_date::parse(value, now)?;
    let seconds = u64::try_from(at.saturating_sub(now)).unwrap_or(0);
    Some(Duration::from_secs(seconds.min(longest)))
}

/// The wait as whole seconds, rounded up so that nobody comes too early, and at least 1: a field that said 0
/// would invite them at once.
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::retry_after;
///
/// assert_eq!(retry_after::write(Duration::from_millis(1_001)), "2");
/// assert_eq!(retry_after::write(Duration::ZERO), "1");
/// ```
#[must_use]
pub fn write(wait: Duration) -> heapless::String<20> {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
    let mut text = heapless::String::new();
    // 20 digits are as many as 64 bits have.
    let _ = write!(text, "{seconds}");
    text
}

/// The wait as a date, for whom seconds will not do (a cached response, say). Rounded up likewise.
#[must_use]
pub fn write_date(wait: Duration, now: i64) -> heapless::String<{ http_date::LENGTH }> {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
    http_date::write(now.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX)))
}
