//! The policy's specification: attempts, results, endings.

mod common;

use common::policy::{
    attempt, bare, down, ends, goes_out, plain_backoff, retry, rules, started, steps, three, timeouts, waits,
};
use common::{millis, ms, ns};
use seawall::policy::{Call, Cut, End, Ending, Finish, Pause, Policy, PolicyConfig, Receipt, Step, Told};
use seawall::{Deadline, Failure, Idempotent, Instant, OnRetryAfter, Timeouts, Verdict};

#[test]
fn a_success_is_the_answer() {
    let (policy, mut call) = (three(), started());
    let first = goes_out(&mut call, &policy, ms(0));
    assert_eq!((first.attempt, first.until, first.after), (1, Instant::MAX, None));
    assert_eq!(call.finished(1, Finish::success()), Receipt::Taken);
    let ending = ends(&mut call, &policy, ms(5));
    assert_eq!((ending.end, ending.attempt, ending.attempts), (End::Success, 1, 1));
    assert_eq!((ending.failure, ending.rejection), (None, None));
}

#[test]
fn attempts_are_total_and_nothing_is_slept_after_the_last() {
    let (policy, mut call) = (three(), started());
    for (number, at, pause) in [(1, 0, 100), (2, 100, 200)] {
        let out = goes_out(&mut call, &policy, ms(at));
        assert_eq!(out.attempt, number);
        call.finished(number, down());
        assert_eq!(waits(&mut call, &policy, ms(at)), ms(at + pause));
    }
    let third = goes_out(&mut call, &policy, ms(300));
    assert_eq!((third.attempt, third.waited, third.after), (3, millis(200), Some(Failure::Connection)));
    call.finished(3, down());
    let ending = ends(&mut call, &policy, ms(300));
    assert_eq!((ending.end, ending.attempt, ending.attempts), (End::AttemptsUsedUp, 3, 3));
    assert_eq!(ending.failure, Some(Failure::Connection));
}

#[test]
fn nothing_goes_out_before_a_pause_is_over() {
    let (policy, mut call) = (three(), started());
    attempt(&mut call, &policy, down(), ms(0));
    for now in [0, 1, 99] {
        let said = steps(&mut call, &policy, ms(now));
        assert_eq!(said, [Step::Wait { until: ms(100), ticket: 1, pause: Pause::Backoff }], "at {now} ms");
    }
    assert_eq!(goes_out(&mut call, &policy, ms(100)).attempt, 2);
}

#[test]
fn a_pause_may_be_cut_short_unless_it_was_told() {
    let (policy, mut call) = (three(), started());
    attempt(&mut call, &policy, down(), ms(0));
    waits(&mut call, &policy, ms(0));
    assert_eq!(call.woken(2), Receipt::Stale, "no such pause");
    assert_eq!(call.woken(1), Receipt::Taken);
    assert_eq!(call.woken(1), Receipt::Stale, "it is over");
    attempt(&mut call, &policy, down().told(Told::Wait(millis(500))), ms(10));
    let said = steps(&mut call, &policy, ms(10));
    assert_eq!(said, [Step::Wait { until: ms(510), ticket: 0, pause: Pause::Backoff }]);
    for ticket in 0..4 {
        assert_eq!(call.woken(ticket), Receipt::Stale, "the dependency asked for it");
    }
}

#[test]
fn only_what_may_go_away_is_tried_again() {
    for (finish, again) in [
        (Finish::status(500), false),
        (Finish::status(501), false),
        (Finish::status(502), true),
        (Finish::status(503), true),
        (Finish::status(504), true),
        (Finish::status(429), true),
        (Finish::status(400), false),
        (Finish::status(404), false),
        (Finish::failed(Failure::Timeout), true),
        (Finish::failed(Failure::Connection), true),
        (Finish::failed(Failure::Transient), true),
        (Finish::failed(Failure::Other), false),
        (Finish::failed(Failure::OwnRefusal), false),
        (Finish::failed(Failure::Cancelled), false),
        (Finish::judged(Failure::Other, Verdict::TRANSIENT), true),
        (Finish::judged(Failure::Timeout, Verdict::LASTING), false),
    ] {
        let (policy, mut call) = (three(), started());
        attempt(&mut call, &policy, finish, ms(0));
        if again {
            assert_eq!(waits(&mut call, &policy, ms(0)), ms(100), "{finish:?}");
        } else {
            let ending = ends(&mut call, &policy, ms(0));
            assert_eq!((ending.end, ending.failure), (End::NotRetryable, finish.failure()), "{finish:?}");
        }
    }
}

#[test]
fn an_answer_that_is_no_failure_is_a_success() {
    for status in [200, 204, 304] {
        assert!(Finish::status(status).is_success());
    }
}

#[test]
fn what_must_not_be_done_twice_is_not() {
    for (idempotent, again) in [(Idempotent::Yes, true), (Idempotent::ByKey, true), (Idempotent::No, false)] {
        let policy =
            bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules().idempotent(idempotent)), plain_backoff());
        let mut call = started();
        attempt(&mut call, &policy, down(), ms(0));
        if again {
            waits(&mut call, &policy, ms(0));
        } else {
            assert_eq!(ends(&mut call, &policy, ms(0)).end, End::NotIdempotent);
        }
    }
}

#[test]
fn without_rules_there_is_one_attempt() {
    let (policy, mut call) = (bare(PolicyConfig::new(), Timeouts::NONE), started());
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::AttemptsUsedUp);
}

