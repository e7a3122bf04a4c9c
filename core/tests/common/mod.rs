//! What the specification tests share.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

pub mod policy;

use std::time::Duration;

use seawall::{CircuitBreaker, Instant, Outcome, Permit, RetryBudget, Settled, TokenBucket, WindowWord};

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000_000_000;
/// Deadlines are kept in units of so many nanoseconds, rounded up.
pub const UNIT: u64 = 1 << 20;

pub fn ns(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

pub fn ms(millis: u64) -> Instant {
    ns(millis * MS)
}

pub fn secs(seconds: u64) -> Instant {
    ns(seconds * S)
}

pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A permit, which must be granted.
pub fn permit(breaker: &CircuitBreaker, now: Instant) -> Permit<&CircuitBreaker> {
    breaker.admit(now).unwrap_or_else(|refused| panic!("{refused} at {now:?}"))
}

/// A call asked for and settled in one instant.
pub fn call(breaker: &CircuitBreaker, outcome: Outcome, now: Instant) -> Settled {
    permit(breaker, now).settle(outcome, now, 0)
}

pub fn failures(breaker: &CircuitBreaker, count: usize, now: Instant) {
    for _ in 0..count {
        call(breaker, Outcome::Failure, now);
    }
}

pub fn successes(breaker: &CircuitBreaker, count: usize, now: Instant) {
    for _ in 0..count {
        call(breaker, Outcome::Success, now);
    }
}

/// A state that consists of 64-bit atomics, to be looked at from outside.
pub trait State {}
impl<const N: usize> State for CircuitBreaker<[WindowWord; N]> {}
impl State for TokenBucket {}
impl State for RetryBudget {}

/// All words of a state as they stand.
pub fn words<T: State>(state: &T) -> Vec<u64> {
    let first = std::ptr::from_ref(state).cast::<u64>();
    // SAFETY: a `State` is 64-bit words throughout, valid while it is borrowed, and no other thread has it.
    (0..size_of::<T>() / 8).map(|i| unsafe { first.wrapping_add(i).read_volatile() }).collect()
}

/// So many cases of each property, or as many as PROPTEST_CASES says.
pub fn cases(cases: u32) -> proptest::prelude::ProptestConfig {
    let default = proptest::prelude::ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    proptest::prelude::ProptestConfig { cases, failure_persistence: None, ..default }
}
