//! A thread that stops at any instruction blocks nobody, and everybody's answers stay explicable.
//!
//! `support/single_step.rs` says how this is examined: one operation is stopped after each of its
//! instructions, others run theirs to the end meanwhile, and then the stopped one goes on. What all were answered has to have a sequential explanation.
//!
//! It steps an optimised build: in a debug
//! build one operation is thousands of instructions that no user runs, so this file is empty there
//! (run it with `cargo test --release --test stop_anywhere`). Elsewhere than on x86-64 and aarch64
//! Linux there is no single stepping to use.
#![cfg(all(not(debug_assertions), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod support;

use std::fmt::Debug;
use std::time::Duration;

use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Ratio, RetryBudget, RetryBudgetConfig, State,
    TokenBucket, TokenBucketConfig, WindowWord,
};
use support::linearizability::{Model, Recorded, explain};
use support::sequential::Sequential;
use support::single_step::{overhead, stop_always, stop_once_everywhere};

/// The victim's operation ends behind everything that the others do.
const VICTIM_ENDS: u64 = 1_000;

/// The history of one stop: the victim's operation spans all that the others do, one after the other;
/// what is asked afterwards comes after both.
fn history<O: Copy, A>(victim: (O, A), others: Vec<(O, A)>, afterwards: Vec<(O, A)>) -> Vec<Recorded<O, A>> {
    let record =
        |thread, began, ended, (operation, answer)| Recorded { thread, began, ended, operation, answer: Some(answer) };
    let one_by_one = |thread, start, all: Vec<(O, A)>| {
        all.into_iter().zip((start..).step_by(2)).map(move |(one, at)| record(thread, at, at + 1, one))
    };
    std::iter::once(record(0, 0, VICTIM_ENDS, victim))
        .chain(one_by_one(1, 1, others))
        .chain(one_by_one(2, VICTIM_ENDS + 1, afterwards))
        .collect()
}

/// What happens around one stop.
struct Scene<'a, O, const N: usize> {
    name: &'a str,
    /// The least number of instructions of the victim's operation.
    floor: usize,
    victim: O,
    others: [O; N],
    /// Asked when all is over, so that an effect that got lost is noticed.
    afterwards: &'a [O],
}

/// Stops the victim once after each of its instructions.
fn examine<S: Sync, M: Model, const N: usize>(
    scene: &Scene<'_, M::Operation, N>,
    fresh: impl Fn() -> S,
    model: &M,
    of: impl Fn(&M::Operation, &S) -> M::Answer,
) where
    M::Operation: Copy + Debug,
    M::Answer: Copy + Debug,
{
    let Scene { name, floor, victim, others, afterwards } = scene;
    let stops = stop_once_everywhere(
        fresh,
        |state| of(victim, state),
        |state| others.map(|operation| (operation, of(&operation, state))),
        |stop| {
            let afterwards = afterwards.iter().map(|&operation| (operation, of(&operation, stop.state))).collect();
            let history = history((*victim, stop.victim), stop.others.to_vec(), afterwards);
            let explained = explain(model, &history).is_some();
            assert!(explained, "{name}, stopped after {}: {history:#?}", stop.stopped_after);
        },
    )
    .unwrap_or_else(|blocked| panic!("{name}: {blocked:?}"));
    let instructions = stops.saturating_sub(overhead());
    println!("stop anywhere: {name}: stopped after each of {instructions} instructions");
    assert!(instructions >= *floor, "{name}: only {instructions} instructions were stepped");
}

fn seconds(seconds: u64) -> Instant {
    Instant::from_nanos(seconds * 1_000_000_000)
}

mod a_circuit_breaker {
    use super::*;
    use support::breaker_history::{Answered, Asked};

