//! How many refusals there were, by reason. The healthy path never comes here.

use core::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use seawall::Reason;

/// More than there are reasons a single primitive gives; numbers beyond share the last place.
const PLACES: usize = 64;

#[derive(Debug)]
pub(crate) struct Counts([AtomicU64; PLACES]);

impl Counts {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; PLACES])
    }

    #[inline]
    pub(crate) fn add(&self, reason: Reason) {
        self.0[usize::from(reason.number()).min(PLACES - 1)].fetch_add(1, Ordering::Relaxed);
    }

    /// Those that happened, by the reason's name.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for reason in Reason::ALL {
            let count = self.0[usize::from(reason.number()).min(PLACES - 1)].load(Ordering::Relaxed);
            if count > 0 {
                counts.set_item(reason.name(), count)?;
            }
        }
        Ok(counts)
    }
}
