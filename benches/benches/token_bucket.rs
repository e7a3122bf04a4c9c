//! The token bucket, with governor and its fake clock in the same run.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::buckets::{
    PER_SECOND, empty, endless, governor, governor_empty, governor_take, governor_take_with_instant,
    governor_tick_and_take, reserve_and_cancel, take, tick_and_take, ticking,
};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "token_bucket admit").contender("seawall", endless, take).contender(
        "governor",
        || governor(PER_SECOND, u32::MAX),
        governor_take,
    );
    Scenario::new(criterion, "token_bucket refuse")
        .contender("seawall", empty, take)
        .contender("governor", governor_empty, governor_take)
        .contender("governor with instant", governor_empty, governor_take_with_instant);
    Scenario::new(criterion, "token_bucket admit, clock advancing")
        .contender("seawall", ticking, tick_and_take)
        .contender("governor", || governor(1_000_000, 100), governor_tick_and_take);
    Scenario::new(criterion, "token_bucket reserve and cancel").contender("seawall", endless, reserve_and_cancel);
}

criterion_group!(all, benches);
criterion_main!(all);
