//! How long it stays open: factor, cap, jitter, and what the dependency asks for.

use core::time::Duration;

use seawall::{CircuitBreakerConfig as Config, Outcome, Ratio};

use crate::breaker::Op;
use crate::vectors::breaker::{Line, Play};
use crate::vectors::format::Scenario;

fn one_second() -> Config {
    Config::consecutive(1).reset_after(Duration::from_secs(1))
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        factor_and_cap(),
        closing_starts_anew(),
        reopened_fifteen_times(),
        jitter(),
        jitter_at_the_cap(),
        jitter_without_randomness(),
        told(),
        told_too_long(),
        told_the_past(),
        told_by_a_trial(),
    ]
}

fn factor_and_cap() -> Scenario<Line> {
    let about = "Each reopening doubles the period: 1 s, 2 s, 4 s, then 5 s for ever.";
    let mut play = Play::new(
        "factor_and_cap",
        about,
        one_second().reset_factor(seawall::Factor::thousandths(2_000)).reset_cap(Duration::from_secs(5)),
    );
    play.failures(1);
    for at in [1_100, 3_300, 7_500, 12_600, 17_800] {
        play.at_ms(at).failures(1).snapshot();
    }
    play.done()
}

fn closing_starts_anew() -> Scenario<Line> {
    let mut play = Play::new(
        "closing_starts_anew",
        "A closed round sets the factor back.",
        one_second().reset_factor(seawall::Factor::thousandths(3_000)),
    );
    play.failures(1).at_ms(1_100).failures(1).at_ms(4_300).successes(1).at_ms(5_000).failures(1).snapshot();
    play.done()
}

fn reopened_fifteen_times() -> Scenario<Line> {
    let about = "More than 15 reopenings in a row are not told apart.";
    let config = Config::consecutive(1)
        .reset_after(Duration::from_millis(1))
        .reset_factor(seawall::Factor::thousandths(1_500))
        .reset_cap(Duration::from_secs(10));
    let mut play = Play::new("reopened_fifteen_times", about, config);
    play.failures(1);
    for round in 1..=17 {
        play.at_ms(round * 11_000).failures(1);
    }
    play.snapshot();
    play.done()
}

fn jitter() -> Scenario<Line> {
    let about = "A tenth either way: the smallest, the middle and the largest randomness.";
    let mut play = Play::new("jitter", about, one_second().reset_jitter(Ratio::percent(10)));
    for (round, r) in [1, u64::MAX / 2, u64::MAX].into_iter().enumerate() {
        let start = round as u64 * 10_000;
        play.at_ms(start).admit();
        play.ask_with(Op::Settle { permit: 2 * round, outcome: Outcome::Failure }, r).snapshot();
        play.at_ms(start + 2_000).successes(1);
    }
    play.done()
}

fn jitter_at_the_cap() -> Scenario<Line> {
    let about = "The spread stays at the cap: its upper end is cut, its lower end is not.";
    let config = one_second().reset_cap(Duration::from_secs(1)).reset_jitter(Ratio::percent(50));
    let mut play = Play::new("jitter_at_the_cap", about, config);
    for (round, r) in [1, u64::MAX].into_iter().enumerate() {
        let start = round as u64 * 10_000;
        play.at_ms(start).ask_with(Op::Trip { until: None }, r).snapshot().at_ms(start + 2_000).successes(1);
    }
    play.done()
}

fn jitter_without_randomness() -> Scenario<Line> {
    let about = "No randomness, no jitter, and the transition says so; a told period has none anyway.";
    let mut play = Play::new("jitter_without_randomness", about, one_second().reset_jitter(Ratio::percent(10)));
    play.failures(1).at_ms(1_100).admit().failure_until_ms(1, 9_000).snapshot();
    play.done()
}

fn told() -> Scenario<Line> {
    let about = "The dependency says when it will be back: open at once, until then, whatever the threshold.";
    let mut play = Play::new("told", about, Config::consecutive(5));
    play.at_ms(10)
        .admit()
        .failure_until_ms(0, 12_345)
        .snapshot()
        .at_ms(12_300)
        .admit()
        .at_ms(12_400)
        .admit()
        .success(1);
    play.done()
}

fn told_too_long() -> Scenario<Line> {
    let about = "What it asks for is cut at max_retry_after, an hour unless stated.";
    let mut play = Play::new("told_too_long", about, Config::consecutive(5));
    play.at_ms(0).admit().settle(0, Outcome::FailureUntil(seawall::Instant::MAX)).snapshot();
    play.at_ms(3_600_100).successes(1);
    play.configure(Config::consecutive(5).max_retry_after(Duration::from_secs(2)));
    play.admit().failure_until_ms(2, 99_999_999).snapshot();
    play.done()
}

fn told_the_past() -> Scenario<Line> {
    let about = "An instant that is not in the future makes it an ordinary failure.";
    let mut play = Play::new("told_the_past", about, Config::consecutive(2));
    play.at_ms(500).admit().failure_until_ms(0, 500).snapshot().admit().failure_until_ms(1, 100).snapshot();
    play.done()
}

fn told_by_a_trial() -> Scenario<Line> {
    let about = "A trial that is told ends the round at once, though more failures were allowed.";
    let mut play = Play::new("told_by_a_trial", about, one_second().trials(5).close_after(2));
    play.failures(1).at_ms(1_100).admit().admit().failure_until_ms(1, 4_000).snapshot().success(2).snapshot();
    play.at_ms(4_100).admit().state();
    play.done()
}
