//! The policy's specification: timeouts, deadlines, and whose fault it is.

mod common;

use common::policy::{
    attempt, bare, down, ends, goes_out, plain_backoff, retry, rules, started, started_until, steps, timeouts, waits,
};
use common::{millis, ms, ns};
use seawall::policy::{Cut, End, Finish, Late, PolicyConfig, Step, Told};
use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Deadline, Failure, Instant, Layer, Reason, State, Timeouts, Transition,
};

/// Opens at the first failure.
fn touchy() -> CircuitBreaker {
    CircuitBreaker::new(&CircuitBreakerConfig::consecutive(1)).expect("one is allowed")
}

fn changed(steps: &[Step]) -> Vec<Transition> {
    steps.iter().filter_map(|step| if let Step::Changed(change) = step { Some(*change) } else { None }).collect()
}

#[test]
fn an_attempt_is_cut_off_by_its_own_timeout_and_the_dependency_is_blamed() {
    let breaker = touchy();
    let policy = bare(PolicyConfig::new(), timeouts(250, 2_000)).breaker(&breaker);
    let mut call = started();
    assert_eq!(goes_out(&mut call, &policy, ms(0)).until, ms(250));
    assert_eq!(waits(&mut call, &policy, ms(249)), ms(250));
    let said = steps(&mut call, &policy, ms(250));
    assert!(said.contains(&Step::Cancel { attempt: 1, reason: Cut::TimedOut }));
    assert_eq!(changed(&said).len(), 1, "whoever opens the breaker is told, once");
    let ending = ends(&mut call, &policy, ms(250));
    assert_eq!((ending.end, ending.failure), (End::AttemptsUsedUp, Some(Failure::Timeout)));
    assert_eq!(breaker.state(ms(250)), State::Open);
}

#[test]
fn a_timeout_is_tried_again() {
    let policy = bare(PolicyConfig::new(), timeouts(250, 2_000)).retry(retry(rules()), plain_backoff());
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    assert_eq!(waits(&mut call, &policy, ms(250)), ms(350));
    let second = goes_out(&mut call, &policy, ms(350));
    assert_eq!((second.until, second.after), (ms(600), Some(Failure::Timeout)));
}

#[test]
fn an_attempt_that_a_sooner_deadline_cuts_off_says_nothing_about_the_dependency() {
    let breaker = touchy();
    let policy = bare(PolicyConfig::new(), timeouts(250, 0)).breaker(&breaker);
    let mut call = started_until(Deadline::at(ms(100)));
    assert_eq!(goes_out(&mut call, &policy, ms(0)).until, ms(100));
    let said = steps(&mut call, &policy, ms(100));
    assert_eq!(said.first(), Some(&Step::Cancel { attempt: 1, reason: Cut::Deadline }));
    let ending = ends(&mut call, &policy, ms(100));
    assert_eq!((ending.end, ending.failure), (End::DeadlineExceeded, Some(Failure::InheritedDeadline)));
    let refused = ending.rejection.expect("it says who");
    assert_eq!((refused.layer, refused.reason), (Layer::Deadline, Reason::DeadlineExceeded));
    assert_eq!(breaker.state(ms(100)), State::Closed);
}

#[test]
fn a_deadline_that_leaves_the_whole_timeout_blames_nobody_else() {
    let breaker = touchy();
    let policy = bare(PolicyConfig::new(), timeouts(100, 0)).breaker(&breaker);
    let mut call = started_until(Deadline::at(ms(100)));
    goes_out(&mut call, &policy, ms(0));
    let said = steps(&mut call, &policy, ms(100));
    assert!(said.contains(&Step::Cancel { attempt: 1, reason: Cut::TimedOut }));
    assert_eq!(breaker.state(ms(100)), State::Open);
    assert_eq!(ends(&mut call, &policy, ms(100)).end, End::DeadlineExceeded);
}

#[test]
fn where_only_the_total_is_stated_it_is_the_attempt_s_own_timeout() {
    let breaker = touchy();
    let policy = bare(PolicyConfig::new(), timeouts(0, 500)).breaker(&breaker);
    let mut call = started();
    assert_eq!(goes_out(&mut call, &policy, ms(0)).until, ms(500));
    let ending = ends(&mut call, &policy, ms(500));
    assert_eq!((ending.end, ending.rejection.map(|no| no.reason)), (End::TimedOut, Some(Reason::TimedOut)));
    assert_eq!(breaker.state(ms(500)), State::Open, "a dependency that hangs is found out");
}

#[test]
fn the_total_includes_attempts_and_pauses() {
    // Envoy's example: of 3 s the first attempt takes 2.7, so the second has what is left.
    let policy = bare(PolicyConfig::new(), timeouts(2_700, 3_000)).retry(retry(rules()), plain_backoff());
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    assert_eq!(waits(&mut call, &policy, ms(2_700)), ms(2_800));
    assert_eq!(goes_out(&mut call, &policy, ms(2_800)).until, ms(3_000));
    let said = steps(&mut call, &policy, ms(3_000));
    assert_eq!(said.first(), Some(&Step::Cancel { attempt: 2, reason: Cut::Deadline }));
    assert_eq!(ends(&mut call, &policy, ms(3_000)).end, End::TimedOut);
}

