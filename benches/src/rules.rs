//! What is decided without any state: classification, pauses after a told wait, deadlines, header text.

use std::hint::black_box;
use std::time::{Duration, SystemTime};

use seawall::retry::classify_status;
use seawall::wire::{http_date, retry_after};
use seawall::{Deadline, Idempotent, Instant, Retry, RetryConfig};

const NOW: Instant = Instant::from_nanos(1 << 50);
const NOW_UNIX: i64 = 1_796_083_200;

/// Rules of retrying.
pub fn rules() -> Retry {
    Retry::new(&RetryConfig::new().idempotent(Idempotent::Yes)).expect("possible")
}

/// What a status means, and the pause after it.
pub fn classify_and_pause(retry: &Retry, iterations: u64) -> u64 {
    let told = Some(Duration::from_secs(2));
    repeat!(iterations, i => {
        let verdict = classify_status(black_box(500 + (i as u16 & 7)));
        let pause = retry.pause(told.filter(|_| verdict.retryable), Duration::from_nanos(i), true);
        pause.map_or(0, |pause| u64::from(pause.subsec_nanos()))
    })
}

/// A deadline a second away.
pub fn deadline() -> Deadline {
    Deadline::after(NOW, Duration::from_secs(1))
}

/// Whether work that takes 250 ms may begin.
pub fn check(deadline: &Deadline, iterations: u64) -> u64 {
    let expected = Duration::from_millis(250);
    repeat!(iterations, i => {
        let now = Instant::from_nanos(NOW.as_nanos() + black_box(i & 0x3FFF_FFFF));
        deadline.check(now, expected).map_or(0, |left| u64::from(left.subsec_nanos()))
    })
}

/// The three forms of a date.
pub type Dates = [&'static str; 3];

/// The same instant three times.
pub const fn dates() -> Dates {
    ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
}

/// Reads IMF-fixdates.
pub fn read_date(dates: &Dates, iterations: u64) -> u64 {
    repeat!(iterations, _ => http_date::parse(black_box(dates[0]).as_bytes(), NOW_UNIX).unwrap_or(0) as u64)
}

/// The same by `httpdate`.
pub fn httpdate_read(dates: &Dates, iterations: u64) -> u64 {
    repeat!(iterations, _ => httpdate::parse_http_date(black_box(dates[0]))
        .ok()
        .and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_secs()))
}

/// Writes a date.
pub fn write_date(_: &Dates, iterations: u64) -> u64 {
    repeat!(iterations, i => black_box(http_date::write(black_box(NOW_UNIX + i as i64 % 1_000))).len() as u64)
}

/// The same by `httpdate`, into a string of its own.
pub fn httpdate_write(_: &Dates, iterations: u64) -> u64 {
    repeat!(iterations, i => {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_UNIX as u64 + i % 1_000);
        black_box(httpdate::fmt_http_date(black_box(at))).len() as u64
    })
}

/// Reads whole seconds.
pub fn read_seconds(_: &Dates, iterations: u64) -> u64 {
    repeat!(iterations, _ => retry_after::parse(black_box(b"120"), NOW_UNIX).map_or(0, |wait| wait.as_secs()))
}
