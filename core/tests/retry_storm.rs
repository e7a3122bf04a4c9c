//! The retry storm of the textbooks, with the shipped policy, in virtual time and with fixed seeds: calls
//! at the provider per user action, when every layer retries, when one does, and with a budget.

mod common;

use common::policy::{bare, retry, rules};
use common::{millis, ms};
use seawall::policy::{Blocking, Failed, Policy, PolicyConfig};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Failure, ManualClock, Random, RetryBudget,
    RetryBudgetConfig, Timeouts,
};

type Answer = Result<(), Failed<()>>;

/// A chain of services in front of one provider; each has a policy of its own.
struct Chain<'a> {
    clock: ManualClock,
    random: Random,
    layers: Vec<Policy<'a>>,
    /// The provider fails so often, in percent.
    failing: u64,
    calls: std::cell::Cell<u64>,
}

impl<'a> Chain<'a> {
    fn new(layers: Vec<Policy<'a>>, failing: u64) -> Self {
        let (clock, calls) = (ManualClock::at(ms(0)), std::cell::Cell::new(0));
        Self { clock, random: Random::seeded(20), layers, failing, calls }
    }

    fn provider(&self) -> Answer {
        self.calls.set(self.calls.get() + 1);
        self.clock.advance(millis(1));
        if self.random.next() % 100 < self.failing { Err(Failed::of(Failure::Connection, ())) } else { Ok(()) }
    }

    /// What the layer answers that has `below` layers under it.
    fn layer(&self, below: usize) -> Answer {
        let Some(policy) = self.layers.get(below) else { unreachable!("the user asks the outermost") };
        let caller = Blocking::new(&self.clock, |span| self.clock.advance(span)).random(&self.random);
        let answer = caller.run(policy, |_| if below == 0 { self.provider() } else { self.layer(below - 1) });
        // The layer above sees a failed request, whatever the reason.
        answer.map_err(|_| Failed::of(Failure::Connection, ()))
    }

    /// So many user actions, one after the other: calls at the provider per action, and the share of
    /// actions that succeeded.
    fn run(&self, actions: u64) -> (f64, f64) {
        let succeeded = (0..actions).filter(|_| self.layer(self.layers.len() - 1).is_ok()).count();
        (self.calls.get() as f64 / actions as f64, succeeded as f64 / actions as f64)
    }
}

fn attempts(count: u64) -> Policy<'static> {
    let backoff = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
    bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules().attempts(count)), backoff)
}

/// 10 %, ten to begin with.
fn budget() -> RetryBudget {
    RetryBudget::new(&RetryBudgetConfig::new(), ms(0)).expect("the defaults are possible")
}

fn near(got: f64, want: f64, percent: f64) {
    assert!((got - want).abs() <= want * percent / 100.0, "{got}, not {want} within {percent} %");
}

#[test]
fn three_layers_of_three_attempts_make_27_calls() {
    let chain = Chain::new(vec![attempts(3); 3], 100);
    assert_eq!(chain.run(200), (27.0, 0.0));
}

#[test]
fn three_layers_of_four_attempts_make_64_calls() {
    let chain = Chain::new(vec![attempts(4); 3], 100);
    assert_eq!(chain.run(200), (64.0, 0.0));
}

#[test]
fn where_only_the_innermost_retries_there_are_3() {
    let chain = Chain::new(vec![attempts(3), attempts(1), attempts(1)], 100);
    assert_eq!(chain.run(200), (3.0, 0.0));
}

#[test]
fn a_budget_of_ten_percent_makes_that_1_1() {
    let budget = budget();
    let chain = Chain::new(vec![attempts(3).budget(&budget), attempts(1), attempts(1)], 100);
    // The ten it begins with are a thousandth of a call here.
    near(chain.run(10_000).0, 1.1, 1.0);
}

#[test]
fn budgets_in_three_layers_multiply() {
    let budgets = [budget(), budget(), budget()];
    let layers = budgets.iter().map(|budget| attempts(3).budget(budget)).collect();
    near(Chain::new(layers, 100).run(10_000).0, 1.331, 1.0);
}

#[test]
fn a_breaker_makes_it_hardly_any() {
    let budget = budget();
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(5)).expect("five is allowed");
    let innermost = attempts(3).budget(&budget).breaker(&breaker);
    let (calls, _) = Chain::new(vec![innermost, attempts(1), attempts(1)], 100).run(200);
    assert!(calls < 0.2, "{calls}");
}

#[test]
fn the_price_of_a_budget() {
    // Where half of all calls fail, three attempts save most of the requests, and a budget rightly few.
    for (failing, without, with) in [(50, 0.875, 0.55), (10, 0.9991, 0.9895)] {
        near(Chain::new(vec![attempts(3)], failing).run(20_000).1, without, 0.5);
        let budget = budget();
        near(Chain::new(vec![attempts(3).budget(&budget)], failing).run(20_000).1, with, 0.5);
    }
}
