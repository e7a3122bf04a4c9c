//! The retry budget as a Python object.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use seawall::RetryBudgetConfig;

use crate::clock::{ManualClock, Source};
use crate::counts::Counts;
use crate::errors;
use crate::options::{self, Given};

/// Retries only while they are few: every request pays a share of one in.
#[pyclass(frozen, weakref, module = "seawall")]
#[derive(Debug)]
pub(crate) struct RetryBudget {
    pub(crate) engine: seawall::RetryBudget,
    clock: Source,
    pub(crate) name: Py<PyString>,
    given: Given<RetryBudgetConfig>,
    pub(crate) refusals: Counts,
}

impl RetryBudget {
    pub(crate) fn make(
        py: Python<'_>,
        config: RetryBudgetConfig,
        options: Option<&Bound<'_, PyDict>>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
    ) -> PyResult<Self> {
        let clock = Source::from(clock);
        let engine =
            seawall::RetryBudget::new(&config, clock.now()).map_err(|error| options::refused(py, &error, options))?;
        Ok(Self {
            engine,
            clock,
            name: name.map_or_else(|| PyString::intern(py, "retry_budget"), Bound::clone).unbind(),
            given: Given::new(config),
            refusals: Counts::new(),
        })
    }

    fn change(&self, py: Python<'_>, next: RetryBudgetConfig, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.given
            .replace(|_| next, |config| self.engine.configure(config, self.clock.now()))
            .map_err(|error| options::change_refused(py, error, options))
    }
}

#[pymethods]
impl RetryBudget {
    #[new]
    #[pyo3(signature = (*, name=None, clock=None, **options))]
    fn new(
        py: Python<'_>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Self::make(py, options::with(RetryBudgetConfig::new(), options)?, options, name, clock)
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// A request pays in: once per request, however many attempts it takes.
    fn deposit(&self) {
        if !self.engine.is_full() {
            self.engine.deposit(self.clock.now());
        }
    }

    /// Pays for a retry; whether there was enough.
    fn try_withdraw(&self) -> bool {
        self.engine.withdraw(self.clock.now()).inspect_err(|rejection| self.refusals.add(rejection.reason)).is_ok()
    }

    /// Pays for a retry, or raises BudgetEmpty.
    fn withdraw(&self, py: Python<'_>) -> PyResult<()> {
        let now = self.clock.now();
        self.engine.withdraw(now).map_err(|rejection| {
            self.refusals.add(rejection.reason);
            errors::refusal(self.name.bind(py), &rejection, now)
        })
    }

    /// Takes a withdrawal back: the retry it paid for was not sent after all.
    fn refund(&self) {
        self.engine.refund(self.clock.now());
    }

    /// How many retries it could pay for now.
    #[getter]
    fn balance(&self) -> f64 {
        self.balance_ppm() as f64 / 1e6
    }

    /// The same in millionths.
    #[getter]
    fn balance_ppm(&self) -> u64 {
        self.engine.balance_ppm(self.clock.now())
    }

    /// Fills it.
    fn reset(&self) {
        self.engine.reset(self.clock.now());
    }

    /// Changes the configuration while it runs: options not named go back to their defaults.
    #[pyo3(signature = (**options))]
    fn configure(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.change(py, options::with(RetryBudgetConfig::new(), options)?, options)
    }

    /// Replaces the whole configuration by fields in the engine's own units.
    #[pyo3(name = "_configure_fields")]
    fn configure_fields(&self, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        self.change(fields.py(), options::from_fields(fields)?, Some(fields))
    }

    /// How many retries it refused, by reason.
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.refusals.to_python(py)
    }

    /// A copy has the configuration and starts full.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let given = options::to_python(&self.given.present(), true, py)?;
        given.set_item("name", &self.name)?;
        given.set_item("clock", self.clock.to_python(py))?;
        Ok((PyTuple::empty(py), given))
    }

    fn __repr__(&self) -> String {
        format!("<RetryBudget {}: {:.3} retries>", self.name, self.balance())
    }
}

/// A budget from fields in the engine's own units, for the vectors.
#[pyfunction(name = "_budget_from_fields")]
#[pyo3(signature = (fields, name=None, clock=None))]
pub(crate) fn budget_from_fields(
    fields: &Bound<'_, PyDict>,
    name: Option<&Bound<'_, PyString>>,
    clock: Option<Py<ManualClock>>,
) -> PyResult<RetryBudget> {
    RetryBudget::make(fields.py(), options::from_fields(fields)?, Some(fields), name, clock)
}
