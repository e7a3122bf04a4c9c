//! Calls of several threads, each its own, that share a breaker, a rate limit and a budget.

use std::sync::Arc;
use std::time::Duration;

use seawall::policy::{Call, End, Finish, Policy, PolicyConfig, Step};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Deadline, Failure, Idempotent, Instant, Jitter,
    Outcome, Retry, RetryBudget, RetryBudgetConfig, RetryConfig, State, Timeouts, TokenBucket, TokenBucketConfig,
};

use super::harness::{Preemptions, bounded, join, model, spawn, stop_after};

const NOW: Instant = Instant::from_nanos(1 << 50);
/// What a pause before a retry takes here.
const PAUSE: Duration = Duration::from_millis(100);

fn later(span: Duration) -> Instant {
    NOW.after(span)
}

struct Parts {
    breaker: CircuitBreaker,
    rate_limit: TokenBucket,
    budget: RetryBudget,
}

impl Parts {
    /// A half-open breaker with so many trials, so many tokens, one retry.
    fn half_open(trials: u64, tokens: u64) -> Arc<Self> {
        let parts = Self::closed(1, trials, tokens);
        parts.breaker.half_open(NOW);
        parts
    }

    fn closed(threshold: u64, trials: u64, tokens: u64) -> Arc<Self> {
        let breaker = CircuitBreakerConfig::consecutive(threshold).trials(trials);
        Arc::new(Self {
            breaker: CircuitBreaker::new(&breaker).expect("it is possible"),
            rate_limit: TokenBucket::new(&TokenBucketConfig::per_second(1, tokens), NOW).expect("it is possible"),
            budget: RetryBudget::new(&RetryBudgetConfig::new().capacity(1), NOW).expect("it is possible"),
        })
    }

    fn tokens(&self, now: Instant) -> u64 {
        self.rate_limit.peek(0, now).expect("a cost of nothing").remaining()
    }

    fn trials_out(&self) -> u32 {
        self.breaker.snapshot(NOW).expect("it is configured").trials_in_flight
    }

    fn retries(&self) -> u64 {
        self.budget.balance_ppm(NOW) / 1_000_000
    }
}

fn bare(max_wait: Duration) -> Policy<'static> {
    Policy::new(&PolicyConfig::new().max_wait(max_wait), Timeouts::NONE).expect("it is possible")
}

fn guarded(parts: &Parts) -> Policy<'_> {
    bare(Duration::ZERO).breaker(&parts.breaker).rate_limit(&parts.rate_limit)
}

/// As `guarded`, and waits for the rate limit.
fn waiting(parts: &Parts) -> Policy<'_> {
    bare(Duration::from_secs(9)).breaker(&parts.breaker).rate_limit(&parts.rate_limit)
}

fn retrying(parts: &Parts) -> Policy<'_> {
    let rules = RetryConfig::new().idempotent(Idempotent::Yes).attempts(2);
    let retry = Retry::new(&rules).expect("it is possible");
    let backoff = Backoff::new(&BackoffConfig::new().jitter(Jitter::None)).expect("it is possible");
    bare(Duration::ZERO).retry(retry, backoff).budget(&parts.budget)
}

fn started() -> Call {
    let mut call = Call::new();
    call.start(Deadline::NEVER);
    call
}

/// The last step of a call that is polled until it rests, and how often it said `Run`.
fn rest(call: &mut Call, policy: &Policy<'_>, now: Instant) -> (Step, u32) {
    let mut runs = 0;
    loop {
        match call.poll(policy, now, 0) {
            Step::Run(_) => runs += 1,
            step @ (Step::Wait { .. } | Step::Done(_)) => return (step, runs),
            _ => {}
        }
    }
}

/// Whether an attempt of a new call goes out.
fn sends(policy: &Policy<'_>) -> u32 {
    rest(&mut started(), policy, NOW).1
}

/// A new call whose first attempt has failed.
fn failing(policy: &Policy<'_>) -> Call {
    let mut call = started();
    assert_eq!(rest(&mut call, policy, NOW).1, 1);
    call.finished(1, Finish::failed(Failure::Connection));
    call
}

fn waits(step: &Step) -> bool {
    matches!(step, Step::Wait { .. })
}

#[test]
fn a_token_that_is_lost_gives_the_trial_back() {
    model("policy::a_token_that_is_lost_gives_the_trial_back", Preemptions(Some(3), Some(3)).but_plain(2), || {
        let parts = Parts::half_open(2, 1);
        let other = spawn(&parts, |parts| sends(&guarded(parts)));
        let sent = sends(&guarded(&parts)) + join(other);
        assert_eq!((sent, parts.tokens(NOW)), (1, 0));
        assert_eq!(parts.trials_out(), 1, "the one that is out holds the one trial");
    });
}

#[test]
fn a_trial_that_is_lost_takes_no_token() {
    model("policy::a_trial_that_is_lost_takes_no_token", Preemptions(Some(3), Some(3)).but_plain(2), || {
        let parts = Parts::half_open(1, 2);
        let other = spawn(&parts, |parts| sends(&guarded(parts)));
        let sent = sends(&guarded(&parts)) + join(other);
        assert_eq!((sent, parts.tokens(NOW), parts.trials_out()), (1, 1, 1));
    });
}

