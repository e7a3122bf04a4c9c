//! An awaitable that is ready, for `async with`: admission never waits.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Ready(pub(crate) Py<PyAny>);

#[pymethods]
impl Ready {
    fn __await__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<()> {
        Err(PyStopIteration::new_err((self.0.clone_ref(py),)))
    }
}
