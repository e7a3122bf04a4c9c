//! What broke in other people's windows: each public report with its trigger, and the right behaviour
//! here.

mod common;

use common::{ms, secs};
use seawall::Outcome::{Failure, Success};
use seawall::{CircuitBreaker, CircuitBreakerConfig as Config, Instant, Outcome, Ratio, State, WindowWord};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

type Wide = CircuitBreaker<[WindowWord; 256]>;

fn wide(config: Config) -> Wide {
    CircuitBreaker::with_words(&config).unwrap_or_else(|error| panic!("{error}"))
}

fn span(seconds: u64) -> Config {
    Config::new().window_span(Duration::from_secs(seconds))
}

/// Both kinds of long window, each judging by half of at least ten calls.
fn both() -> [Config; 2] {
    [Config::new().window(100), span(100)]
}

fn settle(breaker: &CircuitBreaker<[WindowWord]>, calls: usize, outcome: Outcome, now: Instant) {
    for _ in 0..calls {
        breaker.admit(now).unwrap_or_else(|refused| panic!("{refused}")).settle(outcome, now, 0);
    }
}

// resilience4j#547
#[test]
fn old_failures_do_not_trip_it_again_after_a_recovery() {
    for config in both() {
        let breaker = wide(config.trials(1));
        settle(&breaker, 10, Failure, secs(0));
        assert_eq!(breaker.state(secs(0)), State::Open);
        settle(&breaker, 1, Success, secs(31));
        settle(&breaker, 9, Success, secs(31));
        settle(&breaker, 4, Failure, secs(31));
        assert_eq!(breaker.state(secs(31)), State::Closed, "four of thirteen: the ten before are forgotten");
    }
}

// resilience4j#1443: never trips below the minimum, and nothing says why
#[test]
fn too_few_calls_for_a_rate_are_said_to_be_too_few() {
    let breaker = wide(span(10).minimum_calls(50));
    for second in 0..100 {
        settle(&breaker, 4, Failure, secs(second));
        let snapshot = breaker.snapshot(secs(second)).expect("configured");
        assert_eq!((snapshot.state, snapshot.failure_rate_ppm), (State::Closed, None), "no rate: insufficient data");
        assert!(snapshot.calls <= 40);
    }
    // The count of failures has no minimum.
    breaker.configure(&span(10).failure_threshold(37)).expect("possible");
    settle(&breaker, 1, Failure, secs(100));
    assert_eq!(breaker.state(secs(100)), State::Open);
}

// resilience4j#2334, #2379: a window of one second ended in a null pointer
#[test]
fn a_window_of_one_second_works() {
    let breaker = wide(span(1));
    for instant in (0..30_000).step_by(200) {
        settle(&breaker, 1, Success, ms(instant));
        assert!((1..=5).contains(&breaker.snapshot(ms(instant)).expect("configured").calls));
    }
    settle(&breaker, 6, Failure, ms(30_000));
    assert_eq!(breaker.state(ms(30_000)), State::Open);
}

