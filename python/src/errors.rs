//! Raising: the exceptions are Python classes (`seawall._errors`), imported when first needed.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use seawall::{Instant, Layer, Rejection};

use crate::span::seconds_up;

const MODULE: &str = "seawall._errors";

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &'static str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, MODULE, name)
}

/// The base of all refusals of our own.
pub(crate) fn refused_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static REFUSED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    class(py, &REFUSED, "Refused")
}

/// The exception for a refusal.
#[cold]
pub(crate) fn refusal(policy: &Bound<'_, PyString>, rejection: &Rejection, now: Instant) -> PyErr {
    static OPEN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static LIMITED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = policy.py();
    let class = match rejection.layer {
        Layer::CircuitBreaker => class(py, &OPEN, "CircuitOpen"),
        _ => class(py, &LIMITED, "RateLimited"),
    };
    let class = match class {
        Ok(class) => class,
        Err(error) => return error,
    };
    let message = format!("{policy}: {}", rejection.explain(now));
    let at = rejection.at().map(Instant::as_nanos);
    let retry_after = rejection.retry_after(now).map(seconds_up);
    PyErr::from_type(class.clone(), (message, policy.clone().unbind(), rejection.reason.name(), at, retry_after))
}

/// The exception for an impossible configuration. `text` is the engine's sentence.
pub(crate) fn config(py: Python<'_>, text: String, field: &str, value: Option<Py<PyAny>>) -> PyErr {
    static CONFIG: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match class(py, &CONFIG, "ConfigError") {
        Ok(class) => PyErr::from_type(class.clone(), (text, field.to_owned(), value)),
        Err(error) => error,
    }
}

/// Whether it is one of those that are about the program and not about the dependency: cancellation,
/// interrupts, exits, and the end of an iteration.
pub(crate) fn is_control_flow(error: &Bound<'_, PyAny>) -> bool {
    use pyo3::exceptions::{PyStopAsyncIteration, PyStopIteration};
    !error.is_instance_of::<PyException>()
        || error.is_instance_of::<PyStopIteration>()
        || error.is_instance_of::<PyStopAsyncIteration>()
}
