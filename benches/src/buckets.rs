//! Token buckets in the states that are measured, and what is done to them.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, FakeRelativeClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use seawall::{Instant, ManualClock, TokenBucket, TokenBucketConfig};

const NOW: Instant = Instant::from_nanos(1 << 50);
/// The rate of a bucket that no sample empties.
pub const PER_SECOND: u32 = 1_000_000_000;

/// A bucket that no sample empties.
pub fn endless() -> TokenBucket {
    TokenBucket::new(&TokenBucketConfig::per_second(PER_SECOND.into(), (1 << 40) - 1), NOW).expect("possible")
}

/// A bucket that has just been emptied.
pub fn empty() -> TokenBucket {
    let bucket = TokenBucket::new(&TokenBucketConfig::per_second(1_000, 100), NOW).expect("possible");
    bucket.drain(NOW);
    bucket
}

/// Takes a token each time; a refusal's instant is worked out and used.
pub fn take(bucket: &TokenBucket, iterations: u64) -> u64 {
    repeat!(iterations, _ => match bucket.try_acquire(1, NOW) {
        Ok(_) => 1,
        Err(refused) => refused.at().map_or(0, Instant::as_nanos),
    })
}

/// A bucket and a clock that goes on by a token's worth with every call, as governor's fake one does.
#[derive(Debug)]
pub struct Ticking {
    bucket: TokenBucket,
    clock: ManualClock,
}

/// A token flows in with every tick.
pub fn ticking() -> Ticking {
    let bucket = TokenBucket::new(&TokenBucketConfig::per_second(1_000_000, 100), NOW).expect("possible");
    Ticking { bucket, clock: ManualClock::at(NOW) }
}

/// One tick, one token.
pub fn tick_and_take(ticking: &Ticking, iterations: u64) -> u64 {
    use seawall::Clock;
    repeat!(iterations, _ => {
        ticking.clock.advance(Duration::from_micros(1));
        u64::from(ticking.bucket.try_acquire(1, ticking.clock.now()).is_ok())
    })
}

/// Reserves a token and gives it back.
pub fn reserve_and_cancel(bucket: &TokenBucket, iterations: u64) -> u64 {
    repeat!(iterations, _ => match bucket.reserve(1, Duration::from_secs(1), NOW) {
        Ok(reservation) => bucket.cancel(reservation, NOW) as u64,
        Err(refused) => refused.at().map_or(0, Instant::as_nanos),
    })
}

/// Governor's limiter and the clock it looks at.
#[derive(Debug)]
pub struct Governor {
    limiter: RateLimiter<
        NotKeyed,
        InMemoryState,
        FakeRelativeClock,
        NoOpMiddleware<<FakeRelativeClock as governor::clock::Clock>::Instant>,
    >,
    clock: FakeRelativeClock,
}

/// Governor at this rate.
pub fn governor(per_second: u32, burst: u32) -> Governor {
    let clock = FakeRelativeClock::default();
    clock.advance(Duration::from_nanos(1 << 50));
    let count = |n| NonZeroU32::new(n).expect("not zero");
    let quota = Quota::per_second(count(per_second)).allow_burst(count(burst));
    Governor { limiter: RateLimiter::direct_with_clock(quota, clock.clone()), clock }
}

/// Governor with nothing left.
pub fn governor_empty() -> Governor {
    let governor = governor(1_000, 100);
    while governor.limiter.check().is_ok() {}
    governor
}

/// One cell each time; a refusal's instant is not asked for.
pub fn governor_take(governor: &Governor, iterations: u64) -> u64 {
    repeat!(iterations, _ => u64::from(governor.limiter.check().is_ok()))
}

/// As [`governor_take`], with the instant of a refusal, which governor works out when it is asked.
pub fn governor_take_with_instant(governor: &Governor, iterations: u64) -> u64 {
    repeat!(iterations, _ => match governor.limiter.check() {
        Ok(()) => 1,
        Err(refused) => refused.wait_time_from(governor.clock.now()).as_nanos() as u64,
    })
}

/// One tick, one cell.
pub fn governor_tick_and_take(governor: &Governor, iterations: u64) -> u64 {
    repeat!(iterations, _ => {
        governor.clock.advance(Duration::from_micros(1));
        u64::from(governor.limiter.check().is_ok())
    })
}
