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
//! never fails spuriously, so under loom the first attempt after a fresh load sometimes does; and
//! loom's atomics have no `const` constructor, hence [`const_fn`].
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
    pub(crate) use portable_atomic::AtomicU64;

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
    #[cfg(seawall_shuttle)]
    use shuttle::sync::atomic::AtomicU64 as Inner;

    /// The real interface, over a model checker's atomic.
    #[derive(Debug)]
    pub(crate) struct AtomicU64(Inner);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(Inner::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            if cfg!(seawall_loom_rmw) { self.0.fetch_add(0, rmw(order)) } else { self.0.load(order) }
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            if cfg!(seawall_loom_rmw) {
                self.0.swap(value, rmw(order));
            } else {
                self.0.store(value, order);
            }
        }

        pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_add(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            if spurious::strikes() {
                return Err(self.load(failure));
            }
            self.0.compare_exchange(current, new, success, failure)
        }
    }

    /// A load or store that became a read-modify-write keeps at least its own strength.
    fn rmw(order: Ordering) -> Ordering {
        match order {
            Ordering::SeqCst => Ordering::SeqCst,
            _ => Ordering::AcqRel,
        }
    }

    /// Spurious failures of the weak compare-exchange: every third attempt of a thread, counted
    /// per thread so that a model stays deterministic.
    mod spurious {
        use std::cell::Cell;

        #[cfg(seawall_loom)]
        use loom::thread_local;
        #[cfg(seawall_shuttle)]
        use shuttle::thread_local;

        thread_local! {
            static ATTEMPTS: Cell<u32> = Cell::new(0);
        }

        pub(super) fn strikes() -> bool {
            ATTEMPTS.with(|attempts| {
                attempts.set(attempts.get() + 1);
                attempts.get() % 3 == 0
            })
        }
    }
}

pub(crate) use imp::AtomicU64;
