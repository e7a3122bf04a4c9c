//! The token bucket's functions. A decision is `true`, or a number below 0: a refusal (see `refusal`). What
//! remains would cost a division, so it is told only when asked for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use seawall::{Grant, Instant, Refund, Rejection, Reservation, TokenBucket, TokenBucketConfig};

use crate::clock::{milliseconds, now};
use crate::handle::Kind;
use crate::node_api::{Argument, Call, Decision, Value, functions};
use crate::objects::{self, BUCKETS, Origin};
use crate::options::{change_error, config, open_error};
use crate::refusal;
use crate::slab::Slot;

type Bucket = Slot<TokenBucket>;

fn new(call: &Call<'_>) -> Result<u32, Value> {
    let config: TokenBucketConfig = config(call, 0)?;
    let clock = call.u32(1);
    let shared = call.text(2).map(|name| (name, Origin::Bucket(config)));
    let made = objects::open(shared, Kind::Bucket, clock, || {
        BUCKETS.add(|slot| {
            slot.clock.store(clock, Ordering::Relaxed);
            slot.state.init(&config, now(slot))
        })
    });
    let handle = made.map_err(|error| open_error(&error))?;
    call.environment.hold(handle);
    Ok(handle)
}

/// A cost as the TypeScript half has checked it: whole and not negative.
fn cost(call: &Call<'_>) -> u64 {
    call.f64(1).max(0.0) as u64
}

#[inline]
fn take(call: &Call<'_>, slot: &Bucket, cost: u64) -> Decision {
    let now = now(slot);
    decision(call, slot.state.try_acquire(cost, now), now)
}

#[inline]
fn decision(call: &Call<'_>, decided: Result<Grant, Rejection>, now: Instant) -> Decision {
    match decided {
        Ok(_) => Decision::Yes,
        Err(rejection) => Decision::No(refuse(call, &rejection, now)),
    }
}

fn refuse(call: &Call<'_>, rejection: &Rejection, now: Instant) -> f64 {
    call.environment.refused_at.set(rejection.at().unwrap_or_default());
    refusal::bucket(rejection, now)
}

/// The reservation's words, or a number: the refusal.
fn reserve(call: &Call<'_>, slot: &Bucket) -> Value {
    let now = now(slot);
    let longest = Duration::from_nanos(call.f64(2).max(0.0) as u64);
    match slot.state.reserve(cost(call), longest, now) {
        Ok(reservation) => Value::Object(vec![
            ("words", Value::List(reservation.to_words().map(Value::Whole).into())),
            ("at", Value::Number(milliseconds(reservation.at()))),
            ("wait", Value::Number(reservation.at().since(now).as_nanos() as f64)),
        ]),
        Err(rejection) => Value::Number(refuse(call, &rejection, now)),
    }
}

fn cancel(call: &Call<'_>, slot: &Bucket) -> &'static str {
    let mut words = [0; Reservation::WORDS];
    for (word, given) in words.iter_mut().zip(call.list(1)) {
        if let Argument::Whole(whole) = given {
            *word = whole;
        }
    }
    match slot.state.cancel(Reservation::from_words(words), now(slot)) {
        Refund::Full => "full",
        Refund::Part => "part",
        _ => "nothing",
    }
}

fn configure(call: &Call<'_>, slot: &Bucket) -> Result<(), Value> {
    let config: TokenBucketConfig = config(call, 1)?;
    slot.state.configure(&config, now(slot)).map_err(|error| change_error(&error))
}

functions! { FUNCTIONS:
    "bucketNew" bucket_new [3] => |call| Some(match new(call) {
        Ok(handle) => Value::from(handle),
        Err(error) => error,
    });
    "bucketAttach" bucket_attach [1] => |call| {
        objects::attach(Kind::Bucket, call.text(0)?).inspect(|&handle| call.environment.hold(handle))
    };
    "bucketTakeOne" bucket_take_one [1] on BUCKETS => |call, slot| take(call, slot, 1);
    "bucketTake" bucket_take [2] on BUCKETS => |call, slot| take(call, slot, cost(call));
    "bucketPeek" bucket_peek [2] on BUCKETS => |call, slot| {
        let now = now(slot);
        decision(call, slot.state.peek(cost(call), now), now)
    };
    "bucketRemaining" bucket_remaining [1] on BUCKETS => |_call, slot| {
        slot.state.peek(0, now(slot)).map_or(0.0, |grant| grant.remaining() as f64)
    };
    "bucketResetAfter" bucket_reset_after [1] on BUCKETS => |_call, slot| {
        slot.state.peek(0, now(slot)).map_or(0.0, |grant| grant.reset_after().as_nanos() as f64)
    };
    "bucketReserve" bucket_reserve [3] on BUCKETS => |call, slot| reserve(call, slot);
    "bucketCancel" bucket_cancel [2] on BUCKETS => |call, slot| cancel(call, slot);
    "bucketDrain" bucket_drain [1] on BUCKETS => |_call, slot| {
        slot.state.drain(now(slot));
        true
    };
    "bucketReset" bucket_reset [1] on BUCKETS => |_call, slot| {
        slot.state.reset(now(slot));
        true
    };
    "bucketConfigure" bucket_configure [2] on BUCKETS => |call, slot| match configure(call, slot) {
        Ok(()) => Value::Bool(true),
        Err(error) => error,
    };
}
