//! A call made by one thread that waits for everything itself: its specification.

mod common;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::policy::{bare, plain_backoff, retry, rules, three, timeouts};
use common::{failures, millis, ms, secs};
use seawall::policy::{Attempt, Blocking, End, Failed, PolicyConfig, Step, blocking};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Clock, Deadline, Failure, ManualClock, Random, State,
    Timeouts,
};

type Answer = Result<u32, Failed<&'static str>>;

fn fails(_: Attempt) -> Answer {
    Err(Failed::of(Failure::Connection, "down"))
}

#[test]
fn it_sleeps_between_attempts_and_hands_the_answer_on() {
    let (clock, slept) = (ManualClock::at(ms(0)), RefCell::new(Vec::new()));
    let sleep = |span| {
        slept.borrow_mut().push(span);
        clock.advance(span);
    };
    let answer = blocking::run(&three(), &clock, sleep, |attempt| match attempt.attempt {
        3 => Ok(attempt.attempt),
        _ => fails(attempt),
    });
    assert_eq!(answer, Ok(3));
    assert_eq!(*slept.borrow(), [millis(100), millis(200)]);
}

#[test]
fn the_last_error_comes_back_as_it_was_and_nothing_is_slept_after_it() {
    let clock = ManualClock::at(ms(0));
    let mut sleeps = 0;
    let sleep = |span| {
        sleeps += 1;
        clock.advance(span);
    };
    let mut number = 0;
    let ended = blocking::call(&three(), &clock, sleep, || {
        number += 1;
        Err::<(), _>(number)
    });
    let ended = ended.unwrap_err();
    assert_eq!((ended.error, ended.ending.end, sleeps), (Some(3), End::AttemptsUsedUp, 2));
    assert_eq!(ended.to_string(), "attempts_used_up: 3");
}

#[test]
fn a_refusal_says_who_and_makes_no_call() {
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(1)).expect("one is allowed");
    failures(&breaker, 1, ms(0));
    let clock = ManualClock::at(ms(1));
    let never = |_| unreachable!("nothing is slept");
    let ended = blocking::run(&three().breaker(&breaker), &clock, never, |_| -> Answer { unreachable!("no call") });
    let ended = ended.unwrap_err();
    assert_eq!((ended.ending.end, ended.error), (End::BreakerRefused, None));
    assert_eq!(ended.to_string(), "breaker_refused: circuit_breaker: open");
}

#[test]
fn an_attempt_is_told_how_long_it_has_and_is_checked_afterwards() {
    let clock = ManualClock::at(ms(0));
    let policy = bare(PolicyConfig::new(), timeouts(250, 1_000)).retry(retry(rules()), plain_backoff());
    let mut had = Vec::new();
    let ended = Blocking::new(&clock, |span| clock.advance(span)).deadline(Deadline::at(ms(800))).run(
        &policy,
        |attempt| -> Answer {
            had.push(attempt.remaining(clock.now()));
            clock.advance(millis(300));
            Ok(7)
        },
    );
    let ending = ended.unwrap_err().ending;
    // 300 ms, 100 ms pause, 300 ms: the second pause of 200 ms leads beyond the deadline.
    assert_eq!((ending.end, ending.failure), (End::WontFinish, Some(Failure::Timeout)));
    assert_eq!(had, [Some(millis(250)), Some(millis(250))]);
}

#[test]
fn jitter_comes_from_the_source_that_is_given() {
    let jittered = Backoff::new(&BackoffConfig::new()).expect("the defaults are possible");
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), jittered);
    let pauses = |random: &Random| {
        let (clock, mut slept) = (ManualClock::at(ms(0)), Vec::new());
        let caller = Blocking::new(&clock, |span| {
            slept.push(span);
            clock.advance(span);
        });
        caller.random(random).run(&policy, fails).unwrap_err();
        slept
    };
    assert_eq!(pauses(&Random::unseeded()), [millis(100), millis(200)], "none: the longest");
    let drawn = pauses(&Random::seeded(1));
    assert!(drawn[0] < millis(100) && drawn[1] < millis(200));
    assert_eq!(drawn, pauses(&Random::seeded(1)));
    assert_ne!(drawn, pauses(&Random::seeded(2)));
}

#[test]
fn whoever_watches_sees_every_step() {
    let clock = ManualClock::at(ms(0));
    let mut names = Vec::new();
    let watch = |step: &Step| {
        names.push(match step {
            Step::Run(attempt) => format!("attempt {}", attempt.attempt),
            Step::Wait { pause, .. } => pause.name().into(),
            Step::Changed(change) => format!("breaker {}", change.to),
            Step::Done(ending) => ending.end.name().into(),
            _ => unreachable!("nothing is cut off here"),
        });
    };
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(2)).expect("two are allowed");
    let caller = Blocking::new(&clock, |span| clock.advance(span)).watch(watch);
    caller.run(&three().breaker(&breaker), fails).unwrap_err();
    assert_eq!(names, ["attempt 1", "backoff", "attempt 2", "breaker open", "breaker_refused"]);
}

#[test]
fn an_attempt_that_panics_leaves_nothing_held() {
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(1)).expect("one is allowed");
    failures(&breaker, 1, ms(0));
    let (clock, policy) = (ManualClock::at(secs(31)), three().breaker(&breaker));
    let call = || blocking::run(&policy, &clock, |_| (), |_| -> Answer { panic!("a bug of the caller's") });
    catch_unwind(AssertUnwindSafe(call)).expect_err("the panic goes on");
    assert_eq!(breaker.state(secs(31)), State::HalfOpen);
    assert_eq!(blocking::run(&policy, &clock, |_| (), |_| -> Answer { Ok(1) }), Ok(1), "the trial has come back");
}
