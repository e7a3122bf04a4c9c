//! Backoff, and what spreads out what many clients would do at once, as Python objects.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use seawall::retry::{Reconnect as Link, Schedule as Recurring};
use seawall::{BackoffConfig, Instant, Ratio};

use crate::clock::{ManualClock, Source};
use crate::options;
use crate::random::Randomness;
use crate::span::{At, Span, seconds, seconds_up};

/// How long to wait before trying again.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Backoff {
    pub(crate) engine: seawall::Backoff,
    config: BackoffConfig,
    random: Randomness,
    seed: Option<Py<PyAny>>,
}

impl Backoff {
    pub(crate) fn make(
        py: Python<'_>,
        config: BackoffConfig,
        options: Option<&Bound<'_, PyDict>>,
        random: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let engine = seawall::Backoff::new(&config).map_err(|error| options::refused(py, &error, options))?;
        let seed = random.map(|random| random.clone().unbind());
        Ok(Self { engine, config, random: Randomness::from(random)?, seed })
    }
}

#[pymethods]
impl Backoff {
    #[new]
    #[pyo3(signature = (*, random=None, **options))]
    fn new(py: Python<'_>, random: Option<&Bound<'_, PyAny>>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        Self::make(py, options::with(BackoffConfig::new(), options)?, options, random)
    }

    /// Seconds to wait before retry `retry`, counted from 0; `previous` is the wait before that.
    #[pyo3(signature = (retry, previous=Span::ZERO), text_signature = "(self, retry, previous=0)")]
    fn delay(&self, retry: u32, previous: Span) -> f64 {
        seconds_up(self.engine.delay(retry, previous.0, self.random.next()))
    }

    /// The same in nanoseconds.
    #[pyo3(signature = (retry, previous_ns=0))]
    fn delay_ns(&self, retry: u32, previous_ns: u64) -> u64 {
        self.engine.delay(retry, core::time::Duration::from_nanos(previous_ns), self.random.next()).as_nanos() as u64
    }

    /// The longest wait before retry `retry`, in seconds.
    fn ceiling(&self, retry: u32) -> f64 {
        seconds_up(self.engine.ceiling(retry))
    }

    /// The same in nanoseconds.
    fn ceiling_ns(&self, retry: u32) -> u64 {
        self.engine.ceiling(retry).as_nanos() as u64
    }

    /// Whether its waits are drawn.
    #[getter]
    fn is_jittered(&self) -> bool {
        self.engine.is_jittered()
    }

    /// What was given, in Python's units.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options::to_python(&self.config, false, py)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let given = options::to_python(&self.config, true, py)?;
        given.set_item("random", &self.seed)?;
        Ok((PyTuple::empty(py), given))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Backoff {}>", self.config(py)?))
    }
}

/// A backoff from fields in the engine's own units, for the vectors.
#[pyfunction(name = "_backoff_from_fields")]
#[pyo3(signature = (fields, random=None))]
pub(crate) fn backoff_from_fields(fields: &Bound<'_, PyDict>, random: Option<&Bound<'_, PyAny>>) -> PyResult<Backoff> {
    Backoff::make(fields.py(), options::from_fields(fields)?, Some(fields), random)
}

/// A connection that is made again whenever it is lost: a backoff that starts over once a connection
/// has been stable.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Reconnect {
    link: Mutex<Link>,
    clock: Source,
    random: Randomness,
}

#[pymethods]
impl Reconnect {
    #[new]
    #[pyo3(signature = (backoff, *, stable_after, clock=None, random=None))]
    fn new(
        backoff: &Backoff,
        stable_after: Span,
        clock: Option<Py<ManualClock>>,
        random: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        Ok(Self {
            link: Mutex::new(Link::new(backoff.engine, stable_after.0)),
            clock: Source::from(clock),
            random: Randomness::from(random)?,
        })
    }

    /// It was made.
    fn connected(&self) {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).connected(self.clock.now());
    }

    /// It was lost, or could not be made: seconds to wait before the next try.
    fn lost(&self) -> f64 {
        let (now, r) = (self.clock.now(), self.random.next());
        seconds_up(self.link.lock().unwrap_or_else(PoisonError::into_inner).lost(now, r))
    }
}

/// Work that recurs, at a phase that is this client's own and stays so.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Schedule {
    engine: Recurring,
    clock: Source,
}

#[pymethods]
impl Schedule {
    #[new]
    #[pyo3(signature = (period, *, seed, spread=1.0, clock=None))]
    fn new(period: Span, seed: u64, spread: f64, clock: Option<Py<ManualClock>>) -> PyResult<Self> {
        Ok(Self { engine: Recurring::new(period.0, ratio(spread)?, seed), clock: Source::from(clock) })
    }

    /// Seconds from the beginning of a period to its work.
    #[getter]
    fn phase(&self) -> f64 {
        seconds(self.engine.phase().as_nanos() as u64)
    }

    /// Seconds until it is due next, from now or from `after`; more than none, at most a period.
    #[pyo3(signature = (after=None))]
    fn wait(&self, after: Option<At>) -> f64 {
        let now = self.clock.now();
        seconds_up(self.engine.next(after.map_or(now, |At(after)| after)).since(now))
    }

    /// When it is due next, in seconds on its clock.
    #[pyo3(signature = (after=None))]
    fn next(&self, after: Option<At>) -> f64 {
        seconds(self.next_ns(after.map(|At(after)| after.as_nanos())))
    }

    /// The same in nanoseconds.
    #[pyo3(signature = (after_ns=None))]
    fn next_ns(&self, after_ns: Option<u64>) -> u64 {
        self.engine.next(after_ns.map_or_else(|| self.clock.now(), Instant::from_nanos)).as_nanos()
    }
}

/// How long a cached value may live: `span` less up to the share `spread`, in seconds.
#[pyfunction]
#[pyo3(signature = (span, spread=0.1, *, random=None))]
pub(crate) fn ttl(span: Span, spread: f64, random: Option<&Bound<'_, PyAny>>) -> PyResult<f64> {
    let r = Randomness::from(random)?.next();
    Ok(seconds(seawall::retry::ttl(span.0, ratio(spread)?, r).as_nanos() as u64))
}

/// A share from 0 to 1.
fn ratio(share: f64) -> PyResult<Ratio> {
    if !(0.0..=1.0).contains(&share) {
        return Err(pyo3::exceptions::PyValueError::new_err(format!(
            "a spread of {share} is not allowed; allowed are 0 to 1"
        )));
    }
    Ok(Ratio::ppm((share * 1e6).round() as u32))
}
