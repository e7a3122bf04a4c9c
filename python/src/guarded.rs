//! What decorating a plain function makes: a callable without a Python frame of its own.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::breaker::CircuitBreaker;
use crate::policy::Policy;
use crate::{calling, run};

/// A function under a breaker or a policy. It looks like the function: `functools.update_wrapper` copies its name
/// and text, `inspect` follows `__wrapped__`, and in a class it binds as a method.
#[pyclass(frozen, dict, weakref, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Guarded {
    by: By,
    function: Py<PyAny>,
}

/// Who guards it.
#[derive(Debug, FromPyObject)]
enum By {
    Breaker(Py<CircuitBreaker>),
    Policy(Py<Policy>),
}

#[pymethods]
impl Guarded {
    #[new]
    fn new(by: By, function: Py<PyAny>) -> Self {
        Self { by, function }
    }

    #[getter]
    fn breaker(&self, py: Python<'_>) -> Option<Py<CircuitBreaker>> {
        match &self.by {
            By::Breaker(breaker) => Some(breaker.clone_ref(py)),
            By::Policy(_) => None,
        }
    }

    #[getter]
    fn policy(&self, py: Python<'_>) -> Option<Py<Policy>> {
        match &self.by {
            By::Breaker(_) => None,
            By::Policy(policy) => Some(policy.clone_ref(py)),
        }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        match &self.by {
            By::Breaker(breaker) => calling::call(breaker.bind(py), self.function.bind(py), args, kwargs),
            By::Policy(policy) => run::call(policy.bind(py), self.function.bind(py), args, kwargs),
        }
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
        let name = match &self.by {
            By::Breaker(breaker) => &breaker.get().name,
            By::Policy(policy) => &policy.get().name,
        };
        Ok(format!("<{} guarded by {name}>", self.function.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.by {
            By::Breaker(breaker) => visit.call(breaker)?,
            By::Policy(policy) => visit.call(policy)?,
        }
        visit.call(&self.function)
    }
}
