//! Until when, and in which attempt: what a call inherits from the code around it.
//!
//! One context variable says it, so that threads, tasks and greenlets each see their own. It holds the
//! innermost attempt or `with deadline:` block; each has taken over the deadline of the one around it.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use seawall::Instant;

use crate::clock::{ManualClock, Source};
use crate::errors;
use crate::span::{At, Span, seconds};

struct Variable {
    get: Py<PyAny>,
    set: Py<PyAny>,
    reset: Py<PyAny>,
}

fn variable(py: Python<'_>) -> PyResult<&Variable> {
    static SCOPE: PyOnceLock<Variable> = PyOnceLock::new();
    SCOPE.get_or_try_init(py, || {
        let class = py.import("contextvars")?.getattr("ContextVar")?;
        let options = PyDict::new(py);
        options.set_item("default", py.None())?;
        let variable = class.call(("seawall.scope",), Some(&options))?;
        let method = |name| variable.getattr(name).map(Bound::unbind);
        Ok(Variable { get: method("get")?, set: method("set")?, reset: method("reset")? })
    })
}

/// The scope that this code runs in.
#[inline]
pub(crate) fn current<'py>(py: Python<'py>) -> PyResult<Option<Bound<'py, Attempt>>> {
    Ok(variable(py)?.get.bind(py).call0()?.cast_into().ok())
}

/// How many scopes were entered by the variable, to tell which of two is the inner one.
static ENTERED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The synchronous attempts of this thread that set no deadline, and how many scopes were entered before
    /// each. Setting the variable costs more than such a call does; and what is not in it need not be, since
    /// the function has this thread until it returns.
    static PLAIN: RefCell<Vec<(u64, Py<Attempt>)>> = const { RefCell::new(Vec::new()) };
}

/// Enters the scope of a synchronous attempt without a deadline.
#[inline]
pub(crate) fn enter_plain(attempt: &Bound<'_, Attempt>) {
    let entry = (ENTERED.load(Ordering::Relaxed), attempt.clone().unbind());
    PLAIN.with_borrow_mut(|plain| plain.push(entry));
}

#[inline]
pub(crate) fn leave_plain() {
    // Dropped after the list is free again.
    let entry = PLAIN.with_borrow_mut(Vec::pop);
    drop(entry);
}

/// Enters a scope; what comes back leaves it.
#[inline]
pub(crate) fn enter<'py>(scope: &Bound<'py, Attempt>) -> PyResult<Bound<'py, PyAny>> {
    scope.get().stamp.store(ENTERED.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
    variable(scope.py())?.set.bind(scope.py()).call1((scope,))
}

#[inline]
pub(crate) fn leave(token: Bound<'_, PyAny>) -> PyResult<()> {
    let py = token.py();
    match variable(py)?.reset.bind(py).call1((token,)) {
        // Left in another context than it was entered in, as by the collector: there is nothing to put back.
        Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(()),
        left => left.map(drop),
    }
}

/// The deadline that a call on `clock` inherits. One on another clock cannot be compared with it.
pub(crate) fn inherited(scope: Option<&Bound<'_, Attempt>>, clock: &Source) -> PyResult<seawall::Deadline> {
    let Some(scope) = scope.map(Bound::get).filter(|scope| scope.until != Instant::MAX) else {
        return Ok(seawall::Deadline::NEVER);
    };
    if !scope.clock.is(clock) {
        return Err(PyValueError::new_err("the deadline around this call is one of another clock"));
    }
    Ok(seawall::Deadline::at(scope.until))
}

/// One attempt of a call: what the function that is called may ask about it.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) policy: Option<Py<PyString>>,
    /// From 1; 0: no attempt, but a deadline's block.
    pub(crate) number: u32,
    pub(crate) until: Instant,
    pub(crate) waited: u64,
    pub(crate) after: Option<seawall::Failure>,
    pub(crate) clock: Source,
    pub(crate) block: Option<Block>,
    /// The number of this scope among those that were entered by the variable.
    pub(crate) stamp: AtomicU64,
}

/// A `with deadline:` block: whose, and the scope around it.
#[derive(Debug)]
pub(crate) struct Block {
    deadline: Py<Deadline>,
    outer: Option<Py<Attempt>>,
}

#[pymethods]
impl Attempt {
    /// The name of the policy that makes it.
    #[getter]
    fn policy(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.policy.as_ref().map(|policy| policy.clone_ref(py))
    }

    /// Its number, from 1.
    #[getter]
    fn attempt(&self) -> u32 {
        self.number
    }

    /// When it is cut off, in seconds on the policy's clock; None: never.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.until_ns().map(seconds)
    }

    #[getter]
    fn until_ns(&self) -> Option<u64> {
        (self.until != Instant::MAX).then(|| self.until.as_nanos())
    }

    /// Seconds until it is cut off, from now; None: never.
    fn remaining(&self) -> Option<f64> {
        (self.until != Instant::MAX).then(|| seconds(self.until.since(self.clock.now()).as_nanos() as u64))
    }

    /// Seconds waited since the failure before.
    #[getter]
    fn waited(&self) -> f64 {
        seconds(self.waited)
    }

    /// The failure that it is a retry after, by name; None: it is the first.
    #[getter]
    fn after(&self) -> Option<&'static str> {
        self.after.map(seawall::Failure::name)
    }

    fn __repr__(&self) -> String {
        format!("<Attempt {}>", self.number)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(block) = &self.block {
            visit.call(&block.deadline)?;
            visit.call(&block.outer)?;
        }
        Ok(())
    }
}

