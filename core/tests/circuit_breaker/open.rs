//! Open: none passes until a stated instant.

use super::*;

#[test]
fn nothing_passes_before_the_stated_instant_and_something_does_then() {
    let breaker = opened(one_second());
    let When::At(at) = refusal(&breaker, ms(1)).when else { panic!("an exact instant") };
    assert!(at.as_nanos() >= S && at.as_nanos() < S + UNIT, "the period, rounded up to a unit");
    for now in [0, 1, S / 2, at.as_nanos() - 1] {
        let no = refusal(&breaker, ns(now));
        assert_eq!((no.reason, no.when), (Reason::Open, When::At(at)), "the same instant for all who ask");
    }
    assert!(breaker.admit(at).is_ok_and(|permit| permit.is_trial()));
}

#[test]
fn a_breaker_that_is_due_reads_half_open_without_being_asked() {
    let breaker = opened(one_second());
    assert_eq!((breaker.state(ms(500)), breaker.state(ms(1_100))), (State::Open, State::HalfOpen));
}

#[test]
fn each_reopening_multiplies_the_period_up_to_the_cap() {
    let breaker =
        opened(one_second().reset_factor(seawall::Factor::thousandths(2_000)).reset_cap(Duration::from_secs(5)));
    let mut now = 1_100;
    for seconds in [2, 4, 5, 5] {
        let settled = call(&breaker, Failure, ms(now));
        let period = settled.transition.and_then(|t| t.until).unwrap().since(ms(now));
        let asked = Duration::from_secs(seconds);
        assert!(period >= asked && period < asked + Duration::from_nanos(3 * UNIT), "{period:?} for {asked:?}");
        now += 6_000;
    }
}

#[test]
fn the_shortest_period_grows_too() {
    let config = Config::consecutive(1)
        .reset_after(millis(1))
        .reset_factor(seawall::Factor::thousandths(1_100))
        .reset_cap(Duration::from_secs(1));
    let breaker = opened(config);
    let mut last = 0;
    for round in 1..=15 {
        let until = call(&breaker, Failure, ms(round * 100)).transition.and_then(|t| t.until).unwrap();
        last = until.since(ms(round * 100)).as_nanos() as u64;
    }
    // 1.1^15 = 4.18
    assert!(last >= 4 * MS, "{last} ns after fifteen reopenings");
}

#[test]
fn closing_sets_the_factor_back() {
    let breaker = opened(one_second().reset_factor(seawall::Factor::thousandths(10_000)));
    call(&breaker, Failure, ms(1_100));
    call(&breaker, Success, ms(12_000));
    let until = call(&breaker, Failure, secs(20)).transition.and_then(|t| t.until).unwrap();
    assert!(until.since(secs(20)) < Duration::from_secs(2));
}

#[test]
fn jitter_spreads_the_period_and_never_exceeds_the_cap() {
    let config = one_second().reset_jitter(Ratio::percent(20)).reset_cap(millis(1_100));
    let random = Random::seeded(11);
    let (mut shortest, mut longest) = (u64::MAX, 0);
    for _ in 0..2_000 {
        let breaker = breaker(config);
        let transition = breaker.trip(ms(0), None, random.next()).unwrap();
        assert!(!transition.unseeded);
        let until = transition.until.unwrap().as_nanos();
        (shortest, longest) = (shortest.min(until), longest.max(until));
    }
    assert!((800 * MS - 2 * UNIT..810 * MS).contains(&shortest), "{shortest}");
    assert!((1_090 * MS..1_100 * MS + 2 * UNIT).contains(&longest), "{longest}");
}

#[test]
fn without_randomness_there_is_no_jitter_and_the_transition_says_so() {
    let breaker = breaker(one_second().reset_jitter(Ratio::percent(20)));
    let transition = breaker.trip(ms(0), None, 0).unwrap();
    assert!(transition.unseeded);
    assert!((S..S + 2 * UNIT).contains(&transition.until.unwrap().as_nanos()));
    assert!(!breaker.trip(ms(0), Some(secs(5)), 0).unwrap().unseeded, "a stated instant has no jitter to miss");
}
