//! The retry budget, as its specification.

use core::time::Duration;

use seawall::{Instant, Layer, Ratio, Reason, RetryBudget, RetryBudgetConfig, When};

const START: Instant = Instant::from_nanos(1 << 50);

fn budget(config: RetryBudgetConfig) -> RetryBudget {
    RetryBudget::new(&config, START).expect("a possible configuration")
}

fn retries(budget: &RetryBudget, now: Instant) -> u32 {
    (0..).take_while(|_| budget.withdraw(now).is_ok()).count() as u32
}

#[test]
fn it_starts_with_ten_retries_and_holds_no_more() {
    let budget = budget(RetryBudgetConfig::new());
    for _ in 0..1_000 {
        budget.deposit(START);
    }
    assert_eq!(retries(&budget, START), 10);
}

#[test]
fn ten_requests_pay_for_one_retry() {
    let budget = budget(RetryBudgetConfig::new());
    assert_eq!(retries(&budget, START), 10);
    for request in 1..=10 {
        assert!(budget.peek(START).is_err(), "before request {request}");
        budget.deposit(START);
    }
    assert_eq!(retries(&budget, START), 1);
}

#[test]
fn whole_retries_only_and_nothing_is_lost_in_between() {
    let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(333_333)).capacity(1));
    assert_eq!(retries(&budget, START), 1);
    for _ in 0..3 {
        budget.deposit(START);
    }
    assert_eq!(budget.balance_ppm(START), 999_999);
    assert_eq!(retries(&budget, START), 0);
    budget.deposit(START);
    assert_eq!(retries(&budget, START), 1);
}

#[test]
fn an_empty_one_says_who_and_why_and_that_it_depends() {
    let budget = budget(RetryBudgetConfig::new().capacity(1));
    budget.withdraw(START).expect("one");
    let no = budget.withdraw(START).unwrap_err();
    assert_eq!((no.layer, no.reason), (Layer::RetryBudget, Reason::BudgetEmpty));
    assert_eq!(no.when, When::Depends { estimate: None });
}

#[test]
fn a_refusal_takes_nothing() {
    let budget = budget(RetryBudgetConfig::new().capacity(1).ratio(Ratio::percent(50)));
    budget.withdraw(START).expect("one");
    budget.deposit(START);
    for _ in 0..100 {
        assert!(budget.withdraw(START).is_err());
    }
    budget.deposit(START);
    assert!(budget.withdraw(START).is_ok());
}

#[test]
fn a_retry_that_was_not_sent_comes_back() {
    let budget = budget(RetryBudgetConfig::new().capacity(1));
    budget.withdraw(START).expect("one");
    budget.refund(START);
    assert_eq!(retries(&budget, START), 1);
    budget.refund(START);
    budget.refund(START);
    assert_eq!(retries(&budget, START), 1, "never more than it holds");
}

#[test]
fn min_per_second_flows_in_by_itself_and_gives_an_estimate() {
    let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(5).min_per_second(2));
    assert_eq!(retries(&budget, START), 5);
    let no = budget.withdraw(START).unwrap_err();
    let When::Depends { estimate: Some(at) } = no.when else { panic!("{no:?}") };
    let wait = at.since(START);
    assert!(wait >= Duration::from_millis(500) && wait <= Duration::from_millis(534), "{wait:?}");
    assert!(budget.withdraw(at).is_ok());
    assert!(budget.withdraw(at).is_err());
    assert_eq!(retries(&budget, at.after(Duration::from_secs(3_600))), 5, "an hour fills it, and no more");
}

#[test]
fn many_small_steps_bring_in_no_more_than_one_long_one() {
    let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(100).min_per_second(10));
    retries(&budget, START);
    let granted: u32 = (1..=10_000).map(|ms| retries(&budget, START.after(Duration::from_millis(ms)))).sum();
    assert!((99..=100).contains(&granted), "{granted} in ten seconds");
}

#[test]
fn a_clock_that_goes_back_and_forth_brings_nothing_in_twice() {
    let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(100).min_per_second(10));
    retries(&budget, START);
    let later = START.after(Duration::from_secs(1));
    assert_eq!(retries(&budget, later), 9);
    for _ in 0..100 {
        budget.refund(START);
        budget.withdraw(START).expect("what was just refunded");
    }
    assert_eq!(retries(&budget, later), 0);
}

#[test]
fn hours_of_idleness_bring_in_at_most_what_was_due() {
    for hours in [1, 4, 5, 10, 10_000] {
        let budget = budget(RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(7).min_per_second(1));
        retries(&budget, START);
        assert!(retries(&budget, START.after(Duration::from_secs(hours * 3_600))) <= 7, "{hours} h");
    }
}

#[test]
fn a_change_keeps_what_is_there_as_far_as_it_fits() {
    let budget = budget(RetryBudgetConfig::new());
    for _ in 0..4 {
        budget.withdraw(START).expect("ten are there");
    }
    budget.configure(&RetryBudgetConfig::new().capacity(100), START).expect("possible");
    assert_eq!(budget.balance_ppm(START), 6_000_000);
    budget.configure(&RetryBudgetConfig::new().capacity(2), START).expect("possible");
    assert_eq!(budget.balance_ppm(START), 2_000_000);
    assert!(budget.is_full());
    budget.configure(&RetryBudgetConfig::new().capacity(3), START).expect("possible");
    assert!(!budget.is_full());
}

#[test]
fn impossible_values_are_refused_with_field_value_and_range() {
    for (config, text) in [
        (RetryBudgetConfig::new().capacity(0), "retry_budget.capacity: 0 is not allowed; allowed are 1 to 100000"),
        (
            RetryBudgetConfig::new().ratio(Ratio::percent(101)),
            "retry_budget.ratio: 1.01 is not allowed; allowed are 0 to 1",
        ),
        (
            RetryBudgetConfig::new().min_per_second(1_001),
            "retry_budget.min_per_second: 1001 is not allowed; allowed are 0 to 1000",
        ),
    ] {
        assert_eq!(RetryBudget::new(&config, START).unwrap_err().to_string(), text);
    }
}