    const CONFIG: CircuitBreakerConfig = CircuitBreakerConfig::consecutive(3).reset_after(Duration::from_secs(10));
    const OTHER: CircuitBreakerConfig =
        CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).window(4).minimum_calls(2);

    /// A breaker after `before`, and its model.
    fn examine_after<const N: usize>(name: &str, floor: usize, before: &[Asked], victim: Asked, others: [Asked; N]) {
        let prepare = |breaker: &CircuitBreaker| {
            for asked in before {
                let _ = asked.of(breaker);
            }
        };
        let fresh = || {
            let breaker = CircuitBreaker::new(&CONFIG).expect("a possible configuration");
            prepare(&breaker);
            breaker
        };
        let model = Sequential::<CircuitBreaker>::new(|breaker| {
            breaker.init(&CONFIG).expect("a possible configuration");
            prepare(breaker);
        });
        // Two more failures open it or do not, depending on what came before.
        let failure = settle(Outcome::Failure, 2);
        let afterwards = &[Asked::State { now: seconds(2) }, admit(2), failure, failure];
        examine(&Scene { name, floor, victim, others, afterwards }, fresh, &model, Asked::of);
    }

    /// 21 calls in four words; after 24 calls, of which eight failed, the newest block is full.
    type Wide = CircuitBreaker<[WindowWord; 4]>;
    const LONG: CircuitBreakerConfig = CircuitBreakerConfig::new().failure_rate(Ratio::percent(50)).window(21);

    fn long_window(breaker: &Wide) {
        breaker.init(&LONG.minimum_calls(21)).expect("a possible configuration");
        for call in 0..24 {
            let outcome = if call % 3 == 0 { Outcome::Failure } else { Outcome::Success };
            breaker.admit(seconds(0)).expect("closed").settle(outcome, seconds(0), 0);
        }
    }

    #[test]
    fn a_record_that_finishes_a_block() {
        let fresh = || {
            let breaker = Wide::with_words(&LONG).expect("a possible configuration");
            long_window(&breaker);
            breaker
        };
        let model = Sequential::<Wide>::new(long_window);
        let failure = settle(Outcome::Failure, 1);
        let others = [failure, settle(Outcome::Success, 1), failure];
        let afterwards = [failure; 16];
        for victim in [failure, settle(Outcome::Success, 1)] {
            let scene = Scene { name: "breaker, long window", floor: 100, victim, others, afterwards: &afterwards };
            examine(&scene, fresh, &model, Asked::of);
        }
    }

    /// Ten buckets. What a judgement sees of other threads is no single instant, so the answers are held to
    /// the bounds of the count, and nobody to waiting.
    #[test]
    fn a_record_that_enters_a_bucket() {
        type Timed = CircuitBreaker<[WindowWord; 16]>;
        let config = CircuitBreakerConfig::new().window_span(Duration::from_secs(10)).minimum_calls(1_000);
        let record = |breaker: &Timed, at: u64| {
            breaker.admit(seconds(at)).expect("closed").settle(Outcome::Failure, seconds(at), 0).settlement
        };
        let stops = stop_once_everywhere(
            || {
                let breaker = Timed::with_words(&config).expect("a possible configuration");
                record(&breaker, 0);
                breaker
            },
            |breaker| record(breaker, 1),
            |breaker| [record(breaker, 1), record(breaker, 2)],
            |stop| {
                let counted = seawall::Settlement::Counted;
                assert_eq!((stop.victim, stop.others), (counted, [counted; 2]));
                let calls = stop.state.snapshot(seconds(2)).map(|snapshot| (snapshot.calls, snapshot.failed));
                assert_eq!(calls, Some((4, 4)), "stopped after {}", stop.stopped_after);
            },
        )
        .unwrap_or_else(|blocked| panic!("{blocked:?}"));
        assert!(stops > 300, "only {stops} instructions were stepped");
    }

    fn admit(at: u64) -> Asked {
        Asked::Admit { now: seconds(at) }
    }

    /// Settles a call of the closed state of a fresh breaker.
    fn settle(outcome: Outcome, at: u64) -> Asked {
        let token = CircuitBreaker::new(&CONFIG).expect("possible").try_admit(seconds(0), 0).verdict.expect("closed");
        Asked::Settle { token, outcome, granted: seconds(0), now: seconds(at) }
    }

    /// Settles the first trial of a breaker that was tripped at 0.
    fn settle_trial(outcome: Outcome, at: u64) -> Asked {
        let breaker = CircuitBreaker::new(&CONFIG).expect("possible");
        breaker.trip(seconds(0), None, 0);
        let token = breaker.try_admit(seconds(20), 0).verdict.expect("due");
        Asked::Settle { token, outcome, granted: seconds(20), now: seconds(at) }
    }

    const DISABLED: Asked = Asked::SetMode { mode: Mode::Disabled };
    const TRIPPED: Asked = Asked::Trip { now: Instant::ZERO };

    #[test]
    fn a_healthy_call() {
        examine_after("breaker, admit", 5, &[], admit(1), [admit(1), settle(Outcome::Failure, 1)]);
        let others = [settle(Outcome::Success, 1), settle(Outcome::Failure, 1), admit(1)];
        examine_after("breaker, success", 5, &[], settle(Outcome::Success, 1), others);
    }

    #[test]
    fn the_failure_that_opens_it() {
        let failure = settle(Outcome::Failure, 1);
        examine_after("breaker, failure", 30, &[], failure, [failure, failure, admit(1)]);
    }

    #[test]
    fn a_refusal() {
        let others = [admit(5), Asked::Reset { now: seconds(5) }, admit(5)];
        examine_after("breaker, refusal", 30, &[TRIPPED], admit(5), others);
    }

    #[test]
    fn a_trial() {
        examine_after("breaker, trial", 30, &[TRIPPED], admit(20), [admit(20), admit(20)]);
        let begun = [TRIPPED, admit(20)];
        for outcome in [Outcome::Success, Outcome::Failure, Outcome::Ignored] {
            let others = [admit(21), settle_trial(Outcome::Success, 21), admit(22)];
            examine_after("breaker, trial settled", 30, &begun, settle_trial(outcome, 21), others);
        }
    }

    #[test]
    fn a_change_by_hand() {
        let others = [TRIPPED, admit(20), Asked::HalfOpen { now: seconds(20) }];
        for victim in [TRIPPED, Asked::HalfOpen { now: seconds(1) }, Asked::Reset { now: seconds(1) }] {
            examine_after("breaker, by hand", 30, &[], victim, others);
        }
    }

    #[test]
    fn a_change_of_configuration() {
        let failure = settle(Outcome::Failure, 1);
        let change = Asked::Configure { config: OTHER };
        let back = Asked::Configure { config: CONFIG.failure_threshold(1) };
        examine_after("breaker, configured", 100, &[failure], change, [failure, admit(1), failure]);
        examine_after("breaker, mode", 100, &[failure], DISABLED, [failure, change, admit(1)]);
        examine_after("breaker, configured twice", 100, &[failure], change, [failure, back, failure, admit(1)]);
    }

    #[test]
    fn an_admission_while_others_change_the_configuration() {
        let changes = [OTHER, CONFIG.failure_threshold(1)].map(|config| Asked::Configure { config });
        let failure = settle(Outcome::Failure, 1);
        examine_after("breaker, failure under change", 30, &[], failure, changes);
        examine_after("breaker, trial under change", 30, &[TRIPPED], admit(20), changes);
    }

    /// The others trip and reset it at every instruction of one failure, so that it loses every race.
    #[test]
    fn stopped_at_every_instruction() {
        let breaker = CircuitBreaker::new(&CONFIG).expect("possible");
        let asked = settle(Outcome::Failure, 1);
        let (answer, stops) = stop_always(
            300,
            breaker,
            |breaker| asked.of(breaker),
            |breaker, round| {
                let asked = if round % 2 == 0 { TRIPPED } else { Asked::Reset { now: seconds(1) } };
                asked.of(breaker)
            },
            |breaker, round, answered| {
                assert!(answered.transition().is_some(), "every change is seen, in round {round} too");
                let state = if round % 2 == 0 { State::Open } else { State::Closed };
                assert_eq!(breaker.state(seconds(1)), state);
            },
        )
        .expect("lock-free");
        let stale = Answered::Settled { settlement: seawall::Settlement::Stale, transition: None };
        assert_eq!(answer, stale, "its call was granted before the first change");
        assert!(stops > overhead());
    }
}

