//! The circuit breaker's specification, a sentence per test.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod by_hand;
mod clocked;
mod closed;
mod half_open;
mod live_configuration;
mod long_windows;
mod modes;
mod observation;
mod open;
mod span_windows;
mod stale_results;
mod time;

use common::{MS, S, UNIT, call, failures, millis, ms, ns, permit, secs, successes, words};
use seawall::Outcome::{Failure, FailureUntil, Ignored, Success};
use seawall::{
    Cause, CircuitBreaker, CircuitBreakerConfig as Config, Clocked, ExpiredTrials, Instant, ManualClock, Mode, Random,
    Ratio, Reason, Settlement, State, When,
};
use std::sync::Arc;
use std::time::Duration;

fn breaker(config: Config) -> CircuitBreaker {
    CircuitBreaker::new(&config).unwrap_or_else(|error| panic!("{error}"))
}

/// One failure opens it for a second.
fn one_second() -> Config {
    Config::consecutive(1).reset_after(Duration::from_secs(1))
}

/// A breaker of that configuration that is due at 1100 ms, after one failure at 0.
fn opened(config: Config) -> CircuitBreaker {
    let breaker = breaker(config);
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open);
    breaker
}

/// Why it refuses now, which it must.
fn refusal(breaker: &CircuitBreaker, now: Instant) -> seawall::Rejection {
    let before = words(breaker);
    let refused = breaker.admit(now).expect_err("a refusal");
    assert!(refused.transition.is_some() || words(breaker) == before, "a refusal writes nothing");
    refused.rejection
}
