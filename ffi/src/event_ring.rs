//! The ring of the last events.

use core_seawall::{EventRing, RingCursor};

use crate::caller::Caller;
use crate::decision::sw_transition;
use crate::status::{status, sw_status};

/// The head of a ring of the last events, for whoever polls; SW_EVENT_RING_STORAGE declares a whole
/// one. Any number of threads push, any number of readers poll with a cursor of their own; the oldest
/// events are overwritten, and a reader that came too late learns how many it missed.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct sw_event_ring {
    opaque: [u64; 2],
}

/// Where a reader stands in a ring. Zero is the beginning.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct sw_event_ring_cursor {
    /// The number of the next event to be read.
    pub next: u64,
    /// How many events were overwritten (or given up by their writer) before this reader came.
    pub missed: u64,
}

/// A change of state as it comes out of a ring.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct sw_event {
    /// The change of state; counts above 32 767 are kept to 14 significant bits or more, `until_ns` to the unit of 1.05 ms.
    pub transition: sw_transition,
    /// The number that the caller gave the breaker.
    pub source: u32,
    /// 0.
    pub reserved: u32,
}

fn initialised<'a>(caller: Caller<'a>, ring: *const sw_event_ring, bytes: usize) -> Result<&'a EventRing, sw_status> {
    let ring: &EventRing = caller.storage(ring, bytes)?;
    if ring.capacity() > 0 { Ok(ring) } else { Err(sw_status::SW_ERR_UNCONFIGURED) }
}

/// Initialises a ring of `bytes` bytes, as SW_EVENT_RING_STORAGE declares them, and empties it. Nobody
/// else may use it meanwhile.
///
/// SW_ERR_STORAGE: not even one event fits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_event_ring_init(ring: *mut sw_event_ring, bytes: usize) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let ring: &EventRing = caller.storage(ring, bytes)?;
        ring.init();
        Ok(sw_status::SW_OK)
    })
}

/// Adds the change of state of the breaker that the caller calls `source` (16 bits). A struct that
/// holds no change (`cause` is 0) is left out, so that what an operation returned can be passed on as
/// it is.
///
/// SW_ERR_UNCONFIGURED: the ring was not initialised with this `bytes`. SW_ERR_VALUE: `source` is above
/// 65 535, or state or cause is none.
///
/// Thread- and signal-safe; a thread stopped in here costs its own event only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_event_ring_push(
    ring: *mut sw_event_ring,
    bytes: usize,
    source: u32,
    transition: *const sw_transition,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let ring = initialised(caller, ring, bytes)?;
        let source = u16::try_from(source).map_err(|_| sw_status::SW_ERR_VALUE)?;
        let transition = caller.read(transition)?;
        if transition.cause != 0 {
            ring.push(source, &transition.core().ok_or(sw_status::SW_ERR_VALUE)?);
        }
        Ok(sw_status::SW_OK)
    })
}

/// The next event after the cursor, which moves on.
///
/// SW_OK: `event` is filled. SW_EMPTY: there is none yet, `event` is all zero.
///
/// Thread- and signal-safe, with a cursor of the reader's own. Cost: at most as many slots are looked
/// at as the ring has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_event_ring_poll(
    ring: *const sw_event_ring,
    bytes: usize,
    cursor: *mut sw_event_ring_cursor,
    event: *mut sw_event,
) -> sw_status {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    status(|| {
        let ring = initialised(caller, ring, bytes)?;
        let out = caller.out(event)?;
        let place = caller.out(cursor)?;
        let was = caller.read(cursor.cast_const())?;
        let mut cursor = RingCursor::at(was.next, was.missed);
        let found = ring.poll(&mut cursor);
        place.put(|| sw_event_ring_cursor { next: cursor.next(), missed: cursor.missed });
        out.put(sw_event::default);
        let Some((source, transition)) = found else { return Ok(sw_status::SW_EMPTY) };
        out.put(|| sw_event { transition: transition.into(), source: u32::from(source), reserved: 0 });
        Ok(sw_status::SW_OK)
    })
}
