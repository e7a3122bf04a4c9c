//! Whole calls.

use std::time::Duration;

use seawall::policy::{End, Late, PolicyConfig, Told};
use seawall::{
    BackoffConfig, CircuitBreakerConfig, ExpiredTrials, Failure, Idempotent, Jitter, OnRetryAfter, RetryBudgetConfig,
    RetryConfig, TimeoutsConfig, TokenBucketConfig,
};

use crate::policy::{Config, Ended};
use crate::vectors::format::Scenario;
use crate::vectors::policy::{Line, Play, failed, status};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Timeouts in milliseconds, 0 for none.
const fn timeouts(attempt: u64, total: u64) -> TimeoutsConfig {
    TimeoutsConfig::new().connect(ms(0)).attempt(ms(attempt)).total(ms(total))
}

const RULES: RetryConfig = RetryConfig::new().attempts(3).idempotent(Idempotent::Yes);
const PLAIN: BackoffConfig = BackoffConfig::new().base(ms(100)).jitter(Jitter::None);

/// One attempt, no parts.
const ONCE: Config = Config {
    policy: PolicyConfig::new(),
    timeouts: timeouts(0, 0),
    retry: None,
    budget: None,
    breaker: None,
    rate_limit: None,
};

/// Three attempts, 100 ms and 200 ms apart.
const THREE: Config = Config { retry: Some((RULES, PLAIN)), ..ONCE };

const fn breaker(threshold: u64) -> Option<CircuitBreakerConfig> {
    Some(CircuitBreakerConfig::consecutive(threshold).reset_after(ms(30_000)))
}

const fn budget(capacity: u64) -> Option<RetryBudgetConfig> {
    Some(RetryBudgetConfig::new().capacity(capacity))
}

/// One token a second.
const fn limit(capacity: u64) -> Option<TokenBucketConfig> {
    Some(TokenBucketConfig::per_second(1, capacity))
}

const fn waiting(max_wait: u64) -> PolicyConfig {
    PolicyConfig::new().max_wait(ms(max_wait))
}

pub(super) fn attempts() -> Vec<Scenario<Line>> {
    let play = Play::new;
    let told = |on| Config { retry: Some((RULES.on_retry_after(on), PLAIN)), ..THREE };
    let never = Config { retry: Some((RULES.idempotent(Idempotent::No), PLAIN)), ..THREE };
    let stop = Ended { told: Told::Stop, ..failed(Failure::Connection) };
    let jittered = Config { retry: Some((RULES, BackoffConfig::new().base(ms(100)))), ..THREE };
    vec![
        play("success", "The first attempt answers.", THREE).start().at(5).success(1).done(End::Success),
        play("third_time", "Two failures, two pauses, an answer.", THREE)
            .start().fails(1).at(99).poll().at(100).poll().fails(2).at(300).poll().success(3).done(End::Success),
        play("used_up", "Three failures, and no pause after the last.", THREE)
            .start().fails(1).at(100).poll().at(110).fails(2).at(310).poll().fails(3).done(End::AttemptsUsedUp),
        play("no_rules", "Without rules of retrying there is one attempt.", ONCE).start().fails(1).done(End::AttemptsUsedUp),
        play("not_retryable", "A 404 recurs.", THREE).start().ended(1, status(404, None)).poll().done(End::NotRetryable),
        play("lasting", "A 500 recurs as well.", THREE).start().ended(1, status(500, None)).poll().done(End::NotRetryable),
        play("not_idempotent", "What must not be done twice is not.", never).start().fails(1).done(End::NotIdempotent),
        play("told_to_stop", "The dependency says not to retry.", THREE).start().ended(1, stop).poll().done(End::ToldToStop),
        play("told_wait", "A told wait is the least; it is not cut short.", told(OnRetryAfter::Wait))
            .start().ended(1, status(429, Some(700))).poll().woken(0).woken(1).at(699).poll().at(700).poll().success(2).done(End::Success),
        play("told_too_long", "Longer than a minute is not waited for.", told(OnRetryAfter::Wait))
            .start().ended(1, status(429, Some(60_001))).poll().done(End::ToldTooLong),
        play("told_fail", "Whoever does not wait at all is told when.", told(OnRetryAfter::Fail))
            .start().ended(1, status(503, Some(1))).poll().done(End::ToldTooLong),
        play("told_grpc", "Exactly as long, and the pauses begin anew.", told(OnRetryAfter::Grpc))
            .start().fails(1).at(100).poll().ended(2, status(503, Some(5))).poll().at(105).poll().success(3).done(End::Success),
        play("told_aws", "At most 5 s longer than the pause.", told(OnRetryAfter::Aws))
            .start().ended(1, status(503, Some(60_000))).poll().at(5_100).poll().success(2).done(End::Success),
        play("told_and_jitter", "The draw goes on top of what was told.", jittered)
            .start().ended(1, status(429, Some(700))).poll_with(u64::MAX / 2).at(800).poll().success(2).done(End::Success),
        play("jitter", "Pauses are drawn from randomness that is an argument.", jittered)
            .start().ended(1, failed(Failure::Timeout)).poll_with(u64::MAX / 4).at(100).poll()
            .ended(2, failed(Failure::Timeout)).poll_with(u64::MAX).at(300).poll().success(3).done(End::Success),
        play("woken", "A pause that nobody told may be cut short, once.", THREE)
            .start().fails(1).at(10).woken(7).woken(1).woken(1).success(2).done(End::Success),
        play("cancelled_out", "Cancelled while an attempt is out.", THREE).start().at(5).cancel().done(End::Cancelled),
        play("cancelled_pause", "Cancelled during a pause: at once, and nothing follows.", THREE)
            .start().fails(1).at(20).cancel().at(100).poll().done(End::Cancelled),
        play("stale", "What comes twice, late or from nowhere changes nothing.", THREE)
            .start().start().ended(2, Ended::SUCCESS).ended(0, Ended::SUCCESS).ended(1, failed(Failure::Connection))
            .ended(1, Ended::SUCCESS).poll().ended(1, Ended::SUCCESS).at(100).poll().success(2).success(2).cancel().done(End::Success),
        play("never_started", "A call that was never started says so.", THREE)
            .poll().cancel().ended(1, Ended::SUCCESS).poll().done(End::Unconfigured),
        play("own_refusal", "A refusal further down is final and no evidence.", Config { breaker: breaker(1), ..THREE })
            .start().ended(1, failed(Failure::OwnRefusal)).poll().start().success(1).done(End::Success),
    ]
}

