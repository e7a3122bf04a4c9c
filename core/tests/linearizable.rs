//! Whatever many threads are answered, one thread alone could have been answered.
//!
//! Real threads operate on one state, every operation carrying its own `now` (going back as well as
//! forward); each recorded history has to have a sequential explanation. Programs are drawn from a
//! seed, so that the program of a failing round can be played again.

mod support;

use std::time::Duration;

use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Random, Ratio, RetryBudget, RetryBudgetConfig,
    TokenBucket, TokenBucketConfig, WindowWord,
};
use support::sequential::Sequential;
use support::threads::{Tally, play};

/// So many histories with overlapping operations are wanted, among at most so many: a machine whose
/// processors are busy otherwise lets few operations overlap.
const OVERLAPPING: usize = 2_000;
const MOST: usize = 5_000_000;

fn report(name: &str, tally: Tally) {
    println!("linearizable: {name}: {} histories, {} with overlapping operations", tally.histories, tally.overlapping);
}

fn millis(ms: u64) -> Instant {
    Instant::from_nanos(1_000_000_000_000 + ms * 1_000_000)
}

/// Randomness of one thread in one round.
fn dice(round: usize, thread: usize) -> impl Fn(u64) -> u64 {
    let source = Random::seeded((round as u64) << 8 | thread as u64);
    move |sides| source.next() % sides
}

mod a_circuit_breaker {
    use super::*;
    use support::breaker_history::{Asked, WithoutGeneration};

    type Breaker<const N: usize> = CircuitBreaker<[WindowWord; N]>;

    /// So many calls before it begins, every other of which failed.
    fn begin<const N: usize>(breaker: &Breaker<N>, before: usize) {
        for call in 0..before {
            let outcome = if call % 2 == 0 { Outcome::Failure } else { Outcome::Success };
            breaker.admit(millis(0)).expect("it has not opened yet").settle(outcome, millis(0), 0);
        }
    }

    fn model<const N: usize>(config: &CircuitBreakerConfig, before: usize) -> Sequential<Breaker<N>> {
        Sequential::new(|breaker: &Breaker<N>| {
            breaker.init(config).expect("a possible configuration");
            begin(breaker, before);
        })
    }

    fn fresh<const N: usize>(config: &CircuitBreakerConfig, before: usize) -> Breaker<N> {
        let breaker = Breaker::with_words(config).expect("a possible configuration");
        begin(&breaker, before);
        breaker
    }

    /// Around the end of an open period of 1 s and of a trial's lease of 0.2 s.
    fn sometime(dice: &impl Fn(u64) -> u64) -> Instant {
        millis([0, 1, 150, 250, 999, 1_100, 1_250, 2_400][dice(8) as usize])
    }

    fn some_change(dice: &impl Fn(u64) -> u64, configs: &[CircuitBreakerConfig]) -> Asked {
        if dice(2) == 0 {
            Asked::Configure { config: configs[dice(configs.len() as u64) as usize] }
        } else {
            let modes = [Mode::Normal, Mode::Normal, Mode::ForcedOpen, Mode::Disabled];
            Asked::SetMode { mode: modes[dice(4) as usize] }
        }
    }

    /// Plays with `configs`, the first of which it starts with; only thread 0 reconfigures.
    fn check<const N: usize>(
        name: &str,
        threads: usize,
        configs: &[CircuitBreakerConfig],
        by_hand: bool,
        before: usize,
    ) {
        let (model, fresh) = (model::<N>(&configs[0], before), || fresh::<N>(&configs[0], before));
        let tally = play(OVERLAPPING, MOST, threads, fresh, &model, |round, thread, breaker, recorder| {
            let dice = dice(round, thread);
            let mut held = vec![];
            let mut part = vec![];
            for _ in 0..6 {
                let now = sometime(&dice);
                let asked = match dice(12) {
                    0 if by_hand => Asked::Trip { now },
                    1 if by_hand => Asked::HalfOpen { now },
                    2 if by_hand => Asked::Reset { now },
                    3 | 4 if configs.len() > 1 && thread == 0 => some_change(&dice, configs),
                    4 => Asked::State { now },
                    5..=8 if !held.is_empty() => {
                        let (token, granted) = held.pop().expect("not empty");
                        let outcome = match dice(6) {
                            0 | 1 => Outcome::Success,
                            2 => Outcome::Ignored,
                            3 => Outcome::FailureUntil(millis(3_000)),
                            _ => Outcome::Failure,
                        };
                        Asked::Settle { token, outcome, granted, now }
                    }
                    _ => Asked::Admit { now },
                };
                let recorded = recorder.record(thread, asked, |asked| asked.of(breaker));
                if let (Asked::Admit { now }, Some(token)) = (asked, recorded.answer.and_then(|a| a.token())) {
                    held.push((token, now));
                }
                part.push(recorded);
            }
            part
        });
        report(name, tally);
    }

