//! One call under a policy: the engine says what comes next, this does it.

use core::mem;
use core::sync::atomic::AtomicU64;
use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use seawall::policy::{Cut, End, Ending, Pause};
use seawall::{Call, Deadline, Instant, Layer, Reason, Rejection, Step, When};

use crate::policy::Policy;
use crate::scope::{self, Attempt};
use crate::span::seconds_up;
use crate::{calling, errors, events, finish, random};

/// How the last attempt came back.
#[derive(Debug)]
enum Came {
    Not,
    Result(Py<PyAny>),
    Error(PyErr),
}

/// The state of one call.
#[derive(Debug)]
struct State {
    call: Call,
    came: Came,
    /// In which process: after a fork the child holds nothing.
    forks: u32,
}

/// What to do next.
enum Next<'py> {
    Attempt(Bound<'py, Attempt>),
    /// For so many seconds; and the ticket of who may cut it short.
    Wait(Instant, Instant, u64),
    Done(Ending),
}

impl State {
    /// To be started where it stays: moving a call costs more than some calls take.
    #[inline]
    fn new() -> Self {
        Self { call: Call::new(), came: Came::Not, forks: random::forks() }
    }

    fn next<'py>(&mut self, policy: &Bound<'py, Policy>, now: Instant) -> PyResult<Next<'py>> {
        self.step(policy, &policy.get().wiring(), now, policy.get().random.next())
    }

    /// What to do next at `now`; transitions are told on the way.
    #[inline]
    fn step<'py>(
        &mut self,
        policy: &Bound<'py, Policy>,
        wiring: &seawall::Policy<'_>,
        now: Instant,
        r: u64,
    ) -> PyResult<Next<'py>> {
        let (py, this) = (policy.py(), policy.get());
        loop {
            match self.call.poll(wiring, now, r) {
                Step::Run(attempt) => {
                    if attempt.attempt > 1 {
                        self.came = Came::Not;
                        events::retrying(this.name.bind(py), &attempt)?;
                    }
                    return Ok(Next::Attempt(self.attempt(policy, attempt)?));
                }
                Step::Wait { until, ticket, pause } => {
                    let ticket = if pause == Pause::Backoff { ticket } else { 0 };
                    return Ok(Next::Wait(now, until, ticket));
                }
                Step::Changed(transition) => {
                    if let Some(breaker) = &this.breaker {
                        breaker.get().tell(py, Some(transition))?;
                    }
                }
                Step::Cancel { reason: Cut::TimedOut, .. } => self.came = Came::Error(timed_out(policy, now)),
                Step::Cancel { .. } => self.came = Came::Not,
                Step::Done(ending) => return Ok(Next::Done(ending)),
                _ => return Err(PyRuntimeError::new_err("a step that this version does not know")),
            }
        }
    }

    fn attempt<'py>(
        &self,
        policy: &Bound<'py, Policy>,
        attempt: seawall::policy::Attempt,
    ) -> PyResult<Bound<'py, Attempt>> {
        let (py, this) = (policy.py(), policy.get());
        let make = || {
            let attempt = Attempt {
                policy: Some(this.name.clone_ref(py)),
                number: attempt.attempt,
                until: attempt.until,
                waited: attempt.waited.as_nanos() as u64,
                after: attempt.after,
                clock: this.clock.copy(py),
                block: None,
                stamp: AtomicU64::new(0),
            };
            Bound::new(py, attempt)
        };
        if attempt.attempt > 1 || attempt.until != Instant::MAX {
            return make();
        }
        // Looks the same each time.
        Ok(this.first.get_or_try_init(py, || make().map(Bound::unbind))?.bind(py).clone())
    }

    fn returned(&mut self, policy: &Policy, number: u32, result: Bound<'_, PyAny>) -> PyResult<()> {
        let finish = finish::of_result(policy, &result)?;
        self.came = Came::Result(result.unbind());
        self.call.finished(number, finish);
        Ok(())
    }

    /// An exception that is about the program ends the call; it is for the caller to raise.
    fn raised(&mut self, policy: &Policy, number: u32, error: PyErr, py: Python<'_>) -> PyResult<()> {
        match finish::of_error(policy, error.value(py))? {
            None => Err(error),
            Some(finish) => {
                self.came = Came::Error(error);
                self.call.finished(number, finish);
                Ok(())
            }
        }
    }

    /// The answer, or what there is to raise.
    fn conclude<'py>(
        &mut self,
        policy: &Bound<'py, Policy>,
        ending: &Ending,
        now: Instant,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (policy.py(), policy.get());
        let came = mem::replace(&mut self.came, Came::Not);
        if ending.is_success() {
            return match came {
                Came::Result(result) => Ok(result.into_bound(py)),
                // An exception that was judged to be an answer.
                Came::Error(error) => Err(error),
                Came::Not => Err(PyRuntimeError::new_err("a call that succeeded has no result")),
            };
        }
        this.ended(ending.end);
        let refusal = ending.rejection.map(|rejection| refused(policy, &rejection, now));
        let decided_by_time = matches!(ending.end, End::TimedOut | End::DeadlineExceeded | End::WontFinish);
        match (came, refusal) {
            (came, Some(refusal)) if decided_by_time => {
                if let Came::Error(error) = came {
                    refusal.set_cause(py, Some(error));
                }
                errors::tell_ending(&refusal, ending, now, py)?;
                Err(refusal)
            }
            (Came::Result(result), _) if ending.failure != Some(seawall::Failure::Timeout) => Ok(result.into_bound(py)),
            (Came::Error(error), _) => {
                errors::tell_ending(&error, ending, now, py)?;
                Err(error)
            }
            (_, Some(refusal)) => {
                errors::tell_ending(&refusal, ending, now, py)?;
                Err(refusal)
            }
            // A result that came too late is no answer.
            (_, None) => {
                let error = timed_out(policy, now);
                errors::tell_ending(&error, ending, now, py)?;
                Err(error)
            }
        }
    }

    /// Nobody wants it any more: what is held is given back, and counts for nothing.
    fn abandon(&mut self, policy: &Policy) {
        if self.forks != random::forks() {
            return;
        }
        self.call.cancelled();
        let (wiring, now) = (policy.wiring(), policy.clock.now());
        for _ in 0..=2 * Call::AT_ONCE {
            if let Step::Done(_) = self.call.poll(&wiring, now, 0) {
                break;
            }
        }
    }
}