pub(super) fn time() -> Vec<Scenario<Line>> {
    let play = Play::new;
    let with = |attempt, total| Config { timeouts: timeouts(attempt, total), breaker: breaker(1), ..ONCE };
    let again = |attempt, total| Config { timeouts: timeouts(attempt, total), ..THREE };
    let late = |late| Config { policy: PolicyConfig::new().late(late), ..with(250, 0) };
    let expected = Config { policy: PolicyConfig::new().expected(ms(40)), ..THREE };
    vec![
        play("own_timeout", "Cut off by its own timeout: the dependency's failure.", with(250, 2_000))
            .start().at(249).poll().at(250).poll().done(End::AttemptsUsedUp),
        play("timeout_retried", "A timeout is tried again.", again(250, 2_000))
            .start().at(250).poll().at(350).poll().success(2).done(End::Success),
        play("inherited", "Cut off by a sooner deadline of the caller's: no evidence.", with(250, 0))
            .start_until(100).at(100).poll().start().at(101).success(1).done(End::Success),
        play("whole_timeout", "A deadline that leaves the whole timeout is no excuse.", with(100, 0))
            .start_until(100).at(100).poll().done(End::DeadlineExceeded),
        play("only_total", "The only timeout stated is the attempt's own.", with(0, 500)).start().at(500).poll().done(End::TimedOut),
        play("total", "The total includes attempts and pauses.", again(2_700, 3_000))
            .start().at(2_700).poll().at(2_800).poll().at(3_000).poll().done(End::TimedOut),
        play("pause_too_long", "A pause beyond the deadline is not begun.", THREE).start_until(100).fails(1).done(End::WontFinish),
        play("told_beyond", "Nor a told one; the instant is carried.", THREE)
            .start_until(1_000).ended(1, status(503, Some(5_000))).poll().done(End::WontFinish),
        play("expected", "Less remains than an attempt takes.", expected).at(1_000).start_until(1_039).done(End::WontFinish),
        play("expected_fits", "Just as much remains.", expected).at(1_000).start_until(1_040).success(1).done(End::Success),
        play("passed", "The deadline has passed before the first attempt.", THREE).at(1_000).start_until(1_000).done(End::DeadlineExceeded),
        play("late_timer", "Polled too late after a pause: no attempt.", again(0, 1_000))
            .start().fails(1).at(1_100).poll().done(End::TimedOut),
        play("just_in_time", "A result at its instant is in time.", with(250, 0)).start().at(250).success(1).done(End::Success),
        play("late_success", "A success after its instant is a timeout.", late(Late::Discard))
            .start().at(251).success(1).done(End::AttemptsUsedUp),
        play("late_success_used", "Unless it may be used; the breaker hears of the timeout all the same.", late(Late::Use))
            .start().at(251).success(1).start().done(End::BreakerRefused),
        play("late_failure", "A failure after its instant is the failure that it is.", again(250, 0))
            .start().at(300).ended(1, status(404, None)).poll().done(End::NotRetryable),
    ]
}

