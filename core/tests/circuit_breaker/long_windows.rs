//! Windows of 21 to 1024 calls: the same breaker, judged by more calls.

use super::*;
use seawall::{Outcome, WindowWord, window_words};
use std::collections::VecDeque;

/// A breaker for windows of up to 121 calls.
fn wide(config: Config) -> CircuitBreaker<[WindowWord; 16]> {
    CircuitBreaker::with_words(&config).unwrap_or_else(|error| panic!("{error}"))
}

fn hundred() -> Config {
    Config::new().failure_rate(Ratio::percent(50)).window(100).minimum_calls(100)
}

fn settle(breaker: &CircuitBreaker<[WindowWord]>, outcome: Outcome) -> seawall::Settled {
    breaker.admit(ms(0)).expect("closed").settle(outcome, ms(0), 0)
}

fn settle_all(breaker: &CircuitBreaker<[WindowWord]>, calls: usize, outcome: Outcome) {
    for _ in 0..calls {
        settle(breaker, outcome);
    }
}

fn counts(breaker: &CircuitBreaker<[WindowWord]>) -> (u32, u32) {
    let snapshot = breaker.snapshot(ms(0)).expect("configured");
    (snapshot.calls, snapshot.failed)
}

#[test]
fn the_last_calls_are_judged_exactly() {
    let breaker = wide(hundred());
    let mut plain = VecDeque::new();
    // 49 failures in any 100 are never half; every place of the window comes to be a failure.
    for i in 0..10_000u64 {
        let failed = i % 100 < 49 && i % 7 != 0 || i % 100 == 99;
        plain.push_back(failed);
        if plain.len() > 100 {
            plain.pop_front();
        }
        settle(&breaker, if failed { Failure } else { Success });
        let want = plain.iter().filter(|failed| **failed).count();
        assert_eq!(counts(&breaker), (plain.len() as u32, want as u32), "after {i}");
    }
    assert_eq!(breaker.state(ms(0)), State::Closed);
}

#[test]
fn it_opens_with_the_call_that_reaches_the_rate_and_says_which_calls_they_were() {
    let breaker = wide(hundred());
    (0..50).for_each(|_| assert!(settle(&breaker, Success).transition.is_none()));
    (0..49).for_each(|_| assert!(settle(&breaker, Failure).transition.is_none()));
    let opened = settle(&breaker, Failure).transition.expect("half of a hundred");
    assert_eq!((opened.cause, opened.calls, opened.failed), (Cause::FailureRate, 100, 50));
    assert!(breaker.explain(ms(0)).starts_with("open: 50 of the last 100 calls failed"));
}

#[test]
fn a_window_full_of_successes_is_left_alone() {
    let breaker = wide(hundred());
    (0..99).for_each(|_| {
        settle(&breaker, Success);
        assert!(breaker.admit_clean().is_none());
    });
    settle(&breaker, Success);
    let before = words(&breaker);
    let token = breaker.admit_clean().expect("the hundredth success");
    assert!(breaker.is_clean_for(token));
    settle(&breaker, Success);
    assert_eq!(words(&breaker), before, "one load, no write");
    settle(&breaker, Failure);
    assert!(breaker.admit_clean().is_none());
    assert_eq!(counts(&breaker), (100, 1));
}

#[test]
fn a_call_granted_before_the_window_was_clean_does_not_move_it_either() {
    let breaker = wide(hundred());
    let early = breaker.admit(ms(0)).expect("closed");
    settle_all(&breaker, 100, Success);
    let before = words(&breaker);
    assert_eq!(early.success(ms(0), 0).settlement, Settlement::Counted);
    assert_eq!(words(&breaker), before);
}

#[test]
fn a_new_window_knows_nothing_of_the_one_before() {
    let breaker = wide(hundred().trials(1));
    for _ in 0..3 {
        settle_all(&breaker, 100, Failure);
        assert_eq!(breaker.state(ms(0)), State::Open);
        assert!(breaker.half_open(ms(0)).is_some());
        settle(&breaker, Success);
        assert_eq!((breaker.state(ms(0)), counts(&breaker)), (State::Closed, (0, 0)));
        settle_all(&breaker, 99, Success);
        settle(&breaker, Failure);
        assert_eq!(counts(&breaker), (100, 1));
        assert!(breaker.reset(ms(0)).is_some());
    }
}

#[test]
fn slow_calls_are_counted_in_a_long_window_too() {
    let breaker = wide(Config::new().window(60).minimum_calls(60).slow_after(millis(5)).slow_rate(Ratio::percent(25)));
    let breaker: &CircuitBreaker<[WindowWord]> = &breaker;
    for call in 0..59 {
        let end = if call < 14 { ms(6) } else { ms(5) };
        assert!(breaker.admit(ms(0)).expect("closed").success(end, 0).transition.is_none());
    }
    let opened = breaker.admit(ms(0)).expect("closed").success(ms(6), 0).transition.expect("a quarter was slow");
    assert_eq!((opened.cause, opened.calls, opened.slow), (Cause::SlowRate, 60, 15));
}

