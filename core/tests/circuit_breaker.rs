//! The circuit breaker's specification, a sentence per test.

mod common;

use common::{MS, S, UNIT, call, failures, millis, ms, ns, permit, secs, successes, words};
use seawall::Outcome::{Failure, FailureUntil, Ignored, Success};
use seawall::{
    Cause, CircuitBreaker, CircuitBreakerConfig as Config, Clocked, ExpiredTrials, Instant, ManualClock, Mode, Random,
    Ratio, Reason, Settlement, State, When,
};
use std::sync::Arc;
use std::time::Duration;

fn breaker(config: Config) -> CircuitBreaker {
    CircuitBreaker::new(&config).unwrap_or_else(|error| panic!("{error}"))
}

/// One failure opens it for a second.
fn one_second() -> Config {
    Config::consecutive(1).reset_after(Duration::from_secs(1))
}

/// A breaker of that configuration that is due at 1100 ms, after one failure at 0.
fn opened(config: Config) -> CircuitBreaker {
    let breaker = breaker(config);
    failures(&breaker, 1, ms(0));
    assert_eq!(breaker.state(ms(0)), State::Open);
    breaker
}

/// Why it refuses now, which it must.
fn refusal(breaker: &CircuitBreaker, now: Instant) -> seawall::Rejection {
    let before = words(breaker);
    let refused = breaker.admit(now).expect_err("a refusal");
    assert!(refused.transition.is_some() || words(breaker) == before, "a refusal writes nothing");
    refused.rejection
}

mod closed {
    use super::*;

    #[test]
    fn calls_pass_and_five_failures_in_a_row_open_it() {
        let breaker = breaker(Config::new());
        failures(&breaker, 4, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Closed);
        failures(&breaker, 1, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Open);
    }

    #[test]
    fn a_success_starts_the_count_anew() {
        let breaker = breaker(Config::consecutive(2));
        for _ in 0..10 {
            failures(&breaker, 1, ms(0));
            successes(&breaker, 1, ms(0));
        }
        assert_eq!(breaker.state(ms(0)), State::Closed);
    }

    #[test]
    fn an_ignored_call_is_no_evidence_either_way() {
        let breaker = breaker(Config::consecutive(2));
        failures(&breaker, 1, ms(0));
        assert_eq!(call(&breaker, Ignored, ms(0)).settlement, Settlement::Neutral);
        failures(&breaker, 1, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Open);
    }

    #[test]
    fn dropping_a_permit_is_neutral() {
        let breaker = breaker(Config::consecutive(1));
        let before = words(&breaker);
        drop(permit(&breaker, ms(0)));
        assert_eq!(words(&breaker), before);
    }

    #[test]
    fn rate_mode_opens_at_half_of_the_last_twenty_and_not_before_ten() {
        let breaker = breaker(Config::new().failure_rate(Ratio::percent(50)));
        failures(&breaker, 9, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Closed);
        assert_eq!(breaker.snapshot(ms(0)).unwrap().failure_rate_ppm, None, "nine calls are no rate");
        let settled = call(&breaker, Failure, ms(0));
        assert_eq!(settled.transition.map(|t| (t.cause, t.failed, t.calls)), Some((Cause::FailureRate, 10, 10)));
    }

    #[test]
    fn the_window_holds_the_last_calls_only() {
        for window in 2..=20 {
            let breaker = breaker(Config::new().window(window).minimum_calls(1).failure_rate(Ratio::ONE));
            successes(&breaker, 1, ms(0));
            failures(&breaker, window as usize - 1, ms(0));
            assert_eq!(breaker.state(ms(0)), State::Closed, "one of {window} succeeded");
            failures(&breaker, 1, ms(0));
            assert_eq!(breaker.state(ms(0)), State::Open, "the success has left a window of {window}");
        }
    }