pub(super) fn parts() -> Vec<Scenario<Line>> {
    let play = Play::new;
    let guarded = |threshold| Config { breaker: breaker(threshold), ..THREE };
    let limited = |capacity, max_wait| Config { rate_limit: limit(capacity), policy: waiting(max_wait), ..ONCE };
    let both = |max_wait| Config { breaker: breaker(1), ..limited(1, max_wait) };
    let budgeted = |capacity| Config { budget: budget(capacity), ..THREE };
    let expired = CircuitBreakerConfig::consecutive(1).reset_after(ms(30_000)).expired_trials(ExpiredTrials::Open);
    vec![
        play("open", "An open breaker refuses, and says when.", guarded(1)).another_fails().at(1).start().done(End::BreakerRefused),
        play("opened_by_retry", "A breaker that the last failure opened is final.", guarded(2))
            .start().fails(1).at(100).poll().fails(2).done(End::BreakerRefused),
        play("opened_in_pause", "Opened during the pause: the retry goes back to the budget.", Config { breaker: breaker(2), ..budgeted(1) })
            .start().fails(1).another_fails().at(100).poll()
            .at(40_000).start().success(1).start().fails(1).at(40_100).poll().success(2).done(End::Success),
        play("trial", "After the open period one call is the trial; it closes the breaker.", guarded(1))
            .another_fails().at(31_000).start().call(1).start().call(0).at(31_005).success(1).call(1).start().success(1).done(End::Success),
        play("trial_cancelled", "A cancelled trial comes back without a verdict.", guarded(1))
            .another_fails().at(31_000).start().cancel().call(1).start().success(1).done(End::Success),
        play("trials_expired", "Asking a breaker whose trial never ended opens it again.", Config { breaker: Some(expired), ..THREE })
            .another_fails().at(31_000).start().call(1).at(62_000).start().done(End::BreakerRefused),
        play("told_503", "A 503 that says when opens the breaker; its own retry is the trial.", guarded(5))
            .start().ended(1, status(503, Some(2_000))).poll().call(1).start().call(0).at(2_010).poll().success(2).done(End::Success),
        play("told_429", "A 429 that says when opens nothing.", guarded(1))
            .start().ended(1, status(429, Some(2_000))).poll().call(1).start().success(1).call(0).at(2_000).poll().success(2).done(End::Success),
        play("limited", "The rate limit refuses at once, and the breaker hears nothing.", both(0))
            .start().success(1).start().at(1_000).start().success(1).done(End::Success),
        play("trial_not_spent", "A trial is not spent on what the rate limit refuses.", both(0))
            .another_fails().at(30_500).start().cancel().call(1).start().at(31_500).start().success(1).done(End::Success),
        play("queued", "A place in the rate limit is waited for.", limited(1, 5_000))
            .start().call(1).start().call(2).start().at(1_000).call(1).poll().success(1).call(2).poll().at(2_000).poll().success(1).done(End::Success),
        play("queued_too_long", "A place beyond max_wait is final, and nothing is taken.", limited(1, 999))
            .start().call(1).start().at(1_000).start().success(1).done(End::Success),
        play("queue_left", "A place that is not used is the next one's.", limited(1, 5_000))
            .start().call(1).start().cancel().call(2).start().at(1_000).poll().success(1).done(End::Success),
        play("queue_beyond_deadline", "A place beyond the deadline is not taken.", limited(1, 5_000))
            .start().call(1).start_until(1_000).done(End::WontFinish),
        play("cost_above_capacity", "More than ever fits.", Config { policy: PolicyConfig::new().cost(2), ..limited(1, 0) })
            .start().done(End::RateLimited),
        play("retry_limited", "A retry takes a token like any attempt.", Config { rate_limit: limit(1), ..THREE })
            .start().fails(1).at(100).poll().done(End::RateLimited),
        play("budget_empty", "The budget's one retry is used; the next failure ends its call.", budgeted(1))
            .start().fails(1).call(1).start().fails(1).done(End::BudgetEmpty),
        play("budget_refunded", "A retry that is cancelled is there for the next call.", budgeted(1))
            .start().fails(1).cancel().call(1).start().fails(1).at(100).poll().success(2).done(End::Success),
        play("order_of_no", "Deadline before budget before breaker.", Config { breaker: breaker(1), ..budgeted(1) })
            .start_until(50).fails(1).done(End::WontFinish),
    ]
}

pub(in crate::vectors) fn errors() -> Vec<Config> {
    let with = |timeouts| Config { timeouts, ..ONCE };
    let rules = |rules| Config { retry: Some((rules, PLAIN)), ..ONCE };
    vec![
        with(TimeoutsConfig::new().attempt(ms(1)).total(ms(1))),
        with(TimeoutsConfig::new().connect(ms(1)).total(ms(1))),
        with(TimeoutsConfig::new().connect(ms(1)).attempt(ms(1))),
        with(timeouts(3_001, 3_000)),
        with(timeouts(1_000, 3_000).connect(ms(1_001))),
        with(timeouts(0, 3_000).connect(ms(3_001))),
        rules(RetryConfig::new().attempts(3)),
        rules(RULES.attempts(0)),
        rules(RULES.max_retry_after(ms(86_400_001))),
        Config { policy: PolicyConfig::new().cost(0), ..ONCE },
        Config { policy: PolicyConfig::new().expected(ms(86_400_001)), ..ONCE },
        Config { policy: PolicyConfig::new().max_wait(ms(86_400_001)), ..ONCE },
        Config { retry: Some((RULES, PLAIN.base(ms(3_000)).cap(ms(2_000)))), ..ONCE },
        Config { budget: budget(0), ..ONCE },
        Config { breaker: breaker(0), ..ONCE },
        Config { rate_limit: limit(0), ..ONCE },
    ]
}
