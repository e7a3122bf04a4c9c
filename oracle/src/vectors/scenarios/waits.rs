//! Backoff, its helpers, and the retry budget.

use core::time::Duration;

use seawall::{BackoffConfig, Factor, Growth, Jitter, Ratio, RetryBudgetConfig};

use super::errors::out_of_bounds;
use crate::vectors::asked::{Ask, Line, backoff_error, budget_error, played};
use crate::vectors::format::{Decimal as D, Impossible, Scenario, given};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Random bits from the lowest draw to the highest.
const DRAWS: [u64; 5] = [1, 1 << 62, 1 << 63, 0xDEAD_BEEF_0123_4567, u64::MAX];

pub(super) fn waits() -> Vec<Scenario<Line>> {
    let new = BackoffConfig::new;
    let second = Duration::from_secs(1);
    let mut all = vec![
        ceilings("doubling", "Exponential growth up to the cap.", new()),
        ceilings("fractional_factor", "A factor of one and a half.", new().factor(Factor::thousandths(1_500))),
        ceilings("linear", "Linear growth up to the cap.", new().growth(Growth::Linear)),
        ceilings("constant", "No growth.", new().growth(Growth::Constant)),
        ceilings("long_base", "A base above two seconds brings its own cap.", new().base(5 * second)),
        ceilings("one_day", "The longest there is.", new().cap(86_400 * second).factor(Factor::times(100))),
    ];
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::Proportional, Jitter::None] {
        all.push(draws(jitter));
    }
    all
}

fn ceilings(name: &str, about: &str, config: BackoffConfig) -> Scenario<Line> {
    let asks = [0, 1, 2, 3, 4, 5, 6, 31, 32, 63, 64, 1_000, u32::MAX].map(|retry| Ask::Ceiling { retry });
    played("backoff", name, about, Some(&config), 0, asks.to_vec())
}

fn draws(jitter: Jitter) -> Scenario<Line> {
    let mut asks = Vec::new();
    for retry in [0, 3, 9] {
        for previous in [0, 150 * MS, 1_900 * MS, u64::MAX] {
            for r in DRAWS.into_iter().chain([0]) {
                asks.push(Ask::Delay { retry, previous_ns: D(previous), r: D(r) });
            }
        }
    }
    let about = "Draws from the least to the greatest; without randomness it is the greatest.";
    let config = BackoffConfig::new().jitter(jitter);
    played("backoff", &format!("jitter_{jitter}"), about, Some(&config), 0, asks)
}

pub(super) fn helpers() -> Vec<Scenario<Line>> {
    let mut asks = Vec::new();
    for (span, spread_ppm) in [(3_600 * S, 100_000), (S, 1_000_000), (S, 0), (0, 500_000), (u64::MAX, u32::MAX)] {
        for r in DRAWS.into_iter().chain([0]) {
            asks.push(Ask::Ttl { span_ns: D(span), spread_ppm, r: D(r) });
        }
    }
    let plain = BackoffConfig::new();
    let about = "A cached value lives its span less up to the share.";
    let ttl = played("backoff", "ttl", about, Some(&plain), 0, asks);

    let mut asks = Vec::new();
    for seed in 0..6 {
        for now in [0, 90 * S, 1 << 50, u64::MAX - 1] {
            let period_ns = D(60 * S);
            asks.push(Ask::Schedule { period_ns, spread_ppm: 1_000_000, seed: D(seed), now_ns: D(now) });
            asks.push(Ask::Schedule { period_ns, spread_ppm: 50_000, seed: D(seed), now_ns: D(now) });
        }
    }
    asks.push(Ask::Schedule { period_ns: D(0), spread_ppm: 0, seed: D(1), now_ns: D(5) });
    let schedule = played("backoff", "schedule", "A phase per seed, the same for ever.", Some(&plain), 0, asks);

    let lost = |seconds: u64, r| Ask::Lost { now_ns: D(seconds * S), r: D(r) };
    let up = |seconds: u64| Ask::Connected { now_ns: D(seconds * S) };
    let asks = vec![
        Ask::Reconnect { stable_after_ns: D(10 * S) },
        lost(0, u64::MAX),
        lost(1, u64::MAX),
        up(2),
        lost(11, u64::MAX),
        up(12),
        lost(22, u64::MAX),
        lost(99, 1 << 63),
        lost(99, 0),
        up(100),
        up(105),
        lost(112, u64::MAX),
    ];
    let about = "A connection that held for ten seconds is forgiven all before it.";
    vec![ttl, schedule, played("backoff", "reconnect", about, Some(&plain), 0, asks)]
}

