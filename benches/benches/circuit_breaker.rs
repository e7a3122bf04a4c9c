//! The circuit breaker, with recloser and failsafe in the same run.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::breakers::{
    calls, failsafe, failsafe_calls, half_open, healthy, hundred, open, recloser, recloser_calls, recloser_hundred,
    ten_seconds, trial, wide_calls,
};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "circuit_breaker healthy")
        .contender("seawall", healthy, calls::<0>)
        .contender("recloser", || recloser(true), recloser_calls::<0>)
        .contender("failsafe", || failsafe(true), failsafe_calls::<0>);
    Scenario::new(criterion, "circuit_breaker open")
        .contender("seawall", open, calls::<0>)
        .contender("recloser", || recloser(false), recloser_calls::<0>)
        .contender("failsafe", || failsafe(false), failsafe_calls::<0>);
    Scenario::new(criterion, "circuit_breaker 1 % fail")
        .contender("seawall", healthy, calls::<100>)
        .contender("recloser", || recloser(true), recloser_calls::<100>)
        .contender("failsafe", || failsafe(true), failsafe_calls::<100>);
    Scenario::new(criterion, "circuit_breaker every record writes")
        .contender("seawall", healthy, calls::<8>)
        .contender("recloser", || recloser(true), recloser_calls::<8>)
        .contender("failsafe", || failsafe(true), failsafe_calls::<8>);
    Scenario::new(criterion, "circuit_breaker 100 calls healthy")
        .contender("seawall", hundred, wide_calls::<0>)
        .contender("recloser", recloser_hundred, recloser_calls::<0>);
    Scenario::new(criterion, "circuit_breaker 100 calls every record writes")
        .contender("seawall", hundred, wide_calls::<8>)
        .contender("recloser", recloser_hundred, recloser_calls::<8>);
    Scenario::new(criterion, "circuit_breaker 10 s healthy").contender("seawall", ten_seconds, wide_calls::<0>);
    Scenario::new(criterion, "circuit_breaker 10 s one in eight fails").contender(
        "seawall",
        ten_seconds,
        wide_calls::<8>,
    );
    Scenario::new(criterion, "circuit_breaker trial").contender("seawall", half_open, trial);
}

criterion_group!(all, benches);
criterion_main!(all);
