//! Modes, operations by hand, and configuration that changes while running.

use core::time::Duration;

use seawall::{CircuitBreakerConfig as Config, Mode, Ratio};

use crate::breaker::Op;
use crate::vectors::breaker::{Line, MS, Play};
use crate::vectors::format::Scenario;

fn one_second() -> Config {
    Config::consecutive(2).reset_after(Duration::from_secs(1))
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        forced_open(),
        disabled(),
        shadow(),
        shadow_half_open(),
        trip(),
        half_open_by_hand(),
        reset(),
        shorter_window(),
        from_consecutive_to_rate(),
        from_rate_to_consecutive(),
        open_period_keeps_its_end(),
        smaller_round(),
        mode_by_configuration(),
        impossible_change(),
        clean_again(),
    ]
}

fn forced_open() -> Scenario<Line> {
    let about =
        "Forced open it refuses everything, and keeps what it learnt, and goes on learning from calls in flight.";
    let mut play = Play::new("forced_open", about, one_second());
    play.failures(1).admit().mode(Mode::ForcedOpen).admit().state().snapshot();
    play.at_ms(10)
        .mode(Mode::Normal)
        .snapshot()
        .admit()
        .mode(Mode::ForcedOpen)
        .failure(1)
        .snapshot()
        .mode(Mode::Normal);
    play.admit().snapshot();
    play.done()
}

fn disabled() -> Scenario<Line> {
    let about = "Disabled it admits everything and records nothing, not even calls from before.";
    let mut play = Play::new("disabled", about, one_second());
    play.failures(1).admit().mode(Mode::Disabled).failure(1).failures(3).snapshot();
    play.mode(Mode::Normal).snapshot().failures(1).state().mode(Mode::Disabled).admit().snapshot();
    play.done()
}

fn shadow() -> Scenario<Line> {
    let about = "In shadow it measures and never refuses; the permit says what it would have said.";
    let mut play = Play::new("shadow", about, one_second().mode(Mode::Shadow));
    play.failures(2)
        .snapshot()
        .admit()
        .success(2)
        .snapshot()
        .at_ms(1_100)
        .admit()
        .admit()
        .success(4)
        .success(3)
        .snapshot();
    play.done()
}

fn shadow_half_open() -> Scenario<Line> {
    let about = "In shadow, too, only the trials decide.";
    let mut play = Play::new("shadow_half_open", about, one_second().mode(Mode::Shadow).trials(2));
    play.failures(2).at_ms(1_100).admit().admit().admit().failure(4).success(2).state().failure(3).snapshot();
    play.done()
}

fn trip() -> Scenario<Line> {
    let about = "Tripped by hand, for the period or until an instant; again while open, and while half-open.";
    let mut play = Play::new("trip", about, one_second());
    play.failures(1).ask(Op::Trip { until: None }).snapshot().ask(Op::Trip { until: Some(7_000 * MS) }).snapshot();
    play.at_ms(7_100)
        .admit()
        .ask(Op::Trip { until: Some(0) })
        .snapshot()
        .success(1)
        .at_ms(7_102)
        .admit()
        .success(2)
        .state();
    play.done()
}

fn half_open_by_hand() -> Scenario<Line> {
    let about = "Half-opened by hand from every state.";
    let mut play = Play::new("half_open_by_hand", about, one_second());
    play.failures(1).ask(Op::HalfOpen).snapshot().ask(Op::HalfOpen).failures(1).snapshot();
    play.at_ms(10).ask(Op::HalfOpen).snapshot().successes(1).snapshot();
    play.done()
}

fn reset() -> Scenario<Line> {
    let about = "Reset from every state: closed, with nothing learnt.";
    let mut play = Play::new("reset", about, one_second());
    play.failures(1).ask(Op::Reset).snapshot().failures(2).ask(Op::Reset).snapshot();
    play.failures(2).at_ms(1_100).admit().ask(Op::Reset).failure(5).snapshot();
    play.done()
}

fn shorter_window() -> Scenario<Line> {
    let about = "A shorter window keeps its newest calls; new thresholds apply with the next outcome.";
    let rate = |window| Config::new().window(window).minimum_calls(2).failure_rate(Ratio::percent(60));
    let mut play = Play::new("shorter_window", about, rate(6));
    play.successes(4).failures(2).snapshot().configure(rate(2)).snapshot().state().successes(1).snapshot();
    play.configure(rate(20)).snapshot().failures(1).snapshot();
    play.done()
}

fn from_consecutive_to_rate() -> Scenario<Line> {
    let about = "Failures in a row become failed calls of the window.";
    let mut play = Play::new("from_consecutive_to_rate", about, Config::consecutive(5));
    play.failures(3).configure(Config::new().window(4).minimum_calls(4)).snapshot().successes(1).snapshot();
    play.done()
}

fn from_rate_to_consecutive() -> Scenario<Line> {
    let about = "Of the window stays how many of the newest failed in a row.";
    let mut play = Play::new("from_rate_to_consecutive", about, Config::new().window(20).minimum_calls(20));
    play.failures(2).successes(1).failures(2).configure(Config::consecutive(3)).snapshot().failures(1).snapshot();
    play.done()
}

fn open_period_keeps_its_end() -> Scenario<Line> {
    let about = "An open period ends when it was to end, though the new configuration could not have set it.";
    let hour = Duration::from_secs(3_600);
    let short = Duration::from_millis(100);
    let mut play = Play::new("open_period_keeps_its_end", about, Config::consecutive(1).reset_after(hour));
    play.failures(1)
        .configure(Config::consecutive(1).reset_after(short).reset_cap(short).max_retry_after(short))
        .snapshot();
    play.at_ms(3_599_000).admit().at_ms(3_600_100).admit().failure(1).snapshot();
    play.done()
}

fn smaller_round() -> Scenario<Line> {
    let about = "A round that the new numbers would have ended goes on, one result short of its end.";
    let mut play = Play::new("smaller_round", about, one_second().trials(5));
    play.failures(2).at_ms(1_100).admit().admit().admit().success(2).success(3);
    play.configure(one_second().trials(2)).snapshot().admit().success(4).snapshot();
    play.done()
}

fn mode_by_configuration() -> Scenario<Line> {
    let about = "A configuration carries its mode along.";
    let mut play = Play::new("mode_by_configuration", about, one_second());
    play.failures(1)
        .configure(one_second().mode(Mode::ForcedOpen))
        .admit()
        .snapshot()
        .configure(one_second())
        .admit()
        .snapshot();
    play.done()
}

fn impossible_change() -> Scenario<Line> {
    let mut play = Play::new("impossible_change", "An impossible change is refused and changes nothing.", one_second());
    play.failures(1).configure(Config::consecutive(0)).configure(Config::new().trials(2).close_after(3)).snapshot();
    play.failures(1).state();
    play.done()
}

fn clean_again() -> Scenario<Line> {
    let about = "A window full of successes is clean: a further success changes nothing, a failure is seen at once.";
    let config = Config::new().window(2).minimum_calls(2).failure_rate(Ratio::ONE);
    let mut play = Play::new("clean_again", about, config);
    play.successes(3).admit().admit().admit().success(3).failure(4).failure(5).state();
    play.done()
}
