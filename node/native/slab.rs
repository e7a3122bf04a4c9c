//! State with stable addresses, found by handle.
//!
//! One slab per kind, process-wide, so that worker threads reach the same state. Chunks are allocated
//! when first needed and never freed or moved: an address that a view or a late thread still holds
//! stays an address of atomics. Looking up is lock-free; giving out and taking back slots is not, and
//! happens when objects are made and closed.

use std::alloc::{Layout, alloc_zeroed};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The engine's breaker with room for every window, so that any can be changed to.
pub(crate) type Breaker = seawall::CircuitBreaker<[seawall::WindowWord; seawall::window_words(u64::MAX)]>;

use crate::handle::{INDEX_BITS, Kind, handle, index};

/// Slots per chunk.
pub(crate) const CHUNK: usize = 1 << 10;
const CHUNKS: usize = (1 << INDEX_BITS) / CHUNK;

/// State that may start as zero bytes.
///
/// # Safety
/// Zero bytes are a value of the type, and it consists of atomics throughout.
pub(crate) unsafe trait Blank: Sync {}

// SAFETY: `seawall::Stored` says so of it: every bit pattern is a value, zero is "unconfigured".
unsafe impl Blank for Breaker {}
// SAFETY: as above.
unsafe impl Blank for seawall::TokenBucket {}
// SAFETY: as above.
unsafe impl Blank for seawall::RetryBudget {}

/// One place. The state comes first, so that a slot's address is its state's.
#[repr(C, align(64))]
pub(crate) struct Slot<T> {
    pub(crate) state: T,
    /// The handle it is given out under; 0 while it is free.
    handle: AtomicU32,
    /// How often it was given out.
    incarnation: AtomicU32,
    /// The handle of the manual clock it goes by; 0 for the system's.
    pub(crate) clock: AtomicU32,
    /// For the owner's use.
    pub(crate) flags: AtomicU32,
}

pub(crate) struct Slab<T> {
    kind: Kind,
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    indices: Mutex<Indices>,
}

struct Indices {
    fresh: usize,
    /// First freed, first reused: a handle that was closed stays stale for as long as possible.
    freed: VecDeque<usize>,
}

