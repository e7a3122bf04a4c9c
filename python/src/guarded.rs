//! What decorating a plain function makes: a callable without a Python frame of its own.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::breaker::CircuitBreaker;
use crate::calling;

/// A function under a breaker. It looks like the function: `functools.update_wrapper` copies its name
/// and text, `inspect` follows `__wrapped__`, and in a class it binds as a method.
#[pyclass(frozen, dict, weakref, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Guarded {
    #[pyo3(get)]
    breaker: Py<CircuitBreaker>,
    function: Py<PyAny>,
}

#[pymethods]
impl Guarded {
    #[new]
    fn new(breaker: Py<CircuitBreaker>, function: Py<PyAny>) -> Self {
        Self { breaker, function }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        calling::call(self.breaker.bind(py), self.function.bind(py), args, kwargs)
    }

    fn __get__<'py>(
        this: Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static METHOD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if instance.is_none() {
            return Ok(this.into_any());
        }
        METHOD.import(this.py(), "types", "MethodType")?.call1((this, instance))
    }

    /// By its name, as functions are.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.getattr(pyo3::intern!(this.py(), "__qualname__"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<{} guarded by {}>", self.function.bind(py).repr()?, self.breaker.get().name))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.breaker)?;
        visit.call(&self.function)
    }
}
