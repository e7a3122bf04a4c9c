//! The one compare-and-swap loop.
//!
//! A primitive's state word and its configuration go in, a pure step decides, and what it returns is
//! published, or nothing is written when the step returned the word it was given. The word is the
//! whole state, so a value that came back after changing (ABA) is the same state, and every operation
//! takes effect at its compare-and-swap, or at its second load when it wrote nothing.
//!
//! Lock-free: an attempt fails only because another thread's succeeded, or spuriously.
//!
//! Orders: the word is one location, so relaxed accesses would keep the state itself right. Acquire
//! and AcqRel are for the configuration slots (see [`slots`](super::slots)) and so that what happened
//! before a settlement is visible to whoever is admitted because of it.

use super::bits::Bits;
use super::slots::ConfigSlots;
use crate::atomic::{AtomicU64, Ordering, const_fn};

/// A state word with its configuration slots; `slot` says where in the word the slot's number is.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Cell<const N: usize> {
    word: AtomicU64,
    slots: ConfigSlots<N>,
}

impl<const N: usize> Cell<N> {
    const_fn! {
        /// A cell whose word names slot 0, which holds `data`.
        pub(crate) const fn new(word: u64, data: [u64; N]) -> Self {
            Self { word: AtomicU64::new(word), slots: ConfigSlots::new(data) }
        }
    }

    /// Configures a cell that lies in memory of the caller's; nobody else may use it meanwhile.
    pub(crate) fn init(&self, word: u64, data: [u64; N]) {
        self.slots.init(data);
        self.word.store(word, Ordering::Release);
    }

    /// The word as it stands.
    #[inline]
    pub(crate) fn load(&self) -> u64 {
        self.word.load(Ordering::Acquire)
    }

    /// The configuration that `word` names, if it reads whole. Whoever uses it looks at the word again.
    #[inline]
    pub(crate) fn configuration(&self, slot: Bits, word: u64) -> Option<[u64; N]> {
        self.slots.read(slot.get(word))
    }

    /// As [`publish`](Self::publish), for a step that often needs no more than the first `K` words of
    /// the configuration. `None`: undecided, since the step wanted all of them, or they did not read whole.
    #[inline(always)]
    pub(crate) fn publish_from<const K: usize, A>(
        &self,
        slot: Bits,
        mut seen: u64,
        mut step: impl FnMut(u64, &[u64; K]) -> Option<(u64, A)>,
    ) -> Option<A> {
        loop {
            let (next, answer) = step(seen, &self.slots.read(slot.get(seen))?)?;
            let found = if next != seen { self.exchange(seen, next) } else { self.load() };
            if found == seen {
                return Some(answer);
            }
            seen = found;
        }
    }

    /// What `look` makes of the word `seen` and the first word of its configuration, if they still belong
    /// together afterwards; `None`: undecided. Nothing is written.
    #[inline]
    pub(crate) fn glance<A>(&self, slot: Bits, seen: u64, look: impl FnOnce(u64, u64) -> A) -> Option<A> {
        let [head] = self.slots.read(slot.get(seen))?;
        let answer = look(seen, head);
        (self.load() == seen).then_some(answer)
    }

    /// What the word was; it is `next` now if it was `seen`.
    #[inline(always)]
    fn exchange(&self, seen: u64, next: u64) -> u64 {
        match self.word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(found) | Err(found) => found,
        }
    }

    /// Publishes what `step` makes of the word, and returns its answer; `None` when the state was
    /// never configured (or its bytes are no state at all).
    ///
    /// `seen` is the word as the caller loaded it.
    #[inline]
    pub(crate) fn publish<A>(
        &self,
        slot: Bits,
        mut seen: u64,
        mut step: impl FnMut(u64, &[u64; N]) -> (u64, A),
    ) -> Option<A> {
        loop {
            let Some(config) = self.slots.read::<N>(slot.get(seen)) else {
                seen = self.slots.look_again(&self.word, slot, seen)?;
                continue;
            };
            let (next, answer) = step(seen, &config);
            if next == seen {
                let again = self.load();
                if again == seen {
                    return Some(answer);
                }
                seen = again;
                continue;
            }
            match self.word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(answer),
                Err(now) => seen = now,
            }
        }
    }

    /// The word and the configuration it names, read together without changing anything.
    pub(crate) fn read(&self, slot: Bits) -> Option<(u64, [u64; N])> {
        self.publish(slot, self.load(), |word, config| (word, (word, *config)))
    }

    /// Changes the configuration; see [`ConfigSlots::change`].
    pub(crate) fn change(
        &self,
        slot: Bits,
        data: [u64; N],
        settle: impl Fn(u64, u64, &[u64; N], &[u64; N]) -> Option<u64>,
    ) -> Result<bool, super::slots::ChangeError> {
        self.slots.change(&self.word, slot, data, settle)
    }
}
