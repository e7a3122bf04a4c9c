//! What gRPC says in metadata: `grpc-timeout` and `grpc-retry-pushback-ms`.

use core::fmt::Write;
use core::time::Duration;

use super::digits;

/// What a server says with `grpc-retry-pushback-ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pushback {
    /// Retry after exactly that.
    After(Duration),
    /// Do not retry.
    Stop,
}

/// Reads `grpc-retry-pushback-ms`: milliseconds in a signed 32-bit number. A negative one, and text that is no such
/// number, mean not to retry (gRPC proposal A6).
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::grpc::{Pushback, parse_pushback};
///
/// assert_eq!(parse_pushback(b"250"), Pushback::After(Duration::from_millis(250)));
/// assert_eq!(parse_pushback(b"-1"), Pushback::Stop);
/// assert_eq!(parse_pushback(b"soon"), Pushback::Stop);
/// ```
#[must_use]
pub fn parse_pushback(value: &[u8]) -> Pushback {
    match digits(value) {
        Some(millis) if millis <= i32::MAX as u64 => Pushback::After(Duration::from_millis(millis)),
        _ => Pushback::Stop,
    }
}

const UNITS: [(u8, u64); 6] =
    [(b'n', 1), (b'u', 1_000), (b'm', 1_000_000), (b'S', SECOND), (b'M', 60 * SECOND), (b'H', 3_600 * SECOND)];
const SECOND: u64 = 1_000_000_000;

/// A timeout has at most so many digits.
const DIGITS: usize = 8;
const MOST: u64 = 99_999_999;

/// Reads `grpc-timeout`: 1 to 8 digits and a unit, one of `H`, `M`, `S`, `m`, `u`, `n`, where case matters.
/// More than a [`Duration`] of 64-bit nanoseconds holds is cut to that. `None`: it is malformed.
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::grpc::parse_timeout;
///
/// assert_eq!(parse_timeout(b"1S"), Some(Duration::from_secs(1)));
/// assert_eq!(parse_timeout(b"250m"), Some(Duration::from_millis(250)));
/// assert_eq!(parse_timeout(b"123456789n"), None, "nine digits");
/// ```
#[must_use]
pub fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let (&unit, number) = value.split_last()?;
    let &(_, nanos) = UNITS.iter().find(|(name, _)| *name == unit)?;
    if number.len() > DIGITS {
        return None;
    }
    Some(Duration::from_nanos(digits(number)?.saturating_mul(nanos)))
}

/// Writes `grpc-timeout` in the finest unit whose 8 digits hold it, rounded up: never shorter than asked. `None`
/// when nothing remains: fail at once and send nothing.
///
/// ```
/// use core::time::Duration;
/// use seawall::wire::grpc::write_timeout;
///
/// assert_eq!(write_timeout(Duration::from_millis(250)).as_deref(), Some("250000u"));
/// assert_eq!(write_timeout(Duration::ZERO), None);
/// ```
#[must_use]
pub fn write_timeout(remaining: Duration) -> Option<heapless::String<9>> {
    if remaining.is_zero() {
        return None;
    }
    let nanos = remaining.as_nanos();
    let fits = |unit: u64| u64::try_from(nanos.div_ceil(u128::from(unit))).ok().filter(|number| *number <= MOST);
    let found = UNITS.iter().find_map(|&(name, unit)| Some((name, fits(unit)?)));
    let (name, number) = found.unwrap_or((b'H', MOST));
    let mut text = heapless::String::new();
    // 8 digits and a letter.
    let _ = write!(text, "{number}{}", char::from(name));
    Some(text)
}
