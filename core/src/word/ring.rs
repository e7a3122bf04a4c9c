//! The last events, for whoever polls.
//!
//! A ring that its owner provides (in a `static`, a box, C storage, mapped memory). Any number of
//! threads push, any number of readers poll with a cursor of their own; the oldest events are
//! overwritten, and a reader that came too late learns how many it missed.
//!
//! # The words
//! | word | 63..48 | 47..0 |
//! |---|---|---|
//! | `next` | the ticket of the next event, 64 bits | |
//! | `slots[4 * i + k]` | lap + 1 of the ticket | a quarter of the event |
//!
//! A push takes a ticket, then compare-and-swaps its four words from whatever older lap they carry.
//! Every word certifies itself with its lap, so a reader takes an event only when all four agree.
//!
//! # What a stopped thread costs
//! A pusher stopped half-way costs its own event: readers pass over it as soon as a later one is
//! there. One that wakes a lap later finds newer words and leaves them alone. Asleep for 32 767 laps it
//! costs one newer event as well; it would take 65 535 to mix two events up.
//!
//! # Orders
//! The words are Release and Acquire: whoever polls an event sees what was done before it was pushed.
//! Tickets are Relaxed: they only count, and each word says by itself which event it belongs to.

use super::bits::Bits;
use super::storage::{Head, Kind, StorageError, Stored};
use crate::atomic::{AtomicU64, Ordering, const_fn};

/// Words of one event.
const WORDS: usize = 4;

/// An event as four words of 48 bits.
pub(crate) type Packed = [u64; WORDS];

const DATA: Bits = Bits::new(0, 48);
const LAP: Bits = Bits::new(48, 16);

/// A ring of the last events; see [`EventRing::poll`].
///
/// ```
/// use seawall::{CircuitBreaker, CircuitBreakerConfig, EventRing, Instant, RingCursor, RingWord};
///
/// static EVENTS: EventRing<[RingWord; 64]> = EventRing::new(); // 16 events
/// let ring: &EventRing = &EVENTS;
/// let breaker = CircuitBreaker::new(&CircuitBreakerConfig::new())?;
///
/// if let Some(transition) = breaker.trip(Instant::ZERO, None, 0) {
///     ring.push(7, &transition);
/// }
/// let mut cursor = RingCursor::default();
/// let (source, transition) = ring.poll(&mut cursor).expect("one event");
/// assert_eq!((source, transition.to.name()), (7, "open"));
/// # Ok::<(), seawall::ConfigError>(())
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct EventRing<S: ?Sized = [RingWord]> {
    head: Head,
    next: AtomicU64,
    slots: S,
}

/// One word of a ring's storage; an event takes four.
#[derive(Debug)]
#[repr(transparent)]
pub struct RingWord(AtomicU64);

/// Where a reader stands in a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCursor {
    ticket: u64,
    /// How many events were overwritten (or given up by their writer) before this reader came.
    pub missed: u64,
}

impl RingCursor {
    /// A reader that takes event `next` next, for faces that keep the numbers themselves.
    #[must_use]
    pub const fn at(next: u64, missed: u64) -> Self {
        Self { ticket: next, missed }
    }

    /// The number of the event that it takes next.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.ticket
    }
}

impl<const N: usize> EventRing<[RingWord; N]> {
    const_fn! {
        /// An empty ring of `N / 4` events.
        ///
        /// # Panics
        /// At compile time, when `N` is less than 4.
        #[must_use]
        pub const fn new() -> Self {
            const { assert!(N >= WORDS, "an event takes four words") };
            Self { head: Head::new(Kind::EventRing, N), next: AtomicU64::new(0), slots: zeros() }
        }
    }
}

impl<const N: usize> Default for EventRing<[RingWord; N]> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(not(any(seawall_loom, seawall_shuttle)))]
const fn zeros<const N: usize>() -> [RingWord; N] {
    [const { RingWord(AtomicU64::new(0)) }; N]
}

#[cfg(any(seawall_loom, seawall_shuttle))]
fn zeros<const N: usize>() -> [RingWord; N] {
    core::array::from_fn(|_| RingWord(AtomicU64::new(0)))
}

impl EventRing {
    /// How many events the ring holds; zero when it was never initialised.
    #[must_use]
    pub fn capacity(&self) -> usize {
        if self.head.is(Kind::EventRing, self.slots.len()) { self.slots.len() / WORDS } else { 0 }
    }

    /// Initialises a ring that lies in memory of the caller's, and empties it.
    pub fn init(&self) {
        self.next.store(0, Ordering::Relaxed);
        for RingWord(word) in &self.slots {
            word.store(0, Ordering::Relaxed);
        }
        self.head.set(Kind::EventRing, self.slots.len());
    }

    /// Adds an event; a ring that was never initialised drops it.
    pub(crate) fn push_packed(&self, event: Packed) {
        let capacity = self.capacity() as u64;
        if capacity == 0 {
            return;
        }
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(slot) = self.slot(ticket, capacity) else { return };
        for (RingWord(word), data) in slot.iter().zip(event) {
            let mine = DATA.of(data) | LAP.of(lap(ticket, capacity));
            let mut seen = word.load(Ordering::Relaxed);
            while !newer(seen, mine) {
                match word.compare_exchange_weak(seen, mine, Ordering::Release, Ordering::Relaxed) {
                    Ok(_) => break,
                    Err(now) => seen = now,
                }
            }
        }
    }

