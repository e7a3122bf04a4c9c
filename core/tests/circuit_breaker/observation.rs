//! What a breaker says about itself.

use super::*;

#[test]
fn the_figures_explain_themselves() {
    let breaker = breaker(Config::new().window(20));
    successes(&breaker, 9, ms(0));
    failures(&breaker, 9, ms(0));
    assert_eq!(breaker.explain(ms(0)), "open: 9 of the last 18 calls failed; next trial in 30.1 s");
    assert_eq!(breaker.explain(secs(31)), "half-open: the next call is a trial");
}

#[test]
fn each_change_of_state_is_returned_once_with_its_figures() {
    let breaker = breaker(one_second());
    let opened = permit(&breaker, ms(0)).failure(ms(7), 0).transition.unwrap();
    assert_eq!((opened.from, opened.to, opened.at), (State::Closed, State::Open, ms(7)));
    assert_eq!((opened.calls, opened.failed, opened.generation), (1, 1, 0));
    let trial = permit(&breaker, ms(1_100));
    assert_eq!(trial.transition().map(|t| (t.from, t.to, t.cause)), Some((State::Open, State::HalfOpen, Cause::Due)));
    let closed = trial.success(ms(1_200), 0).transition.unwrap();
    assert_eq!((closed.to, closed.generation), (State::Closed, 1));
    assert!(call(&breaker, Success, ms(1_300)).transition.is_none());
}

#[test]
fn a_snapshot_says_what_the_last_change_was_and_when() {
    let breaker = breaker(Config::consecutive(1));
    // A clock that counts from 1970 as well: no instant is cut.
    for start in [1_000, 1_800_000_000] {
        failures(&breaker, 1, secs(start));
        let snapshot = breaker.snapshot(secs(start + 1)).unwrap();
        assert_eq!(snapshot.cause, Some(Cause::FailureThreshold));
        assert!(secs(start).since(snapshot.changed_at.unwrap()) < Duration::from_nanos(1_024));
        breaker.reset(secs(start));
    }
}

#[test]
fn state_that_was_never_configured_refuses_and_says_so() {
    let mut memory = [0u64; size_of::<CircuitBreaker>() / 8];
    // SAFETY: the memory is aligned, large enough, and nobody else's for as long as `breaker` lives.
    let breaker: &CircuitBreaker = unsafe { seawall::place(memory.as_mut_ptr(), size_of_val(&memory)) }.unwrap();
    assert_eq!(refusal(breaker, ms(0)).reason, Reason::Unconfigured);
    assert_eq!(breaker.snapshot(ms(0)), None);
    assert!(breaker.trip(ms(0), None, 0).is_none());
    assert!(breaker.configure(&Config::new()).is_err());
    breaker.init(&Config::new()).unwrap();
    assert!(breaker.admit(ms(0)).is_ok());
}
