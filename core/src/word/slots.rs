//! Configuration that changes while running.
//!
//! A primitive's configuration lies in one of four slots; the state word carries the number of the
//! current one. Readers need no read-modify-write and never wait; a change settles the past and
//! switches in one compare-and-swap of the state word.
//!
//! # The words
//! Every word of a slot **certifies itself**: it carries the tag of the change that wrote it, so one
//! word read alone is whole, and several with the same tag belong together.
//!
//! | word | 63..48 | 47..0 |
//! |---|---|---|
//! | `words[slot][i]` | tag, never 0 once written | 48 bits of configuration |
//!
//! | word | 63..20 | 19..16 | 15..0 |
//! |---|---|---|---|
//! | `claims` | 0 | slots being written, one bit each | the tag given last |
//!
//! # The protocol
//! *Read*: load the state word (A), load the slot it names, check that the tags agree, decide, then
//! either compare-and-swap the state word from A or, when nothing is to be written, load it again and
//! find A. A slot is rewritten only after the state word has left it, so a reader that saw a newer
//! slot word also sees a newer state word and starts over.
//!
//! *Change*: (1) claim a slot that is neither current nor claimed: one compare-and-swap of `claims`,
//! which also hands out the tag; (2) write the slot's words; (3) compare-and-swap the state word to
//! the settled state with the new slot's number; (4) give the claim back.
//!
//! # Linearisation
//! A read takes effect at its compare-and-swap or at its second load; a change at (3).
//!
//! Why a claimed slot cannot be current: `claims` is loaded before the state word. If the slot became
//! current afterwards, somebody claimed it in between, the tag moved on, and (1) fails.
//!
//! # What a stopped thread costs
//! A stopped reader costs nothing. A thread stopped inside a change keeps one of the three spare
//! slots; other changes use the rest. With three changers stopped at once a fourth is answered
//! [`Busy`](ChangeError::Busy), at once and with nothing changed. A process killed inside a change
//! keeps its slot for good: giving it to another could publish a half-written slot.
//!
//! # What remains
//! Four complete changes during one operation bring its slot number round again (two, when two slots
//! are lost to stopped threads). If the state word is also otherwise what it was, the operation takes
//! effect under the configuration it read, which was current while it ran. A state whose word depends
//! on its configuration must not let that happen: its `settle` counts changes in bits of its own (the
//! token bucket, in 4), or moves a generation on whenever the slot's number falls (the circuit
//! breaker). 65 535 changes bring a tag round.
//!
//! # Orders
//! The state word is Acquire/AcqRel, slot words Release/Acquire. The model `config_slots` fails when
//! either is weakened or one of the checks is left out (see `loom/mutants/config_slots.toml`).

use super::bits::Bits;
use crate::atomic::{AtomicU64, Ordering, const_fn};

/// How many slots there are; the state word needs two bits to name one.
pub(crate) const SLOTS: usize = 4;

const DATA: Bits = Bits::new(0, 48);
const TAG: Bits = Bits::new(48, 16);

const LAST_TAG: Bits = Bits::new(0, 16);
const CLAIMED: Bits = Bits::new(16, SLOTS as u32);

/// Why a live change of configuration was not carried out. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// The new configuration is impossible.
    Config(crate::config::ConfigError),
    /// Three other changes are stopped half-way (see `word::slots`).
    Busy,
    /// The state was never configured.
    Unconfigured,
}

impl core::fmt::Display for ChangeError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Busy => f.write_str("three other changes of this configuration are under way; try again"),
            Self::Unconfigured => f.write_str("the state was never configured; initialise it first"),
        }
    }
}

impl core::error::Error for ChangeError {}

impl From<crate::config::ConfigError> for ChangeError {
    fn from(error: crate::config::ConfigError) -> Self {
        Self::Config(error)
    }
}

/// Four configurations of `N` words with 48 bits of data each.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ConfigSlots<const N: usize> {
    claims: AtomicU64,
    words: [[AtomicU64; N]; SLOTS],
}

impl<const N: usize> ConfigSlots<N> {
    const_fn! {
        /// `data` in slot 0, the others empty.
        pub(crate) const fn new(data: [u64; N]) -> Self {
            Self {
                claims: AtomicU64::new(LAST_TAG.of(1)),
                words: [
                    certified(data, 1),
                    certified([0; N], 0),
                    certified([0; N], 0),
                    certified([0; N], 0),
                ],
            }
        }
    }

    /// Puts `data` in slot 0 and empties the others; nobody else may use them meanwhile.
    pub(crate) fn init(&self, data: [u64; N]) {
        for (slot, words) in self.words.iter().enumerate() {
            for (word, data) in words.iter().zip(data) {
                let certified = if slot == 0 { DATA.of(data) | TAG.of(1) } else { 0 };
                word.store(certified, Ordering::Relaxed);
            }
        }
        self.claims.store(LAST_TAG.of(1), Ordering::Relaxed);
    }

    /// The first `K` words of a slot, or `None` when they do not belong together or were never written.
    #[inline]
    pub(crate) fn read<const K: usize>(&self, slot: u64) -> Option<[u64; K]> {
        // Branches instead of an index: the processor guesses which slot is current, and loads the
        // configuration without waiting for the word that names it.
        match (slot & 1, slot & 2) {
            (0, 0) => self.read_at(0),
            (0, _) => self.read_at(2),
            (_, 0) => self.read_at(1),
            (_, _) => self.read_at(3),
        }
    }