/// The attempt that this code is part of; None outside of any.
#[pyfunction]
pub(crate) fn current_attempt(py: Python<'_>) -> PyResult<Option<Bound<'_, Attempt>>> {
    let mut scope = current(py)?;
    while let Some(block) = scope.as_ref().and_then(|scope| scope.get().block.as_ref()) {
        scope = block.outer.as_ref().map(|outer| outer.bind(py).clone());
    }
    let entered = scope.as_ref().map_or(0, |scope| scope.get().stamp.load(Ordering::Relaxed));
    let plain = PLAIN.with_borrow(|plain| {
        let (before, attempt) = plain.last()?;
        (*before >= entered).then(|| attempt.bind(py).clone())
    });
    Ok(plain.or(scope))
}

/// The deadline that calls made here inherit; None: there is none.
#[pyfunction]
pub(crate) fn current_deadline(py: Python<'_>) -> PyResult<Option<Deadline>> {
    Ok(current(py)?
        .filter(|scope| scope.get().until != Instant::MAX)
        .map(|scope| Deadline { inner: seawall::Deadline::at(scope.get().until), clock: scope.get().clock.copy(py) }))
}

#[pyfunction(name = "_enter_scope")]
pub(crate) fn enter_scope<'py>(scope: &Bound<'py, Attempt>) -> PyResult<Bound<'py, PyAny>> {
    enter(scope)
}

#[pyfunction(name = "_leave_scope")]
pub(crate) fn leave_scope(token: Bound<'_, PyAny>) -> PyResult<()> {
    leave(token)
}

/// The instant by which a whole request must be done.
///
/// `with deadline:` hands it to every call inside, nested ones too; the earlier of two binds.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Deadline {
    inner: seawall::Deadline,
    clock: Source,
}

impl Deadline {
    fn with(&self, py: Python<'_>, inner: seawall::Deadline) -> Self {
        Self { inner, clock: self.clock.copy(py) }
    }
}

#[pymethods]
impl Deadline {
    /// At that instant, in seconds on the clock.
    #[new]
    #[pyo3(signature = (at, *, clock=None))]
    fn new(at: At, clock: Option<Py<ManualClock>>) -> Self {
        Self { inner: seawall::Deadline::at(at.0), clock: Source::from(clock) }
    }

    /// So long from now.
    #[staticmethod]
    #[pyo3(signature = (span, *, clock=None))]
    fn after(span: Span, clock: Option<Py<ManualClock>>) -> Self {
        let clock = Source::from(clock);
        Self { inner: seawall::Deadline::after(clock.now(), span.0), clock }
    }

    #[getter]
    fn at(&self) -> f64 {
        seconds(self.at_ns())
    }

    #[getter]
    fn at_ns(&self) -> u64 {
        self.inner.instant().as_nanos()
    }

    /// Seconds that remain; 0 when it has passed.
    fn remaining(&self) -> f64 {
        seconds(self.inner.remaining(self.clock.now()).as_nanos() as u64)
    }

    /// Raises DeadlineExceeded when it has passed, WontFinish when less remains than is `expected`;
    /// otherwise the seconds that remain.
    #[pyo3(signature = (expected=Span::ZERO), text_signature = "(self, expected=0)")]
    fn check(&self, py: Python<'_>, expected: Span) -> PyResult<f64> {
        let now = self.clock.now();
        match self.inner.check(now, expected.0) {
            Ok(remaining) => Ok(seconds(remaining.as_nanos() as u64)),
            Err(rejection) => Err(errors::refusal(&PyString::intern(py, "deadline"), &rejection, now)),
        }
    }

    /// The earlier of the two.
    fn earlier(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        if !self.clock.is(&other.clock) {
            return Err(PyValueError::new_err("the deadlines are of different clocks"));
        }
        Ok(self.with(py, self.inner.earlier(other.inner)))
    }

    /// So much earlier, for what the way back takes.
    fn shrunk_by(&self, py: Python<'_>, margin: Span) -> Self {
        self.with(py, self.inner.shrunk_by(margin.0))
    }

    /// Hands it to the calls inside the block. It may be entered many times, by many.
    fn __enter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let py = this.py();
        let outer = current(py)?;
        let until = this.get().inner.earlier(inherited(outer.as_ref(), &this.get().clock)?).instant();
        let scope = Attempt {
            policy: None,
            number: 0,
            until,
            waited: 0,
            after: None,
            clock: this.get().clock.copy(py),
            stamp: AtomicU64::new(0),
            block: Some(Block { deadline: this.clone().unbind(), outer: outer.map(Bound::unbind) }),
        };
        enter(&Bound::new(py, scope)?)?;
        Ok(this.clone())
    }

    fn __exit__(
        this: &Bound<'_, Self>,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        // One that is left in another context than it was entered in has nothing to put back here.
        if let Some(scope) = current(this.py())?
            && let Some(block) = scope.get().block.as_ref().filter(|block| block.deadline.is(this))
        {
            variable(this.py())?.set.bind(this.py()).call1((&block.outer,))?;
        }
        Ok(false)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((f64,), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("clock", self.clock.to_python(py))?;
        Ok(((self.at(),), options))
    }

    fn __repr__(&self) -> String {
        format!("<Deadline in {:.6} s>", self.remaining())
    }
}
