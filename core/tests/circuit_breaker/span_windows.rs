//! Windows of time: the calls of a span are judged, in 10 to 60 buckets.

use super::*;
use seawall::{Outcome, WindowWord, bucket_words};

type Timed = CircuitBreaker<[WindowWord; 64]>;

fn timed(config: Config) -> Timed {
    CircuitBreaker::with_words(&config).unwrap_or_else(|error| panic!("{error}"))
}

/// Ten seconds in ten buckets; opens at half of at least ten calls.
fn ten_seconds() -> Config {
    Config::new().window_span(Duration::from_secs(10))
}

fn settle_all(breaker: &CircuitBreaker<[WindowWord]>, calls: usize, outcome: Outcome, now: Instant) {
    for _ in 0..calls {
        breaker.admit(now).unwrap_or_else(|refused| panic!("{refused}")).settle(outcome, now, 0);
    }
}

fn counts(breaker: &CircuitBreaker<[WindowWord]>, now: Instant) -> (u32, u32) {
    let snapshot = breaker.snapshot(now).expect("configured");
    (snapshot.calls, snapshot.failed)
}

#[test]
fn calls_leave_the_window_bucket_by_bucket() {
    let breaker = timed(ten_seconds().minimum_calls(1_000));
    for second in 0..30 {
        // As many calls as the number of the second says, of which one fails.
        settle_all(&breaker, second, Success, secs(second as u64));
        settle_all(&breaker, 1, Failure, secs(second as u64));
        let inside: usize = (second.saturating_sub(9)..=second).map(|second| second + 1).sum();
        assert_eq!(counts(&breaker, secs(second as u64)), (inside as u32, second.min(9) as u32 + 1));
    }
}

#[test]
fn figures_age_without_a_call() {
    let breaker = timed(ten_seconds());
    settle_all(&breaker, 4, Failure, secs(100));
    settle_all(&breaker, 5, Success, secs(105));
    assert_eq!(counts(&breaker, secs(109)), (9, 4));
    assert_eq!(counts(&breaker, secs(110)), (5, 0));
    assert_eq!(counts(&breaker, secs(115)), (0, 0));
}

#[test]
fn it_opens_with_the_call_that_reaches_the_rate() {
    let breaker = timed(ten_seconds());
    settle_all(&breaker, 5, Success, secs(0));
    settle_all(&breaker, 4, Failure, secs(9));
    let opened = breaker.admit(secs(9)).expect("closed").failure(secs(9), 0).transition.expect("half of ten");
    assert_eq!((opened.cause, opened.calls, opened.failed), (Cause::FailureRate, 10, 5));
    assert!(breaker.explain(secs(9)).starts_with("open: 5 of the last 10 calls failed"));
}

#[test]
fn a_success_that_completes_the_minimum_is_judged_too() {
    let breaker = timed(ten_seconds());
    settle_all(&breaker, 9, Failure, secs(0));
    assert_eq!(breaker.state(secs(0)), State::Closed);
    settle_all(&breaker, 1, Success, secs(0));
    assert_eq!(breaker.state(secs(0)), State::Open);
}

#[test]
fn so_many_failures_within_the_span_open_it_however_few_the_calls() {
    let breaker = timed(ten_seconds().failure_threshold(3));
    settle_all(&breaker, 2, Failure, secs(0));
    settle_all(&breaker, 2, Failure, secs(10));
    assert_eq!(breaker.state(secs(10)), State::Closed, "the first two have left");
    settle_all(&breaker, 1, Failure, secs(11));
    assert_eq!(breaker.state(secs(11)), State::Open);
}

#[test]
fn slow_calls_are_counted() {
    let breaker = timed(ten_seconds().slow_after(millis(5)).slow_rate(Ratio::percent(50)).minimum_calls(2));
    let breaker: &CircuitBreaker<[WindowWord]> = &breaker;
    assert!(breaker.admit(ms(0)).expect("closed").success(ms(5), 0).transition.is_none());
    let opened = breaker.admit(ms(0)).expect("closed").success(ms(6), 0).transition.expect("half was slow");
    assert_eq!((opened.cause, opened.calls, opened.slow), (Cause::SlowRate, 2, 1));
}

