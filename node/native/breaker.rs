//! The circuit breaker's functions.
//!
//! An admission is one number: below 0 a refusal (see `refusal`), else the token's 32 bits and above
//! them [`TIMED`] and [`CHANGED`]. A settlement is 1 counted, 2 neutral or 3 stale, and [`SETTLED_CHANGED`].

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seawall::config::Config;
use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Rejection, Settlement, Snapshot, State, Token,
    Transition,
};

use crate::clock::{milliseconds, now, random};
use crate::handle::Kind;
use crate::node_api::{Argument, Call, Value, functions};
use crate::objects::{self, BREAKERS, Origin};
use crate::options::{change_error, config, open_error};
use crate::refusal;
use crate::slab::{self, Slot};

/// Added to a token: slowness counts, so whoever settles it should say when it was granted.
const TIMED: f64 = 4_294_967_296.0;
/// Added to a token: asking changed the state.
const CHANGED: f64 = 8_589_934_592.0;
/// Added to a settlement: it changed the state.
const SETTLED_CHANGED: u32 = 4;

/// Flags of a slot: `slow_after` is set; `reset_jitter` is, so that opening needs randomness.
const SLOT_TIMED: u32 = 1;
const SLOT_JITTERED: u32 = 2;

type Breaker = Slot<slab::Breaker>;

/// What the configuration needs besides the instant.
fn needs(config: &CircuitBreakerConfig) -> u32 {
    let given = |name| {
        let place = CircuitBreakerConfig::FIELDS.iter().position(|field| field.name == name);
        place.and_then(|place| Config::get(config, place)).unwrap_or(0) > 0
    };
    let timed = if given("slow_after") { SLOT_TIMED } else { 0 };
    let jittered = if given("reset_jitter") { SLOT_JITTERED } else { 0 };
    timed | jittered
}

/// Randomness, where it matters.
#[inline]
fn jitter(slot: &Breaker) -> u64 {
    if slot.flags.load(Ordering::Relaxed) & SLOT_JITTERED == 0 { 0 } else { random(slot) }
}

fn new(call: &Call<'_>) -> Result<u32, Value> {
    let config: CircuitBreakerConfig = config(call, 0)?;
    let clock = call.u32(1);
    let shared = call.text(2).map(|name| (name, Origin::Breaker(config)));
    let made = objects::open(shared, Kind::Breaker, clock, || {
        BREAKERS.add(|slot| {
            slot.clock.store(clock, Ordering::Relaxed);
            slot.flags.store(needs(&config), Ordering::Relaxed);
            slot.state.init(&config)
        })
    });
    let handle = made.map_err(|error| open_error(&error))?;
    call.environment.hold(handle);
    Ok(handle)
}

fn admit(call: &Call<'_>, slot: &Breaker) -> f64 {
    let now = now(slot);
    let admission = slot.state.try_admit(now, jitter(slot));
    let changed = admission.transition.is_some();
    if changed {
        call.environment.transition.set(admission.transition);
    }
    match admission.verdict {
        Ok(token) => {
            if token.is_bypass() {
                let code = |rejection: Rejection| (refusal::breaker(&rejection, false, now), rejection.at());
                call.environment.bypassed.set(admission.bypassed.map(code));
            }
            let timed = slot.flags.load(Ordering::Relaxed) & SLOT_TIMED != 0;
            f64::from(token.bits()) + if timed { TIMED } else { 0.0 } + if changed { CHANGED } else { 0.0 }
        }
        Err(rejection) => {
            call.environment.refused_at.set(rejection.at().unwrap_or_default());
            refusal::breaker(&rejection, changed, now)
        }
    }
}

/// The token at place 1; `None` for what no admission answers: a refusal above all, which is no evidence.
fn token(call: &Call<'_>) -> Option<Token> {
    let answer = call.f64(1);
    let granted = (0.0..CHANGED).contains(&answer) && answer.fract() == 0.0;
    // Its 32 bits; what stands above them is not the engine's.
    granted.then(|| Token::from_bits(answer as u64 as u32))
}

/// Settles the token at place 1 that was granted at `granted`, or now.
fn settle(call: &Call<'_>, slot: &Breaker, outcome: Outcome, granted: Option<Instant>, at: Instant) -> u32 {
    let Some(token) = token(call) else { return Settlement::Stale as u32 };
    let settled = slot.state.settle(token, outcome, granted.unwrap_or(at), at, jitter(slot));
    settled.settlement as u32 | changed(call, settled.transition, SETTLED_CHANGED)
}

