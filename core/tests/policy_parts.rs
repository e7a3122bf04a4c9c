//! The policy's specification: breaker, rate limit and budget, who is asked when, and what goes back.

mod common;

use common::policy::{
    attempt, bare, down, ends, goes_out, plain_backoff, retry, rules, started, started_until, steps, three, waits,
};
use common::{failures, millis, ms, secs, words};
use seawall::policy::{Call, End, Finish, Pause, PolicyConfig, Receipt, Step, Told};
use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Deadline, ExpiredTrials, Failure, Instant, Layer, Outcome, Reason,
    RetryBudget, RetryBudgetConfig, State, Timeouts, TokenBucket, TokenBucketConfig, When,
};

fn breaker(threshold: u64) -> CircuitBreaker {
    CircuitBreaker::new(&CircuitBreakerConfig::consecutive(threshold)).expect("it is possible")
}

/// So many tokens, one more every second.
fn bucket(capacity: u64) -> TokenBucket {
    TokenBucket::new(&TokenBucketConfig::per_second(1, capacity), Instant::ZERO).expect("it is possible")
}

/// So many retries, a tenth more for each call.
fn budget(capacity: u64) -> RetryBudget {
    RetryBudget::new(&RetryBudgetConfig::new().capacity(capacity), Instant::ZERO).expect("it is possible")
}

fn tokens(bucket: &TokenBucket, now: Instant) -> u64 {
    bucket.peek(0, now).expect("a cost of nothing").remaining()
}

#[test]
fn an_open_breaker_refuses_the_first_attempt() {
    let (breaker, bucket, budget) = (breaker(1), bucket(5), budget(5));
    failures(&breaker, 1, ms(0));
    let policy = three().breaker(&breaker).rate_limit(&bucket).budget(&budget);
    let before = (words(&breaker), words(&bucket), words(&budget));
    let ending = ends(&mut started(), &policy, ms(1));
    assert_eq!((ending.end, ending.attempts, ending.failure), (End::BreakerRefused, 0, None));
    let refused = ending.rejection.expect("it says who");
    assert_eq!((refused.layer, refused.reason), (Layer::CircuitBreaker, Reason::Open));
    assert!(ending.retry_at().is_some_and(|at| at >= secs(30)), "and when");
    assert_eq!((words(&breaker), words(&bucket), words(&budget)), before, "a refusal changes nothing");
}

#[test]
fn an_open_breaker_is_final_for_a_retry() {
    let (breaker, budget) = (breaker(2), budget(5));
    let policy = three().breaker(&breaker).budget(&budget);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    waits(&mut call, &policy, ms(0));
    attempt(&mut call, &policy, down(), ms(100));
    // Its own second failure has opened the breaker: no third, and no pause for nothing.
    let said = steps(&mut call, &policy, ms(100));
    assert!(matches!(said.first(), Some(Step::Changed(change)) if change.to == State::Open));
    let ending = ends(&mut call, &policy, ms(100));
    assert_eq!((ending.end, ending.attempts), (End::BreakerRefused, 2));
    assert_eq!(ending.failure, Some(Failure::Connection), "the last failure is known as well");
}

#[test]
fn an_open_breaker_is_final_though_it_would_be_due_before_the_pause_is_over() {
    let config = CircuitBreakerConfig::consecutive(1).reset_after(millis(50));
    let breaker = CircuitBreaker::new(&config).expect("it is possible");
    let policy = three().breaker(&breaker);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    assert_eq!(ends(&mut call, &policy, ms(0)).end, End::BreakerRefused, "the pause would be 100 ms");
}

#[test]
fn a_retry_that_is_paid_for_and_not_sent_is_refunded() {
    // Another call opens the breaker during the pause.
    let (breaker, budget) = (breaker(2), budget(5));
    let policy = three().breaker(&breaker).budget(&budget);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    waits(&mut call, &policy, ms(0));
    assert_eq!(budget.balance_ppm(ms(0)), 4_000_000);
    failures(&breaker, 1, ms(50));
    assert_eq!(ends(&mut call, &policy, ms(100)).end, End::BreakerRefused);
    assert_eq!(budget.balance_ppm(ms(100)), 5_000_000);
    // The caller cancels during the pause.
    let policy = three().budget(&budget);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    waits(&mut call, &policy, ms(0));
    call.cancelled();
    assert_eq!(ends(&mut call, &policy, ms(1)).end, End::Cancelled);
    assert_eq!(budget.balance_ppm(ms(1)), 5_000_000);
    assert_eq!(ends(&mut call, &policy, ms(2)).end, End::Cancelled, "and only once");
    assert_eq!(budget.balance_ppm(ms(2)), 5_000_000);
}

