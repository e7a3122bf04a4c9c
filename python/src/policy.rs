//! The policy as a Python object: which parts a call asks, and what the call is made by.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use seawall::policy::{End, PolicyConfig};
use seawall::{RetryConfig, TimeoutsConfig};

use crate::backoff::Backoff;
use crate::breaker::CircuitBreaker;
use crate::bucket::TokenBucket;
use crate::budget::RetryBudget;
use crate::clock::{ManualClock, Source};
use crate::options;
use crate::random::Randomness;
use crate::run::{self, Running};
use crate::scope::Attempt;
use crate::span::seconds;

/// How long a call may take. Each is stated; None states that there is none.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Timeouts {
    engine: seawall::Timeouts,
    config: TimeoutsConfig,
}

#[pymethods]
impl Timeouts {
    #[new]
    #[pyo3(signature = (**options))]
    fn new(py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let stated = PyDict::new(py);
        for (name, value) in options.into_iter().flat_map(|options| options.iter()) {
            // The engine's word for none.
            if value.is_none() { stated.set_item(name, 0)? } else { stated.set_item(name, value)? }
        }
        let config = options::with(TimeoutsConfig::new(), Some(&stated))?;
        let engine = seawall::Timeouts::new(&config).map_err(|error| options::refused(py, &error, options))?;
        Ok(Self { engine, config })
    }

    /// Making the connection, in seconds; None: no timeout. The transport keeps it.
    #[getter]
    fn connect(&self) -> Option<f64> {
        self.engine.connect().map(|span| seconds(span.as_nanos() as u64))
    }

    #[getter]
    fn attempt(&self) -> Option<f64> {
        self.engine.attempt().map(|span| seconds(span.as_nanos() as u64))
    }

    #[getter]
    fn total(&self) -> Option<f64> {
        self.engine.total().map(|span| seconds(span.as_nanos() as u64))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), options::to_python(&self.config, true, py)?))
    }

    fn __repr__(&self) -> String {
        format!("<Timeouts connect={:?} attempt={:?} total={:?}>", self.connect(), self.attempt(), self.total())
    }
}

/// How a call is tried again: a part of a policy, or by itself a decorator.
#[pyclass(frozen, weakref, module = "seawall")]
pub(crate) struct Retry {
    engine: seawall::Retry,
    config: RetryConfig,
    backoff: Option<Py<Backoff>>,
    budget: Option<Py<RetryBudget>>,
    /// What `Policy` takes beside its parts, for the policy that it is by itself.
    others: Py<PyDict>,
    alone: PyOnceLock<Py<Policy>>,
}

impl Retry {
    fn alone<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, Policy>> {
        let py = this.py();
        let policy = this.get().alone.get_or_try_init(py, || {
            let options = this.get().others.bind(py).copy()?;
            let none = TimeoutsConfig::new().connect(Duration::ZERO).attempt(Duration::ZERO).total(Duration::ZERO);
            let none = Timeouts { engine: seawall::Timeouts::NONE, config: none };
            options.set_item("timeouts", Bound::new(py, none)?)?;
            options.set_item("retry", this)?;
            if options.get_item("name")?.is_none_or(|name| name.is_none()) {
                options.set_item("name", "retry")?;
            }
            let policy = py.get_type::<Policy>().call((), Some(&options))?;
            Ok::<_, PyErr>(policy.cast_into::<Policy>()?.unbind())
        })?;
        Ok(policy.bind(py).clone())
    }
}

/// What `Retry` passes on to its own policy.
const OTHERS: [&str; 7] = ["name", "clock", "random", "sleep", "async_sleep", "classify", "classify_result"];

#[pymethods]
impl Retry {
    #[new]
    #[pyo3(signature = (*, backoff=None, budget=None, **options))]
    fn new(
        py: Python<'_>,
        backoff: Option<Py<Backoff>>,
        budget: Option<Py<RetryBudget>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (own, others) = (PyDict::new(py), PyDict::new(py));
        for (name, value) in options.into_iter().flat_map(|options| options.iter()) {
            let name: String = name.extract()?;
            if OTHERS.contains(&name.as_str()) { others.set_item(name, value)? } else { own.set_item(name, value)? }
        }
        let config = options::with(RetryConfig::new(), Some(&own))?;
        let engine = seawall::Retry::new(&config).map_err(|error| options::refused(py, &error, Some(&own)))?;
        Ok(Self { engine, config, backoff, budget, others: others.unbind(), alone: PyOnceLock::new() })
    }

