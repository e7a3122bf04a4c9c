//! Brooker's simulation (*Exponential Backoff And Jitter*, AWS Architecture Blog, 2015), with the shipped
//! backoff: N clients start at once, each must write one row once, and optimistic concurrency lets one
//! of those that read the same version through.
//!
//! A message takes |Normal(10 ms, 2 ms)|. A client reads, then writes; on a conflict it waits and reads
//! again. The first wait's ceiling is twice the base of 5 ms, so retry n of the article is retry n of a
//! backoff whose base is 10 ms; the cap is 2 s. Time and calls are means over the runs.
//!
//! One row is better than the article's: its decorrelated jitter draws first and cuts the draw down to
//! the cap, which gathers clients there; ours cuts the range. The calls are the same, the time is shorter.
//! The article's own formula is simulated beside it and gives the article's figures.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use seawall::{Backoff, BackoffConfig, Jitter, Random};

const RUNS: u64 = 100;

/// A source of the simulation's own randomness, apart from the waits'.
struct Dice(Random);

impl Dice {
    fn even(&self) -> f64 {
        (self.0.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// How long a message takes, in ms: Box and Muller's way to a normal distribution.
    fn hop(&self) -> f64 {
        let radius = (-2.0 * (1.0 - self.even()).ln()).sqrt();
        (10.0 + 2.0 * radius * (std::f64::consts::TAU * self.even()).cos()).abs()
    }
}

/// What happens, at an instant in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A read reaches the row.
    Read { client: usize },
    /// A write, with the version that was read.
    Write { client: usize, version: u64 },
}

/// How long until all have written, in ms, and how many writes were attempted.
fn contend(clients: usize, wait: &mut dyn FnMut(usize, u32) -> f64, dice: &Dice) -> (f64, f64) {
    let at = |ms: f64| (ms * 1e6) as u64;
    let mut queue = BinaryHeap::new();
    let mut attempts = vec![0u32; clients];
    for client in 0..clients {
        queue.push(Reverse((at(dice.hop()), Event::Read { client })));
    }
    let (mut version, mut calls, mut last) = (0u64, 0u64, 0u64);
    while let Some(Reverse((now, event))) = queue.pop() {
        match event {
            Event::Read { client } => {
                // The answer comes back, and the write goes out.
                let arrives = now + at(dice.hop()) + at(dice.hop());
                queue.push(Reverse((arrives, Event::Write { client, version })));
            }
            Event::Write { client, version: read } => {
                calls += 1;
                if read == version {
                    version += 1;
                    last = now + at(dice.hop());
                } else {
                    attempts[client] += 1;
                    let again = now + at(dice.hop()) + at(wait(client, attempts[client])) + at(dice.hop());
                    queue.push(Reverse((again, Event::Read { client })));
                }
            }
        }
    }
    (last as f64 / 1e6, calls as f64)
}

/// What draws the waits.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// Nothing: no backoff at all.
    Not,
    /// The shipped backoff.
    By(Jitter),
    /// The article's `min(cap, U(base, 3 * previous))`.
    Article,
}

/// Means over the runs: milliseconds, calls.
fn simulated(clients: usize, waits: Waits) -> (f64, f64) {
    let jitter = if let Waits::By(jitter) = waits { Some(jitter) } else { None };
    // Decorrelated jitter's base is the article's own 5 ms; the ceilings of the others begin at 2 * 5 ms.
    let base = if jitter == Some(Jitter::Decorrelated) { 5 } else { 10 };
    let config = BackoffConfig::new().base(Duration::from_millis(base)).cap(Duration::from_secs(2));
    let backoff = jitter.map(|jitter| Backoff::new(&config.jitter(jitter)).expect("possible"));
    let (mut time, mut calls) = (0.0, 0.0);
    for run in 0..RUNS {
        let (dice, random) = (Dice(Random::seeded(run)), Random::seeded(1_000 + run));
        let mut previous = vec![Duration::ZERO; clients];
        let mut wait = |client: usize, attempt: u32| {
            if waits == Waits::Article {
                let (base, cap) = (Duration::from_millis(5), Duration::from_secs(2));
                let share = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
                let before = previous[client].max(base);
                previous[client] = (base + (before * 3 - base).mul_f64(share)).min(cap);
                return previous[client].as_secs_f64() * 1e3;
            }
            let Some(backoff) = &backoff else { return 0.0 };
            previous[client] = backoff.delay(attempt - 1, previous[client], random.next());
            previous[client].as_secs_f64() * 1e3
        };
        let (t, c) = contend(clients, &mut wait, &dice);
        (time, calls) = (time + t / RUNS as f64, calls + c / RUNS as f64);
    }
    (time, calls)
}

/// Each row within a tenth; the shipped decorrelated jitter may take less time.
fn holds(clients: usize, rows: [(Waits, f64, f64); 6]) {
    let mut wrong = Vec::new();
    for (waits, time, calls) in rows {
        let name = match waits {
            Not => "no backoff",
            By(jitter) => jitter.name(),
            Article => "the article's decorrelated",
        };
        let (t, c) = simulated(clients, waits);
        println!("{clients} clients, {name}: {t:.0} ms ({time}), {c:.0} calls ({calls})");
        let quicker = waits == By(Decorrelated) && t < time;
        for (what, got, want) in [("ms", if quicker { time } else { t }, time), ("calls", c, calls)] {
            if (got / want - 1.0).abs() > 0.1 {
                wrong.push(format!("{name}: {got:.0} {what}, not {want} within a tenth"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

use Jitter::{Decorrelated, Equal, Full};
use Waits::{Article, By, Not};
const PLAIN: Waits = By(Jitter::None);

#[test]
fn fifty_clients() {
    holds(
        50,
        [
            (Not, 1_142.0, 691.0),
            (PLAIN, 36_566.0, 623.0),
            (By(Equal), 4_188.0, 346.0),
            (By(Full), 2_868.0, 332.0),
            (By(Decorrelated), 2_121.0, 375.0),
            (Article, 2_121.0, 375.0),
        ],
    );
}

#[test]
fn a_hundred_clients() {
    holds(
        100,
        [
            (Not, 2_028.0, 2_420.0),
            (PLAIN, 63_430.0, 1_855.0),
            (By(Equal), 6_577.0, 811.0),
            (By(Full), 4_933.0, 796.0),
            (By(Decorrelated), 4_661.0, 1_004.0),
            (Article, 4_661.0, 1_004.0),
        ],
    );
}

#[test]
fn a_hundred_and_ninety_clients() {
    holds(
        190,
        [
            (Not, 3_544.0, 8_009.0),
            (PLAIN, 100_949.0, 5_146.0),
            (By(Equal), 9_298.0, 1_757.0),
            (By(Full), 7_523.0, 1_772.0),
            (By(Decorrelated), 7_971.0, 2_438.0),
            (Article, 7_971.0, 2_438.0),
        ],
    );
}

#[test]
fn full_jitter_makes_less_than_half_the_calls_of_plain_backoff_and_a_third_of_none() {
    let (none, plain, full) = (simulated(100, Not), simulated(100, PLAIN), simulated(100, By(Full)));
    assert!(full.1 < plain.1 / 2.0, "{full:?}, {plain:?}");
    assert!(full.1 < none.1 / 2.7, "{full:?}, {none:?}");
    assert!(plain.0 > 9.0 * full.0, "backoff without jitter is the slowest by far: {plain:?}, {full:?}");
}
