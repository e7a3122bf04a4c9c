//! A call driven by hand, in virtual time.

use seawall::policy::{Attempt, Call, Ending, Finish, Policy, PolicyConfig, Receipt, Step};
use seawall::{
    Backoff, BackoffConfig, Deadline, Failure, Idempotent, Instant, Jitter, Retry, RetryConfig, Timeouts,
    TimeoutsConfig,
};

use super::millis;

/// A pause of 100 ms that doubles up to 2 s, without jitter.
pub fn plain_backoff() -> Backoff {
    Backoff::new(&BackoffConfig::new().jitter(Jitter::None)).expect("the defaults are possible")
}

pub fn rules() -> RetryConfig {
    RetryConfig::new().idempotent(Idempotent::Yes)
}

pub fn retry(config: RetryConfig) -> Retry {
    Retry::new(&config).expect("the rules are possible")
}

/// Timeouts in milliseconds, 0 for none.
pub fn timeouts(attempt: u64, total: u64) -> Timeouts {
    let config = TimeoutsConfig::new().connect(millis(0)).attempt(millis(attempt)).total(millis(total));
    Timeouts::new(&config).expect("the timeouts are possible")
}

/// A policy without parts.
pub fn bare(config: PolicyConfig, timeouts: Timeouts) -> Policy<'static> {
    Policy::new(&config, timeouts).expect("the policy is possible")
}

/// Three attempts, 100 ms and 200 ms apart, without timeouts.
pub fn three() -> Policy<'static> {
    bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), plain_backoff())
}

pub fn started() -> Call {
    started_until(Deadline::NEVER)
}

pub fn started_until(deadline: Deadline) -> Call {
    let mut call = Call::new();
    assert_eq!(call.start(deadline), Receipt::Taken);
    call
}

/// Everything that it says, up to and with `Wait` or `Done`.
pub fn steps(call: &mut Call, policy: &Policy<'_>, now: Instant) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..100 {
        let step = call.poll(policy, now, 0);
        steps.push(step);
        if matches!(step, Step::Wait { .. } | Step::Done(_)) {
            return steps;
        }
    }
    panic!("it never comes to rest: {steps:?}");
}

/// An attempt goes out now.
pub fn goes_out(call: &mut Call, policy: &Policy<'_>, now: Instant) -> Attempt {
    let steps = steps(call, policy, now);
    let mut runs = steps.iter().filter_map(|step| if let Step::Run(attempt) = step { Some(*attempt) } else { None });
    let attempt = runs.next().unwrap_or_else(|| panic!("nothing goes out: {steps:?}"));
    assert_eq!(runs.next(), None, "only one");
    attempt
}

/// It waits, until then.
pub fn waits(call: &mut Call, policy: &Policy<'_>, now: Instant) -> Instant {
    match steps(call, policy, now).last() {
        Some(Step::Wait { until, .. }) => *until,
        other => panic!("it does not wait: {other:?}"),
    }
}

/// It is over, like this.
pub fn ends(call: &mut Call, policy: &Policy<'_>, now: Instant) -> Ending {
    match steps(call, policy, now).last() {
        Some(Step::Done(ending)) => *ending,
        other => panic!("it is not over: {other:?}"),
    }
}

/// An attempt goes out now and ends like this at once.
pub fn attempt(call: &mut Call, policy: &Policy<'_>, finish: Finish, now: Instant) {
    let attempt = goes_out(call, policy, now);
    assert_eq!(call.finished(attempt.attempt, finish), Receipt::Taken);
}

pub fn down() -> Finish {
    Finish::failed(Failure::Connection)
}
