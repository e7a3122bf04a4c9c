//! Where randomness comes from, and what a fork does to it.
//!
//! Every thread draws from a source of its own, seeded by the operating system. A fork copies that
//! source, so the child counts its forks and seeds anew: parent and child do not wait in step.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use seawall::Random;

/// How many forks lie between this process and the one that loaded the module.
static FORKS: AtomicU32 = AtomicU32::new(0);

#[inline]
pub(crate) fn forks() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Called in the child of a fork.
#[pyfunction(name = "_after_fork")]
pub(crate) fn after_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

thread_local! {
    static OWN: RefCell<Option<(u32, Random)>> = const { RefCell::new(None) };
}

fn draw() -> u64 {
    OWN.with_borrow_mut(|own| match own {
        Some((seeded_at, source)) if *seeded_at == forks() => source.next(),
        _ => {
            // Without randomness there is no jitter, and the transition says so.
            let source = seawall_host::seed().map_or_else(|_| Random::unseeded(), Random::seeded);
            own.insert((forks(), source)).1.next()
        }
    })
}

/// An object's randomness, chosen when it is made.
#[derive(Debug)]
pub(crate) enum Randomness {
    System,
    Seeded(Random),
    Manual(Py<ManualRandom>),
}

impl Randomness {
    pub(crate) fn from(given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(given) = given else { return Ok(Self::System) };
        if let Ok(manual) = given.cast::<ManualRandom>() {
            return Ok(Self::Manual(manual.clone().unbind()));
        }
        match given.extract() {
            Ok(seed) => Ok(Self::Seeded(Random::seeded(seed))),
            Err(_) => Err(PyTypeError::new_err("random is a seed from 0 to 2^64 - 1, or left out")),
        }
    }

    pub(crate) fn next(&self) -> u64 {
        match self {
            Self::System => draw(),
            Self::Seeded(source) => source.next(),
            Self::Manual(manual) => manual.get().0.load(Ordering::Relaxed),
        }
    }
}

/// Randomness that is whatever it was told to be; 0 is "none".
#[pyclass(frozen, module = "seawall.testing")]
#[derive(Debug)]
pub(crate) struct ManualRandom(AtomicU64);

#[pymethods]
impl ManualRandom {
    #[new]
    #[pyo3(signature = (value=0))]
    fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// What every draw yields from now on.
    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (u64,)) {
        (py.get_type::<Self>(), (self.0.load(Ordering::Relaxed),))
    }
}
