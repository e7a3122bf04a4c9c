//! Clocks that go back, start anew or end.

use super::*;

#[test]
fn a_clock_that_goes_back_admits_nobody_early_and_delays_nobody_by_more_than_the_step() {
    let breaker = breaker(Config::consecutive(1).reset_after(Duration::from_secs(30)));
    failures(&breaker, 1, secs(1_000));
    let at = refusal(&breaker, secs(1_000)).at();
    for back in [1, 10, 60, 68] {
        assert_eq!(refusal(&breaker, secs(1_000 - back)).at(), at, "{back} s back");
    }
    assert_eq!(refusal(&breaker, secs(1_029)).at(), at);
    assert!(breaker.admit(secs(1_031)).is_ok());
}

#[test]
fn a_clock_that_starts_anew_finds_it_due() {
    let breaker = breaker(Config::consecutive(1));
    failures(&breaker, 1, secs(1_000_000));
    assert!(permit(&breaker, secs(3)).is_trial());
}

#[test]
fn the_last_instant_is_one_like_any_other() {
    let breaker = breaker(Config::consecutive(1));
    failures(&breaker, 1, Instant::MAX);
    assert_eq!(refusal(&breaker, Instant::MAX).at(), Some(Instant::MAX));
    let snapshot = breaker.snapshot(Instant::MAX).unwrap();
    assert_eq!(snapshot.until, Some(Instant::MAX));
    assert!(snapshot.changed_at.is_some_and(|at| Instant::MAX.since(at) < Duration::from_nanos(1_024)));
}
