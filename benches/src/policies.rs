//! Whole calls in the states that are measured, and what is done to them.

use std::hint::black_box;
use std::time::Duration;

use backon::{BlockingRetryable, ExponentialBuilder};
use seawall::policy::{Attempt, Call, Failed, Finish, Policy, PolicyConfig, Step, blocking};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Deadline, Failure, Idempotent, Instant, Retry,
    RetryBudget, RetryBudgetConfig, RetryConfig, Timeouts, TimeoutsConfig,
};

pub use backon::ExponentialBuilder as BackonRules;

const NOW: Instant = Instant::from_nanos(1 << 50);

/// A clock that stands still, so that reading it costs nothing for anybody.
#[derive(Debug)]
struct Still;

impl seawall::Clock for Still {
    fn now(&self) -> Instant {
        black_box(NOW)
    }
}

/// The parts of a policy.
#[derive(Debug)]
pub struct Parts {
    breaker: CircuitBreaker,
    budget: RetryBudget,
    retry: Retry,
    backoff: Backoff,
    timeouts: Timeouts,
}

/// A healthy breaker, a full budget, three attempts, 1 s for each and 3 s in all.
pub fn healthy() -> Parts {
    let seconds = Duration::from_secs;
    let stated = TimeoutsConfig::new().connect(seconds(1)).attempt(seconds(1)).total(seconds(3));
    Parts {
        breaker: CircuitBreaker::new(&CircuitBreakerConfig::consecutive(5)).expect("possible"),
        budget: RetryBudget::new(&RetryBudgetConfig::new(), NOW).expect("possible"),
        retry: Retry::new(&RetryConfig::new().idempotent(Idempotent::Yes)).expect("possible"),
        backoff: Backoff::new(&BackoffConfig::new()).expect("possible"),
        timeouts: Timeouts::new(&stated).expect("possible"),
    }
}

/// As `healthy`, the breaker open.
pub fn open() -> Parts {
    let parts = healthy();
    parts.breaker.trip(NOW, None, 0);
    parts
}

/// Only retries, as backon has.
fn retrying(parts: &Parts) -> Policy<'_> {
    let policy = Policy::new(&PolicyConfig::new(), Timeouts::NONE).expect("possible");
    policy.retry(parts.retry, parts.backoff)
}

fn whole(parts: &Parts) -> Policy<'_> {
    let policy = Policy::new(&PolicyConfig::new(), parts.timeouts).expect("possible");
    policy.retry(parts.retry, parts.backoff).budget(&parts.budget).breaker(&parts.breaker)
}

/// What is called: it works.
fn work(i: u64) -> Result<u64, Failure> {
    black_box(Ok(i))
}

fn attempt(i: u64) -> impl FnMut(Attempt) -> Result<u64, Failed<Failure>> {
    move |_| work(i).map_err(|failure| Failed::of(failure, failure))
}

/// Calls that succeed at once, with rules of retrying alone.
pub fn retry(parts: &Parts, iterations: u64) -> u64 {
    let policy = retrying(parts);
    repeat!(iterations, i => blocking::run(&policy, Still, |_| (), attempt(i)).unwrap_or(0))
}

/// The same, with deadline, budget and breaker as well; an open breaker refuses.
pub fn call(parts: &Parts, iterations: u64) -> u64 {
    let policy = whole(parts);
    repeat!(iterations, i => blocking::run(&policy, Still, |_| (), attempt(i)).unwrap_or(0))
}

/// A failure, the pause, and a success.
pub fn call_retried(parts: &Parts, iterations: u64) -> u64 {
    let policy = whole(parts);
    repeat!(iterations, i => {
        let mut call = Call::new();
        call.start(Deadline::NEVER);
        let mut now = NOW;
        loop {
            match call.poll(&policy, now, i | 1) {
                Step::Run(this) if this.attempt == 1 => {
                    call.finished(1, Finish::failed(Failure::Connection));
                }
                Step::Run(this) => {
                    call.finished(this.attempt, Finish::success());
                    // What the retry took, so that there is one for the next.
                    parts.budget.refund(now);
                }
                Step::Wait { until, .. } => now = until,
                Step::Done(ending) => break u64::from(ending.attempts),
                _ => {}
            }
        }
    })
}

/// backon with its exponential backoff and jitter: calls that succeed at once.
pub fn backon(builder: &ExponentialBuilder, iterations: u64) -> u64 {
    repeat!(iterations, i => (|| work(i)).retry(*builder).sleep(|_| ()).call().unwrap_or(0))
}

/// backon's rules.
pub fn backon_rules() -> ExponentialBuilder {
    ExponentialBuilder::default().with_max_times(2).with_jitter()
}
