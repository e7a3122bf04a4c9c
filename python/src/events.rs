//! Transitions as Python sees them, and how they are told.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};

use crate::span::seconds;

/// A change of a breaker's state.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Transition {
    #[pyo3(get)]
    policy: Py<PyString>,
    inner: seawall::Transition,
}

#[pymethods]
impl Transition {
    #[getter]
    #[allow(clippy::wrong_self_convention, reason = "a property of a Python class")]
    fn from_state(&self) -> &'static str {
        self.inner.from.name()
    }

    #[getter]
    fn to_state(&self) -> &'static str {
        self.inner.to.name()
    }

    #[getter]
    fn cause(&self) -> &'static str {
        self.inner.cause.name()
    }

    /// When, in seconds on the breaker's clock.
    #[getter]
    fn at(&self) -> f64 {
        seconds(self.at_ns())
    }

    #[getter]
    fn at_ns(&self) -> u64 {
        self.inner.at.as_nanos()
    }

    /// Until when it is open; `None` in other states.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.until_ns().map(seconds)
    }

    #[getter]
    fn until_ns(&self) -> Option<u64> {
        self.inner.until.map(seawall::Instant::as_nanos)
    }

    #[getter]
    fn generation(&self) -> u32 {
        self.inner.generation
    }

    #[getter]
    fn calls(&self) -> u32 {
        self.inner.calls
    }

    #[getter]
    fn failed(&self) -> u32 {
        self.inner.failed
    }

    #[getter]
    fn slow(&self) -> u32 {
        self.inner.slow
    }

    /// How many times in a row it has reopened without closing.
    #[getter]
    fn reopened(&self) -> u8 {
        self.inner.reopened
    }

    /// Jitter was asked for, but there was no randomness.
    #[getter]
    fn unseeded(&self) -> bool {
        self.inner.unseeded
    }

    fn __repr__(&self) -> String {
        let Self { policy, inner } = self;
        format!("<Transition {policy}: {} -> {} ({})>", inner.from, inner.to, inner.cause)
    }
}

/// Makes the Python object of a transition.
pub(crate) fn to_python<'py>(
    policy: &Bound<'py, PyString>,
    inner: seawall::Transition,
) -> PyResult<Bound<'py, Transition>> {
    Bound::new(policy.py(), Transition { policy: policy.clone().unbind(), inner })
}

/// Logs a transition and tells the listeners. What a listener raises is logged there; only what must
/// not be swallowed (an interrupt, an exit) comes back.
#[cold]
pub(crate) fn dispatch(transition: &Bound<'_, Transition>, listeners: &Bound<'_, PyList>) -> PyResult<()> {
    static DISPATCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = transition.py();
    // A copy: a listener may add or remove listeners.
    DISPATCH.import(py, "seawall._events", "dispatch")?.call1((transition, listeners.to_tuple()))?;
    Ok(())
}

/// Logs what a predicate raised.
#[cold]
pub(crate) fn predicate_raised(policy: &Bound<'_, PyString>, error: &PyErr) -> PyResult<()> {
    static REPORT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = policy.py();
    REPORT.import(py, "seawall._events", "predicate_raised")?.call1((policy, error.value(py)))?;
    Ok(())
}

/// Logs that an attempt is made again.
#[cold]
pub(crate) fn retrying(policy: &Bound<'_, PyString>, attempt: &seawall::policy::Attempt) -> PyResult<()> {
    static RETRYING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let after = attempt.after.map(seawall::Failure::name);
    let arguments = (policy, attempt.attempt, after, seconds(attempt.waited.as_nanos() as u64));
    RETRYING.import(policy.py(), "seawall._events", "retrying")?.call1(arguments)?;
    Ok(())
}

/// Tells the listeners of a refusal; what one raises is logged.
pub(crate) fn refused(policy: &Bound<'_, PyString>, refused: &PyErr, listeners: &Bound<'_, PyList>) -> PyResult<()> {
    static REFUSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if !listeners.is_empty() {
        let py = policy.py();
        REFUSED.import(py, "seawall._events", "refused")?.call1((policy, refused.value(py), listeners.to_tuple()))?;
    }
    Ok(())
}
