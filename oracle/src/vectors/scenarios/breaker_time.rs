//! Clocks that go back, stand still, and reach their end.

use core::time::Duration;

use seawall::CircuitBreakerConfig as Config;

use crate::vectors::breaker::{Line, MS, Play};
use crate::vectors::format::Scenario;

fn thirty_seconds() -> Config {
    Config::consecutive(1).slow_after(Duration::from_secs(5))
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![back_within_the_slack(), another_clock(), end_of_time(), beginning_of_time(), years_later(), slow_backwards()]
}

fn back_within_the_slack() -> Scenario<Line> {
    let about = "A minute back: nobody is admitted early, and nobody waits longer than the step and the period.";
    let mut play = Play::new("back_within_the_slack", about, thirty_seconds());
    play.at_ms(100_000).failures(1).at_ms(40_000).admit().snapshot().at_ms(129_000).admit().at_ms(130_100).successes(1);
    play.done()
}

fn another_clock() -> Scenario<Line> {
    let about = "Hours back is another clock: what was running has expired.";
    let mut play = Play::new("another_clock", about, thirty_seconds());
    play.at_ms(100_000_000).failures(1).at_ms(10).admit().snapshot().success(1).state();
    play.done()
}

fn end_of_time() -> Scenario<Line> {
    let about = "At the last instants sums saturate: it opens until the end, which never passes.";
    let mut play = Play::new("end_of_time", about, thirty_seconds());
    play.at(u64::MAX - 5).failures(1).snapshot().at(u64::MAX).admit().snapshot();
    play.done()
}

fn beginning_of_time() -> Scenario<Line> {
    let mut play = Play::new("beginning_of_time", "Zero is an instant like any other.", thirty_seconds());
    play.at(0).failures(1).admit().at(1).admit().at_ms(30_100).successes(1).state();
    play.done()
}

fn years_later() -> Scenario<Line> {
    let about = "Left open for years it is still due.";
    let mut play = Play::new("years_later", about, thirty_seconds());
    let year = 31_536_000_000 * MS;
    play.at_ms(5).failures(1);
    for years in 1..4 {
        play.at(years * year).state();
    }
    play.admit().success(1).state();
    play.done()
}

fn slow_backwards() -> Scenario<Line> {
    let about = "A call that ends before it began took no time.";
    let mut play = Play::new("slow_backwards", about, thirty_seconds());
    play.at_ms(100_000).admit().at_ms(50_000).success(0).snapshot();
    play.done()
}
