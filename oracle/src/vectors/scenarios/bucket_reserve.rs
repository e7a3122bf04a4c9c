//! Reservations, and giving them back.

use seawall::TokenBucketConfig as Config;

use crate::vectors::bucket::{Line, Play};
use crate::vectors::format::Scenario;

const S: u64 = 1_000_000_000;

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        first_reserved_first_served(),
        too_long_a_wait(),
        cancelled_at_once(),
        cancelled_after_others(),
        cancelled_while_others_wait(),
        cancelled_late(),
        cancelled_in_reverse(),
        reserved_nothing(),
        deepest_debt(),
        cancelled_twice(),
        cancelled_after_a_change(),
    ]
}

fn first_reserved_first_served() -> Scenario<Line> {
    let about = "Each reservation is good after those before it.";
    let mut play = Play::new("first_reserved_first_served", about, Config::per_second(1, 2));
    play.reserve(1, u64::MAX).reserve(2, u64::MAX).reserve(1, u64::MAX).take(1).peek(0);
    play.at(2 * S).take(1).at(3 * S).take(1);
    play.done()
}

fn too_long_a_wait() -> Scenario<Line> {
    let about = "Refused when the wait is longer than stated, and nothing is taken.";
    let mut play = Play::new("too_long_a_wait", about, Config::per_second(1, 1));
    play.take(1).reserve(1, S - 1).reserve(1, S - 1).reserve(1, S).reserve(1, S).reserve(1, 2 * S).reserve(1, 0);
    play.done()
}

fn cancelled_at_once() -> Scenario<Line> {
    let about = "Nobody has taken anything since: all of it comes back.";
    let mut play = Play::new("cancelled_at_once", about, Config::per_second(1, 4));
    play.take(1).reserve(3, u64::MAX).peek(0).cancel(0).peek(0).reserve(4, u64::MAX).at(S / 2).cancel(1).peek(0);
    play.done()
}

fn cancelled_after_others() -> Scenario<Line> {
    let about = "Others have taken since: the cost comes back less what would have flowed over.";
    let mut play = Play::new("cancelled_after_others", about, Config::per_second(1, 10));
    play.reserve(4, u64::MAX)
        .take(2)
        .cancel(0)
        .peek(0)
        .at(10 * S)
        .reserve(8, u64::MAX)
        .at(13 * S)
        .take(1)
        .cancel(1)
        .peek(0);
    play.done()
}

fn cancelled_while_others_wait() -> Scenario<Line> {
    let about = "While somebody waits for an instant that counts on it, nothing comes back.";
    let mut play = Play::new("cancelled_while_others_wait", about, Config::per_second(1, 2));
    play.take(2).reserve(1, u64::MAX).reserve(1, u64::MAX).cancel(0).peek(0).cancel(1).peek(0);
    play.done()
}

fn cancelled_late() -> Scenario<Line> {
    let about = "What would all have flowed over does not come back.";
    let mut play = Play::new("cancelled_late", about, Config::per_second(1, 2));
    play.reserve(2, u64::MAX).at(S).take(1).at(5 * S).take(1).cancel(0).peek(0);
    play.done()
}

fn cancelled_in_reverse() -> Scenario<Line> {
    let about = "The last first: each leaves the bucket as it found it.";
    let mut play = Play::new("cancelled_in_reverse", about, Config::per_second(1, 5));
    play.reserve(1, u64::MAX)
        .reserve(2, u64::MAX)
        .reserve(5, u64::MAX)
        .cancel(2)
        .peek(0)
        .cancel(1)
        .peek(0)
        .cancel(0)
        .peek(0);
    play.done()
}

fn reserved_nothing() -> Scenario<Line> {
    let about = "A reservation of nothing is good now and gives back nothing.";
    let mut play = Play::new("reserved_nothing", about, Config::per_second(1, 1));
    play.take(1).reserve(1, u64::MAX).reserve(0, 0).cancel(1).peek(0);
    play.done()
}

fn deepest_debt() -> Scenario<Line> {
    let about = "Debt ends: beyond one more bucket and 2^45 ticks nobody may reserve, however long he would wait.";
    let mut play = Play::new("deepest_debt", about, Config::per_second(10_000_000_000, 1_000_000_000));
    for _ in 0..9 {
        play.reserve(1_000_000_000, u64::MAX);
    }
    play.peek(0);
    play.done()
}

fn cancelled_twice() -> Scenario<Line> {
    let about = "Given back twice, by misuse, it never holds more than its capacity.";
    let mut play = Play::new("cancelled_twice", about, Config::per_second(1, 5));
    play.misuse().take(1).reserve(2, u64::MAX).cancel(0).cancel(0).peek(0).take(1).cancel(0).peek(0);
    play.done()
}

fn cancelled_after_a_change() -> Scenario<Line> {
    let about = "Another configuration since: nothing comes back.";
    let mut play = Play::new("cancelled_after_a_change", about, Config::per_second(1, 5));
    play.reserve(2, u64::MAX).configure(Config::per_second(2, 5)).cancel(0).peek(0);
    play.done()
}
