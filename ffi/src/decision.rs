//! Refusals and changes of state as C sees them.

use core::ffi::c_char;

use core_seawall::{Cause, Instant, Layer, Reason, Rejection, State, Transition, When};

use crate::caller::Caller;
use crate::names;
use crate::status::sw_status;
use crate::text;

/// When it is worth asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum sw_when {
    /// There was no refusal.
    SW_WHEN_NOW = 0,
    /// At `at_ns` exactly, if nothing else happens: not before, and no later than one tick after.
    SW_WHEN_AT = 1,
    /// Never: the same question gets the same answer for ever.
    SW_WHEN_NEVER = 2,
    /// It depends on others; `at_ns` is an estimate and no promise.
    SW_WHEN_ESTIMATE = 3,
    /// It depends on others, and there is no estimate.
    SW_WHEN_UNKNOWN = 4,
}

/// A no: who, why and when. All zero when there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct sw_rejection {
    /// The instant that `when` speaks of, on the clock of `now_ns`; else 0.
    pub at_ns: u64,
    /// Who: an `enum sw_layer`; 0 when there was no refusal.
    pub layer: u32,
    /// Why: an `enum sw_reason`; 0 when there was no refusal.
    pub reason: u32,
    /// When to ask again: an `enum sw_when`.
    pub when: u32,
    /// 0.
    pub reserved: u32,
}

impl Default for sw_rejection {
    fn default() -> Self {
        Self { at_ns: 0, layer: 0, reason: 0, when: sw_when::SW_WHEN_NOW as u32, reserved: 0 }
    }
}

impl From<Rejection> for sw_rejection {
    fn from(rejection: Rejection) -> Self {
        let (when, at) = match rejection.when {
            When::At(at) => (sw_when::SW_WHEN_AT, at),
            When::Never => (sw_when::SW_WHEN_NEVER, Instant::ZERO),
            When::Depends { estimate: Some(at) } => (sw_when::SW_WHEN_ESTIMATE, at),
            _ => (sw_when::SW_WHEN_UNKNOWN, Instant::ZERO),
        };
        Self {
            at_ns: at.as_nanos(),
            layer: u32::from(rejection.layer.number()),
            reason: u32::from(rejection.reason.number()),
            when: when as u32,
            reserved: 0,
        }
    }
}

impl sw_rejection {
    pub(crate) fn of(rejection: Option<Rejection>) -> Self {
        rejection.map_or_else(Self::default, Self::from)
    }

    /// Back from numbers, which may be anything.
    fn core(&self) -> Option<Rejection> {
        let at = Instant::from_nanos(self.at_ns);
        let when = match self.when {
            n if n == sw_when::SW_WHEN_AT as u32 => When::At(at),
            n if n == sw_when::SW_WHEN_NEVER as u32 => When::Never,
            n if n == sw_when::SW_WHEN_ESTIMATE as u32 => When::Depends { estimate: Some(at) },
            n if n == sw_when::SW_WHEN_UNKNOWN as u32 => When::Depends { estimate: None },
            _ => return None,
        };
        let layer = Layer::from_number(u8::try_from(self.layer).ok()?)?;
        Some(Rejection::new(layer, Reason::from_number(u8::try_from(self.reason).ok()?)?, when))
    }
}

/// A refusal as a sentence, for people: "The circuit breaker is open; ask again in 17.7 s".
///
/// Writes at most `size` bytes with the NUL and returns the sentence's length without it, as snprintf
/// does; at most 160. `text` may be NULL when `size` is 0. For a struct that holds no refusal the
/// sentence is that of SW_ERR_VALUE, for NULL that of SW_ERR_NULL.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_explain(
    rejection: *const sw_rejection,
    now_ns: u64,
    text: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    let rejection = caller.read(rejection).and_then(|rejection| rejection.core().ok_or(sw_status::SW_ERR_VALUE));
    match rejection {
        Ok(rejection) => text::put(caller, text, size, rejection.explain(Instant::from_nanos(now_ns))),
        Err(error) => text::put(caller, text, size, names::sentence(error)),
    }
}

/// How long to wait from `now_ns` before asking again, exact or estimated: 0 when there was no
/// refusal, UINT64_MAX when it is never, not known, or `rejection` is NULL or holds no refusal that
/// this library makes.
///
/// Thread- and signal-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sw_retry_after_ns(rejection: *const sw_rejection, now_ns: u64) -> u64 {
    // SAFETY: the header's section "Pointers".
    let caller = unsafe { Caller::promises() };
    match caller.read(rejection) {
        Ok(rejection) if rejection == sw_rejection::default() => 0,
        Ok(rejection) => rejection
            .core()
            .and_then(|rejection| rejection.at())
            .map_or(u64::MAX, |at| at.as_nanos().saturating_sub(now_ns)),
        Err(_) => u64::MAX,
    }
}

/// A change of a circuit breaker's state. The call whose compare-and-swap made it reports it, exactly
/// once. `cause` is 0 when there was none, and so is everything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct sw_transition {
    /// When, on the clock of `now_ns`.
    pub at_ns: u64,
    /// Until when it is open; 0 in other states.
    pub until_ns: u64,
    /// The state before: an `enum sw_state`.
    pub from: u32,
    /// The state after: an `enum sw_state`.
    pub to: u32,
    /// Why: an `enum sw_cause`; 0 when there was no change.
    pub cause: u32,
    /// The generation after the change, 18 bits.
    pub generation: u32,
    /// How many calls were judged: the window, the failures in a row, or the settled trials.
    pub calls: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many of them were slow.
    pub slow: u32,
    /// How many times in a row it has reopened without closing, at most 15.
    pub reopened: u32,
    /// 1: jitter was asked for, but `r` was 0, so there is none. Else 0.
    pub unseeded: u32,
    /// 0.
    pub reserved: u32,
}

impl From<Transition> for sw_transition {
    fn from(transition: Transition) -> Self {
        Self {
            at_ns: transition.at.as_nanos(),
            until_ns: transition.until.map_or(0, Instant::as_nanos),
            from: transition.from as u32,
            to: transition.to as u32,
            cause: u32::from(transition.cause.number()),
            generation: transition.generation,
            calls: transition.calls,
            failed: transition.failed,
            slow: transition.slow,
            reopened: u32::from(transition.reopened),
            unseeded: u32::from(transition.unseeded),
            reserved: 0,
        }
    }
}

impl sw_transition {
    pub(crate) fn of(transition: Option<Transition>) -> Self {
        transition.map_or_else(Self::default, Self::from)
    }

    /// Back from numbers, which may be anything; `None` when there is no such state or cause.
    pub(crate) fn core(&self) -> Option<Transition> {
        let cause = Cause::from_number(u8::try_from(self.cause).ok()?)?;
        let mut transition =
            Transition::new(state(self.from)?, state(self.to)?, cause, Instant::from_nanos(self.at_ns));
        transition.until = (self.until_ns != 0).then(|| Instant::from_nanos(self.until_ns));
        transition.generation = self.generation;
        transition.calls = self.calls;
        transition.failed = self.failed;
        transition.slow = self.slow;
        transition.reopened = self.reopened.min(15) as u8;
        transition.unseeded = self.unseeded != 0;
        Some(transition)
    }
}

fn state(number: u32) -> Option<State> {
    let state = State::from_number(u64::from(number));
    (state as u32 == number).then_some(state)
}
