//! What the end of a call says about the dependency, by the rules that a breaker was made with.

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple, PyType};
use seawall::Outcome;

use crate::calling::Breaker;
use crate::span::Told;
use crate::{errors, events};

/// What counts as a failure, chosen when a breaker is made.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub(crate) ignore: Option<Py<PyTuple>>,
    pub(crate) is_failure: Option<Py<PyAny>>,
    pub(crate) is_failure_result: Option<Py<PyAny>>,
    pub(crate) retry_after_of: Option<Py<PyAny>>,
}

impl Rules {
    pub(crate) fn new(
        ignore: Option<&Bound<'_, PyAny>>,
        is_failure: Option<Py<PyAny>>,
        is_failure_result: Option<Py<PyAny>>,
        retry_after_of: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self { ignore: ignore.map(exception_types).transpose()?, is_failure, is_failure_result, retry_after_of })
    }
}

fn exception_types(given: &Bound<'_, PyAny>) -> PyResult<Py<PyTuple>> {
    let types = match given.cast::<PyTuple>() {
        Ok(types) => types.clone(),
        Err(_) if given.is_instance_of::<PyType>() => PyTuple::new(given.py(), [given])?,
        Err(_) => given.try_iter()?.collect::<PyResult<Vec<_>>>().and_then(|all| PyTuple::new(given.py(), all))?,
    };
    let base = given.py().get_type::<pyo3::exceptions::PyBaseException>();
    for class in &types {
        if !class.cast::<PyType>().is_ok_and(|class| class.is_subclass(&base).unwrap_or(false)) {
            return Err(PyTypeError::new_err(format!("ignore takes exception classes, not {}", class.repr()?)));
        }
    }
    Ok(types.unbind())
}

/// What an exception says. One that `is_failure` says no to is an answer of the dependency, and so a
/// success.
pub(crate) fn of_exception(breaker: &Breaker<'_>, error: &Bound<'_, PyAny>) -> PyResult<Outcome> {
    let rules = &breaker.get().rules;
    let py = breaker.py();
    if errors::every_leaf(error, |leaf| {
        Ok(errors::is_control_flow(leaf) || leaf.is_instance(errors::refused_class(py)?)?)
    })? {
        return Ok(Outcome::Ignored);
    }
    if let Some(ignored) = &rules.ignore
        && error.is_instance(ignored.bind(py))?
    {
        return Ok(Outcome::Ignored);
    }
    match &rules.is_failure {
        Some(is_failure) if !ask(breaker, is_failure, error, true)? => Ok(Outcome::Success),
        _ => failure(breaker, error),
    }
}

/// What a result says.
#[inline]
pub(crate) fn of_result(breaker: &Breaker<'_>, result: &Bound<'_, PyAny>) -> PyResult<Outcome> {
    match &breaker.get().rules.is_failure_result {
        Some(is_failure) if ask(breaker, is_failure, result, false)? => failure(breaker, result),
        _ => Ok(Outcome::Success),
    }
}

/// A failure, until when the server said if `retry_after_of` finds that in what the call ended with.
fn failure(breaker: &Breaker<'_>, end: &Bound<'_, PyAny>) -> PyResult<Outcome> {
    let Some(retry_after_of) = &breaker.get().rules.retry_after_of else { return Ok(Outcome::Failure) };
    let answer = logged(breaker, retry_after_of.bind(breaker.py()).call1((end,)))?;
    // A bool is no number of seconds here: it is the answer to another question.
    let Some(answer) = answer.filter(|answer| !answer.is_none() && !answer.is_instance_of::<PyBool>()) else {
        return Ok(Outcome::Failure);
    };
    Ok(answer
        .extract()
        .map_or(Outcome::Failure, |Told(span)| Outcome::FailureUntil(breaker.get().clock.now().after(span))))
}

/// Asks a predicate. One that raises counts as if it were not there.
fn ask(breaker: &Breaker<'_>, predicate: &Py<PyAny>, about: &Bound<'_, PyAny>, otherwise: bool) -> PyResult<bool> {
    let answer = predicate.bind(breaker.py()).call1((about,)).and_then(|answer| answer.is_truthy());
    Ok(logged(breaker, answer)?.unwrap_or(otherwise))
}

/// The answer; `None` when an exception came instead, which is logged. Interrupts pass.
fn logged<T>(breaker: &Breaker<'_>, answer: PyResult<T>) -> PyResult<Option<T>> {
    let py = breaker.py();
    match answer {
        Err(error) if error.is_instance_of::<PyException>(py) => {
            events::predicate_raised(breaker.get().name.bind(py), &error)?;
            Ok(None)
        }
        answer => answer.map(Some),
    }
}
