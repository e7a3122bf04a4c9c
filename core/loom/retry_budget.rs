//! The retry budget among threads.

use std::sync::Arc;
use std::time::Duration;

use seawall::{Instant, Ratio, RetryBudget, RetryBudgetConfig};

use super::harness::{ALL, Preemptions, bounded, join, model, rounds, spawn, stop_after, stop_after_writes, wrote};

const NOW: Instant = Instant::from_nanos(1 << 50);

fn holding(capacity: u64) -> RetryBudgetConfig {
    RetryBudgetConfig::new().capacity(capacity).ratio(Ratio::percent(50))
}

fn new(config: &RetryBudgetConfig) -> Arc<RetryBudget> {
    Arc::new(RetryBudget::new(config, NOW).expect("the configuration is possible"))
}

fn retry(budget: &RetryBudget, now: Instant) -> u64 {
    u64::from(budget.withdraw(now).is_ok())
}

fn balance(budget: &RetryBudget) -> u64 {
    budget.balance_ppm(NOW)
}

#[test]
fn no_more_retries_than_are_there() {
    model("retry_budget::no_more_retries_than_are_there", Preemptions(Some(3), None), || {
        let each = rounds(1, 4) as u64;
        let budget = new(&holding(3 * each - 1));
        let work = move |budget: &RetryBudget| (0..each).map(|_| retry(budget, NOW)).sum::<u64>();
        let threads = [spawn(&budget, work), spawn(&budget, work)];
        let retried = work(&budget) + threads.into_iter().map(join).sum::<u64>();
        assert_eq!(retried, 3 * each - 1);
        assert_eq!(balance(&budget), 0);
    });
}

#[test]
fn nothing_that_is_paid_in_is_lost() {
    model("retry_budget::nothing_that_is_paid_in_is_lost", Preemptions(Some(3), None), || {
        let budget = new(&holding(10));
        assert_eq!(retry(&budget, NOW) + retry(&budget, NOW), 2);
        let threads = [spawn(&budget, |budget| budget.deposit(NOW)), spawn(&budget, |budget| budget.deposit(NOW))];
        budget.deposit(NOW);
        threads.into_iter().for_each(join);
        assert_eq!(balance(&budget), 9_500_000);
    });
}

#[test]
fn a_refund_beside_a_deposit_and_a_withdrawal() {
    model("retry_budget::a_refund_beside_a_deposit_and_a_withdrawal", Preemptions(Some(3), None), || {
        let budget = new(&holding(2));
        assert_eq!(retry(&budget, NOW) + retry(&budget, NOW), 2);
        let other = spawn(&budget, |budget| retry(budget, NOW));
        let third = spawn(&budget, |budget| budget.deposit(NOW));
        budget.refund(NOW);
        let retried = join(other);
        join(third);
        assert_eq!(balance(&budget), 1_500_000 - retried * 1_000_000);
    });
}

#[test]
fn a_full_budget_and_an_empty_one_are_not_written() {
    model("retry_budget::a_full_budget_and_an_empty_one_are_not_written", ALL, || {
        let budget = new(&holding(1));
        let deposits = |budget: &RetryBudget| wrote(|| budget.deposit(NOW)).1;
        let other = spawn(&budget, move |budget| deposits(budget));
        assert_ne!(deposits(&budget), Some(true));
        assert_ne!(join(other), Some(true));
        assert_eq!(retry(&budget, NOW), 1);
        let refusals = |budget: &RetryBudget| wrote(|| budget.withdraw(NOW).is_err());
        let other = spawn(&budget, move |budget| refusals(budget));
        let (refused, written) = refusals(&budget);
        assert!(refused && written != Some(true));
        let (refused, written) = join(other);
        assert!(refused && written != Some(true));
    });
}

#[test]
fn what_flows_in_flows_in_once() {
    model("retry_budget::what_flows_in_flows_in_once", Preemptions(Some(3), None), || {
        let budget = new(&RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(4).min_per_second(1));
        assert_eq!((0..4).map(|_| retry(&budget, NOW)).sum::<u64>(), 4);
        // Two retries' worth of time; one thread's clock reading is a second old.
        let (earlier, later) = (NOW.after(Duration::from_millis(1_020)), NOW.after(Duration::from_millis(2_050)));
        let other = spawn(&budget, move |budget| {
            budget.deposit(earlier);
            retry(budget, earlier)
        });
        let retried = retry(&budget, later) + retry(&budget, later) + join(other) + retry(&budget, later);
        assert_eq!(retried, 2);
    });
}

#[test]
fn a_change_keeps_what_is_there() {
    model("retry_budget::a_change_keeps_what_is_there", Preemptions(Some(3), None), || {
        let budget = new(&holding(3));
        let other = spawn(&budget, |budget| retry(budget, NOW));
        assert!(budget.configure(&holding(5), NOW).is_ok());
        budget.deposit(NOW);
        let retried = join(other);
        let balance = balance(&budget);
        // Paid in while it was full of three, or after the withdrawal, or into the larger one.
        assert!([3_500_000 - retried * 1_000_000, 3_000_000 - retried * 1_000_000].contains(&balance), "{balance}");
        assert_eq!(retried, 1);
    });
}

#[test]
fn full_never_means_another_capacity() {
    // Two changes lead back to the first slot with the same balance; only the capacity is another.
    model("retry_budget::full_never_means_another_capacity", Preemptions(Some(3), None), || {
        let budget = new(&holding(2));
        for _ in 0..2 {
            // Two slots are lost to changes that stopped after their claim.
            stop_after_writes(1, || budget.configure(&holding(2), NOW));
        }
        assert_eq!(retry(&budget, NOW), 1);
        let changer = spawn(&budget, |budget| {
            // One retry is there throughout.
            for capacity in [9, 3] {
                assert!(budget.configure(&holding(capacity), NOW).is_ok());
            }
        });
        budget.refund(NOW);
        join(changer);
        assert_eq!(balance(&budget), 2_000_000);
        assert!(!budget.is_full(), "two of three");
    });
}

#[test]
fn a_thread_stopped_anywhere_delays_nobody_and_takes_one_retry_at_most() {
    for accesses in 1..=5 {
        model("retry_budget::a_thread_stopped_anywhere_delays_nobody_and_takes_one_retry_at_most", ALL, move || {
            let budget = new(&holding(2));
            let stopped = spawn(&budget, move |budget| stop_after(accesses, || retry(budget, NOW)));
            let retried: u64 = (0..2).map(|_| bounded(8, || retry(&budget, NOW))).sum();
            let other = join(stopped).unwrap_or(0);
            assert!(retried + other <= 2);
            assert!(retried >= 1);
        });
    }
}

#[test]
fn an_exchange_that_fails_for_no_reason_is_tried_again() {
    model("retry_budget::an_exchange_that_fails_for_no_reason_is_tried_again", ALL, || {
        let budget = new(&holding(2));
        super::harness::fail_next_exchange();
        assert_eq!(retry(&budget, NOW), 1);
        super::harness::fail_next_exchange();
        budget.deposit(NOW);
        assert_eq!(balance(&budget), 1_500_000);
    });
}
