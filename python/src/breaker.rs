//! The circuit breaker as a Python object.

use core::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use seawall::{CircuitBreakerConfig, Instant};

use crate::calling;
use crate::clock::{ManualClock, Source};
use crate::counts::Counts;
use crate::entered;
use crate::errors;
use crate::events::{self, Transition};
use crate::options::{self, Given};
use crate::permit::Permit;
use crate::random::{Randomness, forks};
use crate::ready::Ready;
use crate::rules::Rules;
use crate::snapshot::Snapshot;
use crate::span::{At, Span};

/// The engine's breaker with room for every window, so that any can be changed to.
pub(crate) type Engine = seawall::CircuitBreaker<[seawall::WindowWord; seawall::window_words(u64::MAX)]>;

/// Stops calling what is down, and finds out when it is up again.
#[pyclass(frozen, weakref, module = "seawall")]
pub(crate) struct CircuitBreaker {
    pub(crate) engine: Engine,
    pub(crate) clock: Source,
    pub(crate) random: Randomness,
    pub(crate) rules: Rules,
    pub(crate) name: Py<PyString>,
    pub(crate) refusals: Counts,
    pub(crate) bypasses: Counts,
    given: Given<CircuitBreakerConfig>,
    /// What was passed as `random`, for pickling.
    seed: Option<Py<PyAny>>,
    listeners: Py<PyList>,
    refusal_listeners: Py<PyList>,
    forks: AtomicU32,
    /// What a clean grant is passed through Python as; see `calling`.
    pub(crate) first_clean: PyOnceLock<(u64, Py<PyInt>)>,
}

impl CircuitBreaker {
    pub(crate) fn make(
        py: Python<'_>,
        config: CircuitBreakerConfig,
        options: Option<&Bound<'_, PyDict>>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
        random: Option<&Bound<'_, PyAny>>,
        rules: Rules,
    ) -> PyResult<Self> {
        let engine = Engine::with_words(&config).map_err(|error| options::refused(py, &error, options))?;
        Ok(Self {
            engine,
            clock: Source::from(clock),
            random: Randomness::from(random)?,
            rules,
            name: name.map_or_else(|| PyString::intern(py, "circuit_breaker"), Bound::clone).unbind(),
            refusals: Counts::new(),
            bypasses: Counts::new(),
            given: Given::new(config),
            seed: random.map(|random| random.clone().unbind()),
            listeners: PyList::empty(py).unbind(),
            refusal_listeners: PyList::empty(py).unbind(),
            forks: AtomicU32::new(forks()),
            first_clean: PyOnceLock::new(),
        })
    }

    /// In the child of a fork: the trials that are out belong to the parent, whose results never come
    /// here, so a half-open round begins anew. Nobody is told; nothing happened to the dependency.
    pub(crate) fn forget_what_the_parent_holds(&self, now: Instant) {
        let forks = forks();
        if self.forks.load(Ordering::Relaxed) == forks || self.forks.swap(forks, Ordering::Relaxed) == forks {
            return;
        }
        if self.engine.snapshot(now).is_some_and(|snapshot| snapshot.trials_in_flight > 0) {
            self.engine.trip(now, None, 0);
            self.engine.half_open(now);
        }
    }

    /// Logs a transition and tells the listeners.
    #[inline]
    pub(crate) fn tell<'py>(
        &self,
        py: Python<'py>,
        transition: Option<seawall::Transition>,
    ) -> PyResult<Option<Bound<'py, Transition>>> {
        let Some(transition) = transition else { return Ok(None) };
        let transition = events::to_python(self.name.bind(py), transition)?;
        events::dispatch(&transition, self.listeners.bind(py))?;
        Ok(Some(transition))
    }

    /// Counts a refusal and tells the listeners; what comes back is to be raised.
    #[cold]
    pub(crate) fn refuse(&self, py: Python<'_>, rejection: &seawall::Rejection, now: Instant) -> PyErr {
        self.refusals.add(rejection.reason);
        let refused = errors::refusal(self.name.bind(py), rejection, now);
        events::refused(self.name.bind(py), &refused, self.refusal_listeners.bind(py)).err().unwrap_or(refused)
    }

    fn now(&self) -> Instant {
        let now = self.clock.now();
        self.forget_what_the_parent_holds(now);
        now
    }

    /// Has `next` replace the configuration. What pickling keeps is what the engine goes by, and that
    /// keeps the mode unless one is stated.
    fn change(&self, py: Python<'_>, next: CircuitBreakerConfig, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.given
            .replace(|present| options::over(next, options::mode_of(present)), |config| self.engine.configure(config))
            .map_err(|error| options::change_refused(py, error, options))
    }
}