#[test]
fn every_call_pays_in_once_and_every_retry_takes_one_out() {
    let budget = budget(10);
    for _ in 0..10 {
        budget.withdraw(ms(0)).expect("ten are there");
    }
    let policy = three().budget(&budget);
    // Empty: one attempt, which pays a tenth in.
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    let ending = ends(&mut call, &policy, ms(0));
    assert_eq!((ending.end, ending.attempts, ending.failure), (End::BudgetEmpty, 1, Some(Failure::Connection)));
    let refused = ending.rejection.expect("it says who");
    assert_eq!((refused.layer, refused.reason), (Layer::RetryBudget, Reason::BudgetEmpty));
    assert_eq!(budget.balance_ppm(ms(0)), 100_000);
    // Filled up to two: two retries.
    for _ in 0..19 {
        budget.deposit(ms(0));
    }
    let mut call = started();
    for at in [0, 100, 300] {
        attempt(&mut call, &policy, down(), ms(at));
        steps(&mut call, &policy, ms(at));
    }
    assert_eq!(budget.balance_ppm(ms(300)), 100_000, "2 and the call's own tenth, less 2");
}

#[test]
fn the_rate_limit_refuses_and_the_breaker_hears_nothing_of_it() {
    let (breaker, bucket, budget) = (breaker(1), bucket(1), budget(5));
    let policy = three().breaker(&breaker).rate_limit(&bucket).budget(&budget);
    let mut call = started();
    attempt(&mut call, &policy, Finish::success(), ms(0));
    assert!(ends(&mut call, &policy, ms(0)).is_success());
    let before = (words(&breaker), words(&bucket), words(&budget));
    let ending = ends(&mut started(), &policy, ms(0));
    assert_eq!(ending.end, End::RateLimited);
    assert_eq!(ending.rejection.map(|no| no.when), Some(When::At(secs(1))));
    assert_eq!((words(&breaker), words(&bucket), words(&budget)), before);
}

#[test]
fn a_half_open_breaker_s_trial_is_not_spent_on_what_the_rate_limit_refuses() {
    let (breaker, bucket) = (breaker(1), bucket(1));
    failures(&breaker, 1, ms(0));
    bucket.drain(secs(31));
    let policy = three().breaker(&breaker).rate_limit(&bucket);
    let before = words(&breaker);
    assert_eq!(ends(&mut started(), &policy, secs(31)).end, End::RateLimited);
    assert_eq!(words(&breaker), before);
    // A second later there is a token: the trial, and whoever made it half-open is told.
    let mut call = started();
    let said = steps(&mut call, &policy, secs(32));
    assert!(matches!(said[0], Step::Changed(change) if change.to == State::HalfOpen));
    assert!(matches!(said[1], Step::Run(_)));
    call.finished(1, Finish::success());
    let said = steps(&mut call, &policy, secs(32));
    assert!(matches!(said[0], Step::Changed(change) if change.to == State::Closed));
}

#[test]
fn a_trial_that_is_cancelled_comes_back_without_a_verdict() {
    let breaker = breaker(1);
    failures(&breaker, 1, ms(0));
    let policy = three().breaker(&breaker);
    let mut call = started();
    goes_out(&mut call, &policy, secs(31));
    assert_eq!(ends(&mut started(), &policy, secs(31)).end, End::BreakerRefused, "one trial at a time");
    call.cancelled();
    ends(&mut call, &policy, secs(31));
    assert_eq!(breaker.state(secs(31)), State::HalfOpen, "no verdict");
    goes_out(&mut started(), &policy, secs(31));
}

#[test]
fn asking_a_breaker_whose_trials_have_expired_changes_it_as_configured() {
    let config = CircuitBreakerConfig::consecutive(1).expired_trials(ExpiredTrials::Open);
    let breaker = CircuitBreaker::new(&config).expect("it is possible");
    failures(&breaker, 1, ms(0));
    let policy = three().breaker(&breaker);
    // A trial that never ends.
    goes_out(&mut started(), &policy, secs(31));
    let mut call = started();
    let said = steps(&mut call, &policy, secs(62));
    assert!(matches!(said[0], Step::Changed(change) if change.to == State::Open), "{said:?}");
    let ending = ends(&mut call, &policy, secs(62));
    assert_eq!(ending.end, End::BreakerRefused);
    let due = ending.retry_at().expect("an open breaker says when");
    goes_out(&mut started(), &policy, due);
}