    /// How many attempts in all.
    #[getter]
    fn attempts(&self) -> u32 {
        self.engine.attempts()
    }

    /// What was given, in Python's units.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options::to_python(&self.config, false, py)
    }

    /// The policy that it is by itself.
    #[getter]
    fn policy<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, Policy>> {
        Self::alone(this)
    }

    /// Calls `function(*args, **kwargs)`, again if need be. When it answers with an awaitable, so does this.
    #[pyo3(signature = (function, /, *args, **kwargs))]
    fn call<'py>(
        this: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        run::call(&Self::alone(this)?, function, args, kwargs)
    }

    /// Decorates a function, method, generator, coroutine or asynchronous generator.
    #[pyo3(signature = (function, /))]
    fn __call__<'py>(this: &Bound<'py, Self>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Policy::__call__(&Self::alone(this)?, function)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let given = options::to_python(&self.config, true, py)?;
        given.update(self.others.bind(py).as_mapping())?;
        given.set_item("backoff", &self.backoff)?;
        given.set_item("budget", &self.budget)?;
        Ok((PyTuple::empty(py), given))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Retry {}>", self.config(py)?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.others)
    }
}

/// How many calls ended like this; more places than there are endings.
const ENDS: usize = 16;

/// One call to a dependency, with everything that protects both sides of it.
#[pyclass(frozen, weakref, module = "seawall")]
pub(crate) struct Policy {
    /// The rules by value; the shared parts are attached for every poll.
    rules: seawall::Policy<'static>,
    config: PolicyConfig,
    pub(crate) timeouts: Py<Timeouts>,
    retry: Option<Py<Retry>>,
    pub(crate) budget: Option<Py<RetryBudget>>,
    pub(crate) breaker: Option<Py<CircuitBreaker>>,
    pub(crate) rate_limit: Option<Py<TokenBucket>>,
    pub(crate) clock: Source,
    pub(crate) random: Randomness,
    seed: Option<Py<PyAny>>,
    pub(crate) name: Py<PyString>,
    pub(crate) sleep: Option<Py<PyAny>>,
    pub(crate) async_sleep: Option<Py<PyAny>>,
    pub(crate) classify: Option<Py<PyAny>>,
    pub(crate) classify_result: Option<Py<PyAny>>,
    /// Nothing in it goes by time before something has failed.
    pub(crate) timeless: bool,
    /// Greenlets may switch in the middle of a synchronous call, so its thread is not its own.
    pub(crate) greenlets: bool,
    /// What a first attempt without an instant looks like, each time.
    pub(crate) first: PyOnceLock<Py<Attempt>>,
    ends: [AtomicU64; ENDS],
}