    /// Every thread reconfigures. What that does to permits under way is not a matter of order alone
    /// (see `without_generation`), so none is settled.
    fn check_changes(name: &str, threads: usize, configs: &[CircuitBreakerConfig]) {
        let (model, fresh) = (WithoutGeneration(model::<0>(&configs[0], 0)), || fresh::<0>(&configs[0], 0));
        let tally = play(OVERLAPPING, MOST, threads, fresh, &model, |round, thread, breaker, recorder| {
            let dice = dice(round, thread);
            let part = (0..6).map(|_| {
                let now = sometime(&dice);
                let asked = match dice(9) {
                    0 => Asked::Trip { now },
                    1 => Asked::HalfOpen { now },
                    2 => Asked::Reset { now },
                    3 => Asked::State { now },
                    4 | 5 => Asked::Admit { now },
                    _ => some_change(&dice, configs),
                };
                recorder.record(thread, asked, |asked| asked.of(breaker).without_generation())
            });
            part.collect()
        });
        report(name, tally);
    }

    const CONSECUTIVE: CircuitBreakerConfig = CircuitBreakerConfig::consecutive(2)
        .reset_after(Duration::from_secs(1))
        .trial_timeout(Duration::from_millis(200));

    const RATE: CircuitBreakerConfig = CircuitBreakerConfig::new()
        .failure_rate(Ratio::percent(50))
        .window(4)
        .minimum_calls(2)
        .trials(2)
        .reset_after(Duration::from_secs(1))
        .trial_timeout(Duration::from_millis(200));

    #[test]
    fn in_consecutive_mode() {
        check::<0>("breaker, consecutive", 2, &[CONSECUTIVE], false, 0);
    }

    #[test]
    fn in_rate_mode_with_three_threads() {
        check::<0>("breaker, rate", 3, &[RATE], false, 0);
    }

    #[test]
    fn operated_by_hand_meanwhile() {
        check::<0>("breaker, by hand", 2, &[CONSECUTIVE], true, 0);
    }

    #[test]
    fn reconfigured_by_one_meanwhile() {
        check::<0>("breaker, reconfigured", 3, &[RATE, CONSECUTIVE, RATE.trials(3).close_after(1)], false, 0);
    }

    /// Opens at 12 failures of 21. After 24 calls the newest block is full, and ten or eleven of 21 failed.
    const LONG: CircuitBreakerConfig = RATE.window(21).minimum_calls(21).failure_rate(Ratio::ONE).failure_threshold(12);

    #[test]
    fn in_a_long_window_at_the_edge_of_a_block() {
        check::<4>("breaker, long window", 3, &[LONG], false, 24);
    }

    #[test]
    fn in_a_long_window_that_is_reconfigured() {
        check::<4>("breaker, long window reconfigured", 3, &[LONG, LONG.window(25), RATE], false, 24);
    }

    #[test]
    fn reconfigured_by_all_at_once() {
        check_changes("breaker, reconfigured by all", 3, &[RATE, CONSECUTIVE, RATE.trials(3).close_after(1)]);
    }
}

mod a_token_bucket {
    use super::*;
    use support::bucket_history::Asked;

