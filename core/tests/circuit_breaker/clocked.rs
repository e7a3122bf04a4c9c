//! With a clock of its own.

use super::*;

#[test]
fn the_clock_and_the_randomness_come_along() {
    let clock = ManualClock::at(ms(0));
    let breaker = Arc::new(breaker(one_second().reset_jitter(Ratio::percent(50))));
    let clocked = Clocked::with_random(Arc::clone(&breaker), &clock, Random::seeded(5));
    let settled = clocked.admit().unwrap().failure();
    assert!(settled.transition.is_some_and(|t| !t.unseeded && t.until.is_some()));
    assert!(clocked.admit().is_err());
    clock.advance(Duration::from_secs(2));
    assert!(clocked.admit().unwrap().success().transition.is_some());
}