/// The deadline of the code around the call.
#[inline]
fn inherited(policy: &Bound<'_, Policy>) -> PyResult<Deadline> {
    scope::inherited(scope::current(policy.py())?.as_ref(), &policy.get().clock)
}

/// The exception for a refusal, counted where it was made.
#[cold]
fn refused(policy: &Bound<'_, Policy>, rejection: &Rejection, now: Instant) -> PyErr {
    let (py, this) = (policy.py(), policy.get());
    if let (Layer::CircuitBreaker, Some(breaker)) = (rejection.layer, &this.breaker) {
        return breaker.get().refuse(py, rejection, now);
    }
    let name = match rejection.layer {
        Layer::RateLimit => this.rate_limit.as_ref().map(|limit| {
            limit.get().refusals.add(rejection.reason);
            &limit.get().name
        }),
        Layer::RetryBudget => this.budget.as_ref().map(|budget| {
            budget.get().refusals.add(rejection.reason);
            &budget.get().name
        }),
        _ => None,
    };
    errors::refusal(name.unwrap_or(&this.name).bind(py), rejection, now)
}

#[cold]
fn timed_out(policy: &Bound<'_, Policy>, now: Instant) -> PyErr {
    let rejection = Rejection::new(Layer::Deadline, Reason::TimedOut, When::Never);
    errors::refusal(policy.get().name.bind(policy.py()), &rejection, now)
}

/// A call in its caller's thread; dropped before its end, it is given up.
struct Held<'a, 'py> {
    policy: &'a Bound<'py, Policy>,
    state: Option<State>,
}

impl Drop for Held<'_, '_> {
    fn drop(&mut self) {
        if let Some(state) = &mut self.state {
            state.abandon(self.policy.get());
        }
    }
}

/// Calls `function` under `policy`.
pub(crate) fn call<'py>(
    policy: &Bound<'py, Policy>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, this) = (policy.py(), policy.get());
    let deadline = inherited(policy)?;
    let mut held = Held { policy, state: Some(State::new()) };
    let Some(state) = &mut held.state else { return Err(lost()) };
    state.call.start(deadline);
    let wiring = this.wiring();
    // Where nothing goes by time, neither clock nor randomness is wanted before something has failed.
    let mut timeless = this.timeless && deadline.is_never();
    loop {
        let (now, r) = if timeless { (Instant::ZERO, 0) } else { (this.clock.now(), this.random.next()) };
        match state.step(policy, &wiring, now, r)? {
            Next::Attempt(attempt) => {
                let came = if this.greenlets || attempt.get().until != Instant::MAX {
                    let token = scope::enter(&attempt)?;
                    let came = function.call(args, kwargs);
                    scope::leave(token)?;
                    came
                } else {
                    scope::enter_plain(&attempt);
                    let came = function.call(args, kwargs);
                    scope::leave_plain();
                    came
                };
                match came {
                    Ok(result) if calling::is_awaitable(&result) => {
                        // The attempt has only begun: the rest of the call is for whoever awaits it.
                        let state = held.state.take().ok_or_else(lost)?;
                        return go_on(policy, state, &attempt, result, function, args, kwargs);
                    }
                    Ok(result) => state.returned(this, attempt.get().number, result)?,
                    Err(error) => {
                        timeless = false;
                        state.raised(this, attempt.get().number, error, py)?;
                    }
                }
            }
            Next::Wait(now, until, ticket) => {
                sleep(policy, now, until)?;
                state.call.woken(ticket);
            }
            Next::Done(ending) => {
                let answer = state.conclude(policy, &ending, now);
                held.state = None;
                return answer;
            }
        }
    }
}

