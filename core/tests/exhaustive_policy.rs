//! Every short sequence of inputs to two calls that share their parts, engine and plain model side by side.

use std::time::Duration;

use seawall::policy::{PolicyConfig, Told};
use seawall::{
    BackoffConfig, CircuitBreakerConfig, Deadline, Failure, Idempotent, Instant, Jitter, RetryBudgetConfig,
    RetryConfig, TimeoutsConfig, TokenBucketConfig,
};
use seawall_oracle::policy::{Config, Ended, Engine, Model, Op, Parts, Said, Say};

const MS: u64 = 1_000_000;

/// What may happen next; each but the passing of time is followed by a poll.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start,
    Fails,
    ToldWait,
    Success,
    Cancel,
    Poll,
    Tick,
}

const EVENTS: [Event; 7] =
    [Event::Start, Event::Fails, Event::ToldWait, Event::Success, Event::Cancel, Event::Poll, Event::Tick];

fn connection(told: Told) -> Ended {
    let verdict = Failure::Connection.verdict();
    Ended { failure: Some(Failure::Connection), retryable: verdict.retryable, breaker: verdict.breaker, told }
}

/// Plays a sequence from the start; how often the two were asked.
fn play(config: &Config, way: &[(usize, Event)]) -> usize {
    let parts = Parts::new(config, Instant::ZERO).expect("it is possible");
    let policy = parts.policy(config).expect("it is possible");
    let mut engine = Engine::new(&parts, policy, 2);
    let mut model = Model::new(config, 0, 2).expect("it is possible");
    let (mut now, mut asked, mut attempts) = (0, 0, [1, 1]);
    for &(call, event) in way {
        let attempt = attempts[call];
        let input = match event {
            Event::Start => Some(Op::Start { call, deadline: Deadline::at(Instant::from_nanos(now + 350 * MS)) }),
            Event::Fails => Some(Op::Finish { call, attempt, result: connection(Told::Nothing) }),
            Event::ToldWait => {
                Some(Op::Finish { call, attempt, result: connection(Told::Wait(Duration::from_millis(100))) })
            }
            Event::Success => Some(Op::Finish { call, attempt, result: Ended::SUCCESS }),
            Event::Cancel => Some(Op::Cancel { call }),
            Event::Poll => None,
            Event::Tick => {
                now += 100 * MS;
                None
            }
        };
        for op in input.into_iter().chain([Op::Poll { call }]) {
            let (got, want) = (engine.apply(&op, now, 0), model.apply(&op, now, 0));
            assert_eq!(got, want, "{op:?} at {} ms\n{way:?}\n{config:?}", now / MS);
            if let Said::Steps(steps) = got {
                let runs = steps
                    .iter()
                    .filter_map(|say| if let Say::Run { attempt, .. } = say { Some(*attempt) } else { None });
                attempts[call] = runs.max().unwrap_or(attempts[call]);
            }
            asked += 1;
        }
    }
    asked
}

fn all(config: &Config, length: usize) {
    let choices: Vec<(usize, Event)> = EVENTS.iter().flat_map(|&event| [(0, event), (1, event)]).collect();
    let mut asked = 0;
    let ways = choices.len().pow(length as u32);
    for number in 0..ways {
        let mut rest = number;
        // Both are started; what follows is the number's digits.
        let mut way = vec![(0, Event::Start), (1, Event::Start)];
        for _ in 0..length {
            way.push(choices[rest % choices.len()]);
            rest /= choices.len();
        }
        asked += play(config, &way);
    }
    println!("{ways} sequences, {asked} answers");
    assert!(asked >= ways * (length + 2));
}

fn config() -> Config {
    let zero = Duration::ZERO;
    Config {
        policy: PolicyConfig::new(),
        timeouts: TimeoutsConfig::new().connect(zero).attempt(Duration::from_millis(200)).total(zero),
        retry: Some((
            RetryConfig::new().idempotent(Idempotent::Yes),
            BackoffConfig::new().base(Duration::from_millis(100)).jitter(Jitter::None),
        )),
        budget: Some(RetryBudgetConfig::new().capacity(1)),
        breaker: None,
        rate_limit: None,
    }
}

#[test]
fn one_retry_between_two_calls() {
    all(&config(), 4);
}

#[test]
fn a_breaker_that_opens_at_the_second_failure_and_is_soon_due() {
    let breaker = CircuitBreakerConfig::consecutive(2).reset_after(Duration::from_millis(90));
    all(&Config { breaker: Some(breaker), ..config() }, 4);
}

#[test]
fn a_rate_limit_that_is_waited_for() {
    let limit = TokenBucketConfig::per_second(10, 1);
    let policy = PolicyConfig::new().max_wait(Duration::from_millis(150));
    let breaker = CircuitBreakerConfig::consecutive(1).reset_after(Duration::from_millis(90));
    all(&Config { policy, breaker: Some(breaker), rate_limit: Some(limit), ..config() }, 4);
}