#[test]
fn the_dependency_may_say_when_it_will_be_back() {
    let breaker = timed(ten_seconds());
    let until = secs(20);
    let opened = breaker.admit(secs(1)).expect("closed").failure_until(until, secs(1), 0).transition.expect("told");
    assert_eq!((opened.cause, opened.calls, opened.failed), (Cause::RetryAfter, 1, 1));
}

#[test]
fn every_call_is_written_and_the_window_is_never_clean() {
    let breaker = timed(ten_seconds());
    settle_all(&breaker, 100, Success, secs(0));
    assert!(breaker.admit_clean().is_none());
    let before = words(&breaker);
    settle_all(&breaker, 1, Success, secs(0));
    let after = words(&breaker);
    assert_eq!(before.iter().zip(&after).filter(|(before, after)| before != after).count(), 1, "one bucket");
}

#[test]
fn a_new_window_knows_nothing_of_the_one_before() {
    let breaker = timed(ten_seconds().trials(1));
    for round in 0..40 {
        settle_all(&breaker, 10, Failure, secs(round));
        assert_eq!(breaker.state(secs(round)), State::Open);
        assert!(breaker.half_open(secs(round)).is_some());
        settle_all(&breaker, 1, Success, secs(round));
        assert_eq!((breaker.state(secs(round)), counts(&breaker, secs(round))), (State::Closed, (0, 0)));
        settle_all(&breaker, 1, Success, secs(round));
        assert_eq!(counts(&breaker, secs(round)), (1, 0));
        assert!(breaker.reset(secs(round)).is_some());
        assert_eq!(counts(&breaker, secs(round)), (0, 0));
    }
}

#[test]
fn the_shortest_the_longest_and_all_numbers_of_buckets_work() {
    for (span, buckets) in [(millis(10), 60), (millis(10), 10), (Duration::from_secs(86_400), 60), (millis(1_000), 37)]
    {
        let breaker = timed(Config::new().window_span(span).buckets(buckets).minimum_calls(100_000));
        let width = span.as_nanos() as u64 / buckets;
        for bucket in 0..3 * buckets {
            let now = ns(bucket * (width + width / 500_000 + 1));
            settle_all(&breaker, 1, Failure, now);
            assert_eq!(counts(&breaker, now).0 as u64, (bucket + 1).min(buckets), "{span:?} in {buckets}");
        }
    }
}

#[test]
fn counts_beyond_a_buckets_are_halved_and_the_rate_stays() {
    let breaker = timed(ten_seconds().minimum_calls(100_000).failure_rate(Ratio::percent(60)));
    for _ in 0..300_000 {
        settle_all(&breaker, 1, Success, secs(0));
        settle_all(&breaker, 1, Failure, secs(0));
    }
    let snapshot = breaker.snapshot(secs(0)).expect("configured");
    assert_eq!((snapshot.calls, snapshot.failed), (337_856, 168_928));
    assert_eq!(snapshot.failure_rate_ppm, Some(500_000));
    let opened = breaker.trip(secs(0), None, 0).expect("closed before");
    assert_eq!((opened.calls, opened.failed), (337_856, 168_928));
    assert!(breaker.explain(secs(0)).len() > 10);
}

#[test]
fn storage_is_asked_for_by_the_number_of_buckets() {
    assert_eq!([10, 16, 17, 32, 33, 60].map(bucket_words), [16, 16, 32, 32, 64, 64]);
    let error = CircuitBreaker::new(&ten_seconds()).unwrap_err().to_string();
    let text = "circuit_breaker.window_span: 10 s is not allowed; it must be left out (its buckets need storage)";
    assert_eq!(error, text);
    let error = CircuitBreaker::<[WindowWord; 16]>::with_words(&ten_seconds().buckets(17)).unwrap_err().to_string();
    assert_eq!(error, "circuit_breaker.buckets: 17 is not allowed; allowed are 10 to 16 (more need more storage)");
}

