//! Memory that becomes state.

use std::sync::Arc;

use seawall::Random;
use seawall::model_access::Mark;

use super::harness::{ALL, join, model, spawn};

#[test]
fn whoever_finds_a_state_configured_finds_all_of_it() {
    model("storage::whoever_finds_a_state_configured_finds_all_of_it", ALL, || {
        let shared = Arc::new((Random::unseeded(), Mark::new()));
        let other = spawn(&shared, |(source, mark)| {
            mark.set();
            source.init(42);
        });
        let (source, mark) = &*shared;
        let drawn = source.next();
        if drawn != 0 {
            assert!(mark.is_set());
            assert_eq!(drawn, Random::seeded(42).next(), "seeded, and with all of the seed");
        }
        join(other);
    });
}
