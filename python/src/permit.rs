//! A permit as a Python object: settled once, by hand or as a context manager.

use core::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;
use seawall::{Instant, Outcome, Settlement};

use crate::breaker::CircuitBreaker;
use crate::calling::{self, Grant};
use crate::random;
use crate::ready::Ready;
use crate::span::{At, Told};

/// The right to make one call. Settle it once; further settlements change nothing. One that is
/// dropped unsettled counts for nothing, and gives its place back.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Permit {
    breaker: Py<CircuitBreaker>,
    grant: Grant,
    settled: AtomicBool,
}

impl Permit {
    pub(crate) fn new(breaker: &Bound<'_, CircuitBreaker>, grant: Grant) -> Self {
        Self { breaker: breaker.clone().unbind(), grant, settled: AtomicBool::new(false) }
    }

    /// The grant, for the first who asks.
    pub(crate) fn take(&self) -> Option<Grant> {
        (!self.settled.swap(true, Ordering::Relaxed)).then_some(self.grant)
    }

    fn settle(&self, py: Python<'_>, outcome: Outcome) -> PyResult<&'static str> {
        let settlement = match self.take() {
            Some(grant) => calling::leave(self.breaker.bind(py), grant, outcome)?,
            None => Settlement::Stale,
        };
        Ok(name(settlement))
    }

    /// The end of a `with` block.
    pub(crate) fn close(&self, py: Python<'_>, error: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(grant) = self.take() else { return Ok(()) };
        let breaker = self.breaker.bind(py);
        match error {
            None => calling::leave(breaker, grant, Outcome::Success)?,
            Some(error) => calling::raised(breaker, grant, error)?,
        };
        Ok(())
    }

    pub(crate) fn is_of(&self, breaker: &Bound<'_, CircuitBreaker>) -> bool {
        self.breaker.is(breaker)
    }
}

/// What the server said; `None` when it makes no sense, as headers may. A value that is neither text
/// nor number is the caller's mistake.
fn told<'py, T: FromPyObjectOwned<'py, Error = PyErr>>(value: &Bound<'py, PyAny>) -> PyResult<Option<T>> {
    match value.extract() {
        Ok(told) => Ok(Some(told)),
        Err(error)
            if value.is_instance_of::<PyString>()
                || error.is_instance_of::<PyValueError>(value.py())
                || error.is_instance_of::<PyOverflowError>(value.py()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

const fn name(settlement: Settlement) -> &'static str {
    match settlement {
        Settlement::Counted => "counted",
        Settlement::Neutral => "neutral",
        _ => "stale",
    }
}

#[pymethods]
impl Permit {
    /// The call worked.
    fn success(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.settle(py, Outcome::Success)
    }

    /// The dependency failed; with `until` or `retry_after` it said when it will be back, and the
    /// breaker opens at once. One that makes no sense is an ordinary failure.
    #[pyo3(signature = (*, until=None, retry_after=None))]
    fn failure(
        &self,
        py: Python<'_>,
        until: Option<&Bound<'_, PyAny>>,
        retry_after: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<&'static str> {
        let told = match (until, retry_after) {
            (Some(until), _) => told(until).map(|at| at.map(|At(at)| at)),
            (None, Some(span)) => {
                told(span).map(|span| span.map(|Told(span)| self.breaker.get().clock.now().after(span)))
            }
            (None, None) => Ok(None),
        };
        // Whatever was told, the call has failed.
        let (told, error) = told.map_or_else(|error| (None, Some(error)), |told| (told, None));
        let settlement = self.settle(py, told.map_or(Outcome::Failure, Outcome::FailureUntil))?;
        error.map_or(Ok(settlement), Err)
    }

    /// As `failure(until=...)`, in whole nanoseconds.
    fn failure_until_ns(&self, py: Python<'_>, until: u64) -> PyResult<&'static str> {
        self.settle(py, Outcome::FailureUntil(Instant::from_nanos(until)))
    }

    /// No verdict: cancelled, the caller's own mistake, refused by another layer of our own.
    fn ignore(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.settle(py, Outcome::Ignored)
    }

    /// Whether this is a trial of a half-open breaker.
    #[getter]
    fn trial(&self) -> bool {
        self.grant.token.is_trial()
    }

    /// In shadow mode: the reason for which it would have been refused.
    #[getter]
    fn bypassed(&self) -> Option<&'static str> {
        self.grant.bypassed.map(seawall::Reason::name)
    }

    /// Whether nothing will be recorded: the breaker is disabled, or in shadow mode it would have refused.
    #[getter]
    fn unrecorded(&self) -> bool {
        self.grant.token.is_bypass()
    }

    #[getter]
    fn settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    fn __enter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        error: Option<&Bound<'_, PyAny>>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.close(py, error)?;
        Ok(false)
    }

    fn __aenter__(this: Bound<'_, Self>) -> Ready {
        Ready(this.into_any().unbind())
    }

    fn __aexit__(
        &self,
        py: Python<'_>,
        _kind: &Bound<'_, PyAny>,
        error: Option<&Bound<'_, PyAny>>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<Ready> {
        self.close(py, error)?;
        Ok(Ready(py.None()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.breaker)
    }

    fn __repr__(&self) -> String {
        let kind = if self.trial() { "trial" } else { "permit" };
        format!("<Permit of {}: {kind}{}>", self.breaker.get().name, if self.settled() { ", settled" } else { "" })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(grant) = self.take()
            && grant.forks == random::forks()
        {
            // Neutral, so no listener need be told of anything.
            self.breaker.get().engine.settle(grant.token, Outcome::Ignored, grant.granted, grant.granted, 0);
        }
    }
}
