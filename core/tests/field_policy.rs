//! What broke in other people's retries, timeouts and policies, by report.

mod common;

use common::policy::{
    attempt, bare, down, ends, goes_out, plain_backoff, retry, rules, started, started_until, steps, three, timeouts,
    waits,
};
use common::{failures, millis, ms, secs};
use seawall::policy::{Attempt, Cut, End, Failed, Finish, PolicyConfig, Receipt, Step, Told, blocking};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Deadline, Failure, Idempotent, Instant, ManualClock,
    RetryBudget, RetryBudgetConfig, State, Timeouts, TokenBucket, TokenBucketConfig,
};

fn breaker(config: CircuitBreakerConfig) -> CircuitBreaker {
    CircuitBreaker::new(&config).expect("it is possible")
}

/// cockatiel 4.0.0, p-retry#97, openai-node#2580, vercel/ai#7656: an abort 20 ms into a pause of 500 ms
/// settles at 502 ms, and calls again.
#[test]
fn cancelling_a_pause_ends_it_at_once_and_nothing_is_called_again() {
    let constant = Backoff::new(&BackoffConfig::new().base(millis(500))).expect("it is possible");
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), constant);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(waits(&mut call, &policy, ms(0)), ms(500));
    assert_eq!(call.cancelled(), Receipt::Taken);
    let ending = ends(&mut call, &policy, ms(20));
    assert_eq!((ending.end, ending.attempts), (End::Cancelled, 1));
    assert_eq!(ends(&mut call, &policy, ms(500)), ending);
}

/// tenacity#93, tenacity#701: concurrent calls share one attempt counter.
#[test]
fn every_call_counts_its_own_attempts() {
    let policy = three();
    let (mut one, mut other) = (started(), started());
    attempt(&mut one, &policy, down(), ms(0));
    waits(&mut one, &policy, ms(0));
    assert_eq!(goes_out(&mut other, &policy, ms(50)).attempt, 1);
    assert_eq!(goes_out(&mut one, &policy, ms(100)).attempt, 2);
}

/// tenacity#78: "which attempt am I in?"
#[test]
fn an_attempt_knows_its_number_and_why_it_is_made() {
    let (clock, mut seen) = (ManualClock::at(ms(0)), Vec::new());
    let note = |attempt: Attempt| {
        seen.push((attempt.attempt, attempt.after));
        Err::<(), _>(Failed::of(Failure::Connection, ()))
    };
    blocking::run(&three(), &clock, |span| clock.advance(span), note).unwrap_err();
    let again = Some(Failure::Connection);
    assert_eq!(seen, [(1, None), (2, again), (3, again)]);
}

/// Polly PR 2456, Kevlar#14: an attempt fails because the caller cancelled, and is retried.
#[test]
fn a_failure_that_comes_with_the_cancellation_is_not_retried() {
    for cancelled_first in [true, false] {
        let (policy, mut call) = (three(), started());
        goes_out(&mut call, &policy, ms(0));
        if cancelled_first {
            call.cancelled();
            assert_eq!(call.finished(1, down()), Receipt::Stale);
        } else {
            call.finished(1, down());
            call.cancelled();
        }
        let ending = ends(&mut call, &policy, ms(0));
        assert_eq!((ending.end, ending.attempts), (End::Cancelled, 1));
    }
}

/// resilience4j#687: a failure of the last attempt is published as a success.
#[test]
fn the_last_attempt_s_failure_is_a_failure_and_its_success_a_success() {
    for (last, end) in [(down(), End::AttemptsUsedUp), (Finish::success(), End::Success)] {
        let (policy, mut call) = (three(), started());
        for (at, finish) in [(0, down()), (100, down()), (300, last)] {
            attempt(&mut call, &policy, finish, ms(at));
            steps(&mut call, &policy, ms(at));
        }
        assert_eq!(ends(&mut call, &policy, ms(300)).end, end);
    }
}