    #[test]
    fn so_many_failures_of_the_last_calls_open_it_however_few_there_were() {
        let three_of_ten = Config::new().failure_threshold(3).window(10);
        let breaker = breaker(three_of_ten);
        failures(&breaker, 2, ms(0));
        successes(&breaker, 8, ms(0));
        failures(&breaker, 2, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Closed, "the first two have left the window");
        let opened = permit(&breaker, ms(0)).failure(ms(0), 0).transition.expect("it opens");
        assert_eq!((opened.cause, opened.failed, opened.calls), (Cause::FailureThreshold, 3, 10));
        assert!(breaker.explain(ms(0)).starts_with("open: 3 of the last 10 calls failed"));

        let breaker = self::breaker(three_of_ten);
        failures(&breaker, 3, ms(0));
        assert_eq!(breaker.state(ms(0)), State::Open, "three calls are enough");

        let both = self::breaker(three_of_ten.failure_rate(Ratio::percent(20)));
        successes(&both, 8, ms(0));
        failures(&both, 2, ms(0));
        assert_eq!(both.state(ms(0)), State::Open, "the rate counts too where it is given");
    }

    #[test]
    fn shares_are_compared_exactly() {
        for (failed, calls, ppm, opens) in [
            (1, 3, 333_333, true),
            (1, 3, 333_334, false),
            (2, 3, 666_666, true),
            (2, 3, 666_667, false),
            (10, 20, 500_000, true),
        ] {
            let breaker = breaker(Config::new().window(calls).minimum_calls(calls).failure_rate(Ratio::ppm(ppm)));
            failures(&breaker, failed, ms(0));
            successes(&breaker, calls as usize - failed, ms(0));
            assert_eq!(breaker.state(ms(0)) == State::Open, opens, "{failed} of {calls} at {ppm} ppm");
        }
    }

    #[test]
    fn slow_calls_open_it_where_slow_after_is_set() {
        let config = Config::new().window(4).minimum_calls(4).slow_after(millis(100)).slow_rate(Ratio::percent(50));
        let breaker = breaker(config);
        for (took, worked) in [(100, true), (101, true), (100, true)] {
            let permit = permit(&breaker, ms(0));
            assert!(worked && permit.success(ms(took), 0).transition.is_none());
        }
        let settled = permit(&breaker, ms(0)).success(ms(500), 0);
        assert_eq!(settled.transition.map(|t| (t.cause, t.slow, t.failed)), Some((Cause::SlowRate, 2, 0)));
    }

    #[test]
    fn in_consecutive_mode_a_slow_success_is_a_failure() {
        let breaker = breaker(Config::consecutive(2).slow_after(millis(100)));
        for opens in [false, true] {
            let settled = permit(&breaker, ms(0)).success(ms(101), 0);
            assert_eq!(settled.transition.is_some(), opens);
        }
    }

    #[test]
    fn a_window_full_of_successes_is_left_alone() {
        let breaker = breaker(Config::new().window(20));
        successes(&breaker, 20, ms(0));
        let before = words(&breaker);
        for call in 0..1000 {
            successes(&breaker, 1, ms(call));
        }
        assert_eq!(words(&breaker), before, "the healthy path writes nothing");
        assert!(breaker.admit_clean().is_some());
    }

    #[test]
    fn a_window_is_clean_when_it_is_full_of_successes_and_not_before() {
        for window in 2..=20 {
            let breaker = breaker(Config::new().window(window));
            for calls in 1..=window {
                assert!(breaker.admit_clean().is_none(), "{calls} of {window} calls are still to come");
                successes(&breaker, 1, ms(0));
                assert_eq!(u64::from(breaker.snapshot(ms(0)).unwrap().calls), calls);
            }
            assert!(breaker.admit_clean().is_some());
        }
    }

    #[test]
    fn the_dependency_may_say_when_it_will_be_back() {
        let breaker = breaker(Config::consecutive(1_000_000));
        let settled = call(&breaker, FailureUntil(secs(100)), secs(1));
        assert_eq!(settled.transition.map(|t| t.cause), Some(Cause::RetryAfter));
        let at = refusal(&breaker, secs(2)).at().unwrap();
        assert!(at >= secs(100) && at.since(secs(100)) < Duration::from_nanos(UNIT));
    }

    #[test]
    fn what_it_says_is_cut_at_max_retry_after() {
        let breaker = breaker(Config::new().max_retry_after(Duration::from_secs(60)));
        let settled = call(&breaker, FailureUntil(Instant::MAX), secs(1));
        let until = settled.transition.and_then(|t| t.until).unwrap();
        assert!(until >= secs(61) && until.since(secs(61)) < Duration::from_nanos(UNIT));
    }

