//! What the models of `loom/` need beyond the public interface; ordinary builds do not have it.

use crate::atomic::{AtomicU64, Ordering};
use crate::word::bits::Bits;
use crate::word::cell;
use crate::word::ring::{EventRing, RingCursor};
use crate::word::slots::ChangeError;

const SLOT: Bits = Bits::new(0, 2);

/// The crate's own cell, with the number of the slot in the two lowest bits of its word. What is
/// passed in and out here is the rest of the word.
#[derive(Debug)]
pub struct Cell<const N: usize>(cell::Cell<N>);

impl<const N: usize> Cell<N> {
    /// A cell that holds `value`, configured with `data`.
    #[must_use]
    pub fn new(value: u64, data: [u64; N]) -> Self {
        Self(cell::Cell::new(value << 2, data))
    }

    /// One update, by a pure step.
    pub fn publish<A>(&self, mut step: impl FnMut(u64, &[u64; N]) -> (u64, A)) -> Option<A> {
        self.0.publish(SLOT, self.0.load(), |word, config| {
            let (next, answer) = step(word >> 2, config);
            (next << 2 | SLOT.get(word), answer)
        })
    }

    /// Value and configuration, read together.
    #[must_use]
    pub fn read(&self) -> Option<(u64, [u64; N])> {
        self.0.read(SLOT).map(|(word, config)| (word >> 2, config))
    }

    /// A change of configuration; `settle(value, old, new)` is the value afterwards.
    ///
    /// # Errors
    /// As `ConfigSlots::change`.
    pub fn change(
        &self,
        data: [u64; N],
        settle: impl Fn(u64, &[u64; N], &[u64; N]) -> Option<u64>,
    ) -> Result<bool, ChangeError> {
        self.0.change(SLOT, data, |word, _, old, new| settle(word >> 2, old, new).map(|value| value << 2))
    }
}

/// Adds an event to a ring.
pub fn push(ring: &EventRing, event: [u64; 4]) {
    ring.push_packed(event);
}

/// The next event of a ring.
pub fn poll(ring: &EventRing, cursor: &mut RingCursor) -> Option<[u64; 4]> {
    ring.poll_packed(cursor)
}

/// Something a thread does outside the engine, which orders nothing by itself.
#[derive(Debug)]
pub struct Mark(AtomicU64);

impl Mark {
    /// Not set.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Sets it.
    pub fn set(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// Whether it is seen as set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

/// See `atomic::faults`; `None` where the atomics are the real ones and cannot tell.
#[must_use]
pub fn writes() -> Option<u64> {
    #[cfg(any(seawall_loom, seawall_shuttle))]
    return Some(crate::atomic::faults::writes());
    #[cfg(not(any(seawall_loom, seawall_shuttle)))]
    None
}

/// How many accesses this thread has made; `None` where the atomics are the real ones.
#[must_use]
pub fn accesses() -> Option<u64> {
    #[cfg(any(seawall_loom, seawall_shuttle))]
    return Some(crate::atomic::faults::accesses());
    #[cfg(not(any(seawall_loom, seawall_shuttle)))]
    None
}

/// The next weak compare-exchange of this thread fails, where the atomics can be made to.
pub fn fail_next_exchange() {
    #[cfg(any(seawall_loom, seawall_shuttle))]
    crate::atomic::faults::fail_next_exchange();
}

/// Runs `operation` up to its access number `accesses`; `None` when it was stopped. With the real
/// atomics it is not begun.
pub fn stop_after<T>(accesses: u64, operation: impl FnOnce() -> T) -> Option<T> {
    #[cfg(any(seawall_loom, seawall_shuttle))]
    return crate::atomic::faults::stop_after(accesses, operation);
    #[cfg(not(any(seawall_loom, seawall_shuttle)))]
    {
        let _ = (accesses, operation);
        None
    }
}

/// As [`stop_after`], at the first access after so many writes.
pub fn stop_after_writes<T>(writes: u64, operation: impl FnOnce() -> T) -> Option<T> {
    #[cfg(any(seawall_loom, seawall_shuttle))]
    return crate::atomic::faults::stop_after_writes(writes, operation);
    #[cfg(not(any(seawall_loom, seawall_shuttle)))]
    {
        let _ = (writes, operation);
        None
    }
}