impl Policy {
    #[inline]
    pub(crate) fn wiring(&self) -> seawall::Policy<'_> {
        let mut wiring = self.rules;
        if let Some(budget) = &self.budget {
            wiring = wiring.budget(&budget.get().engine);
        }
        if let Some(breaker) = &self.breaker {
            wiring = wiring.breaker(&breaker.get().engine);
        }
        if let Some(rate_limit) = &self.rate_limit {
            wiring = wiring.rate_limit(&rate_limit.get().engine);
        }
        wiring
    }

    pub(crate) fn ended(&self, end: End) {
        self.ends[usize::from(end.number()) % ENDS].fetch_add(1, Ordering::Relaxed);
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(
        signature = (*, timeouts, retry=None, breaker=None, rate_limit=None, name=None, clock=None, random=None,
            sleep=None, async_sleep=None, classify=None, classify_result=None, **options)
    )]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        timeouts: Py<Timeouts>,
        retry: Option<Py<Retry>>,
        breaker: Option<Py<CircuitBreaker>>,
        rate_limit: Option<Py<TokenBucket>>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
        random: Option<&Bound<'_, PyAny>>,
        sleep: Option<Py<PyAny>>,
        async_sleep: Option<Py<PyAny>>,
        classify: Option<Py<PyAny>>,
        classify_result: Option<Py<PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        for callable in [&sleep, &async_sleep, &classify, &classify_result].into_iter().flatten() {
            if !callable.bind(py).is_callable() {
                return Err(PyTypeError::new_err("sleep, async_sleep, classify and classify_result are callables"));
            }
        }
        let clock = Source::from(clock);
        let clocks =
            [breaker.as_ref().map(|part| &part.get().clock), rate_limit.as_ref().map(|part| &part.get().clock)];
        if clocks.into_iter().flatten().any(|other| !other.is(&clock)) {
            return Err(PyTypeError::new_err("a policy and its breaker and rate limit go by one clock"));
        }
        let config = options::with(PolicyConfig::new(), options)?;
        let stated = timeouts.get().engine;
        let mut rules = seawall::Policy::new(&config, stated).map_err(|error| options::refused(py, &error, options))?;
        let mut budget = None;
        if let Some(retry) = &retry {
            let retry = retry.get();
            let backoff = match &retry.backoff {
                Some(backoff) => backoff.get().engine,
                None => options::usual_backoff(py)?,
            };
            rules = rules.retry(retry.engine, backoff);
            budget = retry.budget.as_ref().map(|budget| budget.clone_ref(py));
        }
        let by_time = stated.attempt().or(stated.total()).is_some();
        Ok(Self {
            rules,
            config,
            timeless: !by_time
                && classify_result.is_none()
                && breaker.is_none()
                && rate_limit.is_none()
                && budget.is_none(),
            greenlets: py.import("sys")?.getattr("modules")?.contains("greenlet")?,
            timeouts,
            retry,
            budget,
            breaker,
            rate_limit,
            clock,
            random: Randomness::from(random)?,
            seed: random.map(|random| random.clone().unbind()),
            name: name.map_or_else(|| PyString::intern(py, "policy"), Bound::clone).unbind(),
            sleep,
            async_sleep,
            classify,
            classify_result,
            first: PyOnceLock::new(),
            ends: [const { AtomicU64::new(0) }; ENDS],
        })
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    #[getter]
    fn timeouts(&self, py: Python<'_>) -> Py<Timeouts> {
        self.timeouts.clone_ref(py)
    }

    #[getter]
    fn retry(&self, py: Python<'_>) -> Option<Py<Retry>> {
        self.retry.as_ref().map(|retry| retry.clone_ref(py))
    }

    #[getter]
    fn breaker(&self, py: Python<'_>) -> Option<Py<CircuitBreaker>> {
        self.breaker.as_ref().map(|breaker| breaker.clone_ref(py))
    }

    /// What was given, in Python's units.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options::to_python(&self.config, false, py)
    }

    /// Calls `function(*args, **kwargs)`. When it answers with an awaitable, so does this.
    #[pyo3(signature = (function, /, *args, **kwargs))]
    fn call<'py>(
        this: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        run::call(this, function, args, kwargs)
    }

    /// Decorates a function, method, generator, coroutine or asynchronous generator.
    #[pyo3(signature = (function, /))]
    pub(crate) fn __call__<'py>(this: &Bound<'py, Self>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        static DECORATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        DECORATE.import(this.py(), "seawall._policy", "decorate")?.call1((this, function))
    }

    /// How many calls ended without an answer, by why.
    fn endings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for end in End::ALL {
            let count = self.ends[usize::from(end.number()) % ENDS].load(Ordering::Relaxed);
            if count > 0 {
                counts.set_item(end.name(), count)?;
            }
        }
        Ok(counts)
    }

    /// The state of one call, for the drivers written in Python.
    #[pyo3(name = "_begin")]
    fn begin(this: &Bound<'_, Self>) -> PyResult<Running> {
        Running::begin(this)
    }

    #[getter(_async_sleep)]
    fn async_sleep(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.async_sleep.as_ref().map(|sleep| sleep.clone_ref(py))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let given = options::to_python(&self.config, true, py)?;
        given.set_item("timeouts", &self.timeouts)?;
        given.set_item("retry", &self.retry)?;
        given.set_item("breaker", &self.breaker)?;
        given.set_item("rate_limit", &self.rate_limit)?;
        given.set_item("name", &self.name)?;
        given.set_item("clock", self.clock.to_python(py))?;
        given.set_item("random", &self.seed)?;
        given.set_item("sleep", &self.sleep)?;
        given.set_item("async_sleep", &self.async_sleep)?;
        given.set_item("classify", &self.classify)?;
        given.set_item("classify_result", &self.classify_result)?;
        Ok((PyTuple::empty(py), given))
    }

    fn __repr__(&self) -> String {
        format!("<Policy {}>", self.name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.retry)?;
        visit.call(&self.breaker)?;
        visit.call(&self.sleep)?;
        visit.call(&self.async_sleep)?;
        visit.call(&self.classify)?;
        visit.call(&self.classify_result)
    }
}
