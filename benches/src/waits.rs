//! Pauses and budgets, and what is done to them.

use std::hint::black_box;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use seawall::{Backoff, BackoffConfig, Instant, Jitter, Random, Ratio, RetryBudget, RetryBudgetConfig};
use tower::retry::budget::{Budget as _, TpsBudget};

const NOW: Instant = Instant::from_nanos(1 << 50);

/// A backoff and its randomness.
pub type Pauses = (Backoff, Random);

/// Full jitter, 100 ms doubling up to 2 s.
pub fn full() -> Pauses {
    (Backoff::new(&BackoffConfig::new()).expect("possible"), Random::seeded(7))
}

/// The same with decorrelated jitter.
pub fn decorrelated() -> Pauses {
    let config = BackoffConfig::new().jitter(Jitter::Decorrelated);
    (Backoff::new(&config).expect("possible"), Random::seeded(7))
}

/// The pauses of four retries in turn, each with its draw.
pub fn delay((backoff, random): &Pauses, iterations: u64) -> u64 {
    let mut previous = Duration::ZERO;
    repeat!(iterations, i => {
        previous = backoff.delay(black_box(i as u32 & 3), previous, random.next());
        u64::from(previous.subsec_nanos())
    })
}

/// The same with randomness of the caller's own, one step of wyrand, which is what backon draws from.
pub fn delay_by_own_draws((backoff, _): &Pauses, iterations: u64) -> u64 {
    let (mut previous, mut state) = (Duration::ZERO, black_box(7u64));
    repeat!(iterations, i => {
        state = state.wrapping_add(0xA076_1D64_78BD_642F);
        let product = u128::from(state) * u128::from(state ^ 0xE703_7ED1_A0B4_28DB);
        let r = (product >> 64) as u64 ^ product as u64;
        previous = backoff.delay(black_box(i as u32 & 3), previous, r);
        u64::from(previous.subsec_nanos())
    })
}

/// backon with the same base, cap and factor, and its jitter.
pub fn backon_rules() -> ExponentialBuilder {
    let millis = Duration::from_millis;
    ExponentialBuilder::default()
        .with_min_delay(millis(100))
        .with_max_delay(millis(2_000))
        .with_max_times(4)
        .with_jitter()
}

/// The pauses of four retries in turn; every fourth time the iterator is made anew, as every call does.
pub fn backon_delay(builder: &ExponentialBuilder, iterations: u64) -> u64 {
    let mut pauses: ExponentialBackoff = builder.build();
    repeat!(iterations, _ => match pauses.next() {
        Some(pause) => u64::from(pause.subsec_nanos()),
        None => {
            pauses = black_box(builder).build();
            pauses.next().map_or(0, |pause| u64::from(pause.subsec_nanos()))
        }
    })
}

/// A full budget of a thousand retries.
pub fn budget() -> RetryBudget {
    let config = RetryBudgetConfig::new().ratio(Ratio::ONE).capacity(1_000);
    RetryBudget::new(&config, NOW).expect("possible")
}

/// The same, half empty, so that every operation writes.
pub fn half_empty() -> RetryBudget {
    let budget = budget();
    (0..500).for_each(|_| budget.withdraw(NOW).expect("a thousand are there"));
    budget
}

/// A deposit.
pub fn deposit(budget: &RetryBudget, iterations: u64) -> u64 {
    repeat!(iterations, i => {
        black_box(budget).deposit(NOW);
        i
    })
}

/// A withdrawal and a deposit.
pub fn withdraw_and_deposit(budget: &RetryBudget, iterations: u64) -> u64 {
    repeat!(iterations, _ => {
        let paid = budget.withdraw(NOW).is_ok();
        budget.deposit(NOW);
        u64::from(paid)
    })
}

/// tower's budget, with a reserve that no sample empties.
pub fn tower() -> TpsBudget {
    TpsBudget::new(Duration::from_secs(10), 1_000_000, 1.0)
}

/// A deposit.
pub fn tower_deposit(budget: &TpsBudget, iterations: u64) -> u64 {
    repeat!(iterations, i => {
        budget.deposit();
        i
    })
}

/// A withdrawal and a deposit.
pub fn tower_withdraw_and_deposit(budget: &TpsBudget, iterations: u64) -> u64 {
    repeat!(iterations, _ => {
        let paid = budget.withdraw();
        budget.deposit();
        u64::from(paid)
    })
}
