//! Consecutive mode, and the way through the three states.

use seawall::CircuitBreakerConfig as Config;

use crate::vectors::breaker::{Line, MS, Play};
use crate::vectors::format::Scenario;
use core::time::Duration;

fn two_failures() -> Config {
    Config::consecutive(2).reset_after(Duration::from_secs(1))
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![round_trip(), success_between(), default_configuration(), one_trial(), failed_trial(), unit_of_deadlines()]
}

fn round_trip() -> Scenario<Line> {
    let mut play = Play::new("round_trip", "Two failures open it; after a second one trial closes it.", two_failures());
    play.at_ms(0).state().snapshot().admit().failure(0);
    play.at_ms(10).snapshot().admit().failure(1).state().snapshot();
    play.at_ms(500).admit().snapshot();
    play.at_ms(1_100).state().snapshot().admit().state().snapshot().success(2).state().snapshot();
    play.at_ms(1_200).admit().success(3);
    play.done()
}

fn success_between() -> Scenario<Line> {
    let about = "A success in between starts the count anew; an ignored call does not.";
    let mut play = Play::new("success_between", about, two_failures());
    play.at_ms(1).admit().failure(0).admit().success(1).admit().failure(2).state();
    play.at_ms(2).admit().ignore(3).state().admit().failure(4).state();
    play.done()
}

fn default_configuration() -> Scenario<Line> {
    let mut play = Play::new("default_configuration", "Five failures in a row, 30 s, one trial.", Config::new());
    for call in 0..5 {
        play.at_ms(call * 7 + 3).admit().failure(call as usize).state();
    }
    play.snapshot();
    play.at_ms(29_000).admit().at_ms(30_040).admit().failure(5).snapshot();
    play.at_ms(60_000).admit().at_ms(60_100).admit().success(6).snapshot();
    play.done()
}

fn one_trial() -> Scenario<Line> {
    let about = "While the trial is out nobody else passes; the estimate is the end of its lease.";
    let mut play = Play::new("one_trial", about, two_failures());
    play.at_ms(0).admit().admit().failure(0).failure(1);
    play.at_ms(1_100).admit().admit().snapshot().at_ms(1_500).admit().success(2).admit().success(3);
    play.done()
}

fn failed_trial() -> Scenario<Line> {
    let mut play = Play::new("failed_trial", "A failed trial opens it for another period.", two_failures());
    play.at_ms(0).admit().admit().failure(0).failure(1);
    play.at_ms(1_100).admit().failure(2).snapshot().admit();
    play.at_ms(2_200).admit().failure(3).snapshot();
    play.at_ms(3_300).admit().success(4).snapshot();
    play.done()
}

fn unit_of_deadlines() -> Scenario<Line> {
    let about = "Deadlines are kept in units of 2^20 ns and round up: refused one nanosecond before, admitted then.";
    let mut play = Play::new("unit_of_deadlines", about, Config::consecutive(1).reset_after(Duration::from_millis(1)));
    play.at(5).admit().failure(0).admit();
    play.at(2 * (1 << 20) - 1).admit().at(2 * (1 << 20)).admit().success(1).state();
    play.at(7 * MS).admit().success(2);
    play.done()
}