mod a_token_bucket {
    use super::*;
    use support::bucket_history::Asked;

    const CONFIG: TokenBucketConfig = TokenBucketConfig::per_second(1, 3);

    fn examine_it<const N: usize>(name: &str, floor: usize, victim: Asked, others: [Asked; N]) {
        let fresh = || TokenBucket::new(&CONFIG, seconds(100)).expect("a possible configuration");
        let model = Sequential::<TokenBucket>::new(|bucket| {
            bucket.init(&CONFIG, seconds(100)).expect("a possible configuration");
        });
        let afterwards = &[Asked::Peek { cost: 0, now: seconds(101) }, take(1)];
        examine(&Scene { name, floor, victim, others, afterwards }, fresh, &model, Asked::of);
    }

    fn take(cost: u64) -> Asked {
        Asked::Take { cost, now: seconds(100) }
    }

    fn reserve(cost: u64) -> Asked {
        Asked::Reserve { cost, max_wait: Duration::from_secs(5), now: seconds(100) }
    }

    fn configure(rate: u64, at: u64) -> Asked {
        Asked::Configure { config: CONFIG.rate(rate), now: seconds(at) }
    }

    #[test]
    fn a_taker() {
        examine_it("bucket, take", 20, take(1), [take(1), take(1), take(1)]);
        examine_it("bucket, refusal", 20, take(3), [take(1), take(2), take(1)]);
        examine_it("bucket, peek", 10, Asked::Peek { cost: 1, now: seconds(100) }, [take(2), take(1)]);
    }

