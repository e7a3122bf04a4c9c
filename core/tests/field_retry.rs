//! What broke in other people's backoffs and retry budgets: each public report with its trigger, and the
//! right behaviour here. Reports about calls are in `field_policy.rs`, about headers in `field_wire.rs`.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::policy::{bare, retry, rules};
use common::{millis, ms, secs};
use seawall::policy::{Blocking, Failed, PolicyConfig};
use seawall::{
    Backoff, BackoffConfig, Factor, Failure, Instant, Jitter, ManualClock, Random, Ratio, RetryBudget,
    RetryBudgetConfig, Timeouts,
};

mod backoff {
    use super::*;

    // timgit/pg-boss#520, Automattic/kue#1029: exponential backoff without a cap waits for days
    #[test]
    fn every_backoff_has_a_cap_whether_stated_or_not() {
        let unstated = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
        for retry in [5, 30, 31, 32, 62, 63, 64, 1_000, u32::MAX] {
            assert_eq!(unstated.ceiling(retry), millis(2_000), "retry {retry}");
        }
        for never in [Duration::MAX, Duration::from_nanos(u64::MAX), Duration::from_secs(86_401)] {
            assert!(Backoff::new(&BackoffConfig::new().cap(never)).is_err(), "{never:?} is no cap");
        }
    }

    // urllib3: no backoff before the first retry, and a factor of 0 by default
    #[test]
    fn the_first_retry_waits_too_and_no_factor_makes_waits_vanish() {
        let plain = Backoff::new(&BackoffConfig::new().jitter(Jitter::None)).expect("possible");
        assert_eq!(plain.delay(0, Duration::ZERO, 0), millis(100));
        assert!(Backoff::new(&BackoffConfig::new().factor(Factor::thousandths(0))).is_err());
        assert!(Backoff::new(&BackoffConfig::new().base(Duration::ZERO)).is_err());
    }

    // inyutin/aiohttp_retry: no jitter by default
    #[test]
    fn waits_are_drawn_unless_somebody_says_that_they_are_not() {
        let backoff = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
        let random = Random::seeded(3);
        let waits: std::collections::HashSet<_> =
            (0..100).map(|_| backoff.delay(0, Duration::ZERO, random.next())).collect();
        assert_eq!(waits.len(), 100, "a hundred clients, a hundred waits");
    }
}

mod budget {
    use super::*;

    fn budget(config: RetryBudgetConfig) -> RetryBudget {
        RetryBudget::new(&config, ms(0)).expect("a possible configuration")
    }

    fn retries(budget: &RetryBudget, now: Instant) -> u64 {
        (0..).take_while(|_| budget.withdraw(now).is_ok()).count() as u64
    }

