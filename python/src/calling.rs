//! One call under a breaker: admission, the call, its verdict, settlement.
//!
//! Whatever happens on the way (the function, a predicate or a listener raises), a grant is settled
//! exactly once.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use seawall::{Instant, Outcome, Settlement, Token};

use crate::breaker::CircuitBreaker;
use crate::permit::Permit;
use crate::{random, rules};

/// The right to make one call, before it becomes a Python object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grant {
    pub(crate) token: Token,
    /// When it was granted. A clean grant reads no clock: it was granted "never", so that it is not
    /// slow if `slow_after` is switched on in the middle of its call.
    pub(crate) granted: Instant,
    /// What a shadow breaker would have refused with.
    pub(crate) bypassed: Option<seawall::Reason>,
    /// In which process: after a fork the child holds nothing.
    pub(crate) forks: u32,
}

impl Grant {
    #[inline]
    pub(crate) fn clean(token: Token) -> Self {
        Self { token, granted: Instant::MAX, bypassed: None, forks: random::forks() }
    }

    /// What a clean grant is passed through Python as: cheaper than an object.
    const fn to_number(self) -> u64 {
        (self.forks as u64) << 32 | self.token.bits() as u64
    }

    const fn from_number(number: u64) -> Self {
        Self {
            token: Token::from_bits(number as u32),
            granted: Instant::MAX,
            bypassed: None,
            forks: (number >> 32) as u32,
        }
    }
}

pub(crate) type Breaker<'py> = Bound<'py, CircuitBreaker>;

/// Asks for a permit.
#[inline]
pub(crate) fn enter(breaker: &Breaker<'_>) -> PyResult<Grant> {
    match breaker.get().engine.admit_clean() {
        Some(token) => Ok(Grant::clean(token)),
        None => enter_unclean(breaker),
    }
}

fn enter_unclean(breaker: &Breaker<'_>) -> PyResult<Grant> {
    let this = breaker.get();
    let py = breaker.py();
    let now = this.clock.now();
    this.forget_what_the_parent_holds(now);
    let admission = this.engine.try_admit(now, this.random.next());
    let told = this.tell(py, admission.transition);
    match admission.verdict {
        Ok(token) => {
            let bypassed = admission.bypassed.map(|rejection| rejection.reason);
            if let Some(reason) = bypassed {
                this.bypasses.add(reason);
            }
            let grant = Grant { token, granted: now, bypassed, forks: random::forks() };
            match told {
                Ok(_) => Ok(grant),
                Err(error) => {
                    this.engine.settle(token, Outcome::Ignored, now, now, 0);
                    Err(error)
                }
            }
        }
        Err(rejection) => {
            let refused = this.refuse(py, &rejection, now);
            told?;
            Err(refused)
        }
    }
}

/// Settles a grant.
#[inline]
pub(crate) fn leave(breaker: &Breaker<'_>, grant: Grant, outcome: Outcome) -> PyResult<Settlement> {
    let this = breaker.get();
    if matches!(outcome, Outcome::Success) && this.engine.is_clean_for(grant.token) {
        return Ok(Settlement::Counted);
    }
    if grant.forks != random::forks() {
        return Ok(Settlement::Stale);
    }
    // A success opens nothing, unless it was slow.
    let settled = this.engine.settle(grant.token, outcome, grant.granted, this.clock.now(), this.random.next());
    this.tell(breaker.py(), settled.transition)?;
    Ok(settled.settlement)
}

/// The call came back with `result`.
#[inline]
pub(crate) fn returned(breaker: &Breaker<'_>, grant: Grant, result: &Bound<'_, PyAny>) -> PyResult<Settlement> {
    match rules::of_result(breaker, result) {
        Ok(outcome) => leave(breaker, grant, outcome),
        Err(error) => {
            leave(breaker, grant, Outcome::Ignored)?;
            Err(error)
        }
    }
}

/// The call raised `error`.
pub(crate) fn raised(breaker: &Breaker<'_>, grant: Grant, error: &Bound<'_, PyAny>) -> PyResult<Settlement> {
    match rules::of_exception(breaker, error) {
        Ok(outcome) => leave(breaker, grant, outcome),
        Err(error) => {
            leave(breaker, grant, Outcome::Ignored)?;
            Err(error)
        }
    }
}

/// Calls `function` under a permit.
#[inline]
pub(crate) fn call<'py>(
    breaker: &Breaker<'py>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let grant = enter(breaker)?;
    match function.call(args, kwargs) {
        Ok(result) => {
            if is_awaitable(&result) {
                // The call has only begun: its verdict is what comes of it.
                return awaited(breaker, grant, result);
            }
            returned(breaker, grant, &result)?;
            Ok(result)
        }
        Err(error) => {
            raised(breaker, grant, error.value(breaker.py()))?;
            Err(error)
        }
    }
}

/// Coroutines, futures, and whatever else has an `__await__`.
#[inline]
pub(crate) fn is_awaitable(value: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the type of a live object; the slot is one of those that every type may be asked for.
    !unsafe { ffi::PyType_GetSlot(value.get_type_ptr(), ffi::Py_am_await) }.is_null()
}

fn awaited<'py>(breaker: &Breaker<'py>, grant: Grant, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static AWAITED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let permit = Bound::new(breaker.py(), Permit::new(breaker, grant))?;
    AWAITED.import(breaker.py(), "seawall._decorate", "awaited")?.call1((breaker, permit, result))
}

/// A grant for the wrappers written in Python: a number when it is clean, else a [`Permit`].
pub(crate) fn enter_for_python<'py>(breaker: &Breaker<'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = breaker.py();
    if let Some(token) = breaker.get().engine.admit_clean() {
        let number = Grant::clean(token).to_number();
        // Most breakers never open, so that their first clean number is the only one.
        let (first, object) = breaker
            .get()
            .first_clean
            .get_or_try_init(py, || Ok::<_, PyErr>((number, number.into_pyobject(py)?.unbind())))?;
        return Ok(if *first == number {
            object.bind(py).clone().into_any()
        } else {
            number.into_pyobject(py)?.into_any()
        });
    }
    let grant = enter_unclean(breaker)?;
    Ok(Bound::new(py, Permit::new(breaker, grant))?.into_any())
}

/// The grant behind what [`enter_for_python`] gave; `None` when it has been settled.
#[inline]
pub(crate) fn grant_from_python(breaker: &Breaker<'_>, given: &Bound<'_, PyAny>) -> PyResult<Option<Grant>> {
    if let Some((number, object)) = breaker.get().first_clean.get(breaker.py())
        && object.is(given)
    {
        return Ok(Some(Grant::from_number(*number)));
    }
    if let Ok(permit) = given.cast_exact::<Permit>() {
        return Ok(permit.get().take());
    }
    given.extract().map(|number| Some(Grant::from_number(number)))
}