/// resilience4j#2209: a predicate that throws leaves a call that never ends. Here the classification is
/// made by the caller before the input; a panic in it ends the call and gives everything back.
#[test]
fn a_classification_that_panics_ends_the_call() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1));
    failures(&breaker, 1, ms(0));
    let (clock, policy) = (ManualClock::at(secs(31)), three().breaker(&breaker));
    let classify = |_: Attempt| -> Result<(), Failed<()>> { panic!("in the caller's predicate") };
    let call = || blocking::run(&policy, &clock, |_| (), classify);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).expect_err("the panic goes on");
    goes_out(&mut started(), &policy, secs(31));
}

/// resilience4j#1123: the time limiter's cancellation is not counted by the breaker around it.
#[test]
fn an_attempt_s_own_timeout_counts_against_the_dependency() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1));
    let policy = bare(PolicyConfig::new(), timeouts(100, 0)).breaker(&breaker);
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    ends(&mut call, &policy, ms(100));
    assert_eq!(breaker.state(ms(100)), State::Open);
}

/// resilience4j#1003: one decorator takes the permission twice.
#[test]
fn an_attempt_takes_one_permit_and_one_token() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1).trials(2));
    failures(&breaker, 1, ms(0));
    let bucket = TokenBucket::new(&TokenBucketConfig::per_second(1, 2), Instant::ZERO).expect("it is possible");
    let policy = three().breaker(&breaker).rate_limit(&bucket);
    // Two trials and two tokens: two calls, and no third.
    let mut calls = [started(), started()];
    for call in &mut calls {
        goes_out(call, &policy, secs(31));
    }
    assert_eq!(ends(&mut started(), &policy, secs(31)).end, End::BreakerRefused);
    assert_eq!(bucket.peek(0, secs(31)).map(|grant| grant.remaining()), Ok(0));
}

/// throttle-net 1.0: half-open, the limiter is empty, and a call that waits for it is cancelled: the trial it
/// had reserved never comes back.
#[test]
fn a_call_that_waits_for_the_rate_limit_and_is_cancelled_loses_no_trial() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1));
    failures(&breaker, 1, ms(0));
    let bucket = TokenBucket::new(&TokenBucketConfig::per_second(1, 1), Instant::ZERO).expect("it is possible");
    bucket.drain(secs(31));
    let config = PolicyConfig::new().max_wait(millis(5_000));
    let policy = bare(config, Timeouts::NONE).breaker(&breaker).rate_limit(&bucket);
    let mut call = started();
    waits(&mut call, &policy, secs(31));
    call.cancelled();
    ends(&mut call, &policy, secs(31));
    let mut next = started();
    goes_out(&mut next, &policy, secs(33));
    next.finished(1, Finish::success());
    ends(&mut next, &policy, secs(33));
    assert_eq!(breaker.state(secs(33)), State::Closed);
}

/// opossum 10.0.0 (ESEMLOCKED), go-zero PR 5551: refusals of the own limit are counted as failures, and the
/// breaker opens.
#[test]
fn refusals_of_the_own_limit_never_open_the_breaker() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1));
    let bucket = TokenBucket::new(&TokenBucketConfig::per_second(1, 1), Instant::ZERO).expect("it is possible");
    let policy = three().breaker(&breaker).rate_limit(&bucket);
    goes_out(&mut started(), &policy, ms(0));
    for _ in 0..100 {
        assert_eq!(ends(&mut started(), &policy, ms(0)).end, End::RateLimited);
    }
    assert_eq!(breaker.state(ms(0)), State::Closed);
    // Nor does a refusal that an attempt ran into further down.
    let mut call = started();
    attempt(&mut call, &three().breaker(&breaker), Finish::failed(Failure::OwnRefusal), ms(0));
    assert_eq!(ends(&mut call, &three().breaker(&breaker), ms(0)).end, End::NotRetryable);
    assert_eq!(breaker.state(ms(0)), State::Closed);
}