impl<T: Blank> Slab<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            chunks: [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNKS],
            indices: Mutex::new(Indices { fresh: 0, freed: VecDeque::new() }),
        }
    }

    /// The slot given out under `handle`; `None` when that was closed, or never was.
    #[inline]
    pub(crate) fn get(&self, handle: u32) -> Option<&Slot<T>> {
        let slot = self.slot(index(handle))?;
        (slot.handle.load(Ordering::Acquire) == handle && handle != 0).then_some(slot)
    }

    #[inline]
    fn slot(&self, index: usize) -> Option<&Slot<T>> {
        let chunk = self.chunks[index / CHUNK % CHUNKS].load(Ordering::Acquire);
        if chunk.is_null() {
            return None;
        }
        // SAFETY: a chunk has CHUNK slots.
        let slot = unsafe { chunk.add(index % CHUNK) };
        // SAFETY: chunks are never freed, their zero bytes are slots (`Blank`), and slots consist of
        // atomics, so a shared reference is all anybody ever has.
        Some(unsafe { &*slot })
    }

    /// Gives out a slot after `init` has set its state up; `None` when all are out. A slot whose `init`
    /// fails is free again.
    pub(crate) fn add<E>(&self, init: impl FnOnce(&Slot<T>) -> Result<(), E>) -> Option<Result<u32, E>> {
        let mut indices = self.lock();
        let index = match indices.freed.pop_front() {
            Some(index) => index,
            None if indices.fresh == CHUNK * CHUNKS => return None,
            None => {
                let index = indices.fresh;
                if index.is_multiple_of(CHUNK) {
                    self.chunks[index / CHUNK].store(new_chunk()?, Ordering::Release);
                }
                indices.fresh += 1;
                index
            }
        };
        drop(indices);
        let slot = self.slot(index)?;
        slot.clock.store(0, Ordering::Relaxed);
        slot.flags.store(0, Ordering::Relaxed);
        if let Err(error) = init(slot) {
            self.lock().freed.push_back(index);
            return Some(Err(error));
        }
        let incarnation = slot.incarnation.fetch_add(1, Ordering::Relaxed);
        let handle = handle(self.kind, incarnation, index as u32);
        slot.handle.store(handle, Ordering::Release);
        Some(Ok(handle))
    }

    /// Takes a slot back. Whoever still has the handle gets `None` from then on.
    pub(crate) fn remove(&self, handle: u32) {
        let Some(slot) = self.get(handle) else { return };
        if slot.handle.compare_exchange(handle, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.lock().freed.push_back(index(handle));
        }
    }

    /// The memory of the chunk that `handle` lies in: its address and its bytes.
    pub(crate) fn chunk_of(&self, handle: u32) -> Option<(*mut Slot<T>, usize)> {
        let slot = self.get(handle)?;
        let offset = index(handle) % CHUNK;
        Some((std::ptr::from_ref(slot).wrapping_sub(offset).cast_mut(), CHUNK * size_of::<Slot<T>>()))
    }

    /// How many slots are out.
    pub(crate) fn count(&self) -> usize {
        let indices = self.lock();
        indices.fresh - indices.freed.len()
    }

    fn lock(&self) -> MutexGuard<'_, Indices> {
        // Nothing between lock and unlock can leave the two fields half-changed.
        self.indices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_chunk<T: Blank>() -> Option<*mut Slot<T>> {
    const { assert!(size_of::<Slot<T>>() > 0) };
    let layout = Layout::array::<Slot<T>>(CHUNK).ok()?;
    // SAFETY: the layout is not of size zero (asserted above).
    let chunk = unsafe { alloc_zeroed(layout) };
    (!chunk.is_null()).then_some(chunk.cast())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall::{ConfigError, Instant, TokenBucket, TokenBucketConfig};

    fn add(slab: &Slab<TokenBucket>) -> u32 {
        let config = TokenBucketConfig::per_second(1, 1);
        slab.add(|slot| slot.state.init(&config, Instant::ZERO)).unwrap().unwrap()
    }

    #[test]
    fn a_closed_handle_is_stale_also_after_its_slot_lives_again() {
        let slab = Slab::new(Kind::Bucket);
        let first = add(&slab);
        assert!(slab.get(first).is_some());
        slab.remove(first);
        assert!(slab.get(first).is_none());
        let second = add(&slab);
        assert_eq!(index(first), index(second), "the slot is reused");
        assert!(slab.get(first).is_none());
        slab.remove(first);
        assert!(slab.get(second).is_some(), "a stale handle closes nothing");
        assert_eq!(slab.count(), 1);
    }

    #[test]
    fn no_number_is_a_handle_unless_it_was_given_out() {
        let slab = Slab::new(Kind::Bucket);
        let given = add(&slab);
        for number in (0..=u32::MAX).step_by(65_521).chain([0, 1, u32::MAX]) {
            assert!(number == given || slab.get(number).is_none());
        }
    }

    #[test]
    fn a_slot_whose_state_cannot_be_set_up_is_free_again() {
        let slab = Slab::<TokenBucket>::new(Kind::Bucket);
        let bad = TokenBucketConfig::new();
        let refused: Result<u32, ConfigError> = slab.add(|slot| slot.state.init(&bad, Instant::ZERO)).unwrap();
        assert!(refused.is_err());
        assert_eq!(slab.count(), 0);
    }

    #[test]
    fn addresses_stay_while_the_slab_grows() {
        let slab = Slab::new(Kind::Bucket);
        let first = add(&slab);
        let address = std::ptr::from_ref(slab.get(first).unwrap());
        for _ in 0..2 * CHUNK {
            add(&slab);
        }
        assert_eq!(address, std::ptr::from_ref(slab.get(first).unwrap()));
        assert_eq!(slab.count(), 2 * CHUNK + 1);
    }

    #[test]
    fn slots_begin_on_cache_lines() {
        assert_eq!((size_of::<Slot<TokenBucket>>() % 64, align_of::<Slot<TokenBucket>>()), (0, 64));
    }
}