#[test]
fn a_place_in_the_rate_limit_may_be_waited_for_and_then_nothing_else_is_held() {
    let (breaker, bucket) = (breaker(1), bucket(1));
    failures(&breaker, 1, ms(0));
    bucket.drain(secs(31));
    let config = PolicyConfig::new().max_wait(secs(1).since(secs(0)));
    let policy = bare(config, Timeouts::NONE).breaker(&breaker).rate_limit(&bucket);
    let mut call = started();
    let said = steps(&mut call, &policy, secs(31));
    assert_eq!(said, [Step::Wait { until: secs(32), ticket: 0, pause: Pause::RateLimit }]);
    // It holds no trial: another call without a rate limit takes it.
    let other = three().breaker(&breaker);
    let mut trial = started();
    goes_out(&mut trial, &other, secs(31));
    trial.finished(1, Finish::success());
    ends(&mut trial, &other, secs(31));
    goes_out(&mut call, &policy, secs(32));
    assert_eq!(tokens(&bucket, secs(32)), 0, "what was waited for is taken once");
}

#[test]
fn a_place_that_is_not_used_is_given_back() {
    let (breaker, bucket) = (breaker(1), bucket(1));
    let config = PolicyConfig::new().max_wait(secs(9).since(secs(0)));
    let policy = bare(config, Timeouts::NONE).breaker(&breaker).rate_limit(&bucket);
    bucket.drain(ms(0));
    // Cancelled.
    let mut call = started();
    assert_eq!(waits(&mut call, &policy, ms(0)), secs(1));
    call.cancelled();
    ends(&mut call, &policy, ms(0));
    let mut next = started();
    assert_eq!(waits(&mut next, &policy, ms(0)), secs(1), "the first place again");
    // The breaker has opened meanwhile.
    failures(&breaker, 1, ms(500));
    assert_eq!(ends(&mut next, &policy, secs(1)).end, End::BreakerRefused);
    assert_eq!(tokens(&bucket, secs(1)), 1);
}

#[test]
fn a_place_beyond_max_wait_or_the_deadline_is_final_and_takes_nothing() {
    let bucket = bucket(1);
    bucket.drain(ms(0));
    let before = words(&bucket);
    let waiting =
        |millis_: u64| bare(PolicyConfig::new().max_wait(millis(millis_)), Timeouts::NONE).rate_limit(&bucket);
    let ending = ends(&mut started(), &waiting(999), ms(0));
    assert_eq!((ending.end, ending.retry_at()), (End::RateLimited, Some(secs(1))));
    let ending = ends(&mut started_until(Deadline::at(ms(1_000))), &waiting(1_000), ms(0));
    assert_eq!(ending.end, End::WontFinish);
    assert_eq!(words(&bucket), before);
    assert_eq!(waits(&mut started_until(Deadline::at(ms(1_001))), &waiting(1_000), ms(0)), secs(1));
}

#[test]
fn an_attempt_may_cost_several_tokens_and_never_more_than_fit() {
    let bucket = bucket(5);
    let costing = |cost| bare(PolicyConfig::new().cost(cost), Timeouts::NONE).rate_limit(&bucket);
    goes_out(&mut started(), &costing(3), ms(0));
    assert_eq!(tokens(&bucket, ms(0)), 2);
    let ending = ends(&mut started(), &costing(6), ms(0));
    assert_eq!(ending.rejection.map(|no| (no.reason, no.when)), Some((Reason::ExceedsCapacity, When::Never)));
}

#[test]
fn every_attempt_takes_its_own_token() {
    let bucket = bucket(2);
    let policy = three().rate_limit(&bucket);
    let mut call = started();
    for at in [0, 100] {
        attempt(&mut call, &policy, down(), ms(at));
        waits(&mut call, &policy, ms(at));
    }
    let ending = ends(&mut call, &policy, ms(300));
    assert_eq!((ending.end, ending.attempts), (End::RateLimited, 2), "a retry is a call like any other");
}

#[test]
fn a_503_that_says_when_opens_the_breaker_and_its_own_retry_waits_for_that() {
    let breaker = breaker(5);
    let policy = three().breaker(&breaker);
    let mut call = started();
    attempt(&mut call, &policy, Finish::status(503).told(Told::Wait(secs(2).since(secs(0)))), ms(0));
    let at = waits(&mut call, &policy, ms(0));
    assert_eq!(breaker.state(ms(1)), State::Open, "nobody else asks before that either");
    assert!(at >= secs(2) && at < ms(2_010), "{at:?}: as the breaker counts it");
    assert_eq!(goes_out(&mut call, &policy, at).attempt, 2);
    assert_eq!(breaker.state(at), State::HalfOpen, "it is the trial");
}

#[test]
fn a_429_that_says_when_delays_and_blames_nobody() {
    let breaker = breaker(1);
    let policy = three().breaker(&breaker);
    let mut call = started();
    attempt(&mut call, &policy, Finish::status(429).told(Told::Wait(secs(2).since(secs(0)))), ms(0));
    assert_eq!(waits(&mut call, &policy, ms(0)), secs(2));
    assert_eq!(breaker.state(ms(1)), State::Closed);
}

