//! The rules of retrying, the timeouts and the deadline: their specification.

mod common;

use std::time::Duration;

use common::policy::{retry, rules};
use common::{millis, ms};
use seawall::{
    Deadline, Evidence, Failure, Idempotent, Instant, OnRetryAfter, Reason, Retry, RetryConfig, Timeouts,
    TimeoutsConfig, Verdict, When, classify_status,
};

#[test]
fn the_classification_table() {
    for (statuses, retryable, breaker) in [
        (vec![100, 200, 204, 301, 304, 399], false, Evidence::Success),
        (vec![400, 401, 404, 408, 409, 422, 499], false, Evidence::Ignored),
        (vec![429], true, Evidence::Ignored),
        (vec![500, 501, 505, 599], false, Evidence::Failure),
        (vec![502, 503, 504], true, Evidence::Failure),
        (vec![0, 99, 600, u16::MAX], false, Evidence::Failure),
    ] {
        for status in statuses {
            let verdict = classify_status(status);
            assert_eq!((verdict.retryable, verdict.breaker), (retryable, breaker), "{status}");
            assert_eq!(verdict.after_wait, status == 429, "{status}");
        }
    }
}

#[test]
fn own_refusals_and_cancellation_are_final_and_no_evidence() {
    for failure in [Failure::OwnRefusal, Failure::Cancelled, Failure::InheritedDeadline] {
        assert_eq!(failure.verdict(), Verdict::NOT_ITS_FAULT, "{failure}");
    }
    for failure in [Failure::Timeout, Failure::Connection, Failure::Transient] {
        assert_eq!(failure.verdict(), Verdict::TRANSIENT, "{failure}");
    }
}

#[test]
fn idempotency_must_be_stated() {
    let error = Retry::new(&RetryConfig::new()).unwrap_err();
    assert!(error.to_string().starts_with("retry.idempotent"), "{error}");
    for (stated, may) in [(Idempotent::Yes, true), (Idempotent::No, false), (Idempotent::ByKey, true)] {
        assert_eq!(retry(RetryConfig::new().idempotent(stated)).may_repeat(), may);
    }
}

#[test]
fn no_attempt_at_all_is_refused() {
    let error = Retry::new(&rules().attempts(0)).unwrap_err();
    assert_eq!(error.to_string(), "retry.attempts: 0 is not allowed; allowed are 1 to 1000000");
    assert_eq!(retry(rules()).attempts(), 3, "in all, the first included");
}

#[test]
fn the_pause_is_never_shorter_than_what_was_told() {
    let rule = retry(rules());
    let (short, long) = (millis(100), millis(900));
    assert_eq!(rule.pause(None, short, true), Some(short));
    assert_eq!(rule.pause(Some(long), short, true), Some(millis(1_000)), "the draw on top, so that it spreads");
    assert_eq!(rule.pause(Some(short), long, true), Some(millis(1_000)));
    assert_eq!(rule.pause(Some(long), short, false), Some(long), "without jitter, the longer of the two");
    assert_eq!(rule.pause(Some(short), long, false), Some(long));
    assert_eq!(rule.pause(Some(Duration::from_secs(60)), short, false), Some(Duration::from_secs(60)));
    assert_eq!(rule.pause(Some(millis(60_001)), short, false), None, "longer than anybody waits");
    assert_eq!(rule.pause(Some(Duration::MAX), short, true), None);
}

#[test]
fn the_named_modes_differ_as_their_sources_do() {
    let mode = |on| retry(rules().on_retry_after(on));
    let (drawn, told) = (millis(100), millis(900));
    assert_eq!(mode(OnRetryAfter::Fail).pause(Some(told), drawn, true), None);
    assert_eq!(mode(OnRetryAfter::Fail).pause(None, drawn, true), Some(drawn));
    assert_eq!(mode(OnRetryAfter::Grpc).pause(Some(told), drawn, true), Some(told), "exactly");
    let aws = mode(OnRetryAfter::Aws);
    assert_eq!(aws.pause(Some(told), drawn, true), Some(told));
    assert_eq!(aws.pause(Some(millis(1)), drawn, true), Some(drawn));
    assert_eq!(aws.pause(Some(Duration::MAX), drawn, true), Some(millis(5_100)));
}

#[test]
fn each_timeout_must_be_stated_and_zero_states_none() {
    let all = TimeoutsConfig::new().connect(millis(0)).attempt(millis(0)).total(millis(0));
    assert_eq!(Timeouts::new(&all), Ok(Timeouts::NONE));
    for (config, missing) in [
        (TimeoutsConfig::new().attempt(millis(1)).total(millis(1)), "timeouts.connect"),
        (TimeoutsConfig::new().connect(millis(1)).total(millis(1)), "timeouts.attempt"),
        (TimeoutsConfig::new().connect(millis(1)).attempt(millis(1)), "timeouts.total"),
    ] {
        let error = Timeouts::new(&config).unwrap_err().to_string();
        assert!(error.starts_with(missing), "{error}");
    }
}

#[test]
fn a_timeout_that_its_surroundings_would_cut_short_is_refused() {
    let stated = |connect, attempt, total| {
        let config = TimeoutsConfig::new().connect(millis(connect)).attempt(millis(attempt)).total(millis(total));
        Timeouts::new(&config).map(|_| ()).map_err(|error| error.field.name)
    };
    assert_eq!(stated(200, 1_000, 3_000), Ok(()));
    assert_eq!(stated(200, 3_001, 3_000), Err("attempt"));
    assert_eq!(stated(1_001, 1_000, 3_000), Err("connect"));
    assert_eq!(stated(3_001, 0, 3_000), Err("connect"));
    assert_eq!(stated(9_000, 9_000, 0), Ok(()), "no total, no bound");
}

#[test]
fn a_deadline_says_what_remains_and_refuses_what_will_not_fit() {
    let deadline = Deadline::after(ms(1_000), millis(300));
    assert_eq!(deadline.instant(), ms(1_300));
    assert_eq!(deadline.remaining(ms(1_100)), millis(200));
    assert_eq!(deadline.remaining(ms(2_000)), millis(0));
    assert_eq!(deadline.check(ms(1_100), millis(200)), Ok(millis(200)));
    for (now, expected, reason) in
        [(1_100, 201, Reason::WontFinish), (1_300, 0, Reason::DeadlineExceeded), (1_301, 9, Reason::DeadlineExceeded)]
    {
        let refused = deadline.check(ms(now), millis(expected)).unwrap_err();
        assert_eq!((refused.reason, refused.when), (reason, When::Never));
    }
}

#[test]
fn no_deadline_is_never_reached_and_never_shrinks() {
    let never = Deadline::NEVER;
    assert!(never.is_never());
    assert_eq!(never.remaining(Instant::MAX), Duration::MAX);
    assert_eq!(never.check(Instant::MAX, Duration::MAX), Ok(Duration::MAX));
    assert_eq!(never.shrunk_by(millis(5)), never);
    assert_eq!(Deadline::at(ms(9)).shrunk_by(millis(5)), Deadline::at(ms(4)));
    assert_eq!(Deadline::at(ms(9)).shrunk_by(Duration::MAX), Deadline::at(ms(0)));
    assert_eq!(never.earlier(Deadline::at(ms(9))), Deadline::at(ms(9)));
    assert_eq!(Deadline::at(ms(9)).earlier(never), Deadline::at(ms(9)));
}
