//! Taking and peeking, at rates slow and fast.

use core::time::Duration;

use seawall::{Fill, TokenBucketConfig as Config};

use crate::vectors::bucket::{Line, Play};
use crate::vectors::format::Scenario;

const S: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * S;

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        burst_then_rate(),
        above_capacity(),
        costs(),
        starts_empty(),
        one_a_day(),
        ten_thousand_million_a_second(),
        three_a_second(),
        five_thousand_an_hour(),
        more_than_a_thousand_a_second(),
        idle_never_grants_more(),
        asking_changes_nothing(),
        drain_and_reset(),
        made_long_before(),
    ]
}

fn burst_then_rate() -> Scenario<Line> {
    let about = "Starts full; admits exactly `capacity` at once, then one per interval.";
    let mut play = Play::new("burst_then_rate", about, Config::per_second(5, 20));
    play.peek(0).take(1).take(19).take(1).peek(1).peek(0);
    play.at(S / 5 - 1).take(1).at(S / 5).take(1).take(1);
    play.at(S).take(4).take(1).at(10 * S).peek(0).take(20).take(1);
    play.done()
}

fn above_capacity() -> Scenario<Line> {
    let about = "A cost above the capacity can never be admitted.";
    let mut play = Play::new("above_capacity", about, Config::per_second(5, 20));
    play.take(21).peek(21).take(u64::MAX).reserve(21, u64::MAX).take(20);
    play.done()
}

fn costs() -> Scenario<Line> {
    let about = "Costs from nothing to everything; a dear request is refused while a cheap one passes.";
    let mut play = Play::new("costs", about, Config::per_second(10, 10));
    play.take(0).take(7).take(4).take(3).take(0).take(1).at(S).take(10).at(S + S / 2).take(6).take(5).peek(10);
    play.done()
}

fn starts_empty() -> Scenario<Line> {
    let about = "Started empty it owes nothing and has nothing.";
    let mut play = Play::starting("starts_empty", about, Config::per_second(2, 4).start(Fill::Empty), 7 * S);
    play.peek(0).take(1).at(7 * S + S / 2).take(1).at(9 * S + S / 2).take(4).take(1);
    play.done()
}

fn one_a_day() -> Scenario<Line> {
    let about = "The slowest rate, exact to the nanosecond.";
    let mut play = Play::new("one_a_day", about, Config::new().rate(1).capacity(2).period(Duration::from_nanos(DAY)));
    play.take(2).take(1).at(DAY - 1).take(1).at(DAY).take(1).at(3 * DAY - 1).take(2).at(3 * DAY).take(2);
    play.done()
}

fn ten_thousand_million_a_second() -> Scenario<Line> {
    let about =
        "The fastest rate: ten a nanosecond, rounded down by less than 1/4096; waits are a nanosecond at least.";
    let mut play = Play::new("ten_thousand_million_a_second", about, Config::per_second(10_000_000_000, 100));
    play.take(100).take(1).at(1).take(9).take(1).at(2).peek(0).take(10).at(11).peek(0).take(100).peek(0);
    play.done()
}

fn three_a_second() -> Scenario<Line> {
    let about = "An interval that is no whole number of nanoseconds rounds up: never above the rate.";
    let mut play = Play::new("three_a_second", about, Config::per_second(3, 3));
    play.take(3)
        .at(333_333_333)
        .take(1)
        .at(333_333_334)
        .take(1)
        .at(S)
        .take(2)
        .at(S + 2)
        .take(2)
        .at(10 * S)
        .take(3)
        .take(1);
    play.done()
}

fn five_thousand_an_hour() -> Scenario<Line> {
    let hour = Duration::from_secs(3_600);
    let about = "A rate is a count per period: 5000 an hour is one in 720 ms.";
    let mut play = Play::new("five_thousand_an_hour", about, Config::new().rate(5_000).period(hour).capacity(1));
    play.take(1).take(1).at(719_999_999).take(1).at(720_000_000).take(1);
    play.done()
}

fn more_than_a_thousand_a_second() -> Scenario<Line> {
    let about = "Above a thousand a second intervals have fractions of a millisecond.";
    let mut play = Play::new("more_than_a_thousand_a_second", about, Config::per_second(1_500, 1));
    play.take(1).at(666_666).take(1).at(666_667).take(1).at(1_333_333).take(1).at(1_333_334).take(1);
    play.done()
}

fn idle_never_grants_more() -> Scenario<Line> {
    let about = "However long it was idle, exactly `capacity` at once.";
    let mut play = Play::new("idle_never_grants_more", about, Config::per_second(10, 5));
    for idle in [S / 2, 2 * S, DAY, 365 * DAY, 3_000 * DAY] {
        play.at(idle).take(5).take(1).peek(0);
    }
    play.done()
}

fn asking_changes_nothing() -> Scenario<Line> {
    let about = "A refusal changes nothing: the instant it names stays the same however often somebody asks.";
    let mut play = Play::new("asking_changes_nothing", about, Config::per_second(1, 1));
    play.take(1);
    for tenth in 0..10 {
        play.at(tenth * S / 10).take(1).peek(1);
    }
    play.at(S).take(1);
    play.done()
}

fn drain_and_reset() -> Scenario<Line> {
    let about = "Drained it has nothing, a debt stays; reset it is full.";
    let mut play = Play::new("drain_and_reset", about, Config::per_second(10, 5));
    play.drain()
        .take(1)
        .peek(0)
        .reset()
        .take(5)
        .reserve(3, u64::MAX)
        .drain()
        .peek(0)
        .at(S / 10)
        .reset()
        .peek(0)
        .reset();
    play.done()
}

fn made_long_before() -> Scenario<Line> {
    let about = "Full at boot, though the clock shows less than the time to fill; full when made long before.";
    let mut play = Play::new("made_long_before", about, Config::per_second(1, 100));
    play.at(3).take(100).take(1).at(5_000 * S).take(100);
    play.done()
}
