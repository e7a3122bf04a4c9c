//! Rate mode: shares of the last calls, and slowness.

use core::time::Duration;

use seawall::Outcome::{Failure, Ignored, Success};
use seawall::{CircuitBreakerConfig as Config, Ratio};

use crate::vectors::breaker::{Line, Play};
use crate::vectors::format::Scenario;

fn half_of(window: u64) -> Config {
    Config::new().failure_rate(Ratio::percent(50)).window(window).reset_after(Duration::from_secs(1))
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        half_of_the_last_twenty(),
        minimum_calls(),
        three_of_the_last_ten(),
        trips_at_the_rate_itself(),
        a_success_may_complete_the_evidence(),
        old_calls_leave_the_window(),
        a_third_is_not_a_half(),
        slow_calls(),
        slow_and_failed(),
        slowness_without_a_limit(),
        slow_in_consecutive_mode(),
        every_permutation_of_a_window_of_two(),
    ]
}

fn half_of_the_last_twenty() -> Scenario<Line> {
    let about = "The field's default: half of the last 20, at least 10, 30 s, three trials that must all succeed.";
    let mut play = Play::new("half_of_the_last_twenty", about, Config::new().window(20));
    play.at_ms(5).successes(12).failures(9).snapshot();
    play.failures(1).snapshot().at_ms(10_000).admit();
    play.at_ms(31_000).admit().admit().admit().admit().success(22).success(23).snapshot().success(24).snapshot();
    play.done()
}

fn minimum_calls() -> Scenario<Line> {
    let about = "Too few calls are no rate: nothing trips and the shares are unknown.";
    let mut play = Play::new("minimum_calls", about, half_of(20).minimum_calls(5));
    play.failures(4).snapshot().state().failures(1).snapshot();
    play.done()
}

fn three_of_the_last_ten() -> Scenario<Line> {
    let about = "A threshold beside a window: so many failures of the last calls, however few there were.";
    let config = Config::new().failure_threshold(3).window(10).reset_after(Duration::from_secs(1));
    let mut play = Play::new("three_of_the_last_ten", about, config);
    play.failures(2).successes(8).failures(2).snapshot().failures(1).snapshot().state();
    play.done()
}

fn trips_at_the_rate_itself() -> Scenario<Line> {
    let config = half_of(4).minimum_calls(4);
    let mut play = Play::new("trips_at_the_rate_itself", "Two of four are half of them: that trips.", config);
    play.call(Success).call(Success).call(Failure).state().call(Failure).state();
    play.done()
}

fn a_success_may_complete_the_evidence() -> Scenario<Line> {
    let about = "With the minimum reached by a success, the failures before it are judged.";
    let mut play = Play::new("a_success_may_complete_the_evidence", about, half_of(4).minimum_calls(4));
    play.failures(3).state().call(Success).snapshot();
    play.done()
}

fn old_calls_leave_the_window() -> Scenario<Line> {
    let config = half_of(4).minimum_calls(4).failure_rate(Ratio::percent(60));
    let mut play = Play::new("old_calls_leave_the_window", "The fifth call pushes the first out.", config);
    play.call(Failure).call(Failure).call(Success).call(Success).snapshot();
    play.call(Success)
        .snapshot()
        .call(Success)
        .snapshot()
        .call(Failure)
        .call(Failure)
        .snapshot()
        .call(Failure)
        .snapshot();
    play.done()
}

fn a_third_is_not_a_half() -> Scenario<Line> {
    let about = "Shares are compared exactly: 333333 of a million is less than a third, 333334 is more.";
    let third = |ppm| Config::new().failure_rate(Ratio::ppm(ppm)).window(3).minimum_calls(3);
    let mut play = Play::new("a_third_is_not_a_half", about, third(333_334));
    play.call(Failure).call(Success).call(Success).state();
    play.configure(third(333_333)).call(Success).call(Success).call(Failure).state();
    play.done()
}

fn slow_calls() -> Scenario<Line> {
    let about = "A call that takes longer than slow_after is slow; exactly as long is not.";
    let config = half_of(4).minimum_calls(2).slow_after(Duration::from_millis(100)).slow_rate(Ratio::percent(50));
    let mut play = Play::new("slow_calls", about, config);
    play.at_ms(0).admit().admit().admit().admit();
    play.at_ms(100).success(0).success(1).snapshot();
    play.at(100_000_001).success(2).snapshot().success(3).snapshot();
    play.done()
}

fn slow_and_failed() -> Scenario<Line> {
    let about = "A call can be both; the share of failures is looked at first.";
    let config = half_of(2).minimum_calls(2).slow_after(Duration::from_millis(100)).slow_rate(Ratio::percent(50));
    let mut play = Play::new("slow_and_failed", about, config);
    play.at_ms(0).admit().admit().at_ms(200).failure(0).snapshot().success(1).snapshot();
    play.done()
}

fn slowness_without_a_limit() -> Scenario<Line> {
    let mut play = Play::new("slowness_without_a_limit", "Without slow_after nothing is slow.", half_of(2));
    play.at_ms(0).admit().admit().at_ms(3_600_000).success(0).success(1).snapshot();
    play.done()
}

fn slow_in_consecutive_mode() -> Scenario<Line> {
    let about = "In consecutive mode, and for trials, a slow success counts as a failure.";
    let config = Config::consecutive(2).slow_after(Duration::from_millis(50)).reset_after(Duration::from_secs(1));
    let mut play = Play::new("slow_in_consecutive_mode", about, config);
    play.at_ms(0).admit().admit().at_ms(60).success(0).snapshot().success(1).snapshot();
    play.at_ms(1_200).admit().at_ms(1_300).success(2).snapshot();
    play.at_ms(2_400).admit().at_ms(2_450).success(3).snapshot();
    play.done()
}

fn every_permutation_of_a_window_of_two() -> Scenario<Line> {
    let about = "All outcomes of three calls in a window of two, started anew each time.";
    let config = Config::new().failure_rate(Ratio::ONE).window(2).minimum_calls(2);
    let mut play = Play::new("every_permutation_of_a_window_of_two", about, config);
    let outcomes = [Success, Failure, Ignored];
    for (a, b, c) in (0..27).map(|i| (outcomes[i / 9], outcomes[i / 3 % 3], outcomes[i % 3])) {
        play.ask(crate::breaker::Op::Reset).call(a).call(b).state();
        if !(a == Failure && b == Failure) {
            play.call(c).state();
        }
    }
    play.done()
}