/// envoy#13196: the time an attempt is told it has ignores what was spent already.
#[test]
fn an_attempt_has_the_lesser_of_its_timeout_and_what_remains() {
    let policy = bare(PolicyConfig::new(), timeouts(500, 900)).retry(retry(rules()), plain_backoff());
    let mut call = started_until(Deadline::at(ms(700)));
    assert_eq!(goes_out(&mut call, &policy, ms(0)).until, ms(500));
    assert_eq!(waits(&mut call, &policy, ms(500)), ms(600));
    let second = goes_out(&mut call, &policy, ms(600));
    assert_eq!((second.until, second.remaining(ms(600))), (ms(700), Some(millis(100))));
}

/// grpc-java#7222: a throttled call hangs until its deadline instead of returning.
#[test]
fn an_empty_budget_ends_the_call_at_once() {
    let budget = RetryBudget::new(&RetryBudgetConfig::new().capacity(1), ms(0)).expect("it is possible");
    budget.withdraw(ms(0)).expect("one is there");
    let (policy, mut call) = (three().budget(&budget), started_until(Deadline::at(secs(60))));
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(steps(&mut call, &policy, ms(0)).len(), 1, "no pause before saying so");
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::BudgetEmpty);
}

/// urllib3#1338: a Retry-After of an hour blocks the thread for an hour. urllib3 PR 3743: one of 9999999999
/// seconds overflows.
#[test]
fn a_told_wait_beyond_reason_ends_the_call_and_carries_the_instant() {
    for wait in [3_600, 9_999_999_999, u64::MAX] {
        let wait = std::time::Duration::from_secs(wait);
        let (policy, mut call) = (three(), started());
        attempt(&mut call, &policy, Finish::status(503).told(Told::Wait(wait)), ms(0));
        let ending = ends(&mut call, &policy, ms(0));
        assert_eq!((ending.end, ending.retry_at()), (End::ToldTooLong, Some(ms(0).after(wait))));
    }
}

/// undici#5682: a capped Retry-After is retried early.
#[test]
fn nothing_goes_out_before_the_told_instant() {
    let jittered = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), jittered);
    for r in [0, 1, u64::MAX / 2, u64::MAX] {
        let mut call = started();
        attempt(&mut call, &policy, Finish::status(429).told(Told::Wait(millis(2_500))), ms(0));
        let Step::Wait { until, .. } = call.poll(&policy, ms(0), r) else { panic!("it waits") };
        assert!(until >= ms(2_500), "{until:?}");
    }
}

/// aiohttp_retry retries POST by default; httpx and others retry whatever failed.
#[test]
fn what_may_have_been_done_already_is_not_done_again_unless_somebody_says_it_may() {
    let stated = rules().idempotent(Idempotent::No);
    let policy = bare(PolicyConfig::new(), timeouts(100, 0)).retry(retry(stated), plain_backoff());
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    let ending = ends(&mut call, &policy, ms(100));
    assert_eq!((ending.end, ending.failure), (End::NotIdempotent, Some(Failure::Timeout)));
}

/// smallrye-fault-tolerance#320: half-open, another classification applies.
#[test]
fn a_trial_is_judged_as_any_other_attempt() {
    let breaker = breaker(CircuitBreakerConfig::consecutive(1));
    failures(&breaker, 1, ms(0));
    let policy = three().breaker(&breaker);
    let mut call = started();
    attempt(&mut call, &policy, Finish::status(404), secs(31));
    ends(&mut call, &policy, secs(31));
    assert_eq!(breaker.state(secs(31)), State::HalfOpen, "the caller's own mistake is no verdict");
    goes_out(&mut started(), &policy, secs(31));
}

/// grpc-java#13034, envoy PR 7530: cancelling races with a start, and something is left open.
#[test]
fn whatever_was_sent_is_cut_off_before_the_call_is_over() {
    let (policy, mut call) = (three(), started());
    assert!(matches!(call.poll(&policy, ms(0), 0), Step::Run(_)));
    call.cancelled();
    assert_eq!(call.poll(&policy, ms(0), 0), Step::Cancel { attempt: 1, reason: Cut::Cancelled });
    assert!(matches!(call.poll(&policy, ms(0), 0), Step::Done(_)));
}
