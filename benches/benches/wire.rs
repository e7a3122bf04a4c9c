//! Header text, with `httpdate` in the same run.

use criterion::{Criterion, criterion_group, criterion_main};
use seawall_benches::Scenario;
use seawall_benches::rules::{dates, httpdate_read, httpdate_write, read_date, read_seconds, write_date};

fn benches(criterion: &mut Criterion) {
    Scenario::new(criterion, "wire read a date").alone("seawall", dates, read_date).alone(
        "httpdate",
        dates,
        httpdate_read,
    );
    Scenario::new(criterion, "wire write a date").alone("seawall", dates, write_date).alone(
        "httpdate",
        dates,
        httpdate_write,
    );
    Scenario::new(criterion, "wire read seconds").alone("seawall", dates, read_seconds);
}

criterion_group!(all, benches);
criterion_main!(all);
