//! The laws of a call, on arbitrary inputs in arbitrary order between single polls.

mod common;

use common::policy::{bare, retry, rules, timeouts};
use common::{MS, S, cases, millis, ms, ns};
use proptest::prelude::*;
use seawall::policy::{Call, Finish, Policy, PolicyConfig, Receipt, Step, Told};
use seawall::{
    Backoff, BackoffConfig, CircuitBreaker, CircuitBreakerConfig, Deadline, Evidence, Failure, Ratio, RetryBudget,
    RetryBudgetConfig, TokenBucket, TokenBucketConfig, Verdict,
};

const CALLS: usize = 3;
/// Far more than any run here asks for.
const RETRIES: u64 = 50;
const TOKENS: u64 = 500;
/// How long an attempt is expected to take.
const EXPECTED: u64 = 5 * MS;

#[derive(Clone, Copy, Debug)]
enum Input {
    Poll { r: u64 },
    Finish { attempt: u32, kind: u8 },
    Wake { ticket: u64 },
    Cancel,
    Tick { by: u64 },
}

fn inputs() -> impl Strategy<Value = Vec<(usize, Input)>> {
    let input = prop_oneof![
        8 => any::<u64>().prop_map(|r| Input::Poll { r }),
        4 => (0..6u32, 0..5u8).prop_map(|(attempt, kind)| Input::Finish { attempt, kind }),
        1 => (0..5u64).prop_map(|ticket| Input::Wake { ticket }),
        1 => Just(Input::Cancel),
        3 => (0..400 * MS).prop_map(|by| Input::Tick { by }),
    ];
    proptest::collection::vec((0..CALLS, input), 1..120)
}

/// None of these says anything about the dependency, so a half-open breaker stays what it is.
fn result(kind: u8) -> Finish {
    let again = Verdict { retryable: true, after_wait: false, breaker: Evidence::Ignored };
    match kind {
        0 => Finish::judged(Failure::Other, Verdict::NOT_ITS_FAULT),
        1 => Finish::judged(Failure::Connection, again).told(Told::Wait(millis(30))),
        2 => Finish::judged(Failure::Connection, again).told(Told::Stop),
        _ => Finish::judged(Failure::Connection, again),
    }
}

/// What is known of a call from what it said.
#[derive(Default)]
struct Known {
    sent: u32,
    out: Vec<u32>,
    waiting: bool,
    over: bool,
}

fn run(inputs: &[(usize, Input)], policy: &Policy<'_>, parts: &(CircuitBreaker, RetryBudget, TokenBucket)) {
    let (breaker, budget, bucket) = parts;
    let mut now = S;
    let deadline = 3 * S;
    let mut calls: [Call; CALLS] = std::array::from_fn(|_| Call::new());
    let mut known: [Known; CALLS] = std::array::from_fn(|_| Known::default());
    for call in &mut calls {
        assert_eq!(call.start(Deadline::at(ns(deadline))), Receipt::Taken);
    }
    for &(place, input) in inputs {
        let (call, known) = (&mut calls[place], &mut known[place]);
        match input {
            Input::Tick { by } => now += by,
            Input::Finish { attempt, kind } => {
                let taken = call.finished(attempt, result(kind)) == Receipt::Taken;
                assert!(!taken || (known.out.contains(&attempt) && !known.over), "nobody sent it");
                if taken {
                    known.out.retain(|&out| out != attempt);
                    assert_eq!(call.finished(attempt, result(0)), Receipt::Stale, "a result is taken once");
                }
            }
            Input::Wake { ticket } => {
                let taken = call.woken(ticket) == Receipt::Taken;
                assert!(!taken || known.waiting);
            }
            Input::Cancel => assert!(call.cancelled() == Receipt::Stale || !known.over),
            Input::Poll { r } => {
                let step = call.poll(policy, ns(now), r);
                known.waiting = false;
                match step {
                    Step::Run(attempt) => {
                        known.sent += 1;
                        assert_eq!(attempt.attempt, known.sent, "attempts are numbered from 1");
                        assert!(known.sent <= 3, "no more than the rules allow");
                        assert!(known.out.is_empty() && !known.over);
                        assert!(deadline >= now + EXPECTED, "too little remains");
                        assert!(attempt.until > ns(now) && attempt.until <= ns(deadline));
                        known.out.push(attempt.attempt);
                    }
                    Step::Cancel { attempt, .. } => {
                        let before = known.out.len();
                        known.out.retain(|&out| out != attempt);
                        assert_eq!(known.out.len() + 1, before, "only what is out is cut off, and once");
                    }
                    Step::Wait { until, ticket, .. } => {
                        assert!(until > ns(now), "it waits for what has passed");
                        known.waiting = ticket != 0;
                    }
                    Step::Done(ending) => {
                        assert_eq!(ending.attempts, known.sent);
                        assert!(known.out.is_empty(), "nothing is left out there");
                        assert_eq!(call.poll(policy, ns(now), r), step, "an ending stands");
                        known.over = true;
                    }
                    _ => panic!("the breaker does not change: {step:?}"),
                }
            }
        }
    }
    // Everybody gives up; then nothing is held any more.
    for (call, known) in calls.iter_mut().zip(&mut known) {
        call.cancelled();
        let steps = std::iter::from_fn(|| match call.poll(policy, ns(now), 0) {
            Step::Done(_) => None,
            step => Some(step),
        });
        for step in steps.take(20) {
            assert!(matches!(step, Step::Cancel { attempt, .. } if known.out.contains(&attempt)), "{step:?}");
        }
    }
    let sent: u64 = known.iter().map(|known| u64::from(known.sent)).sum();
    let first: u64 = known.iter().map(|known| u64::from(known.sent.min(1))).sum();
    let half_open = breaker.snapshot(ns(now)).expect("it is configured");
    assert_eq!(half_open.trials_in_flight, 0, "every permit was settled once");
    assert_eq!(budget.balance_ppm(ns(now)) / 1_000_000, RETRIES - (sent - first), "every retry sent was paid for once");
    let left = bucket.peek(0, ns(now)).expect("a cost of nothing").remaining();
    assert_eq!(left, TOKENS - sent, "every attempt took one token");
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn permits_retries_and_tokens_add_up_whatever_happens(inputs in inputs(), attempt in 0..300u64) {
        let breaker = CircuitBreakerConfig::consecutive(1).trials(15).reset_after(millis(3_600_000));
        let breaker = CircuitBreaker::new(&breaker).expect("it is possible");
        breaker.half_open(ms(1_000));
        let budget = RetryBudgetConfig::new().capacity(RETRIES).ratio(Ratio::percent(0));
        let budget = RetryBudget::new(&budget, ms(1_000)).expect("it is possible");
        // One token an hour: none flows in while this lasts.
        let bucket = TokenBucketConfig::new().rate(1).period(millis(3_600_000)).capacity(TOKENS);
        let bucket = TokenBucket::new(&bucket, ms(1_000)).expect("it is possible");
        let parts = (breaker, budget, bucket);
        let backoff = Backoff::new(&BackoffConfig::new().base(millis(20))).expect("it is possible");
        // An attempt's own timeout would be a failure, which opens the breaker; 0 is none.
        let attempt = if attempt < 150 { 0 } else { 10_000 };
        let policy = bare(PolicyConfig::new().expected(millis(EXPECTED / MS)), timeouts(attempt, 0))
            .retry(retry(rules()), backoff)
            .breaker(&parts.0)
            .budget(&parts.1)
            .rate_limit(&parts.2);
        run(&inputs, &policy, &parts);
    }
}
