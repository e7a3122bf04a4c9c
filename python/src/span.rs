//! Seconds, `timedelta` and text on the way in; seconds on the way out.
//!
//! Spans round up both ways, so that whoever waits as long as stated is never early.

use core::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDelta, PyFloat, PyInt, PyString};

/// A span from Python: a number of seconds, a `timedelta`, or text such as `"250ms"`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(pub(crate) Duration);

impl Span {
    pub(crate) const ZERO: Self = Self(Duration::ZERO);
}

impl<'py> FromPyObject<'_, 'py> for Span {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let nanos = if let Ok(text) = value.cast::<PyString>() {
            seawall::config::parse_span(&text.to_cow()?)
                .map_err(|invalid| PyValueError::new_err(format!("{invalid} is no span of time")))?
        } else if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
            let seconds: f64 = value.extract()?;
            if seconds.is_nan() || seconds < 0.0 {
                return Err(PyValueError::new_err(format!("{seconds} is no span of time")));
            }
            // A span beyond 584 years is cut to that.
            (seconds * 1e9).ceil() as u64
        } else if let Some(nanos) = delta_nanos(&value)? {
            u64::try_from(nanos).map_err(|_| PyValueError::new_err("a negative timedelta is no span of time"))?
        } else {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a span is a number of seconds, a timedelta or text such as '250ms', not {kind}"
            )));
        };
        Ok(Self(Duration::from_nanos(nanos)))
    }
}

/// What a server told: a span, or text as in a `Retry-After` header: digits alone, which are whole
/// seconds, or a date.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told(pub(crate) Duration);

impl<'py> FromPyObject<'_, 'py> for Told {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.cast::<PyString>() {
            let text = text.to_cow()?;
            if let Some(span) = crate::wire::wait(&text) {
                return Ok(Self(span));
            }
        }
        value.extract().map(|Span(span)| Self(span))
    }
}

/// A `timedelta` in nanoseconds, exactly; `None` for anything else.
pub(crate) fn delta_nanos(value: &Bound<'_, PyAny>) -> PyResult<Option<i128>> {
    if !value.is_instance_of::<PyDelta>() {
        return Ok(None);
    }
    let part = |name: &str| value.getattr(name)?.extract::<i64>().map(i128::from);
    let micros = (part("days")? * 86_400 + part("seconds")?) * 1_000_000 + part("microseconds")?;
    Ok(Some(micros * 1_000))
}

/// An instant from Python: a number of seconds on the object's clock (`time.monotonic()` for the real
/// one).
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub(crate) seawall::Instant);

impl<'py> FromPyObject<'_, 'py> for At {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let seconds: f64 = value.extract()?;
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(PyValueError::new_err(format!("{seconds} is no instant")));
        }
        Ok(Self(seawall::Instant::from_nanos((seconds * 1e9).round() as u64)))
    }
}

/// Nanoseconds as seconds, to the nearest float.
pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// A span in seconds, rounded up.
pub(crate) fn seconds_up(span: Duration) -> f64 {
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
    let seconds = nanos as f64 / 1e9;
    if ((seconds * 1e9) as u64) < nanos { seconds.next_up() } else { seconds }
}
