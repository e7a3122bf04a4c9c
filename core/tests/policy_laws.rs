//! What a reading of the policy against the laws found, kept as tests.

mod common;

use common::policy::{
    attempt, bare, down, goes_out, plain_backoff, retry, rules, started, started_until, steps, timeouts, waits,
};
use common::{millis, ms};
use seawall::policy::{Attempt, Blocking, End, Failed, Finish, PolicyConfig, Step, Told};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Deadline, Failure, Instant, Jitter, ManualClock,
    OnRetryAfter, State, Timeouts,
};

#[test]
fn a_socket_that_gives_up_when_the_deadline_does_is_no_evidence() {
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(1)).expect("possible");
    let policy = bare(PolicyConfig::new(), timeouts(1_000, 0)).breaker(&breaker);
    let mut call = started_until(Deadline::at(ms(50)));
    // The socket was given the 50 ms that the deadline left of the attempt's second.
    assert_eq!(goes_out(&mut call, &policy, ms(0)).until, ms(50));
    call.finished(1, Finish::failed(Failure::Timeout));
    let said = steps(&mut call, &policy, ms(51));
    assert_eq!(breaker.state(ms(51)), State::Closed, "{said:?}");
}

#[test]
fn an_open_breaker_is_final_when_what_was_told_is_shorter() {
    let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(1)).expect("possible");
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), plain_backoff()).breaker(&breaker);
    let mut call = started();
    goes_out(&mut call, &policy, ms(0));
    breaker.trip(ms(0), None, 0);
    call.finished(1, Finish::status(503).told(Told::Wait(millis(0))));
    let said = steps(&mut call, &policy, ms(1));
    assert!(matches!(said.last(), Some(Step::Done(ending)) if ending.end == End::BreakerRefused), "{said:?}");
}

#[test]
fn pauses_that_begin_anew_forget_the_draw_as_well() {
    let config = BackoffConfig::new().jitter(Jitter::Decorrelated).cap(millis(60_000));
    let backoff = Backoff::new(&config).expect("possible");
    let policy = bare(PolicyConfig::new(), Timeouts::NONE)
        .retry(retry(rules().attempts(9).on_retry_after(OnRetryAfter::Grpc)), backoff);
    let mut call = started();
    attempt(&mut call, &policy, down(), ms(0));
    let first = waits(&mut call, &policy, ms(0));
    attempt(&mut call, &policy, down(), first);
    let second = waits(&mut call, &policy, first);
    attempt(&mut call, &policy, down().told(Told::Wait(millis(10))), second);
    let third = waits(&mut call, &policy, second);
    attempt(&mut call, &policy, down(), third);
    let fourth = waits(&mut call, &policy, third);
    assert_eq!(fourth.since(third), first.since(ms(0)));
}

#[test]
fn an_answer_is_that_of_the_attempt_that_succeeded() {
    let clock = ManualClock::at(ms(0));
    let policy = bare(PolicyConfig::new(), timeouts(10, 0)).retry(retry(rules()), plain_backoff());
    let caller = Blocking::new(&clock, |span| clock.advance(span));
    let answer: Result<u32, _> = caller.run(&policy, |this: Attempt| match this.attempt {
        1 => {
            clock.advance(millis(20));
            Ok(1)
        }
        _ => Err(Failed { finish: Finish::success(), error: "judged an answer" }),
    });
    assert_ne!(answer, Ok(1), "the first came too late, the second brought none");
}

#[test]
fn a_pause_ends_even_at_the_end_of_time() {
    let policy = bare(PolicyConfig::new(), Timeouts::NONE).retry(retry(rules()), plain_backoff());
    let mut call = started();
    let now = Instant::from_nanos(u64::MAX - 1);
    attempt(&mut call, &policy, down(), now);
    let said = steps(&mut call, &policy, now);
    assert!(said.iter().any(|step| matches!(step, Step::Run(this) if this.attempt == 2)), "{said:?}");
}
