//! Whether there is time enough. No peer asks.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::rules::{check, deadline};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "deadline check").alone("seawall", deadline, check);
}

criterion_group!(all, benches);
criterion_main!(all);