#[test]
fn one_retry_is_made_once_and_comes_back_when_it_is_not() {
    model(
        "policy::one_retry_is_made_once_and_comes_back_when_it_is_not",
        Preemptions(Some(3), Some(3)).but_plain(2),
        || {
            let parts = Parts::closed(9, 1, 9);
            let work = |parts: &Parts| {
                let policy = retrying(parts);
                let mut call = failing(&policy);
                let waiting = waits(&rest(&mut call, &policy, NOW).0);
                (call, waiting)
            };
            let other = spawn(&parts, work);
            let (mut mine, i_wait) = work(&parts);
            let (mut theirs, they_wait) = join(other);
            assert!(i_wait != they_wait, "there is one retry");
            assert_eq!(parts.retries(), 0);
            let call = if i_wait { &mut mine } else { &mut theirs };
            call.cancelled();
            assert!(!waits(&rest(call, &retrying(&parts), NOW).0));
            assert_eq!(parts.retries(), 1);
        },
    );
}

#[test]
fn a_breaker_that_opens_during_the_pause_costs_no_retry() {
    model(
        "policy::a_breaker_that_opens_during_the_pause_costs_no_retry",
        Preemptions(Some(3), Some(3)).but_plain(2),
        || {
            let parts = Parts::closed(2, 1, 9);
            let policy = retrying(&parts).breaker(&parts.breaker);
            let mut call = failing(&policy);
            assert!(waits(&rest(&mut call, &policy, NOW).0));
            let opener = spawn(&parts, |parts| {
                let token = parts.breaker.try_admit(NOW, 0).verdict.expect("it is closed");
                parts.breaker.settle(token, Outcome::Failure, NOW, NOW, 0);
            });
            let (step, sent) = rest(&mut call, &policy, later(PAUSE));
            join(opener);
            assert_eq!(u64::from(sent) + parts.retries(), 1, "it is sent or paid back");
            match step {
                Step::Wait { .. } => assert_eq!(sent, 1),
                Step::Done(ending) => assert_eq!((ending.end, sent), (End::BreakerRefused, 0)),
                step => panic!("{step:?}"),
            }
        },
    );
}

#[test]
fn places_in_the_rate_limit_are_one_after_the_other_and_come_back() {
    model(
        "policy::places_in_the_rate_limit_are_one_after_the_other_and_come_back",
        Preemptions(Some(3), Some(3)).but_plain(2),
        || {
            let parts = Parts::half_open(1, 1);
            parts.rate_limit.drain(NOW);
            let work = |parts: &Parts| {
                let policy = waiting(parts);
                let mut call = started();
                let Step::Wait { until, .. } = rest(&mut call, &policy, NOW).0 else { panic!("it may wait") };
                assert_eq!(parts.trials_out(), 0, "whoever waits holds no trial");
                (call, until)
            };
            let other = spawn(&parts, work);
            let (first, second) = (work(&parts), join(other));
            let mut places = [first, second];
            places.sort_by_key(|(_, at)| *at);
            let at = [1, 2].map(|seconds| later(Duration::from_secs(seconds)));
            assert_eq!([places[0].1, places[1].1], at);
            // The later one gives up; what it held is there for the next.
            places[1].0.cancelled();
            assert!(!waits(&rest(&mut places[1].0, &guarded(&parts), NOW).0));
            assert_eq!(work(&parts).1, at[1]);
        },
    );
}

#[test]
fn exactly_one_call_says_that_the_breaker_opened() {
    model("policy::exactly_one_call_says_that_the_breaker_opened", Preemptions(Some(3), Some(3)).but_plain(2), || {
        let parts = Parts::closed(2, 1, 9);
        let work = |parts: &Parts| {
            let policy = guarded(parts);
            let mut call = started();
            let mut changes = 0;
            loop {
                match call.poll(&policy, NOW, 0) {
                    Step::Run(attempt) => {
                        call.finished(attempt.attempt, Finish::failed(Failure::Timeout));
                    }
                    Step::Changed(change) => changes += u32::from(change.to == State::Open),
                    Step::Done(_) => return changes,
                    step => panic!("{step:?}"),
                }
            }
        };
        let other = spawn(&parts, work);
        let changes = work(&parts) + join(other);
        assert_eq!((changes, parts.breaker.state(NOW)), (1, State::Open));
    });
}

#[test]
fn a_call_stopped_anywhere_delays_nobody() {
    for accesses in 1..=16 {
        model("policy::a_call_stopped_anywhere_delays_nobody", Preemptions(Some(2), Some(2)).but_plain(2), move || {
            let parts = Parts::half_open(2, 2);
            let stopped = spawn(&parts, move |parts| stop_after(accesses, || sends(&guarded(parts))));
            let sent = bounded(60, || sends(&guarded(&parts)));
            join(stopped);
            assert_eq!(sent, 1, "at most a trial and a token have gone with the stopped thread");
        });
    }
}
