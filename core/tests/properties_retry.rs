//! The laws of the backoff, its helpers and the retry budget, on arbitrary configurations, operations and times.

mod common;

use std::time::Duration;

use common::{S, cases, ns, words};
use proptest::prelude::*;
use seawall::retry::{Reconnect, Schedule};
use seawall::{Backoff, BackoffConfig, Factor, Growth, Jitter, Ratio, RetryBudget, RetryBudgetConfig};

/// A unit of the budget's time, in nanoseconds.
const UNIT: u64 = 1 << 24;
const RETRY: u128 = 1_000_000;

#[derive(Clone, Copy, Debug)]
enum Op {
    Deposit,
    Withdraw,
    Refund,
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![4 => Just(Op::Deposit), 4 => Just(Op::Withdraw), 1 => Just(Op::Refund)]
}

/// How time goes on between two operations.
fn pauses() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 4 => 0..UNIT, 2 => 0..2 * S, 1 => 0..60 * S, 1 => 0..20_000 * S]
}

fn budgets() -> impl Strategy<Value = RetryBudgetConfig> {
    let ratio = prop_oneof![Just(100_000), Just(0), 0..=1_000_000u32];
    let per_second = prop_oneof![Just(0), 1..5u64, 0..=1_000u64];
    (ratio, 1..20u64, per_second).prop_map(|(ratio, capacity, per_second)| {
        RetryBudgetConfig::new().ratio(Ratio::ppm(ratio)).capacity(capacity).min_per_second(per_second)
    })
}

fn given(config: &RetryBudgetConfig, place: usize) -> u128 {
    u128::from(seawall::config::Config::get(config, place).expect("every one was given"))
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn in_any_interval_no_more_than_was_there_was_paid_in_and_flowed_in(
        config in budgets(), start in 0..100_000 * S, steps in prop::collection::vec((ops(), pauses()), 1..120)
    ) {
        let budget = RetryBudget::new(&config, ns(start)).unwrap();
        let [ratio, capacity, per_second] = [0, 1, 2].map(|place| given(&config, place));
        let mut now = start;
        // What was paid in and taken out, in millionths, and when.
        let mut moved = Vec::new();
        for (op, pause) in steps {
            now += pause;
            match op {
                Op::Deposit => {
                    budget.deposit(ns(now));
                    moved.push((now, ratio, 0));
                }
                Op::Refund => {
                    budget.refund(ns(now));
                    moved.push((now, RETRY, 0));
                }
                Op::Withdraw if budget.withdraw(ns(now)).is_ok() => moved.push((now, 0, RETRY)),
                Op::Withdraw => {}
            }
        }
        for (i, &(first, ..)) in moved.iter().enumerate() {
            let (mut paid, mut taken) = (0, 0);
            for &(last, in_, out) in &moved[i..] {
                (paid, taken) = (paid + in_, taken + out);
                // An interval touches at most one unit of time more than it is long.
                let inflow = u128::from(last - first + UNIT) * per_second / 1_000;
                prop_assert!(taken <= capacity * RETRY + paid + inflow, "{taken} in {} ns", last - first);
            }
        }
    }

    #[test]
    fn whatever_the_clock_says_a_refusal_changes_nothing_and_peek_is_what_withdraw_would_say(
        config in budgets(), start in any::<u64>(), steps in prop::collection::vec((ops(), any::<u64>()), 1..60)
    ) {
        let budget = RetryBudget::new(&config, ns(start)).unwrap();
        let full = given(&config, 1) * RETRY;
        for (op, at) in steps {
            let now = ns(at);
            let (balance, peeked, before) = (budget.balance_ppm(now), budget.peek(now), words(&budget));
            prop_assert!(u128::from(balance) <= full);
            prop_assert_eq!(peeked.is_ok(), u128::from(balance) >= RETRY);
            prop_assert_eq!(&words(&budget), &before, "looking changes nothing");
            match op {
                Op::Deposit => budget.deposit(now),
                Op::Refund => budget.refund(now),
                Op::Withdraw => {
                    let answer = budget.withdraw(now);
                    prop_assert_eq!(answer, peeked);
                    if answer.is_err() {
                        prop_assert_eq!(&words(&budget), &before, "a refusal changes nothing");
                    }
                }
            }
        }
    }

    #[test]
    fn a_change_keeps_the_balance_as_far_as_it_fits(
        config in budgets(), other in budgets(), start in 0..100_000 * S, taken in 0..20u64, pause in pauses()
    ) {
        let budget = RetryBudget::new(&config, ns(start)).unwrap();
        (0..taken).for_each(|_| assert!(budget.withdraw(ns(start)).is_ok() || budget.balance_ppm(ns(start)) < 1_000_000));
        let now = ns(start + pause);
        let before = budget.balance_ppm(now);
        budget.configure(&other, now).unwrap();
        prop_assert_eq!(u128::from(budget.balance_ppm(now)), u128::from(before).min(given(&other, 1) * RETRY));
    }
}

