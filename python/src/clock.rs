//! Where instants come from: the operating system, or a clock moved by hand.

use core::time::Duration;

use pyo3::prelude::*;
use seawall::{Clock, Instant};
use seawall_host::MonotonicClock;

use crate::span::{At, Span, seconds};

/// An object's clock, chosen when it is made.
#[derive(Debug)]
pub(crate) enum Source {
    Monotonic,
    Manual(Py<ManualClock>),
}

impl Source {
    pub(crate) fn from(clock: Option<Py<ManualClock>>) -> Self {
        clock.map_or(Self::Monotonic, Self::Manual)
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Monotonic => MonotonicClock.now(),
            Self::Manual(clock) => clock.get().0.now(),
        }
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        match self {
            Self::Monotonic => Self::Monotonic,
            Self::Manual(clock) => Self::Manual(clock.clone_ref(py)),
        }
    }

    /// Whether both show the same time.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Monotonic, Self::Monotonic) => true,
            (Self::Manual(one), Self::Manual(other)) => one.is(other),
            _ => false,
        }
    }

    pub(crate) const fn is_manual(&self) -> bool {
        matches!(self, Self::Manual(_))
    }

    /// Moves a clock that is moved by hand on to `until`; `false` for the real one, which moves itself.
    pub(crate) fn move_to(&self, until: Instant) -> bool {
        match self {
            Self::Monotonic => false,
            Self::Manual(clock) => {
                let clock = &clock.get().0;
                clock.advance(until.since(clock.now()));
                true
            }
        }
    }

    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> Option<Bound<'py, ManualClock>> {
        match self {
            Self::Monotonic => None,
            Self::Manual(clock) => Some(clock.bind(py).clone()),
        }
    }
}

/// A clock that stands still until it is told otherwise.
#[pyclass(frozen, weakref, module = "seawall.testing")]
#[derive(Debug)]
pub(crate) struct ManualClock(seawall::ManualClock);

#[pymethods]
impl ManualClock {
    #[new]
    #[pyo3(signature = (start=At(Instant::from_nanos(0))), text_signature = "(start=0.0)")]
    fn new(start: At) -> Self {
        Self(seawall::ManualClock::at(start.0))
    }

    /// Moves it forward.
    fn advance(&self, span: Span) {
        self.0.advance(span.0);
    }

    /// Moves it forward by whole nanoseconds.
    fn advance_ns(&self, nanoseconds: u64) {
        self.0.advance(Duration::from_nanos(nanoseconds));
    }

    /// Sets it, backwards too.
    fn set(&self, now: At) {
        self.0.set(now.0);
    }

    /// Sets it in whole nanoseconds.
    fn set_ns(&self, now: u64) {
        self.0.set(Instant::from_nanos(now));
    }

    /// What it shows, in seconds.
    fn now(&self) -> f64 {
        seconds(self.now_ns())
    }

    /// What it shows, in nanoseconds.
    fn now_ns(&self) -> u64 {
        self.0.now().as_nanos()
    }

    /// A copy shows the same time and moves by itself.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u64,))> {
        let make = py.import("seawall._seawall")?.getattr("_clock_at_ns")?;
        Ok((make, (self.now_ns(),)))
    }

    fn __repr__(&self) -> String {
        format!("ManualClock({:?})", self.now())
    }
}

/// A clock that shows `now`: what its pickle calls, to the nanosecond.
#[pyfunction(name = "_clock_at_ns")]
pub(crate) fn clock_at_ns(now: u64) -> ManualClock {
    ManualClock(seawall::ManualClock::at(Instant::from_nanos(now)))
}