#[test]
fn a_told_wait_is_the_least_and_too_long_a_one_ends_the_call() {
    let long = millis(60_001);
    for (on, told, want) in [
        (OnRetryAfter::Wait, millis(700), Ok(700)),
        (OnRetryAfter::Wait, millis(30), Ok(100)),
        (OnRetryAfter::Wait, long, Err(End::ToldTooLong)),
        (OnRetryAfter::Fail, millis(700), Err(End::ToldTooLong)),
        (OnRetryAfter::Grpc, millis(30), Ok(30)),
        (OnRetryAfter::Aws, millis(30), Ok(100)),
        (OnRetryAfter::Aws, millis(700), Ok(700)),
        (OnRetryAfter::Aws, long, Ok(5_100)),
    ] {
        let policy =
            bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules().on_retry_after(on)), plain_backoff());
        let mut call = started();
        attempt(&mut call, &policy, Finish::status(429).told(Told::Wait(told)), ms(0));
        match want {
            Ok(pause) => assert_eq!(waits(&mut call, &policy, ms(0)), ms(pause), "{on} {told:?}"),
            Err(end) => {
                let ending = ends(&mut call, &policy, ms(0));
                assert_eq!((ending.end, ending.told), (end, Some(ms(0).after(told))), "{on} {told:?}");
                assert_eq!(ending.retry_at(), Some(ms(0).after(told)), "the caller is told when");
            }
        }
    }
}

#[test]
fn after_grpc_s_pushback_the_pauses_begin_anew() {
    let rules = rules().attempts(5).on_retry_after(OnRetryAfter::Grpc);
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules), plain_backoff());
    let mut call = started();
    let pushed_back = down().told(Told::Wait(millis(5)));
    for (at, finish, next) in [(0, down(), 100), (100, down(), 300), (300, pushed_back, 305), (305, down(), 405)] {
        attempt(&mut call, &policy, finish, ms(at));
        assert_eq!(waits(&mut call, &policy, ms(at)), ms(next));
    }
}

#[test]
fn told_to_stop_it_stops() {
    let (policy, mut call) = (three(), started());
    attempt(&mut call, &policy, down().told(Told::Stop), ms(0));
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::ToldToStop);
}

#[test]
fn cancellation_is_immediate_and_nothing_follows() {
    // While an attempt is out.
    let (policy, mut call) = (three(), started());
    goes_out(&mut call, &policy, ms(0));
    assert_eq!(call.cancelled(), Receipt::Taken);
    let said = steps(&mut call, &policy, ms(1));
    assert_eq!(said.first(), Some(&Step::Cancel { attempt: 1, reason: Cut::Cancelled }));
    assert!(matches!(said.last(), Some(Step::Done(Ending { end: End::Cancelled, .. }))));
    // During a pause.
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    waits(&mut call, &policy, ms(0));
    call.cancelled();
    let ending = ends(&mut call, &policy, ms(1));
    assert_eq!((ending.end, ending.attempts, ending.failure), (End::Cancelled, 1, Some(Failure::Connection)));
    // Before anything.
    let mut call = started();
    call.cancelled();
    assert_eq!(ends(&mut call, &policy, ms(0)).attempts, 0);
}

#[test]
fn what_comes_twice_or_late_or_from_nowhere_is_stale_and_changes_nothing() {
    let (policy, mut call) = (three(), started());
    assert_eq!(call.start(Deadline::NEVER), Receipt::Stale);
    assert_eq!(call.finished(1, Finish::success()), Receipt::Stale, "not out yet");
    goes_out(&mut call, &policy, ms(0));
    for unknown in [0, 2, u32::MAX] {
        assert_eq!(call.finished(unknown, Finish::success()), Receipt::Stale);
    }
    assert_eq!(call.finished(1, down()), Receipt::Taken);
    assert_eq!(call.finished(1, Finish::success()), Receipt::Stale, "the first result stands");
    assert_eq!(waits(&mut call, &policy, ms(0)), ms(100));
    assert_eq!(call.finished(1, Finish::success()), Receipt::Stale);
    goes_out(&mut call, &policy, ms(100));
    call.finished(2, Finish::success());
    let ending = ends(&mut call, &policy, ms(100));
    assert_eq!(ending.end, End::Success);
    for receipt in [call.cancelled(), call.finished(2, down()), call.woken(1), call.start(Deadline::NEVER)] {
        assert_eq!(receipt, Receipt::Stale, "it is over");
    }
    assert_eq!(ends(&mut call, &policy, ms(900)), ending, "an ending stands");
}

#[test]
fn a_call_that_was_never_started_says_so() {
    let mut call = Call::new();
    let policy = three();
    assert_eq!(call.finished(1, Finish::success()), Receipt::Stale);
    assert_eq!(call.cancelled(), Receipt::Stale);
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::Unconfigured);
    assert_eq!(call.start(Deadline::NEVER), Receipt::Taken, "polling it has not spoilt it");
    goes_out(&mut call, &policy, ms(0));
}

#[test]
fn an_ending_stands_whoever_polls() {
    let (policy, other): (Policy<'_>, _) = (three(), bare(PolicyConfig::new(), timeouts(1, 1)));
    let mut call = started();
    attempt(&mut call, &policy, Finish::success(), ms(0));
    let ending = ends(&mut call, &policy, ms(0));
    for now in [ns(0), ms(5), Instant::MAX] {
        assert_eq!(steps(&mut call, &other, now), [Step::Done(ending)]);
    }
}