    /// Plays with `configs`, the first of which it starts with; only thread 0 reconfigures, since a
    /// reservation shows which slot the configuration lies in, and that is not the same when two
    /// changes overlap.
    fn check(name: &str, threads: usize, configs: &[TokenBucketConfig], reserving: bool) {
        let model =
            Sequential::<TokenBucket>::new(|b| b.init(&configs[0], millis(0)).expect("a possible configuration"));
        let fresh = || TokenBucket::new(&configs[0], millis(0)).expect("a possible configuration");
        let tally = play(OVERLAPPING, MOST, threads, fresh, &model, |round, thread, bucket, recorder| {
            let dice = dice(round, thread);
            let mut held = vec![];
            let mut part = vec![];
            for _ in 0..6 {
                let now = millis([0, 1, 99, 100, 101, 350][dice(6) as usize]);
                let cost = dice(4);
                let asked = match dice(12) {
                    0 => Asked::Drain { now },
                    1 => Asked::Reset { now },
                    2 => Asked::Peek { cost, now },
                    3 | 4 if configs.len() > 1 && (thread == 0 || !reserving) => {
                        Asked::Configure { config: configs[dice(configs.len() as u64) as usize], now }
                    }
                    5..=7 if reserving => Asked::Reserve { cost, max_wait: Duration::from_millis(250), now },
                    8 | 9 if !held.is_empty() => Asked::Cancel { reservation: held.pop().expect("not empty"), now },
                    _ => Asked::Take { cost, now },
                };
                let recorded = recorder.record(thread, asked, |asked| asked.of(bucket));
                held.extend(recorded.answer.and_then(|answer| answer.reservation()));
                part.push(recorded);
            }
            part
        });
        report(name, tally);
    }

    const TEN: TokenBucketConfig = TokenBucketConfig::per_second(10, 3);

    #[test]
    fn taken_from() {
        check("bucket, taken from", 2, &[TEN], false);
    }

    #[test]
    fn with_three_threads_that_reserve_and_cancel() {
        check("bucket, reserved", 3, &[TEN], true);
    }

    #[test]
    fn reconfigured_by_several_meanwhile() {
        check("bucket, reconfigured", 3, &[TEN, TEN.rate(20), TEN.capacity(2)], false);
    }

    #[test]
    fn reserved_and_reconfigured_by_one_meanwhile() {
        check("bucket, reserved and reconfigured", 2, &[TEN, TEN.rate(20), TEN.capacity(2)], true);
    }
}

mod a_retry_budget {
    use super::*;
    use support::budget_history::Asked;

    /// Plays with `configs`, the first of which it starts with.
    fn check(name: &str, threads: usize, configs: &[RetryBudgetConfig]) {
        let model =
            Sequential::<RetryBudget>::new(|b| b.init(&configs[0], millis(0)).expect("a possible configuration"));
        let fresh = || RetryBudget::new(&configs[0], millis(0)).expect("a possible configuration");
        let tally = play(OVERLAPPING, MOST, threads, fresh, &model, |round, thread, budget, recorder| {
            let dice = dice(round, thread);
            let part = (0..6).map(|_| {
                let now = millis([0, 1, 16, 17, 500, 2_000][dice(6) as usize]);
                let asked = match dice(14) {
                    0 => Asked::Reset { now },
                    1 => Asked::Peek { now },
                    2 => Asked::Balance { now },
                    3 => Asked::Refund { now },
                    4 | 5 if configs.len() > 1 => {
                        Asked::Configure { config: configs[dice(configs.len() as u64) as usize], now }
                    }
                    4..=7 => Asked::Deposit { now },
                    _ => Asked::Withdraw { now },
                };
                recorder.record(thread, asked, |asked| asked.of(budget))
            });
            part.collect()
        });
        report(name, tally);
    }

    /// Two deposits pay for a retry.
    const HALF: RetryBudgetConfig = RetryBudgetConfig::new().ratio(Ratio::percent(50)).capacity(2);

    #[test]
    fn paid_in_and_taken_from() {
        check("budget, by requests", 2, &[HALF]);
    }

    #[test]
    fn with_three_threads_and_what_flows_in() {
        check("budget, by time", 3, &[HALF.min_per_second(2)]);
    }

    #[test]
    fn reconfigured_by_several_meanwhile() {
        check("budget, reconfigured", 3, &[HALF, HALF.capacity(1), HALF.min_per_second(10)]);
    }
}

/// The checker itself, on a register and on histories whose verdict is known.
mod the_checker {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::support::linearizability::{Model, Recorded, Recorder, explain, overlaps};
    use super::support::threads::play;

    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Register(u64);

