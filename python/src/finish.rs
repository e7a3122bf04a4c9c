//! What the end of an attempt means: the engine's table, and whoever overrules it.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyInt, PyString};
use seawall::policy::Told;
use seawall::{Failure, Finish};

use crate::policy::Policy;
use crate::{errors, events, wire};

/// What an exception means; `None`: it is about the program and not about the call, which ends.
pub(crate) fn of_error(policy: &Policy, error: &Bound<'_, PyAny>) -> PyResult<Option<Finish>> {
    if errors::every_leaf(error, |leaf| Ok(errors::is_control_flow(leaf)))? {
        return Ok(None);
    }
    static TABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = error.py();
    let finish = match asked(policy, policy.classify.as_ref(), error)? {
        Some(finish) => finish,
        None => named(&TABLE.import(py, "seawall._classify", "of_exception")?.call1((error,))?)?
            .unwrap_or(Finish::failed(Failure::Other)),
    };
    told(finish, error).map(Some)
}

/// What a result means: a success, unless `classify_result` knows better.
#[inline]
pub(crate) fn of_result(policy: &Policy, result: &Bound<'_, PyAny>) -> PyResult<Finish> {
    match &policy.classify_result {
        None => Ok(Finish::success()),
        classify => match asked(policy, classify.as_ref(), result)? {
            None => Ok(Finish::success()),
            Some(finish) => told(finish, result),
        },
    }
}

/// What the caller's own classifier says; `None` when it has no opinion. One that raises has none.
fn asked(policy: &Policy, classify: Option<&Py<PyAny>>, end: &Bound<'_, PyAny>) -> PyResult<Option<Finish>> {
    let Some(classify) = classify else { return Ok(None) };
    let py = end.py();
    match classify.bind(py).call1((end,)).and_then(|answer| named(&answer)) {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            events::predicate_raised(policy.name.bind(py), &error)?;
            Ok(None)
        }
        answer => answer,
    }
}

/// A classification as Python writes it: whether it may go away, an HTTP status, or a failure by name.
fn named(answer: &Bound<'_, PyAny>) -> PyResult<Option<Finish>> {
    if answer.is_none() {
        return Ok(None);
    }
    if let Ok(transient) = answer.cast::<PyBool>() {
        let failure = if transient.is_true() { Failure::Transient } else { Failure::Other };
        return Ok(Some(Finish::failed(failure)));
    }
    if answer.is_instance_of::<PyInt>() {
        return Ok(Some(Finish::status(answer.extract().unwrap_or(u16::MAX))));
    }
    if let Ok(name) = answer.cast::<PyString>() {
        let name = name.to_cow()?;
        let known = Failure::ALL.iter().find(|failure| failure.name() == name);
        match known {
            Some(failure) => return Ok(Some(Finish::failed(*failure))),
            None if name == "success" => return Ok(Some(Finish::success())),
            None => {}
        }
    }
    Err(PyTypeError::new_err(format!(
        "{} is no classification: None, a bool, an HTTP status or the name of a failure",
        answer.repr()?
    )))
}

/// With what the dependency said about being asked again, where it said so.
fn told(finish: Finish, end: &Bound<'_, PyAny>) -> PyResult<Finish> {
    static TOLD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (retry, wait): (Option<String>, Option<String>) =
        TOLD.import(end.py(), "seawall._classify", "told_by")?.call1((end,))?.extract()?;
    if retry.as_deref().is_some_and(wire::forbids_retry) {
        return Ok(finish.told(Told::Stop));
    }
    Ok(match wait.as_deref().and_then(wire::wait) {
        Some(wait) => finish.told(Told::Wait(wait)),
        None => finish,
    })
}
