//! Windows that are longer than one word, and windows of time.

use core::time::Duration;

use seawall::Outcome::{Failure, Success};
use seawall::{CircuitBreakerConfig as Config, Mode, Ratio};

use crate::breaker::Op;
use crate::vectors::breaker::{Line, Play};
use crate::vectors::format::Scenario;

fn calls(window: u64) -> Config {
    Config::new().failure_rate(Ratio::percent(50)).window(window).reset_after(Duration::from_secs(1))
}

fn span(seconds: u64) -> Config {
    Config::new().window_span(Duration::from_secs(seconds)).reset_after(Duration::from_secs(1)).trials(1)
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        half_of_the_last_thirty(),
        blocks_leave_call_by_call(),
        a_long_window_full_of_successes(),
        a_long_window_changes_its_length(),
        half_of_the_last_ten_seconds(),
        buckets_leave_one_by_one(),
        a_window_of_time_begins_anew(),
        a_clock_that_goes_back(),
        more_buckets_of_the_same_width(),
        slow_within_a_span(),
    ]
}

fn half_of_the_last_thirty() -> Scenario<Line> {
    let about = "A window of 30 calls: half of them failed when the thirtieth has come.";
    let mut play = Play::new("half_of_the_last_thirty", about, calls(30).minimum_calls(30));
    play.successes(15).failures(14).snapshot().failures(1).snapshot().state();
    play.done()
}

fn blocks_leave_call_by_call() -> Scenario<Line> {
    let about = "The oldest call of 21 leaves with each further one, whichever block it lies in.";
    let mut play = Play::new("blocks_leave_call_by_call", about, calls(21).minimum_calls(21).failure_rate(Ratio::ONE));
    for round in 0..3 {
        play.failures(1 + round).successes(4).snapshot().failures(2).successes(1).snapshot();
        play.successes(3).snapshot();
    }
    play.done()
}

fn a_long_window_full_of_successes() -> Scenario<Line> {
    let about = "Successes beyond a full window of successes leave it as it is; one failure shows.";
    let mut play = Play::new("a_long_window_full_of_successes", about, calls(24));
    play.successes(30).snapshot().failures(1).snapshot().successes(24).snapshot();
    play.done()
}

fn a_long_window_changes_its_length() -> Scenario<Line> {
    let about = "A shorter window keeps its newest calls; a longer one goes on from whole blocks of eight; from one \
                 word to more, eight are kept.";
    let never = |window| calls(window).minimum_calls(window).failure_rate(Ratio::ONE);
    let mut play = Play::new("a_long_window_changes_its_length", about, never(40));
    play.failures(5).successes(38).snapshot().configure(never(30)).snapshot();
    play.failures(3).configure(never(100)).snapshot().successes(2).snapshot();
    play.configure(never(20)).snapshot().configure(never(50)).snapshot().failures(9).snapshot();
    play.done()
}

fn half_of_the_last_ten_seconds() -> Scenario<Line> {
    let mut play =
        Play::new("half_of_the_last_ten_seconds", "Half of at least ten calls within ten seconds.", span(10));
    play.at_ms(100).successes(5).at_ms(9_000).failures(4).snapshot().failures(1).snapshot();
    play.at_ms(11_000).call(Success).snapshot();
    play.done()
}

fn buckets_leave_one_by_one() -> Scenario<Line> {
    let about = "The window ends with the present bucket, and figures age without a call.";
    let mut play = Play::new("buckets_leave_one_by_one", about, span(10).minimum_calls(1_000));
    for second in 0..12 {
        play.at_ms(second * 1_000 + 500).failures(1).successes(2);
    }
    play.snapshot();
    for second in [15, 20, 21, 22] {
        play.at_ms(second * 1_000).snapshot();
    }
    play.done()
}

fn a_window_of_time_begins_anew() -> Scenario<Line> {
    let about = "After a recovery or a reset nothing of the old window counts, though its span has not passed.";
    let mut play = Play::new("a_window_of_time_begins_anew", about, span(60));
    play.at_ms(1).failures(10).state().at_ms(2_000).call(Success).snapshot().failures(9).snapshot();
    play.ask(Op::Reset).snapshot().failures(9).snapshot().failures(1).state();
    play.done()
}

fn a_clock_that_goes_back() -> Scenario<Line> {
    let about = "A little back counts in the present bucket; far back is another clock, and the window begins again.";
    let mut play = Play::new("a_clock_that_goes_back", about, span(10).minimum_calls(1_000));
    play.at_ms(1_000_000).failures(3).at_ms(990_000).failures(2).snapshot().at_ms(1_005_000).snapshot();
    play.at_ms(5_000).snapshot().failures(1).snapshot();
    play.done()
}

fn more_buckets_of_the_same_width() -> Scenario<Line> {
    let about = "Twice the span in twice the buckets keeps what was learnt; another width begins anew.";
    let mut play = Play::new("more_buckets_of_the_same_width", about, span(10).minimum_calls(1_000));
    for second in 0..5 {
        play.at_ms(second * 4_000).call(Failure);
    }
    play.snapshot().configure(span(20).buckets(20).minimum_calls(1_000)).snapshot();
    play.mode(Mode::Shadow).snapshot().configure(span(20)).snapshot();
    play.done()
}

fn slow_within_a_span() -> Scenario<Line> {
    let about = "Slow successes open it by their share.";
    let config = span(10).slow_after(Duration::from_millis(5)).slow_rate(Ratio::percent(50)).minimum_calls(2);
    let mut play = Play::new("slow_within_a_span", about, config);
    play.at_ms(0).admit().admit().at_ms(5).success(0).snapshot().at_ms(6).success(1).snapshot();
    play.done()
}