    /// So many calls of up to three attempts each, one after the other, all of which fail while `down`: how many
    /// retries were sent.
    fn calls(budget: &RetryBudget, count: u64, down: bool) -> u64 {
        let (clock, sent) = (ManualClock::at(ms(0)), AtomicU64::new(0));
        let backoff = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
        let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), backoff).budget(budget);
        for _ in 0..count {
            let caller = Blocking::new(&clock, |span| clock.advance(span));
            let _ = caller.run(&policy, |_| {
                sent.fetch_add(1, Ordering::Relaxed);
                if down { Err(Failed::of(Failure::Connection, ())) } else { Ok(()) }
            });
        }
        sent.into_inner() - count
    }

    // aws/aws-sdk-go-v2#3550: quota is never given back, and retries are dead until a restart
    #[test]
    fn requests_after_an_outage_pay_for_retries_again() {
        let budget = budget(RetryBudgetConfig::new());
        calls(&budget, 1_000, true);
        assert_eq!(budget.balance_ppm(secs(0)) / 1_000_000, 0, "an outage empties it");
        assert_eq!(calls(&budget, 110, false), 0);
        assert_eq!(retries(&budget, secs(0)), 10, "a hundred successes and a few fill it");
    }

    // aws/aws-sdk-go-v2#3413: at 100 % failure an empty quota no longer holds anything back
    #[test]
    fn at_a_hundred_percent_failure_it_holds_for_as_long_as_that_lasts() {
        let budget = budget(RetryBudgetConfig::new());
        // The first call's own tenth finds it full.
        assert_eq!(calls(&budget, 100, true), 10 + 9);
        for _ in 0..50 {
            let retried = calls(&budget, 100, true);
            assert!((9..=10).contains(&retried), "{retried} of 100");
        }
    }

    // envoy-mobile PR#811: the budget is a share of what is active; when all fail there is little, and it starves
    #[test]
    fn requests_that_fail_pay_in_like_all_others() {
        let (up, down) = (budget(RetryBudgetConfig::new()), budget(RetryBudgetConfig::new()));
        for budget in [&up, &down] {
            retries(budget, ms(0));
        }
        assert_eq!(calls(&down, 1_000, true), 100);
        assert_eq!(calls(&up, 99, false), 0);
        assert_eq!(up.balance_ppm(ms(0)), 9_900_000);
    }

    // envoyproxy/envoy#30205: retries that wait in backoff are counted here and not there
    #[test]
    fn a_retry_that_is_paid_for_and_not_sent_leaves_no_trace() {
        let budget = budget(RetryBudgetConfig::new());
        for _ in 0..1_000 {
            budget.withdraw(ms(0)).expect("it was given back");
            budget.refund(ms(0));
        }
        assert_eq!(budget.balance_ppm(ms(0)), 10_000_000);
        // And retries pay nothing in: what a call sends counts as one request.
        assert_eq!(calls(&budget, 1, true), 2);
        assert_eq!(budget.balance_ppm(ms(0)), 8_000_000, "the call's own tenth found it full");
    }

    // envoyproxy/envoy#25660, envoyproxy/gateway PR#2769: a share of hardly any requests is no retry at all
    #[test]
    fn who_asks_rarely_may_retry_all_the_same() {
        let fresh = budget(RetryBudgetConfig::new());
        assert_eq!(calls(&fresh, 1, true), 2, "it starts with ten");
        let minimal = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(3).min_per_second(1));
        for hour in 0..24 {
            assert_eq!(retries(&minimal, secs(3_600 * hour)), 3, "in hour {hour}");
        }
    }

    // tower's TpsBudget, failsafe-go's Budget: looks whether something is left, and takes it afterwards
    #[test]
    fn threads_that_want_the_last_retry_get_one_between_them() {
        const THREADS: u64 = 4;
        for round in 0..500 {
            let budget = budget(RetryBudgetConfig::new().capacity(2));
            budget.withdraw(ms(0)).expect("two are there");
            let (barrier, granted) = (Barrier::new(THREADS as usize), AtomicU64::new(0));
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        barrier.wait();
                        granted.fetch_add(u64::from(budget.withdraw(ms(0)).is_ok()), Ordering::Relaxed);
                    });
                }
            });
            assert_eq!(granted.into_inner(), 1, "round {round}");
        }
    }

    // tower's TpsBudget: 1 / ratio is cut down to a whole number, so 30 % are 33 %
    #[test]
    fn a_ratio_is_kept_to_the_millionth() {
        for (ratio, requests, paid) in [(300_000, 1_000, 300), (700_000, 1_000, 700), (1_999, 1_000_000, 1_999)] {
            let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(ratio)).capacity(100_000));
            let mut left = 100_000;
            while budget.withdraw(ms(0)).is_ok() {
                left -= 1;
            }
            assert_eq!(left, 0);
            (0..requests).for_each(|_| budget.deposit(ms(0)));
            assert_eq!(retries(&budget, ms(0)), paid, "{ratio} ppm of {requests}");
        }
    }

    // apache/opendal#7376, PYTHON-5506: wanted: a tenth per request, one per retry
    #[test]
    fn that_is_what_it_does_when_nothing_is_said() {
        let budget = budget(RetryBudgetConfig::new());
        budget.withdraw(ms(0)).expect("ten are there");
        assert_eq!(budget.balance_ppm(ms(0)), 9_000_000);
        budget.deposit(ms(0));
        assert_eq!(budget.balance_ppm(ms(0)), 9_100_000);
    }
}