    /// The next event after the cursor, or `None` when there is none (yet).
    pub(crate) fn poll_packed(&self, cursor: &mut RingCursor) -> Option<Packed> {
        let capacity = self.capacity() as u64;
        if capacity == 0 {
            return None;
        }
        let next = self.next.load(Ordering::Relaxed);
        let oldest = next.saturating_sub(capacity);
        if cursor.ticket > next {
            // The ring was emptied since.
            cursor.ticket = oldest;
        }
        if cursor.ticket < oldest {
            cursor.missed = cursor.missed.saturating_add(oldest - cursor.ticket);
            cursor.ticket = oldest;
        }
        // The first whole event; what lies before it is being written, or was given up.
        let found = (cursor.ticket..next).find_map(|ticket| Some((ticket, self.whole(ticket, capacity)?)));
        let (ticket, event) = found?;
        cursor.missed = cursor.missed.saturating_add(ticket - cursor.ticket);
        cursor.ticket = ticket + 1;
        Some(event)
    }

    fn whole(&self, ticket: u64, capacity: u64) -> Option<Packed> {
        let mut event = [0; WORDS];
        for (data, RingWord(word)) in event.iter_mut().zip(self.slot(ticket, capacity)?) {
            let word = word.load(Ordering::Acquire);
            if LAP.get(word) != lap(ticket, capacity) {
                return None;
            }
            *data = DATA.get(word);
        }
        Some(event)
    }

    /// The words of a ticket; `None` never happens, and is there so that no panic can be reached.
    fn slot(&self, ticket: u64, capacity: u64) -> Option<&[RingWord; WORDS]> {
        let first = ticket.checked_rem(capacity)? as usize * WORDS;
        self.slots.get(first..)?.first_chunk()
    }
}

/// The lap of a ticket, 1 to 65 535 and round again; 0 is a word never written.
fn lap(ticket: u64, capacity: u64) -> u64 {
    ticket / capacity % LAP.max() + 1
}

/// Whether the lap in `seen` is `mine`'s or one after it.
fn newer(seen: u64, mine: u64) -> bool {
    let (seen, mine) = (LAP.get(seen), LAP.get(mine));
    seen != 0 && (seen + LAP.max() - mine) % LAP.max() < LAP.max() / 2
}

// SAFETY: repr(C), a head, a counter and a slice of 64-bit atomics; every length is checked against
// the slice itself, every word is judged by its own lap, and the fuzz target `event_ring` runs it over
// arbitrary bytes. `at` keeps the address and counts only whole words within `bytes`.
unsafe impl Stored for EventRing {
    fn fits(bytes: usize) -> Result<usize, StorageError> {
        let needed = (2 + WORDS) * size_of::<u64>();
        if bytes < needed { Err(StorageError::TooSmall { needed, given: bytes }) } else { Ok(bytes & !7) }
    }

    fn at(memory: *const u64, bytes: usize) -> *const Self {
        // A slice pointer carries the length that the unsized field has.
        let slots = bytes / size_of::<u64>() - 2;
        core::ptr::slice_from_raw_parts(memory.cast::<RingWord>(), slots) as *const Self
    }
}

#[cfg(all(test, not(any(seawall_loom, seawall_shuttle))))]
mod tests {
    use super::*;

    fn event(n: u64) -> Packed {
        [n, n + 1, n + 2, n + 3]
    }

    #[test]
    fn a_reader_gets_every_event_in_order() {
        let ring = EventRing::<[_; 16]>::new();
        let ring: &EventRing = &ring;
        let mut cursor = RingCursor::default();
        assert_eq!(ring.poll_packed(&mut cursor), None);
        for n in 0..10 {
            ring.push_packed(event(n));
            assert_eq!(ring.poll_packed(&mut cursor), Some(event(n)));
        }
        assert_eq!(cursor.missed, 0);
    }

    #[test]
    fn a_late_reader_learns_how_many_it_missed() {
        let ring = EventRing::<[_; 16]>::new();
        let ring: &EventRing = &ring;
        (0..11).for_each(|n| ring.push_packed(event(n)));
        let mut cursor = RingCursor::default();
        assert_eq!(ring.poll_packed(&mut cursor), Some(event(7)));
        assert_eq!(cursor.missed, 7);
    }

    #[test]
    fn an_event_that_its_writer_gave_up_is_passed_over() {
        let ring = EventRing::<[_; 16]>::new();
        let ring: &EventRing = &ring;
        ring.next.fetch_add(1, Ordering::Relaxed); // a ticket taken and never written
        let mut cursor = RingCursor::default();
        assert_eq!(ring.poll_packed(&mut cursor), None);
        ring.push_packed(event(5));
        assert_eq!(ring.poll_packed(&mut cursor), Some(event(5)));
        assert_eq!(cursor.missed, 1);
    }

    #[test]
    fn a_ring_never_initialised_takes_and_gives_nothing() {
        let mut memory = [0u64; 10];
        // SAFETY: the array is 80 valid bytes for as long as `ring` lives, and only `ring` uses it.
        let ring: &EventRing = unsafe { super::super::storage::place(memory.as_mut_ptr(), 80) }.unwrap();
        ring.push_packed(event(1));
        assert_eq!((ring.capacity(), ring.poll_packed(&mut RingCursor::default())), (0, None));
        ring.init();
        assert_eq!(ring.capacity(), 2);
        ring.push_packed(event(1));
        assert_eq!(ring.poll_packed(&mut RingCursor::default()), Some(event(1)));
    }
}