#[test]
fn a_window_is_of_calls_or_of_time() {
    let both = timed_error(ten_seconds().window(20));
    assert_eq!(both, "circuit_breaker.window: 20 is not allowed; it must be left out (window_span is given)");
    let alone = timed_error(Config::new().buckets(10));
    assert_eq!(alone, "circuit_breaker.buckets: 10 is not allowed; it must be left out (window_span is not given)");
}

fn timed_error(config: Config) -> String {
    Timed::with_words(&config).expect_err("impossible").to_string()
}

mod live_configuration {
    use super::*;

    #[test]
    fn other_thresholds_and_more_buckets_of_the_same_width_keep_the_window() {
        let breaker = timed(ten_seconds().minimum_calls(1_000));
        for second in 0..20 {
            settle_all(&breaker, 1, Failure, secs(second));
        }
        breaker.configure(&ten_seconds().minimum_calls(2_000)).expect("possible");
        assert_eq!(counts(&breaker, secs(19)), (10, 10));
        let twenty = Config::new().window_span(Duration::from_secs(20)).buckets(20).minimum_calls(1_000);
        breaker.configure(&twenty).expect("possible");
        assert_eq!(counts(&breaker, secs(19)), (20, 20), "they were the last 20 seconds");
        for _ in 0..8 {
            breaker.set_mode(Mode::Shadow).expect("configured");
        }
        assert_eq!(counts(&breaker, secs(19)), (20, 20), "whatever generation it is by now");
    }

    #[test]
    fn another_width_or_kind_begins_anew_and_makes_what_is_in_flight_stale() {
        let span = |seconds| Config::new().window_span(Duration::from_secs(seconds));
        for next in [span(20), Config::new().window(100), Config::new().window(20), Config::new()] {
            let breaker = timed(ten_seconds());
            settle_all(&breaker, 3, Failure, secs(0));
            let permit = breaker.admit(secs(0)).expect("closed");
            breaker.configure(&next).expect("possible");
            assert_eq!(counts(&breaker, secs(0)), (0, 0));
            assert_eq!(permit.failure(secs(0), 0).settlement, Settlement::Stale);
            let permit = breaker.admit(secs(0)).expect("closed");
            breaker.configure(&ten_seconds()).expect("possible");
            assert_eq!(counts(&breaker, secs(0)), (0, 0));
            assert_eq!(permit.failure(secs(0), 0).settlement, Settlement::Stale);
        }
    }
}

mod time {
    use super::*;

    #[test]
    fn a_clock_that_goes_back_a_little_counts_in_the_current_bucket() {
        let breaker = timed(ten_seconds().minimum_calls(1_000));
        settle_all(&breaker, 3, Failure, secs(100));
        settle_all(&breaker, 2, Failure, secs(60));
        assert_eq!(counts(&breaker, secs(60)), (5, 5));
        assert_eq!(counts(&breaker, secs(109)), (5, 5));
        assert_eq!(counts(&breaker, secs(110)), (0, 0));
    }

    #[test]
    fn a_clock_that_starts_anew_begins_a_new_window() {
        let breaker = timed(ten_seconds().minimum_calls(1_000));
        settle_all(&breaker, 3, Failure, secs(1_000_000));
        assert_eq!(counts(&breaker, secs(5)), (0, 0));
        settle_all(&breaker, 1, Failure, secs(5));
        assert_eq!(counts(&breaker, secs(5)), (1, 1));
        assert_eq!(counts(&breaker, secs(14)), (1, 1));
        assert_eq!(counts(&breaker, secs(15)), (0, 0));
    }

    #[test]
    fn the_last_instant_is_one_like_any_other() {
        let breaker = timed(Config::new().window_span(millis(10)).buckets(60));
        settle_all(&breaker, 3, Failure, Instant::MAX);
        assert_eq!(counts(&breaker, Instant::MAX), (3, 3));
    }
}