#[cold]
fn lost() -> PyErr {
    PyRuntimeError::new_err("the call is somebody else's by now")
}

fn sleep(policy: &Bound<'_, Policy>, now: Instant, until: Instant) -> PyResult<()> {
    let (py, this) = (policy.py(), policy.get());
    let span = seconds_up(until.since(now));
    match &this.sleep {
        Some(sleep) => {
            sleep.bind(py).call1((span,))?;
        }
        None if this.clock.move_to(until) => {}
        None => {
            py.import("time")?.call_method1("sleep", (span,))?;
        }
    }
    Ok(())
}

fn go_on<'py>(
    policy: &Bound<'py, Policy>,
    state: State,
    attempt: &Bound<'py, Attempt>,
    awaitable: Bound<'py, PyAny>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    static DRIVE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = policy.py();
    let running = Bound::new(py, Running { policy: policy.clone().unbind(), state: Mutex::new(Some(state)) })?;
    let kwargs = kwargs.cloned().unwrap_or_else(|| PyDict::new(py));
    DRIVE.import(py, "seawall._policy", "drive")?.call1((policy, function, args, kwargs, running, attempt, awaitable))
}

/// The state of one call, for the drivers written in Python. Dropped before its end, it is given up.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Running {
    policy: Py<Policy>,
    state: Mutex<Option<State>>,
}

impl Running {
    pub(crate) fn begin(policy: &Bound<'_, Policy>) -> PyResult<Self> {
        let mut state = State::new();
        state.call.start(inherited(policy)?);
        Ok(Self { policy: policy.clone().unbind(), state: Mutex::new(Some(state)) })
    }

    /// No thread waits: a call belongs to one caller at a time.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> PyResult<T>) -> PyResult<T> {
        let mut state = self.state.try_lock().map_err(|_| lost())?;
        act(state.as_mut().ok_or_else(lost)?)
    }
}

#[pymethods]
impl Running {
    /// What comes next: an `Attempt` to be made; `(seconds, ticket)` to wait; None: it is over, see `end`.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let policy = self.policy.bind(py);
        self.with(|state| match state.next(policy, policy.get().clock.now())? {
            Next::Attempt(attempt) => Ok(attempt.into_any()),
            Next::Wait(now, until, ticket) => {
                Ok((seconds_up(until.since(now)), until.as_nanos(), ticket).into_pyobject(py)?.into_any())
            }
            Next::Done(_) => Ok(py.None().into_bound(py)),
        })
    }

    /// Sleeps in this thread, as `next` told.
    fn sleep(&self, py: Python<'_>, until_ns: u64, ticket: u64) -> PyResult<()> {
        let policy = self.policy.bind(py);
        sleep(policy, policy.get().clock.now(), Instant::from_nanos(until_ns))?;
        self.woken(ticket)
    }

    /// Moves a clock that is moved by hand; whether there is one.
    fn skip(&self, until_ns: u64) -> bool {
        self.policy.get().clock.move_to(Instant::from_nanos(until_ns))
    }

    /// Whether time is moved by hand, so that no timer of an event loop knows it.
    #[getter]
    fn is_virtual(&self) -> bool {
        self.policy.get().clock.is_manual()
    }

    /// The wait is over.
    fn woken(&self, ticket: u64) -> PyResult<()> {
        self.with(|state| {
            state.call.woken(ticket);
            Ok(())
        })
    }

    fn returned(&self, attempt: &Attempt, result: Bound<'_, PyAny>) -> PyResult<()> {
        self.with(|state| state.returned(self.policy.get(), attempt.number, result))
    }

    /// Raises it again when it is about the program, and not about the call.
    fn raised(&self, attempt: &Attempt, error: Bound<'_, PyAny>) -> PyResult<()> {
        let py = error.py();
        if !error.is_instance_of::<pyo3::exceptions::PyBaseException>() {
            return Err(PyTypeError::new_err("an attempt raises exceptions"));
        }
        self.with(|state| state.raised(self.policy.get(), attempt.number, PyErr::from_value(error), py))
    }

    /// The answer, or what there is to raise.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let policy = self.policy.bind(py);
        let now = policy.get().clock.now();
        self.with(|state| match state.next(policy, now)? {
            Next::Done(ending) => state.conclude(policy, &ending, now),
            _ => Err(PyRuntimeError::new_err("the call is not over")),
        })
    }

    /// Nobody wants it any more.
    fn abandon(&self) {
        if let Ok(mut state) = self.state.try_lock()
            && let Some(mut state) = state.take()
        {
            state.abandon(self.policy.get());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.abandon();
    }
}