#[test]
fn only_the_dependency_s_failures_are_told_to_the_breaker() {
    for (finish, state) in [
        (Finish::success(), State::Closed),
        (Finish::status(404), State::Closed),
        (Finish::status(429), State::Closed),
        (Finish::failed(Failure::OwnRefusal), State::Closed),
        (Finish::failed(Failure::Cancelled), State::Closed),
        (Finish::status(500), State::Open),
        (Finish::status(503), State::Open),
        (Finish::failed(Failure::Connection), State::Open),
        (Finish::failed(Failure::Other), State::Open),
    ] {
        let breaker = breaker(1);
        let policy = bare(PolicyConfig::new(), Timeouts::NONE).breaker(&breaker);
        let mut call = started();
        attempt(&mut call, &policy, finish, ms(0));
        ends(&mut call, &policy, ms(0));
        assert_eq!(breaker.state(ms(1)), state, "{finish:?}");
    }
}

#[test]
fn the_first_no_in_the_documented_order_is_the_answer() {
    // Everything says no; taking the first away, the next one shows.
    let (breaker, bucket, budget) = (breaker(1), bucket(1), budget(1));
    failures(&breaker, 1, ms(0));
    bucket.drain(ms(0));
    budget.withdraw(ms(0)).expect("one is there");
    let no_time = started_until(Deadline::at(ms(0)));
    let all = three().breaker(&breaker).rate_limit(&bucket).budget(&budget);
    for (mut call, policy, end) in [
        (no_time, all, End::DeadlineExceeded),
        (started(), all, End::BreakerRefused),
        (started(), three().rate_limit(&bucket), End::RateLimited),
    ] {
        assert_eq!(ends(&mut call, &policy, ms(0)).end, end);
    }
    // And for a retry: what may be repeated, attempts, time, budget, breaker.
    let late = Deadline::at(ms(50));
    let closed = self::breaker(1);
    let once = retry(rules().attempts(1));
    for (deadline, policy, end) in [
        (late, all.breaker(&closed).retry(once, plain_backoff()), End::AttemptsUsedUp),
        (late, three().breaker(&closed).budget(&budget), End::WontFinish),
        (Deadline::NEVER, three().breaker(&closed).budget(&budget), End::BudgetEmpty),
        (Deadline::NEVER, three().breaker(&closed), End::BreakerRefused),
    ] {
        closed.reset(ms(0));
        bucket.reset(ms(0));
        budget.configure(&RetryBudgetConfig::new().capacity(1), ms(0)).expect("it is possible");
        while budget.withdraw(ms(0)).is_ok() {}
        let mut call = started_until(deadline);
        attempt(&mut call, &policy, down(), ms(0));
        assert_eq!(ends(&mut call, &policy, ms(0)).end, end);
    }
}

#[test]
fn another_policy_half_way_is_harmless() {
    let (breaker, bucket, budget) = (breaker(1), bucket(1), budget(1));
    let all = three().breaker(&breaker).rate_limit(&bucket).budget(&budget);
    let mut call = started();
    goes_out(&mut call, &all, ms(0));
    assert_eq!(call.finished(1, down()), Receipt::Taken);
    let bare = bare(PolicyConfig::new(), Timeouts::NONE);
    assert_eq!(ends(&mut call, &bare, ms(0)).end, End::AttemptsUsedUp);
    assert_eq!(breaker.state(ms(0)), State::Closed, "it is never told; the permit of a call holds nothing");
}

#[test]
fn a_call_whose_first_attempt_was_sent_without_it_goes_on_like_any_other() {
    let run = |sent: bool| {
        let (breaker, budget) = (breaker(2), budget(5));
        let policy = three().breaker(&breaker).budget(&budget);
        let permit = breaker.try_admit(ms(0), 0).verdict.expect("it is closed");
        let _ = breaker.settle(permit, Outcome::Success, ms(0), ms(0), 0);
        let mut call = if sent {
            let token = breaker.admit_clean().expect("it is clean");
            budget.deposit(ms(0));
            let mut call = Call::new();
            assert_eq!(call.start_sent(Some(token), ms(0)), Receipt::Taken);
            assert_eq!(call.start_sent(Some(token), ms(0)), Receipt::Stale);
            call
        } else {
            let mut call = started();
            steps(&mut call, &policy, ms(0));
            call
        };
        let mut said = Vec::new();
        for (number, at) in [(1, 0), (2, 100)] {
            assert_eq!(call.finished(number, down()), Receipt::Taken);
            said.extend(steps(&mut call, &policy, ms(at)));
            said.extend(steps(&mut call, &policy, ms(at + 100)));
        }
        (said, words(&breaker), words(&budget))
    };
    let (said, ..) = run(true);
    assert!(said.iter().any(|step| matches!(step, Step::Changed(_))), "both failures are counted");
    assert_eq!(run(true), run(false));
}
