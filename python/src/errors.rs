//! Raising: the exceptions are Python classes (`seawall._errors`), imported when first needed.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use seawall::policy::Ending;
use seawall::{Instant, Layer, Reason, Rejection};

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
    static BUDGET: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static WONT_FINISH: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static TIMED_OUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static DEADLINE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = policy.py();
    let class = match (rejection.layer, rejection.reason) {
        (Layer::CircuitBreaker, _) => class(py, &OPEN, "CircuitOpen"),
        (Layer::RetryBudget, _) => class(py, &BUDGET, "BudgetEmpty"),
        (Layer::Deadline, Reason::WontFinish) => class(py, &WONT_FINISH, "WontFinish"),
        (Layer::Deadline, Reason::TimedOut) => class(py, &TIMED_OUT, "TimedOut"),
        (Layer::Deadline, _) => class(py, &DEADLINE, "DeadlineExceeded"),
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

/// Has an exception say how the call that it came from ended, as `seawall.ending_of` tells. One that
/// takes no attributes keeps it to itself.
#[cold]
pub(crate) fn tell_ending(error: &PyErr, ending: &Ending, now: Instant, py: Python<'_>) -> PyResult<()> {
    static TELL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let at = ending.retry_at();
    TELL.import(py, "seawall._ending", "tell")?.call1((
        error.value(py),
        ending.end.name(),
        ending.attempts,
        ending.failure.map(seawall::Failure::name),
        ending.rejection.map(|rejection| rejection.reason.name()),
        at.map(Instant::as_nanos),
        at.map(|at| seconds_up(at.since(now))),
    ))?;
    Ok(())
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

/// Whether `holds` for every exception in `error`, which may be a group of groups; alone it is its only
/// leaf.
pub(crate) fn every_leaf<'py>(
    error: &Bound<'py, PyAny>,
    holds: impl Fn(&Bound<'py, PyAny>) -> PyResult<bool>,
) -> PyResult<bool> {
    let group = group_class(error.py())?;
    let mut rest = vec![error.clone()];
    while let Some(error) = rest.pop() {
        if let Some(group) = group
            && error.is_instance(group)?
        {
            for inner in error.getattr(pyo3::intern!(error.py(), "exceptions"))?.try_iter()? {
                rest.push(inner?);
            }
        } else if !holds(&error)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `BaseExceptionGroup`, from Python 3.11 on.
fn group_class(py: Python<'_>) -> PyResult<Option<&Bound<'_, PyAny>>> {
    static GROUP: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let group = GROUP.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("builtins")?.getattr_opt("BaseExceptionGroup")?.map(Bound::unbind))
    })?;
    Ok(group.as_ref().map(|group| group.bind(py)))
}