    #[derive(Clone, Copy, Debug)]
    enum Access {
        Read,
        Write(u64),
    }
    use Access::{Read, Write};

    impl Model for Register {
        type Operation = Access;
        type Answer = u64;

        fn apply(&mut self, access: &Access) -> u64 {
            if let Write(value) = *access {
                self.0 = value;
            }
            self.0
        }
    }

    fn by(
        thread: usize,
        span: std::ops::Range<u64>,
        operation: Access,
        answer: impl Into<Option<u64>>,
    ) -> Recorded<Access, u64> {
        Recorded { thread, began: span.start, ended: span.end, operation, answer: answer.into() }
    }

    #[test]
    fn accepts_one_thread_after_the_other() {
        let history = [by(0, 0..1, Write(7), 7), by(1, 2..3, Read, 7)];
        assert_eq!(explain(&Register(0), &history), Some(vec![0, 1]));
    }

    #[test]
    fn rejects_a_read_of_a_value_that_was_overwritten_before_it_began() {
        let history = [by(0, 0..1, Write(7), 7), by(1, 2..3, Read, 0)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn accepts_either_value_while_the_write_is_under_way() {
        for seen in [0, 7] {
            let history = [by(0, 0..9, Write(7), 7), by(1, 2..3, Read, seen)];
            assert!(explain(&Register(0), &history).is_some());
        }
    }

    #[test]
    fn rejects_two_reads_that_see_a_write_come_and_go() {
        let history = [by(0, 0..9, Write(7), 7), by(1, 1..2, Read, 7), by(2, 3..4, Read, 0)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn tries_more_than_the_first_order() {
        // The write that began last has to come first.
        let history = [by(0, 0..9, Write(1), 1), by(1, 1..9, Write(2), 2), by(2, 10..11, Read, 1)];
        assert_eq!(explain(&Register(0), &history), Some(vec![1, 0, 2]));
    }

    #[test]
    fn an_operation_that_never_ended_may_have_happened_or_not() {
        for seen in [0, 7] {
            let history = [by(0, 0..u64::MAX, Write(7), None), by(1, 2..3, Read, seen)];
            assert!(explain(&Register(0), &history).is_some());
        }
        let history = [by(0, 0..u64::MAX, Write(7), None), by(1, 2..3, Read, 8)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn remembers_dead_ends() {
        // 14 overlapping writes and a read of none of them: 14! orders, but at most 2^14 · 2 pairs
        // of operations taken and value held.
        let mut history: Vec<_> = (0..14).map(|i| by(i, 0..100, Write(i as u64 % 2), i as u64 % 2)).collect();
        history.push(by(14, 101..102, Read, 5));
        assert_eq!(explain(&Register(0), &history), None);
    }

    /// Threads that check and then act, on a counter.
    #[test]
    #[should_panic(expected = "has no sequential explanation")]
    fn finds_threads_out_that_check_and_then_act() {
        #[derive(Clone, PartialEq, Eq, Hash)]
        struct Counter(u64);

        impl Model for Counter {
            type Operation = ();
            type Answer = u64;

            fn apply(&mut self, (): &()) -> u64 {
                self.0 += 1;
                self.0
            }
        }

        let add_one = |counter: &AtomicU64| {
            let next = counter.load(Ordering::SeqCst) + 1;
            counter.store(next, Ordering::SeqCst);
            next
        };
        play(super::MOST, super::MOST, 2, AtomicU64::default, &Counter(0), |_, thread, counter, recorder| {
            (0..6).map(|_| recorder.record(thread, (), |()| add_one(counter))).collect()
        });
    }

    #[test]
    fn knows_which_histories_overlap() {
        assert!(!overlaps(&[by(0, 0..1, Read, 0), by(1, 2..3, Read, 0)]));
        assert!(overlaps(&[by(0, 0..2, Read, 0), by(1, 1..3, Read, 0)]));
    }

    #[test]
    fn the_recorder_orders_what_does_not_overlap() {
        let recorder = Recorder::default();
        let first = recorder.record(0, Read, |_| 0);
        let second = recorder.record(1, Read, |_| 0);
        assert!(first.ended < second.began);
        assert_eq!((first.answer, second.answer), (Some(0), Some(0)));
    }
}