/// Keeps a transition for `takeTransition`, and says so with `flag`.
fn changed(call: &Call<'_>, transition: Option<Transition>, flag: u32) -> u32 {
    if transition.is_none() {
        return 0;
    }
    call.environment.transition.set(transition);
    flag
}

/// When the call was granted: an instant (bigint), or so many nanoseconds ago (number).
fn granted(call: &Call<'_>, place: usize, now: Instant) -> Option<Instant> {
    match call.any(place) {
        Argument::Whole(nanos) => Some(Instant::from_nanos(nanos)),
        Argument::Number(elapsed) => Some(Instant::from_nanos(now.as_nanos().saturating_sub(elapsed.max(0.0) as u64))),
        _ => None,
    }
}

/// An instant to come (bigint), or so many nanoseconds from now (number).
fn until(call: &Call<'_>, place: usize, now: Instant) -> Option<Instant> {
    match call.any(place) {
        Argument::Whole(nanos) => Some(Instant::from_nanos(nanos)),
        Argument::Number(wait) => Some(now.after(Duration::from_nanos(wait.max(0.0).ceil() as u64))),
        _ => None,
    }
}

/// 0 success, 1 failure (until an instant, where one is given), else no verdict.
fn settle_with(call: &Call<'_>, slot: &Breaker) -> u32 {
    let at = now(slot);
    let outcome = match (call.u32(2), until(call, 4, at)) {
        (0, _) => Outcome::Success,
        (1, Some(until)) => Outcome::FailureUntil(until),
        (1, None) => Outcome::Failure,
        _ => Outcome::Ignored,
    };
    settle(call, slot, outcome, granted(call, 3, at), at)
}

fn configure(call: &Call<'_>, slot: &Breaker) -> Result<(), Value> {
    let config: CircuitBreakerConfig = config(call, 1)?;
    slot.state.configure(&config).map_err(|error| change_error(&error))?;
    slot.flags.store(needs(&config), Ordering::Relaxed);
    Ok(())
}

fn words(call: &Call<'_>) -> Option<crate::node_api::Made> {
    let (memory, bytes) = BREAKERS.chunk_of(call.u32(0))?;
    let allowed = call.u32(1) == 1;
    if allowed { call.external_buffer((memory.cast::<c_void>(), bytes)) } else { None }
}

functions! { FUNCTIONS:
    "breakerNew" breaker_new [3] => |call| Some(match new(call) {
        Ok(handle) => Value::from(handle),
        Err(error) => error,
    });
    "breakerAttach" breaker_attach [1] => |call| {
        objects::attach(Kind::Breaker, call.text(0)?).inspect(|&handle| call.environment.hold(handle))
    };
    "breakerWords" breaker_words [2] => |call| words(call);
    "breakerAdmit" breaker_admit [1] on BREAKERS => |call, slot| admit(call, slot);
    "breakerOk" breaker_ok [2] on BREAKERS => |call, slot| settle(call, slot, Outcome::Success, None, now(slot));
    "breakerFail" breaker_fail [2] on BREAKERS => |call, slot| settle(call, slot, Outcome::Failure, None, now(slot));
    "breakerIgnore" breaker_ignore [2] on BREAKERS => |call, slot| settle(call, slot, Outcome::Ignored, None, now(slot));
    "breakerSettle" breaker_settle [5] on BREAKERS => |call, slot| settle_with(call, slot);
    "breakerTrip" breaker_trip [2] on BREAKERS => |call, slot| {
        let at = now(slot);
        changed(call, slot.state.trip(at, until(call, 1, at), jitter(slot)), 1)
    };
    "breakerHalfOpen" breaker_half_open [1] on BREAKERS => |call, slot| changed(call, slot.state.half_open(now(slot)), 1);
    "breakerReset" breaker_reset [1] on BREAKERS => |call, slot| changed(call, slot.state.reset(now(slot)), 1);
    "breakerConfigure" breaker_configure [2] on BREAKERS => |call, slot| match configure(call, slot) {
        Ok(()) => Value::Bool(true),
        Err(error) => error,
    };
    "breakerSetMode" breaker_set_mode [2] on BREAKERS => |call, slot| {
        match slot.state.set_mode(Mode::from_number(call.u32(1).into())) {
            Ok(before) => Value::from(before as u32),
            Err(error) => change_error(&error),
        }
    };
    "breakerState" breaker_state [1] on BREAKERS => |_call, slot| slot.state.state(now(slot)) as u32;
    "breakerMode" breaker_mode [1] on BREAKERS => |_call, slot| slot.state.mode() as u32;
    "breakerNow" breaker_now [1] on BREAKERS => |_call, slot| now(slot).as_nanos();
    "breakerSnapshot" breaker_snapshot [1] on BREAKERS => |_call, slot| slot.state.snapshot(now(slot)).map(|s| snapshot(&s));
    "breakerExplain" breaker_explain [1] on BREAKERS => |_call, slot| Value::from(slot.state.explain(now(slot)).as_str());
    "takeTransition" take_transition [0] => |call| call.environment.transition.take().map(|t| transition(&t));
    "refusedAt" refused_at [0] => |call| Some(milliseconds(call.environment.refused_at.get()));
    "explainRefusal" explain_refusal [2] => |call| {
        let rejection = if call.u32(0) == 1 { refusal::of_breaker(call.f64(1)) } else { refusal::of_bucket(call.f64(1)) };
        Some(Value::from(rejection.explain(Instant::ZERO).as_str()))
    };
    "takeBypassed" take_bypassed [0] => |call| {
        let (code, at) = call.environment.bypassed.take()?;
        call.environment.refused_at.set(at.unwrap_or_default());
        Some(code)
    };
}

