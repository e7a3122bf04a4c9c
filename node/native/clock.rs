//! What an object goes by: the system's clock and randomness, or a manual clock that stands still
//! until told otherwise and yields the randomness it was given.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use seawall::{Clock, Instant, Random};
use seawall_host::MonotonicClock;

use crate::handle::Kind;
use crate::node_api::functions;
use crate::objects::{self, CLOCKS};
use crate::slab::{Blank, Slot};

/// A manual clock, and the randomness that goes with it.
pub(crate) struct Manual {
    now: AtomicU64,
    /// What the next operations get as randomness; 0 for none.
    random: AtomicU64,
}

// SAFETY: two atomics; zero is an instant, and "no randomness".
unsafe impl Blank for Manual {}

/// The present instant for an object that lies in `slot`.
#[inline]
pub(crate) fn now<T>(slot: &Slot<T>) -> Instant {
    now_of(slot.clock.load(Ordering::Relaxed))
}

/// The present instant of a clock: the system's where the handle is 0.
#[inline]
pub(crate) fn now_of(clock: u32) -> Instant {
    match clock {
        0 => MonotonicClock.now(),
        clock => manual(clock, |clock| &clock.now).map_or(Instant::ZERO, Instant::from_nanos),
    }
}

/// Randomness for an operation of an object that lies in `slot`.
pub(crate) fn random<T>(slot: &Slot<T>) -> u64 {
    random_of(slot.clock.load(Ordering::Relaxed))
}

/// Randomness that goes with a clock.
pub(crate) fn random_of(clock: u32) -> u64 {
    match clock {
        0 => system_random(),
        clock => manual(clock, |clock| &clock.random).unwrap_or(0),
    }
}

/// Without the system's randomness there is none, and transitions say so.
fn system_random() -> u64 {
    static RANDOM: OnceLock<Random> = OnceLock::new();
    RANDOM.get_or_init(|| seawall_host::seed().map_or(Random::unseeded(), Random::seeded)).next()
}

fn manual(clock: u32, word: impl Fn(&Manual) -> &AtomicU64) -> Option<u64> {
    CLOCKS.get(clock).map(|slot| word(&slot.state).load(Ordering::Relaxed))
}

/// An instant in milliseconds, as JavaScript counts time.
pub(crate) fn milliseconds(at: Instant) -> f64 {
    at.as_nanos() as f64 / 1e6
}

functions! { FUNCTIONS:
    "now" system_now [0] => |_call| Some(milliseconds(MonotonicClock.now()));
    "nowNanos" system_nanos [0] => |_call| Some(MonotonicClock.now().as_nanos());
    "clockNew" clock_new [1] => |call| {
        let start = call.u64(0).unwrap_or(0);
        let made = objects::open(None, Kind::Clock, 0, || {
            CLOCKS.add(|slot| {
                slot.state.now.store(start, Ordering::Relaxed);
                slot.state.random.store(0, Ordering::Relaxed);
                Ok::<(), ()>(())
            })
        });
        made.ok().inspect(|&handle| call.environment.hold(handle))
    };
    "clockNow" clock_now [1] on CLOCKS => |_call, slot| slot.state.now.load(Ordering::Relaxed);
    "clockSet" clock_set [2] on CLOCKS => |call, slot| {
        slot.state.now.store(call.u64(1).unwrap_or(0), Ordering::Relaxed);
    };
    "clockRandom" clock_random [2] on CLOCKS => |call, slot| {
        slot.state.random.store(call.u64(1).unwrap_or(0), Ordering::Relaxed);
    };
}
