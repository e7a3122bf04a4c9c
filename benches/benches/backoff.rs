//! The next pause, with backon's in the same run.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::waits::{backon_delay, backon_rules, decorrelated, delay, delay_by_own_draws, full};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "backoff next pause")
        .alone("seawall", full, delay_by_own_draws)
        .alone("seawall, its own source", full, delay)
        .alone("backon", backon_rules, backon_delay);
    Scenario::new(criterion, "backoff next pause, decorrelated").alone("seawall", decorrelated, delay);
}

criterion_group!(all, benches);
criterion_main!(all);
