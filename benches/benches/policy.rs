//! Whole calls, with backon's retry in the same run where it does the same.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::policies::{backon, backon_rules, call, call_retried, healthy, open, retry};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "policy retry, success").contender("seawall", healthy, retry).contender(
        "backon",
        backon_rules,
        backon,
    );
    Scenario::new(criterion, "policy call, success").contender("seawall", healthy, call);
    Scenario::new(criterion, "policy call, refused").contender("seawall", open, call);
    Scenario::new(criterion, "policy call, one retry").alone("seawall", healthy, call_retried);
}

criterion_group!(all, benches);
criterion_main!(all);
