//! The only file that names an atomics library.
//!
//! Everything else in the crate writes `crate::atomic::AtomicU64`. Which type that is depends on
//! how the crate is built:
//!
//! | build | type | purpose |
//! |---|---|---|
//! | ordinary | `portable_atomic::AtomicU64` | `core`'s own atomic where the target has one |
//! | `--cfg seawall_loom` | `loom`'s | every interleaving and some weak-memory values |
//! | `--cfg seawall_loom --cfg seawall_loom_rmw` | `loom`'s, loads and stores as read-modify-write | every interleaving, without loom's blind spot |
//! | `--cfg seawall_shuttle` | `shuttle`'s | random schedules, far longer programs |
//!
//! The blind spot: loom 0.7 keeps only the last access per object when it looks for races, so
//! `load x; ...; load x, CAS x` hides the first load and whole interleavings are skipped
//! (tokio-rs/loom#166, #392). As read-modify-writes all accesses conflict and none is skipped.
//!
//! Two more differences from the real thing are made up for here: loom's weak compare-exchange
//! never fails spuriously, so here some attempts do; and loom's atomics have no `const` constructor,
//! hence [`const_fn`]. `faults` stops a thread at any of its accesses.
//!
//! ## Lock-free means lock-free
//!
//! `portable-atomic` is taken without default features, so a 32-bit target without 64-bit atomics
//! fails to compile unless the *final binary* says how they are made. The assertion below refuses
//! the remaining way in which a lock could slip in; the feature `accept-locking-atomics` waives it.

/// Declares a function that is `const` in ordinary builds and plain under a model checker, whose
/// atomics cannot be made in a constant.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(any(seawall_loom, seawall_shuttle)))]
        $(#[$meta])* $vis const fn $($rest)*
        #[cfg(any(seawall_loom, seawall_shuttle))]
        $(#[$meta])* $vis fn $($rest)*
    };
}
pub(crate) use const_fn;

pub(crate) use core::sync::atomic::Ordering;

#[cfg(not(any(seawall_loom, seawall_shuttle)))]
mod imp {
    pub(crate) use portable_atomic::{AtomicU64, fence};

    #[cfg(not(feature = "accept-locking-atomics"))]
    const _: () = assert!(
        AtomicU64::is_always_lock_free(),
        "64-bit atomics on this target fall back to a lock; the final binary must choose how they are made \
         (portable-atomic's `unsafe-assume-single-core` or `critical-section`), or accept the lock with \
         seawall's feature `accept-locking-atomics`"
    );
}

#[cfg(any(seawall_loom, seawall_shuttle))]
mod imp {
    use super::Ordering;

    #[cfg(seawall_loom)]
    use loom::sync::atomic::AtomicU64 as Inner;
    #[cfg(seawall_loom)]
    pub(crate) use loom::sync::atomic::fence;
    #[cfg(seawall_shuttle)]
    use shuttle::sync::atomic::AtomicU64 as Inner;
    #[cfg(seawall_shuttle)]
    pub(crate) use shuttle::sync::atomic::fence;

    /// The real interface, over a model checker's atomic.
    #[derive(Debug)]
    #[allow(unreachable_pub, reason = "part of public types, as the real one is")]
    pub struct AtomicU64(Inner);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(Inner::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            faults::access();
            if cfg!(seawall_loom_rmw) { self.0.fetch_add(0, rmw(order)) } else { self.0.load(order) }
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            faults::access();
            if cfg!(seawall_loom_rmw) {
                self.0.swap(value, rmw(order));
            } else {
                self.0.store(value, order);
            }
            faults::written();
        }

        pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            faults::access();
            let before = self.0.fetch_add(value, order);
            faults::written();
            before
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            faults::access();
            let done = self.0.compare_exchange(current, new, success, failure);
            if done.is_ok() {
                faults::written();
            }
            done
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            if faults::spurious() {
                return Err(self.load(failure));
            }
            self.compare_exchange(current, new, success, failure)
        }
    }

    /// A load or store that became a read-modify-write keeps at least its own strength.
    fn rmw(order: Ordering) -> Ordering {
        match order {
            Ordering::SeqCst => Ordering::SeqCst,
            _ => Ordering::AcqRel,
        }
    }

    /// What a model may do to a thread, and see of it. Counted per thread, so that every execution
    /// of a model is repeatable.
    pub(crate) mod faults {
        use std::cell::Cell;

        #[cfg(seawall_loom)]
        use loom::thread_local;
        #[cfg(seawall_shuttle)]
        use shuttle::thread_local;

        thread_local! {
            static ATTEMPTS: Cell<u32> = Cell::new(0);
            static ACCESSES: Cell<u64> = Cell::new(0);
            static WRITES: Cell<u64> = Cell::new(0);
            static STOP_AT: Cell<u64> = Cell::new(u64::MAX);
            static STOP_AT_WRITES: Cell<u64> = Cell::new(u64::MAX);
        }

        /// What a stopped thread unwinds with.
        struct Stopped;

        pub(super) fn access() {
            let accesses = ACCESSES.with(|count| count.replace(count.get() + 1));
            if accesses == STOP_AT.with(Cell::get) || writes() >= STOP_AT_WRITES.with(Cell::get) {
                std::panic::resume_unwind(std::boxed::Box::new(Stopped));
            }
        }

        pub(super) fn written() {
            WRITES.with(|count| count.set(count.get() + 1));
        }

        /// Every third weak compare-exchange of a thread fails without a reason.
        pub(super) fn spurious() -> bool {
            ATTEMPTS.with(|attempts| {
                attempts.set(attempts.get() + 1);
                attempts.get() % 3 == 0
            })
        }

        /// The next weak compare-exchange of this thread fails.
        pub(crate) fn fail_next_exchange() {
            ATTEMPTS.with(|attempts| attempts.set(2));
        }

        /// How many accesses this thread has made.
        pub(crate) fn accesses() -> u64 {
            ACCESSES.with(Cell::get)
        }

        /// How many of them wrote.
        pub(crate) fn writes() -> u64 {
            WRITES.with(Cell::get)
        }

        /// Runs `operation` up to its access number `accesses`, and no further. `None` when it was
        /// stopped, as if its thread had been killed there. Its third weak exchange fails.
        pub(crate) fn stop_after<T>(accesses: u64, operation: impl FnOnce() -> T) -> Option<T> {
            STOP_AT.with(|at| at.set(self::accesses() + accesses));
            stoppable(operation)
        }

        /// As [`stop_after`], at the first access after so many writes.
        pub(crate) fn stop_after_writes<T>(writes: u64, operation: impl FnOnce() -> T) -> Option<T> {
            STOP_AT_WRITES.with(|at| at.set(self::writes() + writes));
            stoppable(operation)
        }

        fn stoppable<T>(operation: impl FnOnce() -> T) -> Option<T> {
            ATTEMPTS.with(|attempts| attempts.set(0));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(operation));
            STOP_AT.with(|at| at.set(u64::MAX));
            STOP_AT_WRITES.with(|at| at.set(u64::MAX));
            match done {
                Ok(answer) => Some(answer),
                Err(cause) if cause.is::<Stopped>() => None,
                Err(cause) => std::panic::resume_unwind(cause),
            }
        }
    }
}

#[cfg(any(seawall_loom, seawall_shuttle))]
pub(crate) use imp::faults;
pub(crate) use imp::{AtomicU64, fence};