    #[inline(always)]
    fn read_at<const K: usize>(&self, slot: usize) -> Option<[u64; K]> {
        const { assert!(K > 0 && K <= N) }
        // Without an index, so that no panic can be reached at any level of optimisation.
        let words = self.words.get(slot)?.first_chunk::<K>()?.each_ref().map(|word| word.load(Ordering::Acquire));
        let differing = words.iter().fold(0, |bits, word| bits | (word ^ words[0]));
        (TAG.get(differing) == 0 && TAG.get(words[0]) != 0).then(|| words.map(|word| DATA.get(word)))
    }

    /// After a slot named by `seen` did not read whole: the state word to go on from, or `None` when
    /// there is no state.
    ///
    /// Usually the state word has moved on. If it has not, its slot may have come round meanwhile, to
    /// the same state word. Then the slot was written to its end before the state word named it again,
    /// so a second look finds newer words than a first, torn one did. What is torn and stays as it is
    /// was never a configuration.
    #[cold]
    pub(crate) fn look_again(&self, word: &AtomicU64, slot: Bits, seen: u64) -> Option<u64> {
        let words = &self.words[slot.get(seen) as usize % SLOTS];
        let look = || words.each_ref().map(|word| word.load(Ordering::Acquire));
        let first = look();
        let again = word.load(Ordering::Acquire);
        if again != seen {
            return Some(again);
        }
        let second = look();
        let tag = TAG.get(second[0]);
        let whole = tag != 0 && second.iter().all(|&word| TAG.get(word) == tag);
        (whole || second != first).then_some(seen)
    }

    /// Changes the configuration of the state in `word`, whose bits `slot` name the current slot.
    ///
    /// `settle(seen, slot, old, new)` is the state with the past settled at the old configuration; the
    /// number of the new slot is put in here. It may decline (a change that was worked out from another
    /// configuration than the old one); then nothing changes and the answer is `false`.
    pub(crate) fn change(
        &self,
        word: &AtomicU64,
        slot: Bits,
        data: [u64; N],
        settle: impl Fn(u64, u64, &[u64; N], &[u64; N]) -> Option<u64>,
    ) -> Result<bool, ChangeError> {
        let (claimed, tag) = self.claim(word, slot)?;
        for (word, data) in self.words[claimed as usize % SLOTS].iter().zip(data) {
            word.store(DATA.of(data) | TAG.of(tag), Ordering::Release);
        }
        let outcome = self.publish(word, slot, claimed, &data, settle);
        self.release(claimed);
        outcome
    }

    /// (1): the number of a free slot, now ours, and the tag for its words.
    fn claim(&self, word: &AtomicU64, slot: Bits) -> Result<(u64, u64), ChangeError> {
        let mut claims = self.claims.load(Ordering::Acquire);
        loop {
            let current = slot.get(word.load(Ordering::Acquire));
            if self.read::<1>(current).is_none() {
                return Err(ChangeError::Unconfigured);
            }
            let claimed = CLAIMED.get(claims);
            let free = (1..SLOTS as u64).map(|i| (current + i) % SLOTS as u64).find(|s| claimed & (1 << s) == 0);
            let Some(free) = free else { return Err(ChangeError::Busy) };
            let tag = LAST_TAG.get(claims) % LAST_TAG.max() + 1;
            let next = CLAIMED.of(claimed | 1 << free) | LAST_TAG.of(tag);
            match self.claims.compare_exchange_weak(claims, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok((free, tag)),
                Err(seen) => claims = seen,
            }
        }
    }

    /// (3): the state word names the claimed slot.
    fn publish(
        &self,
        word: &AtomicU64,
        slot: Bits,
        claimed: u64,
        new: &[u64; N],
        settle: impl Fn(u64, u64, &[u64; N], &[u64; N]) -> Option<u64>,
    ) -> Result<bool, ChangeError> {
        let mut seen = word.load(Ordering::Acquire);
        loop {
            let Some(old) = self.read::<N>(slot.get(seen)) else {
                seen = self.look_again(word, slot, seen).ok_or(ChangeError::Unconfigured)?;
                continue;
            };
            let Some(settled) = settle(seen, claimed, &old, new) else { return Ok(false) };
            let next = slot.put(settled, claimed);
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(true),
                Err(now) => seen = now,
            }
        }
    }

    /// (4): the slot's claim is given back.
    fn release(&self, claimed: u64) {
        let mut claims = self.claims.load(Ordering::Relaxed);
        loop {
            let next = CLAIMED.put(claims, CLAIMED.get(claims) & !(1 << claimed));
            match self.claims.compare_exchange_weak(claims, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => claims = seen,
            }
        }
    }
}

#[cfg(not(any(seawall_loom, seawall_shuttle)))]
const fn certified<const N: usize>(data: [u64; N], tag: u64) -> [AtomicU64; N] {
    let mut words = [const { AtomicU64::new(0) }; N];
    let mut i = 0;
    while i < N {
        words[i] = AtomicU64::new(DATA.of(data[i]) | TAG.of(tag));
        i += 1;
    }
    words
}

#[cfg(any(seawall_loom, seawall_shuttle))]
fn certified<const N: usize>(data: [u64; N], tag: u64) -> [AtomicU64; N] {
    core::array::from_fn(|i| AtomicU64::new(DATA.of(data[i]) | TAG.of(tag)))
}