    #[test]
    fn an_instant_that_has_passed_makes_it_an_ordinary_failure() {
        let breaker = breaker(Config::consecutive(2));
        for until in [ms(0), ms(10)] {
            assert_eq!(breaker.state(ms(10)), State::Closed);
            call(&breaker, FailureUntil(until), ms(10));
        }
        assert_eq!(breaker.snapshot(ms(10)).unwrap().cause, Some(Cause::FailureThreshold));
    }
}

mod open {
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
}

mod half_open {
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
}

mod stale_results {
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
}

mod modes {
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
}

mod by_hand {
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
}

mod live_configuration {
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
}

mod time {
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
}

mod observation {
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
        assert_eq!(
            trial.transition().map(|t| (t.from, t.to, t.cause)),
            Some((State::Open, State::HalfOpen, Cause::Due))
        );
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
}

mod clocked {
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
}

mod bad_input {
    use super::*;

    /// What nobody may configure, and what is said about it.
    #[test]
    fn is_refused_with_field_value_and_range() {
        let new = Config::new;
        let table = [
            (new().trials(0), "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15"),
            (new().trials(16), "circuit_breaker.trials: 16 is not allowed; allowed are 1 to 15"),
            (
                new().failure_threshold(0),
                "circuit_breaker.failure_threshold: 0 is not allowed; allowed are 1 to 1000000",
            ),
            (
                new().failure_rate(Ratio::ppm(0)),
                "circuit_breaker.failure_rate: 0 is not allowed; allowed are 0.000001 to 1",
            ),
            (
                new().failure_rate(Ratio::percent(101)),
                "circuit_breaker.failure_rate: 1.01 is not allowed; allowed are 0.000001 to 1",
            ),
            (new().window(1), "circuit_breaker.window: 1 is not allowed; allowed are 2 to 20"),
            (new().window(21), "circuit_breaker.window: 21 is not allowed; allowed are 2 to 20"),
            (
                new().window(8).minimum_calls(9),
                "circuit_breaker.minimum_calls: 9 is not allowed; allowed are 1 to 8 (at most window)",
            ),
            (
                new().trials(2).close_after(3),
                "circuit_breaker.close_after: 3 is not allowed; allowed are 1 to 2 (at most trials)",
            ),
            (
                new().reset_after(Duration::ZERO),
                "circuit_breaker.reset_after: 0 ns is not allowed; allowed are 1 ms to 7 d",
            ),
            (
                new().reset_after(Duration::MAX),
                "circuit_breaker.reset_after: 213504 d is not allowed; allowed are 1 ms to 7 d",
            ),
            (
                new().reset_after(Duration::from_secs(60)).reset_cap(Duration::from_secs(30)),
                "circuit_breaker.reset_cap: 30 s is not allowed; allowed are 60 s to 7 d (at least reset_after)",
            ),
            (
                new().reset_factor(seawall::Factor::thousandths(999)),
                "circuit_breaker.reset_factor: 0.999 is not allowed; allowed are 1 to 32",
            ),
            (new().reset_jitter(Ratio::ONE), "circuit_breaker.reset_jitter: 1 is not allowed; allowed are 0 to 0.9"),
            (
                new().window(10).slow_rate(Ratio::percent(50)),
                "circuit_breaker.slow_rate: 0.5 is not allowed; it must be left out (slow_after is off)",
            ),
            (
                new().window(10).failure_threshold(11),
                "circuit_breaker.failure_threshold: 11 is not allowed; allowed are 1 to 10 (at most window)",
            ),
        ];
        for (config, text) in table {
            assert_eq!(CircuitBreaker::new(&config).expect_err(text).to_string(), text);
            assert!(config.check().is_err());
        }
    }

    #[test]
    fn every_bound_of_every_field_is_possible_itself() {
        for (place, field) in Config::FIELDS.iter().enumerate() {
            for value in [field.min, field.max] {
                let mut config = Config::new().with(place, value);
                config = match field.name {
                    "slow_rate" => config.slow_after(millis(5)),
                    "close_after" => config.trials(15),
                    "reset_cap" => config.reset_after(millis(1)),
                    _ => config,
                };
                assert!(config.check().is_ok(), "{} = {value}: {:?}", field.name, config.check());
            }
        }
    }
}