fn backoffs() -> impl Strategy<Value = (BackoffConfig, Jitter)> {
    let span = prop_oneof![1..1_000u64, 1..=S, 1..=86_400 * S];
    let jitter = prop::sample::select(vec![
        Jitter::Full,
        Jitter::Equal,
        Jitter::Decorrelated,
        Jitter::Proportional,
        Jitter::None,
    ]);
    let growth = prop::sample::select(vec![Growth::Exponential, Growth::Linear, Growth::Constant]);
    let factor = prop_oneof![Just(2_000), 1_000..3_000u32, 1_000..=100_000u32];
    (span.clone(), span, growth, factor, jitter, 1..=1_000_000u32).prop_map(|(a, b, growth, factor, jitter, spread)| {
        let config = BackoffConfig::new()
            .base(Duration::from_nanos(a.min(b)))
            .cap(Duration::from_nanos(a.max(b)))
            .growth(growth)
            .factor(Factor::thousandths(factor))
            .jitter(jitter)
            .spread(Ratio::ppm(spread));
        (config, jitter)
    })
}

fn cap(config: &BackoffConfig) -> Duration {
    Duration::from_nanos(seawall::config::Config::get(config, 1).expect("it was given"))
}

fn retries() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..40u32, 1 => any::<u32>()]
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn ceilings_never_fall_and_never_exceed_the_cap((config, _) in backoffs(), retry in retries()) {
        let backoff = Backoff::new(&config).unwrap();
        prop_assert!(backoff.ceiling(retry) <= backoff.ceiling(retry.saturating_add(1)));
        prop_assert!(backoff.ceiling(retry) <= cap(&config));
    }

    #[test]
    fn a_wait_lies_in_its_range_and_grows_with_the_draw(
        (config, jitter) in backoffs(), retry in retries(), previous in any::<u64>(), a in 1..u64::MAX, b in 1..u64::MAX
    ) {
        let backoff = Backoff::new(&config).unwrap();
        let draw = |r| backoff.delay(retry, Duration::from_nanos(previous), r);
        let (low, high) = (draw(a.min(b)), draw(a.max(b)));
        prop_assert!(draw(1) <= low && low <= high && high <= draw(u64::MAX));
        prop_assert!(draw(u64::MAX) <= cap(&config));
        let undrawn = draw(0);
        match jitter {
            Jitter::Decorrelated => prop_assert_eq!(undrawn, draw(u64::MAX)),
            _ => prop_assert_eq!(undrawn, backoff.ceiling(retry)),
        }
    }

    #[test]
    fn at_the_cap_the_spread_stays((config, jitter) in backoffs(), a in 1..u64::MAX, b in 1..u64::MAX) {
        // No two draws that lie apart are cut down to the same wait.
        let backoff = Backoff::new(&config.growth(Growth::Exponential).factor(Factor::times(100))).unwrap();
        let draw = |r| backoff.delay(u32::MAX, cap(&config), r);
        let width = (draw(u64::MAX) - draw(1)).as_nanos() as u64;
        let apart = draw(a.max(b)).saturating_sub(draw(a.min(b))).as_nanos() as u64;
        let expected = (u128::from(a.abs_diff(b)) * (u128::from(width) + 1)) >> 64;
        prop_assert!(u128::from(apart).abs_diff(expected) <= 1, "{apart} and not {expected} of {width}");
        prop_assert!(jitter == Jitter::None || width > 0 || cap(&config) < Duration::from_millis(1));
    }

    #[test]
    fn a_connection_waits_as_its_backoff_does(
        (config, _) in backoffs(), stable in 1..60 * S, lost in prop::collection::vec((pauses(), any::<u64>()), 1..30)
    ) {
        let backoff = Backoff::new(&config).unwrap();
        let mut link = Reconnect::new(backoff, Duration::from_nanos(stable));
        let (mut now, mut retry, mut previous) = (0, 0, Duration::ZERO);
        for (held, r) in lost {
            link.connected(ns(now));
            now += held;
            if held >= stable {
                (retry, previous) = (0, Duration::ZERO);
            }
            let wait = link.lost(ns(now), r);
            prop_assert_eq!(wait, backoff.delay(retry, previous, r));
            (retry, previous) = (retry + 1, wait);
        }
    }

    #[test]
    fn a_schedule_is_due_once_in_every_period(
        period in 1..86_400 * S, spread in 0..=1_000_000u32, seed in any::<u64>(), now in any::<u32>()
    ) {
        let schedule = Schedule::new(Duration::from_nanos(period), Ratio::ppm(spread), seed);
        let now = ns(u64::from(now) << 20);
        let due = schedule.next(now);
        prop_assert!(due > now && due.since(now) <= Duration::from_nanos(period));
        prop_assert_eq!(due.as_nanos() % period, schedule.phase().as_nanos() as u64);
        prop_assert!(schedule.phase().as_nanos() <= u128::from(period) * u128::from(spread) / 1_000_000);
        prop_assert_eq!(schedule.next(due).since(due), Duration::from_nanos(period));
    }
}