// resilience4j#2151: a lock around record(); here every call is counted, and no thread waits for another
#[test]
fn threads_record_without_a_lock_and_lose_nothing() {
    for (config, calls) in [(span(86_400), 40_000u32), (Config::new().window(1_000).minimum_calls(1_000), 1_000)] {
        let breaker = Arc::new(wide(config.failure_rate(Ratio::ONE)));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let breaker = Arc::clone(&breaker);
                thread::spawn(move || {
                    (0..10_000).for_each(|i| settle(&*breaker, 1, if i % 4 == 0 { Failure } else { Success }, secs(1)));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        let snapshot = breaker.snapshot(secs(1)).expect("configured");
        assert_eq!(snapshot.calls, calls);
        if calls == 40_000 {
            assert_eq!(snapshot.failed, 10_000);
        }
    }
}

// resilience4j#1034: buckets of one second only, so 300 s meant 300 buckets
#[test]
fn the_width_of_buckets_follows_the_span() {
    let breaker = wide(span(300));
    settle(&breaker, 1, Failure, secs(0));
    for second in [29, 150, 299] {
        assert_eq!(breaker.snapshot(secs(second)).map(|s| s.calls), Some(1));
    }
    assert_eq!(breaker.snapshot(secs(301)).map(|s| s.calls), Some(0));
}

// sentinel-golang#409, #533: "time behind BucketStart", statistics stop
#[test]
fn a_clock_that_went_back_stops_no_statistics() {
    let breaker = wide(span(10).minimum_calls(20));
    settle(&breaker, 10, Success, secs(1_000));
    for second in (940..1_000).rev() {
        settle(&breaker, 1, Failure, secs(second));
        if breaker.state(secs(second)) == State::Open {
            return;
        }
    }
    panic!("ten failures after ten successes are half of twenty");
}

// Polly: a jump of the wall clock forward wipes the window or closes it early, one backward prolongs the break
#[test]
fn only_time_that_passes_takes_calls_out_of_the_window() {
    let breaker = wide(span(10).minimum_calls(10).reset_after(Duration::from_secs(30)));
    settle(&breaker, 4, Failure, secs(100));
    settle(&breaker, 5, Success, secs(109));
    assert_eq!(breaker.snapshot(secs(109)).map(|s| s.failed), Some(4), "not one of them early");
    settle(&breaker, 1, Failure, secs(50));
    assert_eq!(breaker.state(secs(50)), State::Open, "half a minute back, and nothing was lost");
    let until = breaker.admit(secs(50)).expect_err("open").rejection.at().expect("an instant");
    assert!(until <= secs(81), "and the break is as long as stated");
}

// cockatiel#64, opossum#119: the rate falls below the threshold, and the failed probe does not reopen it
#[test]
fn a_failed_trial_reopens_it_whatever_the_rate_is() {
    for config in both() {
        let breaker = wide(config);
        settle(&breaker, 60, Success, secs(0));
        assert!(breaker.trip(secs(0), None, 0).is_some());
        settle(&breaker, 1, Failure, secs(31));
        assert_eq!(breaker.state(secs(31)), State::Open);
        settle(&breaker, 3, Success, secs(62));
        assert_eq!(breaker.state(secs(62)), State::Closed, "and it is no trap");
    }
}

// opossum#648: 80 to 300 MB a day at two calls a second; PR#830: push.apply on big windows
#[test]
fn a_window_takes_the_same_memory_however_many_calls_come() {
    assert_eq!(size_of::<CircuitBreaker<[WindowWord; 16]>>(), size_of::<CircuitBreaker>() + 16 * 8);
    let breaker = wide(span(10).buckets(60).failure_rate(Ratio::ONE));
    for tick in 0..200_000 {
        settle(&breaker, 1, Success, ms(tick * 7));
    }
    assert!(breaker.snapshot(ms(200_000 * 7)).expect("configured").calls <= 10_000 / 7 + 1);
}

// gobreaker: Interval clears all counts at once, so failures at its edge never add up
#[test]
fn failures_on_both_sides_of_any_boundary_add_up() {
    for start in 0..20 {
        let breaker = wide(span(10).failure_threshold(6));
        settle(&breaker, 3, Failure, secs(start));
        settle(&breaker, 3, Failure, secs(start + 8));
        assert_eq!(breaker.state(secs(start + 8)), State::Open, "six within nine seconds from {start} s");
    }
}

// Hystrix: health is looked at every 500 ms only (metrics.healthSnapshot.intervalInMilliseconds)
#[test]
fn every_outcome_is_judged_at_once() {
    let breaker = wide(span(10));
    settle(&breaker, 9, Failure, ms(0));
    let opened = breaker.admit(ms(0)).expect("closed").failure(ms(0), 0).transition;
    assert_eq!(opened.map(|change| change.to), Some(State::Open));
}

// resilience4j judges by 100 calls unless told otherwise; so many are exact here at every call
#[test]
fn the_hundred_and_first_call_takes_the_first_one_out() {
    let breaker = wide(Config::new().window(100).minimum_calls(100).failure_rate(Ratio::percent(50)));
    settle(&breaker, 49, Failure, ms(0));
    settle(&breaker, 51, Success, ms(0));
    settle(&breaker, 1, Failure, ms(0));
    assert_eq!(breaker.snapshot(ms(0)).map(|s| (s.calls, s.failed)), Some((100, 49)));
}