#[pymethods]
impl CircuitBreaker {
    #[new]
    #[pyo3(
        signature = (*, name=None, clock=None, random=None, ignore=None, is_failure=None, is_failure_result=None,
            retry_after_of=None, **options)
    )]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        name: Option<&Bound<'_, PyString>>,
        clock: Option<Py<ManualClock>>,
        random: Option<&Bound<'_, PyAny>>,
        ignore: Option<&Bound<'_, PyAny>>,
        is_failure: Option<Py<PyAny>>,
        is_failure_result: Option<Py<PyAny>>,
        retry_after_of: Option<Py<PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let rules = Rules::new(ignore, is_failure, is_failure_result, retry_after_of)?;
        let config = options::with(CircuitBreakerConfig::new(), options)?;
        Self::make(py, config, options, name, clock, random, rules)
    }

    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyString> {
        self.name.clone_ref(py)
    }

    /// Asks for a permit: `with breaker.admit() as permit`, or settle it by hand.
    fn admit<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, Permit>> {
        let grant = calling::enter(this)?;
        Bound::new(this.py(), Permit::new(this, grant))
    }

    /// Calls `function(*args, **kwargs)` under a permit. When it answers with an awaitable, so does this.
    #[pyo3(signature = (function, /, *args, **kwargs))]
    fn call<'py>(
        this: &Bound<'py, Self>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        calling::call(this, function, args, kwargs)
    }

    /// Decorates a function, method, generator, coroutine or asynchronous generator.
    #[pyo3(signature = (function, /))]
    fn __call__<'py>(this: &Bound<'py, Self>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        static DECORATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        DECORATE.import(this.py(), "seawall._decorate", "decorate")?.call1((this, function))
    }

    fn __enter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, Permit>> {
        let permit = Self::admit(this)?;
        entered::push(&permit)?;
        Ok(permit)
    }

    fn __exit__(
        this: &Bound<'_, Self>,
        _kind: &Bound<'_, PyAny>,
        error: Option<&Bound<'_, PyAny>>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        if let Some(permit) = entered::pop(this)? {
            permit.get().close(this.py(), error)?;
        }
        Ok(false)
    }

    fn __aenter__(this: &Bound<'_, Self>) -> PyResult<Ready> {
        Ok(Ready(Self::__enter__(this)?.into_any().unbind()))
    }

    fn __aexit__(
        this: &Bound<'_, Self>,
        kind: &Bound<'_, PyAny>,
        error: Option<&Bound<'_, PyAny>>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<Ready> {
        Self::__exit__(this, kind, error, traceback)?;
        Ok(Ready(this.py().None()))
    }

    /// Opens it by hand, until an instant, for a span, or for the configured period.
    #[pyo3(signature = (*, until=None, retry_after=None))]
    fn trip<'py>(
        &self,
        py: Python<'py>,
        until: Option<At>,
        retry_after: Option<Span>,
    ) -> PyResult<Option<Bound<'py, Transition>>> {
        let now = self.now();
        let until = until.map(|at| at.0).or_else(|| retry_after.map(|span| now.after(span.0)));
        self.tell(py, self.engine.trip(now, until, self.random.next()))
    }

    /// As `trip(until=...)`, in whole nanoseconds.
    fn trip_until_ns<'py>(&self, py: Python<'py>, until: u64) -> PyResult<Option<Bound<'py, Transition>>> {
        self.tell(py, self.engine.trip(self.now(), Some(Instant::from_nanos(until)), self.random.next()))
    }

    /// Half-opens it by hand; `None` when it was half-open already.
    fn half_open<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Transition>>> {
        self.tell(py, self.engine.half_open(self.now()))
    }

    /// Closes it by hand and forgets everything learnt.
    fn reset<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Transition>>> {
        self.tell(py, self.engine.reset(self.now()))
    }

    /// Changes the configuration while it runs: options not named go back to their defaults, except
    /// the mode, which stays.
    #[pyo3(signature = (**options))]
    fn configure(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        self.change(py, options::with(CircuitBreakerConfig::new(), options)?, options)
    }

    /// Replaces the whole configuration by fields in the engine's own units.
    #[pyo3(name = "_configure_fields")]
    fn configure_fields(&self, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        self.change(fields.py(), options::from_fields(fields)?, Some(fields))
    }

    /// What is chosen: `normal`, `forced-open`, `disabled` or `shadow`.
    #[getter]
    fn mode(&self) -> &'static str {
        self.engine.mode().name()
    }

    #[setter]
    fn set_mode(&self, mode: &Bound<'_, PyAny>) -> PyResult<()> {
        let stated: CircuitBreakerConfig = options::one("mode", mode)?;
        self.given
            .replace(|present| options::over(stated, present), |config| self.engine.configure(config))
            .map_err(|error| options::change_refused(mode.py(), error, None))
    }

    /// What is measured: `closed`, `open` or `half-open`; one whose open period is over reads half-open.
    #[getter]
    fn state(&self) -> &'static str {
        self.engine.state(self.now()).name()
    }

    /// All figures at one instant.
    fn snapshot(&self) -> Option<Snapshot> {
        self.engine.snapshot(self.now()).map(Snapshot)
    }

    /// State and figures as a sentence.
    fn explain(&self) -> String {
        self.engine.explain(self.now()).as_str().to_owned()
    }

    /// How many calls it refused, by reason.
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.refusals.to_python(py)
    }

    /// How many calls a shadow breaker would have refused, by reason.
    fn bypasses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.bypasses.to_python(py)
    }

    /// Has `listener(transition)` called after every change of state, by whoever made it.
    fn on_transition<'py>(&self, listener: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !listener.is_callable() {
            return Err(PyTypeError::new_err("a listener is called with a transition"));
        }
        self.listeners.bind(listener.py()).append(&listener)?;
        Ok(listener)
    }

    /// Ends what `on_transition` began; nothing when it had not.
    fn off_transition(&self, listener: &Bound<'_, PyAny>) -> PyResult<()> {
        let listeners = self.listeners.bind(listener.py());
        if listeners.contains(listener)? {
            listeners.call_method1("remove", (listener,))?;
        }
        Ok(())
    }

    /// Has `listener(refusal)` called after every refusal, with the exception that is raised.
    fn on_refused<'py>(&self, listener: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !listener.is_callable() {
            return Err(PyTypeError::new_err("a listener is called with a refusal"));
        }
        self.refusal_listeners.bind(listener.py()).append(&listener)?;
        Ok(listener)
    }

    /// Ends what `on_refused` began; nothing when it had not.
    fn off_refused(&self, listener: &Bound<'_, PyAny>) -> PyResult<()> {
        let listeners = self.refusal_listeners.bind(listener.py());
        if listeners.contains(listener)? {
            listeners.call_method1("remove", (listener,))?;
        }
        Ok(())
    }

    /// A copy has the configuration and starts afresh: what was learnt here is about calls made here.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("seawall._seawall")?.getattr("_breaker_from_fields")?;
        let Rules { ignore, is_failure, is_failure_result, retry_after_of } = &self.rules;
        let arguments = (
            self.given.to_python(py)?,
            &self.name,
            self.clock.to_python(py),
            &self.seed,
            ignore,
            is_failure,
            is_failure_result,
            retry_after_of,
        );
        Ok((make, arguments.into_pyobject(py)?))
    }

    fn __repr__(&self) -> String {
        format!("<CircuitBreaker {}: {}>", self.name, self.explain())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The list clears itself, so a cycle through a listener is one that the collector can break.
        visit.call(&self.listeners)?;
        visit.call(&self.refusal_listeners)?;
        visit.call(&self.rules.ignore)?;
        visit.call(&self.rules.is_failure)?;
        visit.call(&self.rules.is_failure_result)?;
        visit.call(&self.rules.retry_after_of)
    }

    #[pyo3(name = "_enter")]
    fn enter<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        calling::enter_for_python(this)
    }

    #[pyo3(name = "_returned", signature = (grant, result, /))]
    fn returned(this: &Bound<'_, Self>, grant: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(grant) = calling::grant_from_python(this, grant)? {
            calling::returned(this, grant, result)?;
        }
        Ok(())
    }

    #[pyo3(name = "_raised", signature = (grant, error, /))]
    fn raised(this: &Bound<'_, Self>, grant: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(grant) = calling::grant_from_python(this, grant)? {
            calling::raised(this, grant, error)?;
        }
        Ok(())
    }
}
