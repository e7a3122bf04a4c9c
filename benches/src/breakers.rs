//! Circuit breakers in the states that are measured, and what is done to them.
//!
//! The peers read the clock themselves where they need it; seawall is told the time, as a face that
//! has read it once would tell it.

use std::time::Duration;

use failsafe::failure_policy::{ConsecutiveFailures, consecutive_failures};
use failsafe::{CircuitBreaker as _, StateMachine, backoff};
use recloser::Recloser;
use seawall::{CircuitBreaker, CircuitBreakerConfig, Instant, Ratio, Settlement, WindowWord, WindowWords};

const NOW: Instant = Instant::from_nanos(1 << 50);

/// The last 20 calls, all of them good: nothing is left to learn.
pub fn healthy() -> CircuitBreaker {
    let config = CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).window(20);
    let breaker = CircuitBreaker::new(&config).expect("a possible configuration");
    for _ in 0..20 {
        breaker.admit(NOW).expect("closed").success(NOW, 0);
    }
    breaker
}

/// A breaker with sixteen words for its window: 100 calls, or ten buckets of time.
pub type Wide = CircuitBreaker<[WindowWord; 16]>;

/// The last 100 calls, all of them good.
pub fn hundred() -> Wide {
    wide(&CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).window(100))
}

/// The calls of ten seconds in ten buckets, all of them good.
pub fn ten_seconds() -> Wide {
    wide(&CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).window_span(Duration::from_secs(10)))
}

fn wide(config: &CircuitBreakerConfig) -> Wide {
    let breaker = Wide::with_words(config).expect("a possible configuration");
    for _ in 0..100 {
        breaker.admit(NOW).expect("closed").success(NOW, 0);
    }
    breaker
}

/// As [`calls`].
pub fn wide_calls<const NTH: u64>(breaker: &Wide, iterations: u64) -> u64 {
    repeat!(iterations, i => call(breaker, works::<NTH>(i)))
}

/// Open for half a minute.
pub fn open() -> CircuitBreaker {
    let breaker = healthy();
    breaker.trip(NOW, None, 0);
    breaker
}

/// Half-open, with as many trials as there can be.
pub fn half_open() -> CircuitBreaker {
    let config = CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).trials(15);
    let breaker = CircuitBreaker::new(&config).expect("a possible configuration");
    breaker.half_open(NOW);
    breaker
}

/// One call; the number is what keeps the compiler honest.
#[inline(always)]
fn call<S: WindowWords + ?Sized>(breaker: &CircuitBreaker<S>, works: bool) -> u64 {
    match breaker.admit(NOW) {
        Ok(permit) => {
            let settled = if works { permit.success(NOW, 0) } else { permit.failure(NOW, 0) };
            u64::from(settled.settlement == Settlement::Counted)
        }
        Err(refused) => refused.rejection.at().map_or(0, Instant::as_nanos),
    }
}

/// Calls of which every `NTH` fails; 0 for none.
pub fn calls<const NTH: u64>(breaker: &CircuitBreaker, iterations: u64) -> u64 {
    repeat!(iterations, i => call(breaker, works::<NTH>(i)))
}

#[inline(always)]
fn works<const NTH: u64>(i: u64) -> bool {
    NTH == 0 || !i.is_multiple_of(NTH)
}

/// A trial that is taken and given back.
pub fn trial(breaker: &CircuitBreaker, iterations: u64) -> u64 {
    repeat!(iterations, _ => match breaker.admit(NOW) {
        Ok(permit) => u64::from(permit.ignore(NOW).settlement == Settlement::Neutral),
        Err(refused) => refused.rejection.at().map_or(0, Instant::as_nanos),
    })
}

/// Recloser with the same settings, closed or open.
pub fn recloser(healthy: bool) -> Recloser {
    recloser_of(20, healthy)
}

/// Recloser that judges the last 100 calls.
pub fn recloser_hundred() -> Recloser {
    recloser_of(100, true)
}

fn recloser_of(window: usize, healthy: bool) -> Recloser {
    let custom = Recloser::custom().error_rate(0.5).closed_len(window).half_open_len(3);
    let breaker = custom.open_wait(Duration::from_secs(3600)).build();
    for _ in 0..=window {
        let _ = breaker.call(|| if healthy { Ok(()) } else { Err(()) });
    }
    breaker
}

/// As [`calls`].
pub fn recloser_calls<const NTH: u64>(breaker: &Recloser, iterations: u64) -> u64 {
    repeat!(iterations, i => {
        let outcome = breaker.call(|| if works::<NTH>(i) { Ok(i) } else { Err(i) });
        u64::from(outcome.is_ok())
    })
}

/// Failsafe, opening after five failures in a row.
pub type Failsafe = StateMachine<ConsecutiveFailures<backoff::Constant>, ()>;

/// Failsafe, closed or open.
pub fn failsafe(healthy: bool) -> Failsafe {
    let policy = consecutive_failures(5, backoff::constant(Duration::from_secs(3600)));
    let breaker = failsafe::Config::new().failure_policy(policy).build();
    for _ in 0..5 {
        let _ = breaker.call(|| if healthy { Ok(()) } else { Err(()) });
    }
    breaker
}

/// As [`calls`].
pub fn failsafe_calls<const NTH: u64>(breaker: &Failsafe, iterations: u64) -> u64 {
    repeat!(iterations, i => {
        let outcome = breaker.call(|| if works::<NTH>(i) { Ok(i) } else { Err(i) });
        u64::from(outcome.is_ok())
    })
}
