//! The retry budget, with tower's in the same run.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::waits::{
    budget, deposit, half_empty, tower, tower_deposit, tower_withdraw_and_deposit, withdraw_and_deposit,
};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "retry_budget deposit, full").contender("seawall", budget, deposit).contender(
        "tower",
        tower,
        tower_deposit,
    );
    Scenario::new(criterion, "retry_budget withdraw and deposit")
        .contender("seawall", half_empty, withdraw_and_deposit)
        .contender("tower", tower, tower_withdraw_and_deposit);
}

criterion_group!(all, benches);
criterion_main!(all);