fn instant(at: Option<Instant>) -> Value {
    at.map_or(Value::Undefined, |at| Value::Number(milliseconds(at)))
}

fn nanos(at: Option<Instant>) -> Value {
    at.map_or(Value::Undefined, |at| Value::Whole(at.as_nanos()))
}

fn ratio(ppm: Option<u32>) -> Value {
    ppm.map_or(Value::Undefined, |ppm| Value::Number(f64::from(ppm) / 1e6))
}

fn transition(transition: &Transition) -> Value {
    Value::Object(vec![
        ("from", transition.from.name().into()),
        ("to", transition.to.name().into()),
        ("cause", transition.cause.name().into()),
        ("at", instant(Some(transition.at))),
        ("atNanos", nanos(Some(transition.at))),
        ("until", instant(transition.until)),
        ("untilNanos", nanos(transition.until)),
        ("generation", transition.generation.into()),
        ("calls", transition.calls.into()),
        ("failed", transition.failed.into()),
        ("slow", transition.slow.into()),
        ("reopened", u32::from(transition.reopened).into()),
        ("unseeded", Value::Bool(transition.unseeded)),
    ])
}

fn snapshot(snapshot: &Snapshot) -> Value {
    Value::Object(vec![
        ("state", snapshot.state.name().into()),
        ("mode", snapshot.mode.name().into()),
        ("generation", snapshot.generation.into()),
        ("calls", snapshot.calls.into()),
        ("failed", snapshot.failed.into()),
        ("slow", snapshot.slow.into()),
        ("failureRate", ratio(snapshot.failure_rate_ppm)),
        ("slowRate", ratio(snapshot.slow_rate_ppm)),
        ("trialsInFlight", snapshot.trials_in_flight.into()),
        ("trialsSucceeded", snapshot.trials_succeeded.into()),
        ("trials", snapshot.trials.into()),
        ("reopened", snapshot.reopened.into()),
        ("until", instant(snapshot.until)),
        ("untilNanos", nanos(snapshot.until)),
        ("cause", snapshot.cause.map(|cause| cause.name()).into()),
        ("changedAt", instant(snapshot.changed_at)),
        ("changedAtNanos", nanos(snapshot.changed_at)),
    ])
}

/// What the TypeScript half is made with: where and how to look for "clean", and names by number.
pub(crate) fn constants() -> Value {
    let check = CircuitBreaker::clean_check();
    let states = [State::Closed, State::Open, State::HalfOpen];
    let names = |names: &[&str]| Value::List(names.iter().map(|&name| name.into()).collect());
    Value::Object(vec![
        ("offset", Value::Number(check.offset as f64)),
        ("mask", check.mask.into()),
        ("value", check.value.into()),
        ("slotBytes", Value::Number(size_of::<Breaker>() as f64)),
        ("chunkSlots", Value::Number(crate::slab::CHUNK as f64)),
        ("indexBits", crate::handle::INDEX_BITS.into()),
        ("states", names(&states.map(State::name))),
        ("modes", names(Mode::NAMES)),
    ])
}
