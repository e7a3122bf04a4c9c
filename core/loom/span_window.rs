//! Windows of time, among threads: sixteen ring words, ten buckets of a second each.

use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

use seawall::{CircuitBreaker, CircuitBreakerConfig, Instant, Outcome, Settlement, State, WindowWord};

use super::harness::{ALL, Preemptions, bounded, join, model, rounds, spawn, stop_after};

type Timed = CircuitBreaker<[WindowWord; 16]>;

fn at(second: u64) -> Instant {
    Instant::from_nanos((1_000_000 + second) * 1_000_000_000)
}

/// Counts and never opens.
fn counting() -> CircuitBreakerConfig {
    opening_at(1_000_000)
}

fn opening_at(failures: u64) -> CircuitBreakerConfig {
    CircuitBreakerConfig::new()
        .window_span(Duration::from_secs(10))
        .failure_threshold(failures)
        .reset_after(Duration::from_secs(10))
}

/// A window that has begun, with one call in it.
fn begun(config: &CircuitBreakerConfig) -> Arc<Timed> {
    let breaker = Arc::new(Timed::with_words(config).expect("ten buckets take sixteen words"));
    record(&breaker, Outcome::Success, 0);
    breaker
}

fn record(breaker: &Timed, outcome: Outcome, second: u64) -> Option<seawall::Transition> {
    let token = breaker.try_admit(at(second), 0).verdict.ok()?;
    breaker.settle(token, outcome, at(second), at(second), 0).transition
}

fn count(breaker: &Timed, outcome: Outcome, second: u64) {
    record(breaker, outcome, second);
}

fn counts(breaker: &Timed, second: u64) -> (u32, u32) {
    let snapshot = breaker.snapshot(at(second)).expect("it is configured");
    (snapshot.calls, snapshot.failed)
}

#[test]
fn no_record_of_a_bucket_is_lost() {
    model("span_window::no_record_of_a_bucket_is_lost", Preemptions(Some(2), None), || {
        let breaker = begun(&counting());
        let fail = |breaker: &Timed| (0..rounds(1, 4)).for_each(|_| count(breaker, Outcome::Failure, 0));
        let threads = [spawn(&breaker, fail), spawn(&breaker, fail)];
        threads.into_iter().for_each(join);
        let failures = 2 * rounds(1, 4) as u32;
        assert_eq!(counts(&breaker, 0), (1 + failures, failures));
    });
}

#[test]
fn no_record_is_lost_when_a_bucket_is_entered() {
    model("span_window::no_record_is_lost_when_a_bucket_is_entered", Preemptions(Some(2), None), || {
        let breaker = begun(&counting());
        // The bucket to be entered carries calls of an earlier lap.
        let other = spawn(&breaker, |breaker: &Timed| count(breaker, Outcome::Failure, 1));
        record(&breaker, Outcome::Failure, 1);
        join(other);
        assert_eq!(counts(&breaker, 1), (3, 2));
    });
}

#[test]
fn no_record_is_lost_when_a_window_begins() {
    model("span_window::no_record_is_lost_when_a_window_begins", Preemptions(Some(1), Some(2)), || {
        let breaker = begun(&counting());
        record(&breaker, Outcome::Failure, 0);
        assert!(breaker.reset(at(0)).is_some());
        // Two that clear sixteen words each see the other's in 2^16 combinations of old values; in plain mode
        // the other looks only.
        let records = !cfg!(seawall_loom) || cfg!(seawall_loom_rmw);
        let other = spawn(&breaker, move |breaker: &Timed| match records {
            true => count(breaker, Outcome::Failure, 0),
            false => assert!(matches!(counts(breaker, 0), (0, 0) | (1, 1))),
        });
        record(&breaker, Outcome::Failure, 0);
        join(other);
        let new = 1 + u32::from(records);
        assert_eq!(counts(&breaker, 0), (new, new), "those of the new window, and none of the old");
    });
}

#[test]
fn an_opening_is_never_missed_and_seen_once() {
    // The two failures lie in different buckets: neither recorder's exchange meets the other's.
    model("span_window::an_opening_is_never_missed_and_seen_once", Preemptions(Some(2), None), || {
        let breaker = begun(&opening_at(2));
        let other = spawn(&breaker, |breaker: &Timed| record(breaker, Outcome::Failure, 1));
        let mine = record(&breaker, Outcome::Failure, 0);
        let changes = [mine, join(other)];
        let opened: Vec<_> = changes.iter().flatten().collect();
        assert_eq!((opened.len(), opened[0].to, opened[0].failed), (1, State::Open, 2));
    });
}

#[test]
fn a_record_from_before_a_reset_never_counts_after_it() {
    model("span_window::a_record_from_before_a_reset_never_counts_after_it", Preemptions(Some(2), None), || {
        let breaker = begun(&counting());
        let token = breaker.try_admit(at(0), 0).verdict.expect("closed");
        let late =
            spawn(&breaker, move |breaker: &Timed| breaker.settle(token, Outcome::Failure, at(0), at(0), 0).settlement);
        assert!(breaker.reset(at(0)).is_some());
        record(&breaker, Outcome::Success, 0);
        // Counted in the window that the reset closed, or stale.
        assert!(matches!(join(late), Settlement::Counted | Settlement::Stale));
        assert_eq!(counts(&breaker, 0), (1, 0));
    });
}

#[test]
fn one_that_wakes_a_lap_later_counts_once() {
    model("span_window::one_that_wakes_a_lap_later_counts_once", Preemptions(Some(1), Some(2)).but_plain(0), || {
        let breaker = begun(&counting());
        let late = spawn(&breaker, |breaker: &Timed| count(breaker, Outcome::Failure, 1));
        for second in 1..=16 {
            record(&breaker, Outcome::Success, second);
        }
        join(late);
        let (calls, failed) = counts(&breaker, 16);
        assert_eq!(calls, 10 + failed, "ten successes, and the late one where it was recorded");
        assert!(failed <= 1);
    });
}

#[test]
fn a_record_stopped_anywhere_stops_nobody() {
    for stop in 0..48 {
        model("span_window::a_record_stopped_anywhere_stops_nobody", ALL, move || {
            let breaker = begun(&counting());
            let stopped = spawn(&breaker, move |breaker: &Timed| {
                stop_after(stop, || record(breaker, Outcome::Failure, 1));
            });
            join(stopped);
            bounded(80, || record(&breaker, Outcome::Success, 1));
            let (calls, failed) = counts(&breaker, 1);
            assert!(failed <= 1 && calls == 2 + failed, "{failed} of {calls}");
        });
    }
}

#[test]
fn a_change_of_buckets_loses_no_record() {
    model("span_window::a_change_of_buckets_loses_no_record", Preemptions(Some(2), None), || {
        let breaker = begun(&counting());
        let other = spawn(&breaker, |breaker: &Timed| count(breaker, Outcome::Failure, 1));
        let more = counting().window_span(Duration::from_secs(16)).buckets(16);
        assert!(breaker.configure(&more).is_ok());
        join(other);
        assert_eq!(counts(&breaker, 1), (2, 1));
    });
}
