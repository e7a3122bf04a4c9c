//! Configuration that changes while running.

use super::*;

#[test]
fn a_word_never_comes_back_although_its_slots_do() {
    let breaker = breaker(Config::consecutive(5));
    let word = || words(&breaker)[1];
    let mut seen = vec![word()];
    for _ in 0..40 {
        breaker.set_mode(Mode::Shadow).unwrap();
        breaker.set_mode(Mode::Normal).unwrap();
        assert!(!seen.contains(&word()), "an operation under way would take it for the one it read");
        seen.push(word());
    }
}

#[test]
fn the_mode_stays_unless_it_is_stated() {
    let breaker = breaker(Config::consecutive(5));
    breaker.set_mode(Mode::ForcedOpen).unwrap();
    breaker.configure(&Config::consecutive(3)).unwrap();
    assert_eq!(breaker.mode(), Mode::ForcedOpen);
    breaker.configure(&Config::consecutive(3).mode(Mode::Normal)).unwrap();
    assert_eq!(breaker.mode(), Mode::Normal);
}

#[test]
fn what_was_learnt_is_kept() {
    let breaker = breaker(Config::consecutive(5));
    failures(&breaker, 3, ms(0));
    breaker.configure(&Config::consecutive(4)).unwrap();
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open);
}

#[test]
fn an_open_period_keeps_its_end_however_short_the_new_one() {
    let hour = Duration::from_secs(3_600);
    let breaker = opened(Config::consecutive(1).reset_after(hour));
    let at = refusal(&breaker, ms(1)).at();
    let short = one_second().reset_cap(Duration::from_secs(1)).max_retry_after(Duration::from_secs(1));
    breaker.configure(&short).unwrap();
    assert_eq!(refusal(&breaker, ms(1)).at(), at);
    assert_eq!((breaker.state(secs(3_599)), breaker.state(secs(3_601))), (State::Open, State::HalfOpen));
}

#[test]
fn a_lease_keeps_its_end_however_short_the_new_one() {
    let hour = Duration::from_secs(3_600);
    let breaker = opened(one_second().trial_timeout(hour));
    let _trial = permit(&breaker, ms(1_100));
    breaker.configure(&one_second().trial_timeout(millis(1))).unwrap();
    assert_eq!(refusal(&breaker, secs(3_000)).reason, Reason::TrialsBusy);
    assert!(permit(&breaker, secs(3_602)).is_trial());
}

#[test]
fn an_impossible_change_changes_nothing() {
    let breaker = breaker(Config::consecutive(5));
    let before = words(&breaker);
    let error = breaker.configure(&Config::consecutive(0)).unwrap_err();
    assert_eq!(error.to_string(), "circuit_breaker.failure_threshold: 0 is not allowed; allowed are 1 to 1000000");
    assert_eq!(words(&breaker), before);
}

#[test]
fn a_round_goes_on_under_smaller_numbers_and_can_still_end_either_way() {
    for last in [Success, Failure] {
        let breaker = opened(one_second().trials(10).close_after(8));
        successes(&breaker, 4, ms(1_100));
        failures(&breaker, 2, ms(1_100));
        breaker.configure(&one_second().trials(3).close_after(2)).unwrap();
        assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
        let settled = call(&breaker, last, ms(1_100));
        assert!(settled.transition.is_some(), "one more result decides");
    }
}
