//! Header text to values and back, for `seawall.wire`.

use std::time::{SystemTime, UNIX_EPOCH};

use core::time::Duration;

use pyo3::prelude::*;
use seawall::wire::{deadline, retry_after};

use crate::span::{Span, seconds};

/// The text of a `Retry-After` field, by this host's own wall clock; `None` when it makes no sense.
pub(crate) fn wait(text: &str) -> Option<Duration> {
    retry_after::parse(text.as_bytes(), unix_now())
}

pub(crate) fn forbids_retry(text: &str) -> bool {
    deadline::forbids_retry(text.as_bytes())
}

fn unix_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Reads a `Retry-After` field: seconds to wait, or None when it makes no sense. `now` is the time of the
/// response in seconds since 1970 (its `Date` field), this host's own unless given.
#[pyfunction]
#[pyo3(signature = (value, now=None))]
pub(crate) fn parse_retry_after(value: &str, now: Option<i64>) -> Option<f64> {
    retry_after::parse(value.as_bytes(), now.unwrap_or_else(unix_now)).map(|wait| seconds(wait.as_nanos() as u64))
}

/// Writes a `Retry-After` field in whole seconds, rounded up, at least 1.
#[pyfunction]
pub(crate) fn format_retry_after(wait: Span) -> String {
    retry_after::write(wait.0).as_str().to_owned()
}

/// Writes a `Retry-After` field as a date.
#[pyfunction]
#[pyo3(signature = (wait, now=None))]
pub(crate) fn format_retry_after_date(wait: Span, now: Option<i64>) -> String {
    retry_after::write_date(wait.0, now.unwrap_or_else(unix_now)).as_str().to_owned()
}

/// Reads a `seawall-deadline-ms` field: seconds that remain, or None when it makes no sense.
#[pyfunction]
pub(crate) fn parse_remaining(value: &str) -> Option<f64> {
    deadline::parse_remaining(value.as_bytes()).map(|remaining| seconds(remaining.as_nanos() as u64))
}

/// Writes a `seawall-deadline-ms` field; None when less than a millisecond remains: send nothing.
#[pyfunction]
pub(crate) fn format_remaining(remaining: Span) -> Option<String> {
    deadline::write_remaining(remaining.0).map(|text| text.as_str().to_owned())
}
