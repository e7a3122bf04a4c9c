//! Closed: calls pass, and their outcomes are judged.

use super::*;

#[test]
fn calls_pass_and_five_failures_in_a_row_open_it() {
    let breaker = breaker(Config::new());
    failures(&breaker, 4, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Closed);
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open);
}

#[test]
fn a_success_starts_the_count_anew() {
    let breaker = breaker(Config::consecutive(2));
    for _ in 0..10 {
        failures(&breaker, 1, ms(0));
        successes(&breaker, 1, ms(0));
    }
    assert_eq!(breaker.state(ms(0)), State::Closed);
}

#[test]
fn an_ignored_call_is_no_evidence_either_way() {
    let breaker = breaker(Config::consecutive(2));
    failures(&breaker, 1, ms(0));
    assert_eq!(call(&breaker, Ignored, ms(0)).settlement, Settlement::Neutral);
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open);
}

#[test]
fn dropping_a_permit_is_neutral() {
    let breaker = breaker(Config::consecutive(1));
    let before = words(&breaker);
    drop(permit(&breaker, ms(0)));
    assert_eq!(words(&breaker), before);
}

#[test]
fn rate_mode_opens_at_half_of_the_last_twenty_and_not_before_ten() {
    let breaker = breaker(Config::new().failure_rate(Ratio::percent(50)));
    failures(&breaker, 9, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Closed);
    assert_eq!(breaker.snapshot(ms(0)).unwrap().failure_rate_ppm, None, "nine calls are no rate");
    let settled = call(&breaker, Failure, ms(0));
    assert_eq!(settled.transition.map(|t| (t.cause, t.failed, t.calls)), Some((Cause::FailureRate, 10, 10)));
}

#[test]
fn the_window_holds_the_last_calls_only() {
    for window in 2..=20 {
        let breaker = breaker(Config::new().window(window).minimum_calls(1).failure_rate(Ratio::ONE));
        successes(&breaker, 1, ms(0));
        failures(&breaker, window as usize - 1, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Closed, "one of {window} succeeded");
        failures(&breaker, 1, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Open, "the success has left a window of {window}");
    }
}

#[test]
fn so_many_failures_of_the_last_calls_open_it_however_few_there_were() {
    let three_of_ten = Config::new().failure_threshold(3).window(10);
    let breaker = breaker(three_of_ten);
    failures(&breaker, 2, ms(0));
    successes(&breaker, 8, ms(0));
    failures(&breaker, 2, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Closed, "the first two have left the window");
    let opened = permit(&breaker, ms(0)).failure(ms(0), 0).transition.expect("it opens");
    assert_eq!((opened.cause, opened.failed, opened.calls), (Cause::FailureThreshold, 3, 10));
    assert!(breaker.explain(ms(0)).starts_with("open: 3 of the last 10 calls failed"));

    let breaker = self::breaker(three_of_ten);
    failures(&breaker, 3, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open, "three calls are enough");

    let both = self::breaker(three_of_ten.failure_rate(Ratio::percent(20)));
    successes(&both, 8, ms(0));
    failures(&both, 2, ms(0));
    assert_eq!(both.state(ms(0)), State::Open, "the rate counts too where it is given");
}

#[test]
fn shares_are_compared_exactly() {
    for (failed, calls, ppm, opens) in [
        (1, 3, 333_333, true),
        (1, 3, 333_334, false),
        (2, 3, 666_666, true),
        (2, 3, 666_667, false),
        (10, 20, 500_000, true),
    ] {
        let breaker = breaker(Config::new().window(calls).minimum_calls(calls).failure_rate(Ratio::ppm(ppm)));
        failures(&breaker, failed, ms(0));
        successes(&breaker, calls as usize - failed, ms(0));
        assert_eq!(breaker.state(ms(0)) == State::Open, opens, "{failed} of {calls} at {ppm} ppm");
    }
}

#[test]
fn slow_calls_open_it_where_slow_after_is_set() {
    let config = Config::new().window(4).minimum_calls(4).slow_after(millis(100)).slow_rate(Ratio::percent(50));
    let breaker = breaker(config);
    for (took, worked) in [(100, true), (101, true), (100, true)] {
        let permit = permit(&breaker, ms(0));
        assert!(worked && permit.success(ms(took), 0).transition.is_none());
    }
    let settled = permit(&breaker, ms(0)).success(ms(500), 0);
    assert_eq!(settled.transition.map(|t| (t.cause, t.slow, t.failed)), Some((Cause::SlowRate, 2, 0)));
}

#[test]
fn in_consecutive_mode_a_slow_success_is_a_failure() {
    let breaker = breaker(Config::consecutive(2).slow_after(millis(100)));
    for opens in [false, true] {
        let settled = permit(&breaker, ms(0)).success(ms(101), 0);
        assert_eq!(settled.transition.is_some(), opens);
    }
}

#[test]
fn a_window_full_of_successes_is_left_alone() {
    let breaker = breaker(Config::new().window(20));
    successes(&breaker, 20, ms(0));
    let before = words(&breaker);
    for call in 0..1000 {
        successes(&breaker, 1, ms(call));
    }
    assert_eq!(words(&breaker), before, "the healthy path writes nothing");
    assert!(breaker.admit_clean().is_some());
}

#[test]
fn a_window_is_clean_when_it_is_full_of_successes_and_not_before() {
    for window in 2..=20 {
        let breaker = breaker(Config::new().window(window));
        for calls in 1..=window {
            assert!(breaker.admit_clean().is_none(), "{calls} of {window} calls are still to come");
            successes(&breaker, 1, ms(0));
            assert_eq!(u64::from(breaker.snapshot(ms(0)).unwrap().calls), calls);
        }
        assert!(breaker.admit_clean().is_some());
    }
}

#[test]
fn the_dependency_may_say_when_it_will_be_back() {
    let breaker = breaker(Config::consecutive(1_000_000));
    let settled = call(&breaker, FailureUntil(secs(100)), secs(1));
    assert_eq!(settled.transition.map(|t| t.cause), Some(Cause::RetryAfter));
    let at = refusal(&breaker, secs(2)).at().unwrap();
    assert!(at >= secs(100) && at.since(secs(100)) < Duration::from_nanos(UNIT));
}

#[test]
fn what_it_says_is_cut_at_max_retry_after() {
    let breaker = breaker(Config::new().max_retry_after(Duration::from_secs(60)));
    let settled = call(&breaker, FailureUntil(Instant::MAX), secs(1));
    let until = settled.transition.and_then(|t| t.until).unwrap();
    assert!(until >= secs(61) && until.since(secs(61)) < Duration::from_nanos(UNIT));
}

#[test]
fn an_instant_that_has_passed_makes_it_an_ordinary_failure() {
    let breaker = breaker(Config::consecutive(2));
    for until in [ms(0), ms(10)] {
        assert_eq!(breaker.state(ms(10)), State::Closed);
        call(&breaker, FailureUntil(until), ms(10));
    }
    assert_eq!(breaker.snapshot(ms(10)).unwrap().cause, Some(Cause::FailureThreshold));
}
