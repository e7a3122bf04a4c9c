//! What a failure means and how long to pause after it. No peer decides both.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::rules::{classify_and_pause, rules};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "retry classify and pause").alone("seawall", rules, classify_and_pause);
}

criterion_group!(all, benches);
criterion_main!(all);
