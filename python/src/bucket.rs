//! The token bucket as a Python object.

use core::sync::atomic::AtomicBool;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString, PyTuple};
use seawall::{Grant, Instant, Rejection, TokenBucketConfig};

use crate::clock::{ManualClock, Source};
use crate::counts::Counts;
use crate::decision::{Decision, Reservation};
use crate::errors;
use crate::options::{self, Given};
use crate::span::Span;

/// An average rate, and a burst after a pause.
#[pyclass(frozen, weakref, module = "seawall")]
#[derive(Debug)]
pub(crate) struct TokenBucket {
    pub(crate) engine: seawall::TokenBucket,
    pub(crate) clock: Source,
    pub(crate) name: Py<PyString>,
    given: Given<TokenBucketConfig>,
    pub(crate) refusals: Counts,
}

/// A whole number of tokens. One beyond 64 bits is beyond any capacity, and is refused as such.
#[derive(Clone, Copy, Debug)]
struct Cost(u64);

impl<'py> FromPyObject<'_, 'py> for Cost {
    type Error = PyErr;

    #[inline]
    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // To Python, True is the number 1.
        if value.is_instance_of::<PyBool>() {
            return Self::unusual(&value);
        }
        value.extract().map(Self).or_else(|_| Self::unusual(&value))
    }
}

impl Cost {
    const ONE: Self = Self(1);

    #[cold]
    fn unusual(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !value.is_instance_of::<PyInt>() || value.is_instance_of::<PyBool>() {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a cost is a whole number, not {kind}")));
        }
        if value.lt(0)? {
            return Err(PyValueError::new_err(format!("a cost of {value} is not allowed; allowed are 0 and more")));
        }
        Ok(Self(u64::MAX))
    }
}

impl TokenBucket {
    pub(crate) fn make(
        py: Python<'_>,
        config: TokenBucketConfig,
        options: Option<&Bound<'_, PyDict>>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
    ) -> PyResult<Self> {
        let clock = Source::from(clock);
        let engine =
            seawall::TokenBucket::new(&config, clock.now()).map_err(|error| options::refused(py, &error, options))?;
        Ok(Self {
            engine,
            clock,
            name: name.map_or_else(|| PyString::intern(py, "token_bucket"), Bound::clone).unbind(),
            given: Given::new(config),
            refusals: Counts::new(),
        })
    }

    #[inline]
    fn take(&self, cost: Cost, now: Instant) -> Result<Grant, Rejection> {
        let taken = self.engine.try_acquire(cost.0, now);
        if let Err(rejection) = &taken {
            self.refusals.add(rejection.reason);
        }
        taken
    }

    fn refuse(&self, py: Python<'_>, rejection: &Rejection, now: Instant) -> PyErr {
        errors::refusal(self.name.bind(py), rejection, now)
    }
}

#[pymethods]
impl TokenBucket {
    #[new]
    #[pyo3(
        signature = (rate=None, capacity=None, *, name=None, clock=None, **options),
        text_signature = "(rate, capacity, *, name=None, clock=None, period=None, start=None)"
    )]
    fn new(
        py: Python<'_>,
        rate: Option<&Bound<'_, PyAny>>,
        capacity: Option<&Bound<'_, PyAny>>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options.cloned().unwrap_or_else(|| PyDict::new(py));
        for (name, value) in [("rate", rate), ("capacity", capacity)] {
            if let Some(value) = value {
                options.set_item(name, value)?;
            }
        }
        let config = options::with(TokenBucketConfig::new(), Some(&options))?;
        Self::make(py, config, Some(&options), name, clock)
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// Takes `cost` tokens, or none: whether it did.
    #[pyo3(signature = (cost=Cost::ONE), text_signature = "($self, cost=1)")]
    fn try_acquire(&self, cost: Cost) -> bool {
        self.take(cost, self.clock.now()).is_ok()
    }

    /// Takes `cost` tokens, or none: `(allowed, retry_after)` with whole seconds for a `Retry-After`
    /// header, rounded up; `(False, None)` when it can never succeed.
    #[pyo3(signature = (cost=Cost::ONE), text_signature = "($self, cost=1)")]
    fn allow(&self, cost: Cost) -> (bool, Option<u64>) {
        let now = self.clock.now();
        match self.take(cost, now) {
            Ok(_) => (true, Some(0)),
            Err(rejection) => {
                let wait = rejection.retry_after(now);
                (false, wait.map(|wait| (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)))
            }
        }
    }

    /// Takes `cost` tokens, or none: the whole answer, without an exception.
    #[pyo3(signature = (cost=Cost::ONE), text_signature = "($self, cost=1)")]
    fn decide(&self, cost: Cost) -> Decision {
        let now = self.clock.now();
        Decision { verdict: self.take(cost, now), now }
    }

    /// Takes `cost` tokens, or raises `RateLimited`.
    #[pyo3(signature = (cost=Cost::ONE), text_signature = "($self, cost=1)")]
    fn acquire(&self, py: Python<'_>, cost: Cost) -> PyResult<()> {
        let now = self.clock.now();
        self.take(cost, now).map(|_| ()).map_err(|rejection| self.refuse(py, &rejection, now))
    }

    /// What `decide` would answer, taking nothing.
    #[pyo3(signature = (cost=Cost::ONE), text_signature = "($self, cost=1)")]
    fn peek(&self, cost: Cost) -> Decision {
        let now = self.clock.now();
        Decision { verdict: self.engine.peek(cost.0, now), now }
    }

    /// Takes `cost` tokens, running into debt when they are not there yet; at most `max_wait` from now
    /// on they may be used, or `RateLimited` is raised.
    fn reserve(this: &Bound<'_, Self>, cost: Cost, max_wait: Span) -> PyResult<Reservation> {
        let bucket = this.get();
        let now = bucket.clock.now();
        match bucket.engine.reserve(cost.0, max_wait.0, now) {
            Ok(inner) => Ok(Reservation { bucket: this.clone().unbind(), inner, cancelled: AtomicBool::new(false) }),
            Err(rejection) => {
                bucket.refusals.add(rejection.reason);
                Err(bucket.refuse(this.py(), &rejection, now))
            }
        }
    }

    /// Takes all tokens that are there.
    fn drain(&self) {
        self.engine.drain(self.clock.now());
    }

    /// Fills the bucket.
    fn reset(&self) {
        self.engine.reset(self.clock.now());
    }

    /// Changes the configuration while it runs; `rate` and `capacity` must be stated again.
    #[pyo3(signature = (**options), text_signature = "($self, *, rate, capacity, period=None)")]
    fn configure(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let next = options::with(TokenBucketConfig::new(), options)?;
        self.given
            .replace(|_| next, |config| self.engine.configure(config, self.clock.now()))
            .map_err(|error| options::change_refused(py, error, options))
    }

    /// Replaces the whole configuration by fields in the engine's own units.
    #[pyo3(name = "_configure_fields")]
    fn configure_fields(&self, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        let next = options::from_fields(fields)?;
        self.given
            .replace(|_| next, |config| self.engine.configure(config, self.clock.now()))
            .map_err(|error| options::change_refused(fields.py(), error, Some(fields)))
    }

    /// How many requests it refused, by reason.
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.refusals.to_python(py)
    }

    /// A copy has the configuration and starts afresh.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("seawall._seawall")?.getattr("_bucket_from_fields")?;
        let arguments = (self.given.to_python(py)?, &self.name, self.clock.to_python(py));
        Ok((make, arguments.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        format!("<TokenBucket {}: {}>", self.name, self.peek(Cost(0)).explain())
    }
}