#[test]
fn every_length_up_to_1024_has_its_number_of_words() {
    fn fits<const N: usize>(calls: u64) {
        assert_eq!(window_words(calls), N);
        let config = Config::new().window(calls);
        let breaker = CircuitBreaker::<[WindowWord; N]>::with_words(&config).expect("as many words as it takes");
        assert!(breaker.longest_window() >= calls && breaker.is_configured());
        let longer = Config::new().window(breaker.longest_window() + 1);
        if breaker.longest_window() < 1_024 {
            assert!(CircuitBreaker::<[WindowWord; N]>::with_words(&longer).is_err());
            assert!(breaker.configure(&longer).is_err());
        }
    }
    fits::<0>(20);
    fits::<4>(21);
    fits::<4>(25);
    fits::<8>(26);
    fits::<16>(100);
    fits::<128>(1_000);
    fits::<256>(1_024);
}

#[test]
fn what_has_no_room_is_refused_with_what_would_have() {
    let error = CircuitBreaker::<[WindowWord; 16]>::with_words(&Config::new().window(122)).unwrap_err();
    let text = "circuit_breaker.window: 122 is not allowed; allowed are 2 to 121 (a longer one needs more storage)";
    assert_eq!(error.to_string(), text);
    let error = CircuitBreaker::<[WindowWord; 256]>::with_words(&Config::new().window(1_025)).unwrap_err();
    assert_eq!(error.to_string(), "circuit_breaker.window: 1025 is not allowed; allowed are 2 to 1024");
}

#[test]
fn the_other_modes_and_states_are_the_same_with_words_as_without() {
    let breaker = wide(Config::consecutive(2));
    settle(&breaker, Failure);
    settle(&breaker, Failure);
    assert_eq!(breaker.admit(ms(0)).unwrap_err().rejection.reason, Reason::Open);
    let short = wide(Config::new().window(20));
    settle_all(&short, 20, Success);
    assert!(short.admit_clean().is_some());
}

mod live_configuration {
    use super::*;

    fn failing_first(calls: usize, failed: usize) -> CircuitBreaker<[WindowWord; 16]> {
        let breaker = wide(Config::new().window(100).minimum_calls(100).failure_rate(Ratio::ONE));
        settle_all(&breaker, failed, Failure);
        settle_all(&breaker, calls - failed, Success);
        breaker
    }

    #[test]
    fn a_shorter_window_keeps_its_newest_calls() {
        let breaker = failing_first(100, 60);
        breaker.configure(&Config::new().window(50).failure_rate(Ratio::ONE)).expect("possible");
        assert_eq!(counts(&breaker), (50, 10));
        breaker.configure(&Config::new().window(15).failure_rate(Ratio::ONE)).expect("possible");
        assert_eq!(counts(&breaker), (15, 0));
    }

    #[test]
    fn a_longer_window_keeps_all_calls_while_none_has_left() {
        let breaker = failing_first(97, 30);
        breaker.configure(&Config::new().window(121).failure_rate(Ratio::ONE)).expect("possible");
        assert_eq!(counts(&breaker), (97, 30));
    }

    #[test]
    fn what_has_left_a_window_does_not_come_back_with_a_longer_one() {
        let breaker = failing_first(102, 8);
        assert_eq!(counts(&breaker), (100, 6));
        breaker.configure(&Config::new().window(121).failure_rate(Ratio::ONE)).expect("possible");
        let (calls, failed) = counts(&breaker);
        // Whole blocks of eight, and the newest: the block that has begun to leave is left out.
        assert_eq!((calls, failed), (94, 0));
    }

    #[test]
    fn from_one_word_to_more_eight_calls_are_kept_and_back_all_that_fit() {
        let breaker = wide(Config::new().window(20).minimum_calls(20));
        settle_all(&breaker, 10, Failure);
        settle_all(&breaker, 5, Success);
        let long = Config::new().window(100).failure_rate(Ratio::ONE);
        breaker.configure(&long).expect("possible");
        assert_eq!(counts(&breaker), (8, 3));
        settle_all(&breaker, 30, Failure);
        breaker.configure(&Config::new().window(20).failure_rate(Ratio::ONE).minimum_calls(20)).expect("possible");
        assert_eq!(counts(&breaker), (20, 20));
    }

    #[test]
    fn consecutive_mode_and_a_long_window_translate_into_each_other() {
        let breaker = wide(Config::consecutive(1_000));
        settle_all(&breaker, 30, Failure);
        breaker.configure(&Config::new().window(100).minimum_calls(100)).expect("possible");
        assert_eq!(counts(&breaker), (8, 8));
        settle_all(&breaker, 30, Failure);
        breaker.configure(&Config::consecutive(1_000)).expect("possible");
        assert_eq!(counts(&breaker), (38, 38));
    }

    #[test]
    fn a_change_of_kind_makes_what_is_in_flight_stale_and_a_change_of_length_does_not() {
        let breaker = wide(Config::new().window(100));
        let permit = breaker.admit(ms(0)).expect("closed");
        breaker.configure(&Config::new().window(50)).expect("possible");
        assert_eq!(permit.failure(ms(0), 0).settlement, Settlement::Counted);
        let permit = breaker.admit(ms(0)).expect("closed");
        breaker.configure(&Config::new().window(20)).expect("possible");
        assert_eq!(permit.failure(ms(0), 0).settlement, Settlement::Stale);
    }

    #[test]
    fn a_longer_window_is_clean_only_when_it_is_full() {
        let breaker = wide(Config::new().window(50));
        settle_all(&breaker, 50, Success);
        assert!(breaker.admit_clean().is_some());
        breaker.configure(&Config::new().window(100)).expect("possible");
        assert!(breaker.admit_clean().is_none());
        breaker.configure(&Config::new().window(25)).expect("possible");
        assert!(breaker.admit_clean().is_some(), "25 successes are among what was kept");
    }
}
