//! Opened, half-opened and closed by hand.

use super::*;

#[test]
fn tripped_it_is_open_for_the_period_or_until_an_instant() {
    let breaker = breaker(one_second());
    assert_eq!(breaker.trip(ms(0), None, 0).map(|t| (t.cause, t.to)), Some((Cause::Tripped, State::Open)));
    assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
    breaker.trip(ms(0), Some(secs(50)), 0);
    assert_eq!((breaker.state(secs(49)), breaker.state(secs(51))), (State::Open, State::HalfOpen));
}

#[test]
fn half_opened_the_next_call_is_a_trial() {
    let breaker = breaker(one_second());
    assert_eq!(breaker.half_open(ms(0)).map(|t| t.cause), Some(Cause::HalfOpened));
    assert!(breaker.half_open(ms(0)).is_none(), "it was half-open already");
    assert!(permit(&breaker, ms(0)).is_trial());
}

#[test]
fn reset_it_is_closed_with_nothing_learnt() {
    let breaker = breaker(Config::consecutive(2));
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.reset(ms(0)).map(|t| t.to), Some(State::Closed));
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Closed);
}