    #[test]
    fn a_reservation_and_its_return() {
        examine_it("bucket, reserve", 20, reserve(2), [take(2), reserve(2), take(1)]);
        let bucket = TokenBucket::new(&CONFIG, seconds(100)).expect("possible");
        let reservation = bucket.reserve(2, Duration::ZERO, seconds(100)).expect("full");
        let cancel = Asked::Cancel { reservation: reservation.to_words(), now: seconds(101) };
        examine_it("bucket, cancel", 20, cancel, [reserve(2), take(1), reserve(1)]);
    }

    #[test]
    fn drained_and_filled() {
        examine_it("bucket, drain", 20, Asked::Drain { now: seconds(100) }, [take(1), take(1)]);
        examine_it("bucket, reset", 10, Asked::Reset { now: seconds(100) }, [take(3), take(1)]);
    }

    #[test]
    fn a_change_of_rate() {
        examine_it("bucket, configured", 80, configure(2, 101), [take(1), take(3), take(1)]);
        examine_it("bucket, configured twice", 80, configure(2, 101), [take(2), configure(5, 100), take(2)]);
        examine_it("bucket, take under change", 20, take(2), [configure(2, 100), take(1), configure(5, 100)]);
    }

    /// The others take and give back at every instruction of one acquisition.
    #[test]
    fn stopped_at_every_instruction() {
        let bucket = TokenBucket::new(&CONFIG, seconds(100)).expect("possible");
        let mut victims_take = 0;
        let (answer, stops) = stop_always(
            300,
            bucket,
            |bucket| take(1).of(bucket),
            |bucket, round| {
                let asked = if round % 2 == 0 { take(1) } else { Asked::Reset { now: seconds(100) } };
                asked.of(bucket)
            },
            |bucket, round, _| {
                let left = bucket.peek(0, seconds(100)).expect("a peek").remaining();
                if round % 2 == 1 {
                    assert_eq!(left, 3, "round {round}: just filled");
                } else if left != 2 {
                    victims_take += 1;
                    assert_eq!((left, victims_take), (1, 1), "round {round}: the victim takes one, once");
                }
            },
        )
        .expect("lock-free");
        assert!(answer.is_yes());
        assert!(stops > overhead());
    }
}