#[test]
fn no_pause_leads_beyond_the_deadline() {
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), plain_backoff());
    for (deadline, goes) in [(100, false), (101, true)] {
        let mut call = started_until(Deadline::at(ms(deadline)));
        attempt(&mut call, &policy, down(), ms(0));
        if goes {
            assert_eq!(waits(&mut call, &policy, ms(0)), ms(100));
        } else {
            let ending = ends(&mut call, &policy, ms(0));
            assert_eq!((ending.end, ending.failure), (End::WontFinish, Some(Failure::Connection)));
            assert_eq!(ending.rejection.map(|no| no.reason), Some(Reason::WontFinish));
        }
    }
}

#[test]
fn a_told_wait_beyond_the_deadline_ends_the_call_and_is_carried() {
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), plain_backoff());
    let mut call = started_until(Deadline::at(ms(1_000)));
    attempt(&mut call, &policy, Finish::status(503).told(Told::Wait(millis(5_000))), ms(0));
    let ending = ends(&mut call, &policy, ms(0));
    assert_eq!((ending.end, ending.retry_at()), (End::WontFinish, Some(ms(5_000))));
}

#[test]
fn no_attempt_starts_when_less_remains_than_it_takes() {
    let config = PolicyConfig::new().expected(millis(40));
    let policy = bare(config, Timeouts::NONE).retry(retry(rules()), plain_backoff());
    for (remaining, end) in [(0, Some(End::DeadlineExceeded)), (39, Some(End::WontFinish)), (40, None)] {
        let mut call = started_until(Deadline::at(ms(1_000 + remaining)));
        match end {
            Some(end) => {
                let ending = ends(&mut call, &policy, ms(1_000));
                assert_eq!((ending.end, ending.attempts), (end, 0));
            }
            None => assert_eq!(goes_out(&mut call, &policy, ms(1_000)).attempt, 1),
        }
    }
    // And not after a pause either: at 100 ms, 39 would remain.
    let mut call = started_until(Deadline::at(ms(139)));
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::WontFinish);
}

#[test]
fn a_caller_who_comes_late_gets_no_attempt_after_the_deadline() {
    let policy = bare(PolicyConfig::new(), timeouts(0, 1_000)).retry(retry(rules()), plain_backoff());
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(waits(&mut call, &policy, ms(0)), ms(100));
    // The timer fires a second late.
    let ending = ends(&mut call, &policy, ms(1_100));
    assert_eq!((ending.end, ending.attempts, ending.failure), (End::TimedOut, 1, Some(Failure::Connection)));
}

#[test]
fn a_result_at_its_instant_is_in_time() {
    let policy = bare(PolicyConfig::new(), timeouts(250, 0));
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    call.finished(1, Finish::success());
    assert_eq!(ends(&mut call, &policy, ms(250)).end, End::Success);
}

#[test]
fn a_success_that_comes_too_late_is_a_timeout_unless_it_may_be_used() {
    for (late, end) in [(Late::Discard, End::AttemptsUsedUp), (Late::Use, End::Success)] {
        let breaker = touchy();
        let policy = bare(PolicyConfig::new().late(late), timeouts(250, 0)).breaker(&breaker);
        let mut call = started();
        goes_out(&mut call, &policy, ms(0));
        call.finished(1, Finish::success());
        let said = steps(&mut call, &policy, ms(251));
        assert!(!said.iter().any(|step| matches!(step, Step::Cancel { .. })), "it has ended already");
        assert_eq!(ends(&mut call, &policy, ms(251)).end, end);
        assert_eq!(breaker.state(ms(251)), State::Open, "the breaker hears of the timeout");
    }
}

#[test]
fn a_failure_that_comes_too_late_is_the_failure_that_it_is() {
    let policy = bare(PolicyConfig::new(), timeouts(250, 0)).retry(retry(rules()), plain_backoff());
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    call.finished(1, Finish::status(404));
    assert_eq!(ends(&mut call, &policy, ms(300)).end, End::NotRetryable);
}

#[test]
fn the_ends_of_time_are_only_instants() {
    let policy = bare(PolicyConfig::new(), timeouts(250, 1_000)).retry(retry(rules()), plain_backoff());
    for now in [0, 1, u64::MAX - 1, u64::MAX] {
        let mut call = started();
        let out = goes_out(&mut call, &policy, ns(now));
        assert!(out.until >= ns(now), "it saturates");
        call.finished(1, down());
        steps(&mut call, &policy, ns(now));
    }
    // A clock that goes back delays by no more than it went.
    let mut call = started();
    goes_out(&mut call, &policy, ms(5_000));
    assert_eq!(waits(&mut call, &policy, ms(1_000)), ms(5_250));
    assert_eq!(Deadline::NEVER.check(Instant::MAX, millis(9)), Ok(std::time::Duration::MAX));
}
