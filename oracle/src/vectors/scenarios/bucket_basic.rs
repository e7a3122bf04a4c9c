//! Taking and peeking.

use seawall::TokenBucketConfig as Config;

use crate::vectors::bucket::{Line, Play};
use crate::vectors::format::Scenario;

const S: u64 = 1_000_000_000;

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![burst_then_rate(), above_capacity()]
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
    let mut play = Play::new("above_capacity", "A cost above the capacity can never be admitted.", Config::per_second(5, 20));
    play.take(21).peek(21).take(u64::MAX).reserve(21, u64::MAX).take(20);
    play.done()
}