mod a_retry_budget {
    use super::*;
    use support::budget_history::{Answered, Asked};

    /// Two deposits pay for a retry, and so does a second.
    const CONFIG: RetryBudgetConfig = RetryBudgetConfig::new().ratio(Ratio::percent(50)).capacity(3).min_per_second(1);

    const DEPOSIT: Asked = Asked::Deposit { now: Instant::from_nanos(100_000_000_000) };
    const WITHDRAW: Asked = Asked::Withdraw { now: Instant::from_nanos(100_000_000_000) };
    const REFUND: Asked = Asked::Refund { now: Instant::from_nanos(100_000_000_000) };

    /// A full budget after `before`, and its model.
    fn examine_it<const N: usize>(name: &str, floor: usize, before: &[Asked], victim: Asked, others: [Asked; N]) {
        let prepare = |budget: &RetryBudget| {
            for asked in before {
                let _ = asked.of(budget);
            }
        };
        let fresh = || {
            let budget = RetryBudget::new(&CONFIG, seconds(100)).expect("a possible configuration");
            prepare(&budget);
            budget
        };
        let model = Sequential::<RetryBudget>::new(|budget| {
            budget.init(&CONFIG, seconds(100)).expect("a possible configuration");
            prepare(budget);
        });
        let afterwards = &[Asked::Balance { now: seconds(101) }, WITHDRAW, DEPOSIT];
        examine(&Scene { name, floor, victim, others, afterwards }, fresh, &model, Asked::of);
    }

    fn configure(capacity: u64, at: u64) -> Asked {
        Asked::Configure { config: CONFIG.capacity(capacity), now: seconds(at) }
    }

    #[test]
    fn a_deposit() {
        examine_it("budget, deposit when full", 3, &[], DEPOSIT, [WITHDRAW, DEPOSIT, WITHDRAW]);
        examine_it("budget, deposit", 20, &[WITHDRAW], DEPOSIT, [DEPOSIT, WITHDRAW, DEPOSIT]);
    }

    #[test]
    fn a_withdrawal_and_its_return() {
        examine_it("budget, withdraw", 20, &[], WITHDRAW, [WITHDRAW, DEPOSIT, WITHDRAW]);
        examine_it("budget, refusal", 15, &[WITHDRAW; 3], WITHDRAW, [DEPOSIT, DEPOSIT, WITHDRAW]);
        examine_it("budget, refund", 20, &[WITHDRAW; 3], REFUND, [DEPOSIT, REFUND, WITHDRAW]);
        let later = Asked::Withdraw { now: seconds(101) };
        examine_it("budget, what flowed in", 20, &[WITHDRAW; 3], later, [later, DEPOSIT, WITHDRAW]);
    }

    #[test]
    fn a_change_of_capacity() {
        examine_it("budget, configured", 60, &[WITHDRAW], configure(2, 101), [WITHDRAW, DEPOSIT, WITHDRAW]);
        examine_it("budget, configured twice", 60, &[WITHDRAW], configure(2, 101), [configure(5, 100), REFUND]);
        examine_it("budget, refund under change", 20, &[WITHDRAW], REFUND, [configure(2, 100), configure(5, 100)]);
    }

