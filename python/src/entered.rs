//! Which permit belongs to which `with breaker:`.
//!
//! A breaker is one object, its blocks are many. The open blocks of a thread or task are a linked list
//! `(permit, rest)` in one context variable: threads and tasks each see their own, nested blocks end in
//! the order of their nesting, and what has ended leaves nothing behind.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::breaker::CircuitBreaker;
use crate::permit::Permit;

fn variable(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static ENTERED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let variable = ENTERED.get_or_try_init(py, || {
        let class = py.import("contextvars")?.getattr("ContextVar")?;
        let options = pyo3::types::PyDict::new(py);
        options.set_item("default", py.None())?;
        class.call(("seawall.entered",), Some(&options)).map(Bound::unbind)
    })?;
    Ok(variable.bind(py))
}

pub(crate) fn push(permit: &Bound<'_, Permit>) -> PyResult<()> {
    let variable = variable(permit.py())?;
    let rest = variable.call_method0(pyo3::intern!(permit.py(), "get"))?;
    variable.call_method1(pyo3::intern!(permit.py(), "set"), ((permit, rest),))?;
    Ok(())
}

/// The permit of the innermost open block of this breaker; `None` when this context has none, as when
/// a block is left in another context than it was entered in.
pub(crate) fn pop<'py>(breaker: &Bound<'py, CircuitBreaker>) -> PyResult<Option<Bound<'py, Permit>>> {
    let py = breaker.py();
    let variable = variable(py)?;
    let mut passed = Vec::new();
    let mut entry = variable.call_method0(pyo3::intern!(py, "get"))?;
    while let Ok(pair) = entry.cast::<PyTuple>() {
        let permit = pair.get_item(0)?.cast_into::<Permit>()?;
        let mut rest = pair.get_item(1)?;
        if permit.get().is_of(breaker) {
            for other in passed.into_iter().rev() {
                rest = PyTuple::new(py, [other, rest])?.into_any();
            }
            variable.call_method1(pyo3::intern!(py, "set"), (rest,))?;
            return Ok(Some(permit));
        }
        passed.push(permit.into_any());
        entry = rest;
    }
    Ok(None)
}
