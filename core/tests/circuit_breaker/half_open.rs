//! Half-open: a few trials pass, and they decide.

use super::*;

#[test]
fn one_trial_passes_and_the_others_are_told_to_wait() {
    let breaker = opened(one_second());
    let trial = permit(&breaker, ms(1_100));
    assert!(trial.is_trial());
    let no = refusal(&breaker, ms(1_200));
    assert_eq!(no.reason, Reason::TrialsBusy);
    assert!(matches!(no.when, When::Depends { estimate: Some(at) } if at >= ms(2_100) && at < ms(2_102)));
}

#[test]
fn a_success_closes_it_and_forgets() {
    let breaker = opened(one_second());
    assert_eq!(call(&breaker, Success, ms(1_100)).transition.map(|t| t.to), Some(State::Closed));
    let snapshot = breaker.snapshot(ms(1_100)).unwrap();
    assert_eq!((snapshot.calls, snapshot.failed, snapshot.reopened), (0, 0, 0));
}

#[test]
fn a_failure_opens_it_for_another_period() {
    let breaker = opened(one_second());
    assert_eq!(call(&breaker, Failure, ms(1_100)).transition.map(|t| t.cause), Some(Cause::TrialFailed));
    assert_eq!(refusal(&breaker, ms(2_000)).reason, Reason::Open);
    assert_eq!(breaker.state(ms(2_200)), State::HalfOpen);
}

#[test]
fn never_more_trials_than_stated_are_out() {
    for trials in 1..=15 {
        let breaker = opened(one_second().trials(trials));
        let out: Vec<_> = (0..trials).map(|_| permit(&breaker, ms(1_100))).collect();
        assert!(out.iter().all(|trial| trial.is_trial()));
        assert_eq!(refusal(&breaker, ms(1_100)).reason, Reason::TrialsBusy);
    }
}

#[test]
fn all_trials_must_succeed_unless_close_after_says_fewer() {
    for trials in 1..=15u64 {
        for close_after in 1..=trials {
            let breaker = opened(one_second().trials(trials).close_after(close_after));
            // As many failures as it bears, then successes to the last but one.
            failures(&breaker, (trials - close_after) as usize, ms(1_100));
            successes(&breaker, close_after as usize - 1, ms(1_100));
            assert_eq!(breaker.state(ms(1_100)), State::HalfOpen, "{close_after} of {trials}");
            let last = if trials % 2 == 0 { Success } else { Failure };
            let settled = call(&breaker, last, ms(1_100));
            let to = if last == Success { State::Closed } else { State::Open };
            assert_eq!(settled.transition.map(|t| t.to), Some(to), "{close_after} of {trials}");
        }
    }
}

#[test]
fn rate_mode_has_three_trials() {
    let breaker = breaker(Config::new().window(2).minimum_calls(1).reset_after(Duration::from_secs(1)));
    failures(&breaker, 1, ms(0));
    successes(&breaker, 2, ms(1_100));
    assert_eq!(breaker.state(ms(1_100)), State::HalfOpen);
    successes(&breaker, 1, ms(1_100));
    assert_eq!(breaker.state(ms(1_100)), State::Closed);
}

#[test]
fn an_ignored_or_dropped_trial_returns_its_place() {
    let breaker = opened(one_second());
    for _ in 0..100 {
        assert_eq!(permit(&breaker, ms(1_100)).ignore(ms(1_100)).settlement, Settlement::Neutral);
        drop(permit(&breaker, ms(1_100)));
    }
    assert_eq!(call(&breaker, Success, ms(1_100)).transition.map(|t| t.to), Some(State::Closed));
}

#[test]
fn a_slow_trial_has_failed() {
    let breaker = opened(one_second().slow_after(millis(100)));
    let settled = permit(&breaker, ms(1_100)).success(ms(1_201), 0);
    assert_eq!(settled.transition.map(|t| t.to), Some(State::Open));
}

#[test]
fn a_trial_that_is_never_settled_expires_and_its_late_result_is_stale() {
    for (expired, state) in [
        (ExpiredTrials::Again, State::HalfOpen),
        (ExpiredTrials::Open, State::Open),
        (ExpiredTrials::Close, State::Closed),
    ] {
        let breaker = opened(one_second().trial_timeout(millis(500)).expired_trials(expired));
        let lost = permit(&breaker, ms(1_100));
        assert_eq!(refusal(&breaker, ms(1_599)).reason, Reason::TrialsBusy);
        let asked = breaker.admit(ms(1_602));
        let transition = match &asked {
            Ok(permit) => permit.transition().copied(),
            Err(refused) => refused.transition,
        };
        assert_eq!(transition.map(|t| (t.cause, t.to)), Some((Cause::TrialsExpired, state)));
        assert_eq!(asked.is_err(), state == State::Open);
        let before = words(&breaker);
        assert_eq!(lost.failure(ms(1_602), 0).settlement, Settlement::Stale);
        assert_eq!(words(&breaker), before);
    }
}

#[test]
fn a_trial_is_stale_from_the_end_of_its_lease_on_whether_somebody_asked_or_not() {
    let breaker = opened(one_second().trial_timeout(millis(500)));
    let lost = permit(&breaker, ms(1_100));
    assert_eq!(lost.success(ms(9_000), 0).settlement, Settlement::Stale);
    assert_eq!(breaker.state(ms(9_000)), State::HalfOpen);
    assert!(permit(&breaker, ms(9_000)).is_trial(), "its place is free");
}

#[test]
fn a_trial_from_a_clock_that_is_behind_does_not_shorten_the_lease_of_another() {
    let breaker = opened(one_second().trials(2).trial_timeout(Duration::from_secs(10)));
    let (_first, _second) = (permit(&breaker, secs(100)), permit(&breaker, secs(95)));
    assert_eq!(refusal(&breaker, secs(106)).reason, Reason::TrialsBusy);
    assert_eq!(refusal(&breaker, ms(109_999)).reason, Reason::TrialsBusy);
    assert!(permit(&breaker, ms(110_002)).is_trial());
}

#[test]
fn a_trial_that_is_told_opens_it_until_then() {
    let breaker = opened(one_second().trials(3).close_after(1));
    let settled = call(&breaker, FailureUntil(secs(9)), ms(1_100));
    assert_eq!(settled.transition.map(|t| (t.cause, t.to)), Some((Cause::RetryAfter, State::Open)));
    assert_eq!(breaker.state(ms(8_900)), State::Open);
}
