//! What is chosen, as opposed to what is measured.

use super::*;

#[test]
fn forced_open_refuses_everything_and_keeps_what_was_learnt() {
    let breaker = breaker(Config::consecutive(2));
    failures(&breaker, 1, ms(0));
    let learnt = breaker.snapshot(ms(0)).unwrap();
    assert_eq!(breaker.set_mode(Mode::ForcedOpen), Ok(Mode::Normal));
    let no = refusal(&breaker, ms(0));
    assert_eq!((no.reason, no.when), (Reason::ForcedOpen, When::Depends { estimate: None }));
    assert_eq!(breaker.state(ms(0)), State::Closed, "state is measured, mode is chosen");
    breaker.set_mode(Mode::Normal).unwrap();
    assert_eq!(breaker.snapshot(ms(0)).unwrap(), learnt);
}

#[test]
fn disabled_admits_everything_and_records_nothing() {
    let breaker = opened(one_second());
    breaker.set_mode(Mode::Disabled).unwrap();
    let before = words(&breaker);
    failures(&breaker, 50, ms(1));
    assert_eq!(words(&breaker), before);
    breaker.set_mode(Mode::Normal).unwrap();
    assert_eq!(refusal(&breaker, ms(1)).reason, Reason::Open);
}

#[test]
fn shadow_measures_and_never_refuses_and_says_what_it_would_have_said() {
    let breaker = opened(one_second().mode(Mode::Shadow));
    let bypass = permit(&breaker, ms(1));
    assert_eq!(bypass.bypassed().map(|no| no.reason), Some(Reason::Open));
    let before = words(&breaker);
    assert_eq!(bypass.success(ms(1), 0).settlement, Settlement::Neutral);
    assert_eq!(words(&breaker), before, "only what would have been called is evidence");
    let trial = permit(&breaker, ms(1_100));
    assert!(trial.is_trial());
    assert_eq!(permit(&breaker, ms(1_100)).bypassed().map(|no| no.reason), Some(Reason::TrialsBusy));
    trial.success(ms(1_100), 0);
    assert_eq!(breaker.state(ms(1_100)), State::Closed);
}

#[test]
fn a_breaker_may_start_in_any_mode() {
    for mode in [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::Shadow] {
        let breaker = breaker(Config::new().mode(mode));
        assert_eq!(breaker.mode(), mode);
        assert_eq!(breaker.admit(ms(0)).is_err(), mode == Mode::ForcedOpen);
    }
}
