//! Configuration that changes while running, and clocks that go back.

use core::time::Duration;

use seawall::TokenBucketConfig as Config;

use crate::vectors::bucket::{Line, Play};
use crate::vectors::format::Scenario;

const S: u64 = 1_000_000_000;

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        faster(),
        slower(),
        smaller_and_larger(),
        debt_stays(),
        refused_changes(),
        five_changes(),
        back_a_little(),
        back_and_forth(),
        another_clock(),
        end_of_time(),
        far_future(),
        slow_to_fast(),
    ]
}

fn faster() -> Scenario<Line> {
    let about = "What has flowed in until the change did so at the old rate.";
    let mut play = Play::new("faster", about, Config::per_second(1, 10));
    play.take(10).at(3 * S).configure(Config::per_second(5, 10)).peek(0).take(3).take(1).at(4 * S).take(5).take(1);
    play.done()
}

fn slower() -> Scenario<Line> {
    let about = "A slower rate takes no token away that is there.";
    let mut play = Play::new("slower", about, Config::per_second(10, 10));
    play.take(4).configure(Config::new().rate(1).capacity(10).period(Duration::from_secs(60))).peek(0).take(6).take(1);
    play.done()
}

fn smaller_and_larger() -> Scenario<Line> {
    let about = "A smaller bucket keeps what fits; a larger one gets nothing for it.";
    let mut play = Play::new("smaller_and_larger", about, Config::per_second(1, 10));
    play.take(2).configure(Config::per_second(1, 3)).peek(0).configure(Config::per_second(1, 20)).peek(0).at(S).peek(0);
    play.done()
}

fn debt_stays() -> Scenario<Line> {
    let about = "A debt stays a debt, paid at the new rate.";
    let mut play = Play::new("debt_stays", about, Config::per_second(1, 5));
    play.take(5).reserve(5, u64::MAX).configure(Config::per_second(2, 5)).take(1).at(3 * S).take(1);
    play.done()
}

fn refused_changes() -> Scenario<Line> {
    let about = "Rate 0 and capacity 0 are refused as live changes too, and nothing changes.";
    let mut play = Play::new("refused_changes", about, Config::per_second(1, 5));
    play.take(2)
        .configure(Config::per_second(0, 5))
        .configure(Config::per_second(5, 0))
        .configure(Config::new())
        .peek(0);
    play.done()
}

fn five_changes() -> Scenario<Line> {
    let about = "The slots of configurations come round; tokens stay.";
    let mut play = Play::new("five_changes", about, Config::per_second(1, 10));
    play.take(4);
    for rate in 2..8 {
        play.configure(Config::per_second(rate, 10)).peek(0);
    }
    play.done()
}

fn back_a_little() -> Scenario<Line> {
    let about = "A clock that goes back delays nobody by more than the step and grants nobody more.";
    let mut play = Play::new("back_a_little", about, Config::per_second(1, 3));
    play.at(100 * S).take(3).at(97 * S).take(1).peek(0).at(100 * S).take(1).at(101 * S).take(1).at(99 * S).take(1);
    play.done()
}

fn back_and_forth() -> Scenario<Line> {
    let about = "Back and forth for free: time seen twice flows in once.";
    let mut play = Play::new("back_and_forth", about, Config::per_second(1, 1));
    play.at(10 * S).take(1);
    for _ in 0..3 {
        play.at(9 * S).take(1).at(10 * S).take(1);
    }
    play.at(11 * S).take(1).at(10 * S).take(1).at(12 * S).take(1);
    play.done()
}

fn another_clock() -> Scenario<Line> {
    let about = "Further back than the slack is another clock: the bucket is full.";
    let mut play = Play::new("another_clock", about, Config::per_second(1, 3));
    play.at(3 << 57).take(3).take(1).at(5).take(3).take(1);
    play.done()
}

fn end_of_time() -> Scenario<Line> {
    let about = "At the last instants sums saturate: waits end at the end of time.";
    let mut play = Play::starting("end_of_time", about, Config::per_second(1, 3), u64::MAX - 5);
    play.take(3).take(1).at(u64::MAX).take(1).reserve(1, u64::MAX).peek(0);
    play.done()
}

fn far_future() -> Scenario<Line> {
    let about = "A clock that shows nanoseconds since 1970.";
    let epoch = 1_800_000_000 * S;
    let mut play = Play::starting("far_future", about, Config::per_second(4, 2), epoch);
    play.take(2).take(1).at(epoch + S / 4).take(1).at(epoch + S).take(2).take(1);
    play.done()
}

fn slow_to_fast() -> Scenario<Line> {
    let about = "From the slowest rate to the fastest: the tick changes with it.";
    let day = Duration::from_secs(86_400);
    let mut play = Play::new("slow_to_fast", about, Config::new().rate(1).period(day).capacity(100));
    play.take(40).configure(Config::per_second(10_000_000_000, 100)).peek(0).take(60).take(1);
    play.configure(Config::new().rate(1).period(day).capacity(100)).peek(0).take(1);
    play.done()
}