pub(super) fn backoff_errors() -> Vec<Impossible> {
    let new = BackoffConfig::new;
    let mut errors = out_of_bounds(new());
    errors.push(new().base(Duration::from_secs(2)).cap(Duration::from_secs(1)));
    errors.push(new().cap(Duration::from_millis(99)));
    errors.iter().map(backoff_error).collect()
}

/// Deposits, withdrawals and looks in a row, all at one instant.
fn row(text: &str, now: u64) -> Vec<Ask> {
    let now_ns = D(now);
    text.chars()
        .map(|letter| match letter {
            'd' => Ask::Deposit { now_ns },
            'w' => Ask::Withdraw { now_ns },
            'p' => Ask::Peek { now_ns },
            'r' => Ask::Refund { now_ns },
            'f' => Ask::Reset { now_ns },
            _ => Ask::Balance { now_ns },
        })
        .collect()
}

pub(super) fn budget_basic() -> Vec<Scenario<Line>> {
    let new = RetryBudgetConfig::new;
    let play = |name: &str, about: &str, config: RetryBudgetConfig, text: &str| {
        played("retry_budget", name, about, Some(&config), 0, row(text, 0))
    };
    vec![
        play(
            "ten_at_first",
            "It starts full, and ten requests pay for one retry.",
            new(),
            "bwwwwwwwwwwbwdddddddddpwdwwb",
        ),
        play("never_more", "A full one takes nothing in.", new().capacity(2), "dddbwbrrrbwwwb"),
        play("thirds", "Shares add up exactly.", new().ratio(Ratio::ppm(333_333)).capacity(1), "wdddbwdwb"),
        play("nothing_paid_in", "A ratio of nothing.", new().ratio(Ratio::ppm(0)).capacity(3), "wwwddddwb"),
        play("one_for_one", "Every request pays for a retry.", new().ratio(Ratio::ONE).capacity(1), "wdwdwwb"),
        play("filled_by_hand", "A reset fills it.", new().capacity(3), "wwwfbwwwwb"),
    ]
}

pub(super) fn budget_time() -> Vec<Scenario<Line>> {
    let flowing = RetryBudgetConfig::new().ratio(Ratio::ppm(0)).capacity(5).min_per_second(2);
    let mut asks = row("wwwwww", 0);
    for now in [499 * MS, 504 * MS, S, 2 * S, 3_600 * S, 5 * 3_600 * S, 10_000 * 3_600 * S, u64::MAX] {
        asks.extend(row("bpwwb", now));
    }
    let inflow = played("retry_budget", "inflow", "Two a second come by themselves.", Some(&flowing), 0, asks);

    let start = 1 << 50;
    let mut asks = row("wwwww", start);
    for now in [start + S, start + S / 2, start + S, start, start + 2 * S, start - 60 * S, start + 2 * S] {
        asks.extend(row("bdwb", now));
    }
    let about = "A clock that goes back and forth brings nothing in twice.";
    let back = played("retry_budget", "back_and_forth", about, Some(&flowing), start, asks);

    let mut asks = row("wwb", 0);
    asks.extend([S, u64::MAX, 0].iter().flat_map(|&now| row("dwb", now)));
    let about = "Where nothing flows in, time does not matter.";
    vec![inflow, back, played("retry_budget", "timeless", about, Some(&RetryBudgetConfig::new()), 0, asks)]
}

pub(super) fn budget_change() -> Vec<Scenario<Line>> {
    let new = RetryBudgetConfig::new;
    let to = |config: RetryBudgetConfig, now: u64| Ask::Configure { config: given(&config), now_ns: D(now) };
    let mut asks = row("wwwwb", 0);
    asks.extend([to(new().capacity(100), 0), to(new().capacity(2), 0)]);
    asks.extend(row("bd", 0));
    asks.push(to(new().capacity(3), 0));
    asks.extend(row("bdwwwb", 0));
    asks.push(to(new().capacity(0), 0));
    asks.extend(row("b", 0));
    let sizes = played("retry_budget", "sizes", "What is there stays, as far as it fits.", Some(&new()), 0, asks);

    let mut asks = row("wwwwwwwwwwb", 0);
    asks.push(to(new().min_per_second(1), 3_600 * S));
    asks.extend([3_600 * S, 3_601 * S, 3_602 * S].iter().flat_map(|&now| row("bw", now)));
    asks.push(to(new(), 3_603 * S));
    asks.extend(row("b", 9_000 * S));
    let about = "Time counts from the change that makes it count.";
    vec![sizes, played("retry_budget", "time_begins", about, Some(&new()), 0, asks)]
}

pub(super) fn budget_errors() -> Vec<Impossible> {
    out_of_bounds(RetryBudgetConfig::new()).iter().map(budget_error).collect()
}