    /// The others pay and are paid back at every instruction of one withdrawal.
    #[test]
    fn stopped_at_every_instruction() {
        let budget = RetryBudget::new(&CONFIG, seconds(100)).expect("possible");
        let mut taken_by_the_victim = 0;
        let (answer, stops) = stop_always(
            300,
            budget,
            |budget| WITHDRAW.of(budget),
            |budget, round| {
                if round % 2 == 0 { WITHDRAW.of(budget) } else { Asked::Reset { now: seconds(100) }.of(budget) }
            },
            |budget, round, _| {
                let left = budget.balance_ppm(seconds(100));
                if round % 2 == 1 {
                    assert_eq!(left, 3_000_000, "round {round}: just filled");
                } else if left != 2_000_000 {
                    taken_by_the_victim += 1;
                    assert_eq!((left, taken_by_the_victim), (1_000_000, 1), "round {round}: one retry, once");
                }
            },
        )
        .expect("lock-free");
        assert_eq!(answer, Answered::Verdict(Ok(())));
        assert!(stops > overhead());
    }
}

/// The examination itself, on toys whose verdict is known.
mod the_examination {
    use super::support::single_step::{Blocked, overhead, stop_always, stop_once_everywhere};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    fn count(counter: &AtomicU64) -> u64 {
        let mut seen = counter.load(SeqCst);
        while let Err(now) = counter.compare_exchange(seen, seen + 1, SeqCst, SeqCst) {
            seen = now;
        }
        seen
    }

    struct SpinLocked {
        lock: AtomicU64,
        count: AtomicU64,
    }

    impl SpinLocked {
        fn new() -> Self {
            Self { lock: AtomicU64::new(0), count: AtomicU64::new(0) }
        }

        fn count(&self) -> u64 {
            while self.lock.swap(1, SeqCst) == 1 {}
            let seen = self.count.load(SeqCst);
            self.count.store(seen + 1, SeqCst);
            self.lock.store(0, SeqCst);
            seen
        }
    }

    #[test]
    fn a_lock_free_counter_passes_wherever_it_is_stopped() {
        let mut answers = [0; 3];
        let stops = stop_once_everywhere(
            || AtomicU64::new(0),
            count,
            |counter| [count(counter), count(counter)],
            |stop| {
                assert_eq!(stop.state.load(SeqCst), 3, "stopped after {}", stop.stopped_after);
                let mut all = [stop.victim, stop.others[0], stop.others[1]];
                all.sort_unstable();
                assert_eq!(all, [0, 1, 2]);
                answers[stop.victim as usize] += 1;
            },
        )
        .expect("lock-free");
        assert!(stops > overhead());
        assert!(answers[0] > 0 && answers[2] > 0, "stopped before and after its point: {answers:?}");
        assert_eq!(answers[1], 0, "the others ran without a pause");
    }

    #[test]
    fn a_spin_lock_is_found_out() {
        let walk = stop_once_everywhere(SpinLocked::new, SpinLocked::count, SpinLocked::count, |_| ());
        assert!(matches!(walk, Err(Blocked { stopped_after: 1.. })), "{walk:?}");
        let walk = stop_always(1_000, SpinLocked::new(), SpinLocked::count, |s, _| s.count(), |_, _, _| ());
        assert!(matches!(walk, Err(Blocked { stopped_after: 1.. })), "{walk:?}");
    }

    #[test]
    fn a_counter_stopped_at_every_instruction_still_ends() {
        let (answer, stops) = stop_always(
            300,
            AtomicU64::new(0),
            count,
            |counter, _| count(counter),
            |_, round, seen| assert_eq!(seen, round as u64),
        )
        .expect("lock-free");
        assert_eq!(answer, stops as u64, "it lost every race, then counted last");
    }

    #[test]
    #[should_panic(expected = "did not end normally (exit 77")]
    fn a_victim_that_dies_is_reported() {
        // SAFETY: always allowed.
        let die = |(): &()| unsafe { libc::_exit(77) };
        let _ = stop_once_everywhere::<_, u64, _>(|| (), |s| die(s), |()| 0_u64, |_| ());
    }
}
