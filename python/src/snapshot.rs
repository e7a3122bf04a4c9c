//! A breaker's figures at one instant.

use pyo3::prelude::*;

use crate::span::seconds;

/// A breaker's figures at one instant; nothing here changes afterwards.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Snapshot(pub(crate) seawall::Snapshot);

#[pymethods]
impl Snapshot {
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.0.mode.name()
    }

    #[getter]
    fn generation(&self) -> u32 {
        self.0.generation
    }

    /// Calls judged: in the window, failed in a row, or settled trials.
    #[getter]
    fn calls(&self) -> u32 {
        self.0.calls
    }

    #[getter]
    fn failed(&self) -> u32 {
        self.0.failed
    }

    #[getter]
    fn slow(&self) -> u32 {
        self.0.slow
    }

    /// The share that failed; `None` below `minimum_calls` and in consecutive mode.
    #[getter]
    fn failure_rate(&self) -> Option<f64> {
        self.0.failure_rate_ppm.map(|ppm| f64::from(ppm) / 1e6)
    }

    #[getter]
    fn slow_rate(&self) -> Option<f64> {
        self.0.slow_rate_ppm.map(|ppm| f64::from(ppm) / 1e6)
    }

    #[getter]
    fn trials(&self) -> u32 {
        self.0.trials
    }

    #[getter]
    fn trials_in_flight(&self) -> u32 {
        self.0.trials_in_flight
    }

    #[getter]
    fn trials_succeeded(&self) -> u32 {
        self.0.trials_succeeded
    }

    #[getter]
    fn reopened(&self) -> u32 {
        self.0.reopened
    }

    /// Open: until when. Half-open with trials out: when their lease ends.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.until_ns().map(seconds)
    }

    #[getter]
    fn until_ns(&self) -> Option<u64> {
        self.0.until.map(seawall::Instant::as_nanos)
    }

    #[getter]
    fn cause(&self) -> Option<&'static str> {
        self.0.cause.map(seawall::Cause::name)
    }

    /// When it changed its state last, to the microsecond.
    #[getter]
    fn changed_at(&self) -> Option<f64> {
        self.changed_at_ns().map(seconds)
    }

    #[getter]
    fn changed_at_ns(&self) -> Option<u64> {
        self.0.changed_at.map(seawall::Instant::as_nanos)
    }

    fn __repr__(&self) -> String {
        let seawall::Snapshot { state, mode, calls, failed, slow, .. } = self.0;
        format!("<Snapshot {state}, {mode}: {failed} of {calls} failed, {slow} slow>")
    }
}
