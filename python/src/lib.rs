//! The Python face: the module `seawall._seawall`.
//!
//! The engine decides; this face reads the clock, raises, logs and calls. Every class is frozen: what
//! changes is atomic, so any number of threads may share an object, with the interpreter's lock or
//! without. Nothing here starts a thread, and nothing waits.

mod backoff;
mod breaker;
mod bucket;
mod budget;
mod calling;
mod clock;
mod counts;
mod decision;
mod entered;
mod errors;
mod events;
mod finish;
mod guarded;
mod options;
mod permit;
mod policy;
mod random;
mod raw;
mod ready;
mod rules;
mod run;
mod scope;
mod snapshot;
mod span;
mod wire;

use core::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _seawall {
    #[pymodule_export]
    use super::backoff::{Backoff, Reconnect, Schedule, backoff_from_fields, ttl};
    #[pymodule_export]
    use super::breaker::CircuitBreaker;
    #[pymodule_export]
    use super::bucket::TokenBucket;
    #[pymodule_export]
    use super::budget::{RetryBudget, budget_from_fields};
    #[pymodule_export]
    use super::clock::{ManualClock, clock_at_ns};
    #[pymodule_export]
    use super::decision::{Decision, Reservation};
    #[pymodule_export]
    use super::events::Transition;
    #[pymodule_export]
    use super::guarded::Guarded;
    #[pymodule_export]
    use super::options::{breaker_from_fields, bucket_from_fields, fields};
    #[pymodule_export]
    use super::permit::Permit;
    #[pymodule_export]
    use super::policy::{Policy, Retry, Timeouts};
    #[pymodule_export]
    use super::random::{ManualRandom, after_fork};
    #[pymodule_export]
    use super::raw::RawCall;
    #[pymodule_export]
    use super::run::Running;
    #[pymodule_export]
    use super::scope::{Attempt, Deadline, current_attempt, current_deadline, enter_scope, leave_scope};
    #[pymodule_export]
    use super::snapshot::Snapshot;
    #[pymodule_export]
    use super::wire::{
        format_remaining, format_retry_after, format_retry_after_date, parse_remaining, parse_retry_after,
    };

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::only_one_interpreter()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// What is cached here (exception classes, the context variable) belongs to one interpreter, so a second
/// one of the same process is refused when it imports, and not surprised when it calls.
fn only_one_interpreter() -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: a module is initialised by a thread that is attached to an interpreter.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter of the calling thread.
    let current = unsafe { ffi::PyInterpreterState_GetID(interpreter) };
    match FIRST.compare_exchange(-1, current, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != current => Err(PyImportError::new_err(
            "seawall serves one interpreter of a process, and another subinterpreter has imported it already",
        )),
        _ => Ok(()),
    }
}
