//! A result from before a change of state never counts.

use super::*;

#[test]
fn a_call_from_before_the_trip_changes_nothing_in_any_later_state() {
    for outcome in [Success, Failure, FailureUntil(Instant::MAX), Ignored] {
        let breaker = breaker(one_second());
        let old: Vec<_> = (0..3).map(|_| permit(&breaker, ms(0))).collect();
        failures(&breaker, 1, ms(0));
        let mut old = old.into_iter();
        let mut settle = |now| {
            let before = words(&breaker);
            assert_eq!(old.next().unwrap().settle(outcome, now, 9).settlement, Settlement::Stale);
            assert_eq!(words(&breaker), before);
        };
        settle(ms(500)); // open
        let trial = permit(&breaker, ms(1_100));
        settle(ms(1_200)); // half-open
        trial.success(ms(1_200), 0);
        settle(ms(1_300)); // closed again
    }
}

#[test]
fn a_trial_of_an_earlier_round_is_stale() {
    let breaker = opened(one_second().trials(2).close_after(2));
    let (first, second) = (permit(&breaker, ms(1_100)), permit(&breaker, ms(1_100)));
    first.failure(ms(1_100), 0);
    let trial = permit(&breaker, ms(2_300));
    assert_eq!(second.success(ms(2_300), 0).settlement, Settlement::Stale);
    assert_eq!(breaker.snapshot(ms(2_300)).unwrap().trials_in_flight, 1);
    drop(trial);
}

#[test]
fn a_reset_makes_what_is_in_flight_stale() {
    let breaker = breaker(Config::consecutive(1));
    let old = permit(&breaker, ms(0));
    breaker.reset(ms(0));
    assert_eq!(old.failure(ms(0), 0).settlement, Settlement::Stale);
    assert_eq!(breaker.state(ms(0)), State::Closed);
}
