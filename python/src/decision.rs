//! What a limiter answers, for those who want more than yes or no.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use seawall::{Grant, Instant, Refund, Rejection};

use crate::bucket::TokenBucket;
use crate::span::{seconds, seconds_up};

/// A limiter's decision. It is true when the request was admitted.
#[pyclass(frozen, module = "seawall")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) verdict: Result<Grant, Rejection>,
    pub(crate) now: Instant,
}

#[pymethods]
impl Decision {
    #[getter]
    fn allowed(&self) -> bool {
        self.verdict.is_ok()
    }

    fn __bool__(&self) -> bool {
        self.allowed()
    }

    /// How many tokens are left; `None` for a refusal.
    #[getter]
    fn remaining(&self) -> Option<u64> {
        self.verdict.ok().map(|grant| grant.remaining())
    }

    /// Seconds until the bucket is full again; `None` for a refusal.
    #[getter]
    fn reset_after(&self) -> Option<f64> {
        self.verdict.ok().map(|grant| seconds_up(grant.reset_after()))
    }

    #[getter]
    fn reset_after_ns(&self) -> Option<u128> {
        self.verdict.ok().map(|grant| grant.reset_after().as_nanos())
    }

    /// Seconds until the same request would be admitted: 0 when it was, `None` when it never will be.
    #[getter]
    fn retry_after(&self) -> Option<f64> {
        match &self.verdict {
            Ok(_) => Some(0.0),
            Err(rejection) => rejection.retry_after(self.now).map(seconds_up),
        }
    }

    /// The instant of that, in nanoseconds of the limiter's clock; `None` when it was admitted or never
    /// will be.
    #[getter]
    fn at_ns(&self) -> Option<u64> {
        self.verdict.err().and_then(|rejection| rejection.at()).map(Instant::as_nanos)
    }

    /// Why it was refused; `None` when it was not.
    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.verdict.err().map(|rejection| rejection.reason.name())
    }

    /// The decision as a sentence.
    pub(crate) fn explain(&self) -> String {
        match &self.verdict {
            Ok(grant) => format!("admitted; {} left", grant.remaining()),
            Err(rejection) => rejection.explain(self.now).as_str().to_owned(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Decision: {}>", self.explain())
    }
}

/// Tokens that are taken already, good from `at` on.
#[pyclass(frozen, module = "seawall")]
#[derive(Debug)]
pub(crate) struct Reservation {
    pub(crate) bucket: Py<TokenBucket>,
    pub(crate) inner: seawall::Reservation,
    pub(crate) cancelled: AtomicBool,
}

#[pymethods]
impl Reservation {
    /// From when on it may be used, in seconds on the bucket's clock.
    #[getter]
    fn at(&self) -> f64 {
        seconds(self.at_ns())
    }

    #[getter]
    fn at_ns(&self) -> u64 {
        self.inner.at().as_nanos()
    }

    #[getter]
    fn cost(&self) -> u64 {
        self.inner.cost()
    }

    /// Seconds until then, from now.
    #[getter]
    fn wait(&self) -> f64 {
        let wait: Duration = self.inner.at().since(self.bucket.get().clock.now());
        seconds_up(wait)
    }

    /// Gives it back unused, once: `full`, `part` or `nothing` says how much came back.
    fn cancel(&self) -> &'static str {
        if self.cancelled.swap(true, Ordering::Relaxed) {
            return "nothing";
        }
        let bucket = self.bucket.get();
        // The flag above makes this the only copy that is cancelled.
        let held = seawall::Reservation::from_words(self.inner.to_words());
        match bucket.engine.cancel(held, bucket.clock.now()) {
            Refund::Full => "full",
            Refund::Part => "part",
            _ => "nothing",
        }
    }

    fn __repr__(&self) -> String {
        format!("<Reservation of {} from {}, usable in {:.6} s>", self.cost(), self.bucket.get().name, self.wait())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.bucket)
    }
}
