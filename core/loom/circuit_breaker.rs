//! The circuit breaker among threads.

use std::sync::Arc;
use std::time::Duration;
use std::vec;
use std::vec::Vec;

use seawall::model_access::Mark;
use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Ratio, Reason, Settlement, State, Token, Transition,
};

use super::harness::{Preemptions, bounded, join, model, rounds, spawn, stop_after, stop_after_writes, wrote};

const RESET: Duration = Duration::from_secs(10);
const START: Instant = Instant::from_nanos(1_000_000_000_000);

/// Seconds after the start.
fn at(seconds: u64) -> Instant {
    START.after(Duration::from_secs(seconds))
}

fn consecutive(failures: u64) -> CircuitBreakerConfig {
    CircuitBreakerConfig::consecutive(failures).reset_after(RESET)
}

/// Judges the last `window` calls, and never opens: at least one more call than that would have to fail.
fn rate(window: u64) -> CircuitBreakerConfig {
    CircuitBreakerConfig::new()
        .window(window)
        .minimum_calls(window)
        .failure_rate(Ratio::percent(100))
        .reset_after(RESET)
}

fn new(config: &CircuitBreakerConfig) -> Arc<CircuitBreaker> {
    Arc::new(CircuitBreaker::new(config).expect("the configuration is possible"))
}

/// Opened at the start, so that the first trial is due at `at(11)`.
fn opened(config: &CircuitBreakerConfig) -> Arc<CircuitBreaker> {
    let breaker = new(config);
    assert!(breaker.trip(START, None, 0).is_some());
    breaker
}

fn admit(breaker: &CircuitBreaker, now: Instant) -> (Option<Token>, Option<Transition>) {
    let admission = breaker.try_admit(now, 0);
    (admission.verdict.ok(), admission.transition)
}

fn settle(breaker: &CircuitBreaker, token: Token, outcome: Outcome, now: Instant) -> (Settlement, Option<Transition>) {
    let settled = breaker.settle(token, outcome, now, now, 0);
    (settled.settlement, settled.transition)
}

/// How many of the transitions lead to `state`.
fn count(transitions: &[Option<Transition>], state: State) -> usize {
    transitions.iter().flatten().filter(|transition| transition.to == state).count()
}

#[test]
fn at_most_so_many_trials_are_out() {
    model("circuit_breaker::at_most_so_many_trials_are_out", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1).trials(2));
        let ask = |breaker: &CircuitBreaker| admit(breaker, at(11));
        let threads = [spawn(&breaker, ask), spawn(&breaker, ask)];
        let mut answers = vec![ask(&breaker)];
        answers.extend(threads.into_iter().map(join));
        let tokens: Vec<_> = answers.iter().filter_map(|answer| answer.0).collect();
        assert_eq!(tokens.len(), 2);
        assert!(tokens.iter().all(|token| token.is_trial()));
        let transitions: Vec<_> = answers.iter().map(|answer| answer.1).collect();
        assert_eq!((count(&transitions, State::HalfOpen), transitions.iter().flatten().count()), (1, 1));
    });
}

#[test]
fn trials_that_come_back_make_room_for_no_more_than_themselves() {
    model(
        "circuit_breaker::trials_that_come_back_make_room_for_no_more_than_themselves",
        Preemptions(Some(2), None),
        || {
            let breaker = opened(&consecutive(1));
            let out = Arc::new(std::sync::atomic::AtomicU64::new(0));
            let work = |out: &Arc<std::sync::atomic::AtomicU64>| {
                let out = out.clone();
                move |breaker: &CircuitBreaker| {
                    for _ in 0..rounds(1, 4) {
                        if let (Some(token), _) = admit(breaker, at(11)) {
                            let others = out.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                            assert_eq!(others, 0, "one trial at a time");
                            out.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                            // A cancelled call: its place returns, and nothing is learnt.
                            assert_eq!(settle(breaker, token, Outcome::Ignored, at(11)).0, Settlement::Neutral);
                        }
                    }
                }
            };
            let threads = [spawn(&breaker, work(&out)), spawn(&breaker, work(&out))];
            work(&out)(&breaker);
            threads.into_iter().for_each(join);
            let snapshot = breaker.snapshot(at(11)).expect("it is configured");
            assert_eq!((snapshot.state, snapshot.trials_in_flight), (State::HalfOpen, 0));
        },
    );
}

#[test]
fn exactly_one_thread_sees_it_open() {
    model("circuit_breaker::exactly_one_thread_sees_it_open", Preemptions(Some(2), None), || {
        let breaker = new(&consecutive(2));
        let fail = |breaker: &CircuitBreaker| {
            let (token, _) = admit(breaker, START);
            token.map(|token| settle(breaker, token, Outcome::Failure, START))
        };
        let threads = [spawn(&breaker, fail), spawn(&breaker, fail)];
        let mut answers = vec![fail(&breaker)];
        answers.extend(threads.into_iter().map(join));
        let settled: Vec<_> = answers.into_iter().flatten().collect();
        let transitions: Vec<_> = settled.iter().map(|answer| answer.1).collect();
        assert_eq!(count(&transitions, State::Open), 1);
        assert_eq!(settled.iter().filter(|answer| answer.0 == Settlement::Counted).count(), 2);
        assert_eq!(breaker.state(START), State::Open);
    });
}

#[test]
fn exactly_one_thread_sees_it_close() {
    model("circuit_breaker::exactly_one_thread_sees_it_close", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1).trials(3).close_after(2));
        let tokens = [(); 3].map(|()| admit(&breaker, at(11)).0.expect("three trials"));
        let succeed = |token| move |breaker: &CircuitBreaker| settle(breaker, token, Outcome::Success, at(11));
        let threads = [spawn(&breaker, succeed(tokens[0])), spawn(&breaker, succeed(tokens[1]))];
        let mut answers = vec![succeed(tokens[2])(&breaker)];
        answers.extend(threads.into_iter().map(join));
        let transitions: Vec<_> = answers.iter().map(|answer| answer.1).collect();
        assert_eq!(count(&transitions, State::Closed), 1);
        // The third came after the end of its round.
        assert_eq!(answers.iter().filter(|answer| answer.0 == Settlement::Stale).count(), 1);
        assert_eq!(breaker.snapshot(at(11)).map(|s| (s.state, s.calls)), Some((State::Closed, 0)));
    });
}

#[test]
fn trials_that_disagree_decide_once() {
    model("circuit_breaker::trials_that_disagree_decide_once", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1).trials(2).close_after(1));
        let tokens = [(); 2].map(|()| admit(&breaker, at(11)).0.expect("two trials"));
        let bad = spawn(&breaker, move |breaker| settle(breaker, tokens[0], Outcome::Failure, at(11)));
        let good = settle(&breaker, tokens[1], Outcome::Success, at(11));
        let bad = join(bad);
        // One success closes it; one failure alone does not reopen it, since one may fail.
        assert_eq!(count(&[good.1], State::Closed), 1);
        assert!(bad.1.is_none());
        assert_eq!(breaker.snapshot(at(11)).map(|s| (s.state, s.calls)), Some((State::Closed, 0)));
    });
}

#[test]
fn a_result_from_before_the_trip_never_counts() {
    model("circuit_breaker::a_result_from_before_the_trip_never_counts", Preemptions(Some(2), None), || {
        // One failure is not enough to open it, but it would be remembered.
        let breaker = new(&consecutive(2));
        let old = admit(&breaker, START).0.expect("it is closed");
        let late = spawn(&breaker, move |breaker| settle(breaker, old, Outcome::Failure, at(11)));
        assert!(breaker.trip(START, None, 0).is_some());
        let trial = admit(&breaker, at(11)).0.expect("a trial is due");
        let (settlement, closed) = settle(&breaker, trial, Outcome::Success, at(11));
        assert_eq!((settlement, count(&[closed], State::Closed)), (Settlement::Counted, 1));
        let (late, transition) = join(late);
        assert!(matches!(late, Settlement::Counted | Settlement::Stale) && transition.is_none());
        let snapshot = breaker.snapshot(at(11)).expect("it is configured");
        assert_eq!((snapshot.state, snapshot.calls), (State::Closed, 0), "the new period begins with nothing");
    });
}

#[test]
fn a_late_trial_is_stale_once_another_round_has_begun() {
    model("circuit_breaker::a_late_trial_is_stale_once_another_round_has_begun", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1).trial_timeout(Duration::from_secs(5)));
        let lost = admit(&breaker, at(11)).0.expect("a trial is due");
        let late = spawn(&breaker, move |breaker| settle(breaker, lost, Outcome::Failure, at(20)));
        let next = admit(&breaker, at(20));
        let (late, reopened) = match (next.0, join(late)) {
            (Some(token), late) => {
                assert_eq!(late.0, Settlement::Stale);
                assert_eq!(settle(&breaker, token, Outcome::Success, at(20)).0, Settlement::Counted);
                assert_eq!(breaker.state(at(20)), State::Closed);
                late
            }
            (None, late) => late,
        };
        if next.0.is_none() {
            assert!(late == Settlement::Counted && count(&[reopened], State::Open) == 1);
        }
    });
}

/// Every order in which the programs' outcomes can follow one another, each thread's in its own order.
fn merges(programs: &[&[bool]]) -> Vec<Vec<bool>> {
    if programs.iter().all(|program| program.is_empty()) {
        return vec![vec![]];
    }
    let mut all = vec![];
    for (i, program) in programs.iter().enumerate() {
        if let [first, rest @ ..] = program {
            let mut others = programs.to_vec();
            others[i] = rest;
            all.extend(merges(&others).into_iter().map(|mut merge| {
                merge.insert(0, *first);
                merge
            }));
        }
    }
    all
}

#[test]
fn the_window_holds_some_merge_of_what_was_recorded() {
    const PROGRAMS: [&[bool]; 3] = [&[true, false], &[false, true], &[false, false]];
    let possible: Arc<std::collections::BTreeSet<_>> = Arc::new(
        merges(&PROGRAMS).iter().map(|merge| merge[2..].iter().filter(|&&failed| failed).count() as u32).collect(),
    );
    model(
        "circuit_breaker::the_window_holds_some_merge_of_what_was_recorded",
        Preemptions(Some(2), None).but_plain(1),
        move || {
            let breaker = new(&rate(4));
            let record = |outcomes: &'static [bool]| {
                move |breaker: &CircuitBreaker| {
                    for &failed in outcomes {
                        let token = admit(breaker, START).0.expect("it never opens");
                        let outcome = if failed { Outcome::Failure } else { Outcome::Success };
                        assert_eq!(settle(breaker, token, outcome, START), (Settlement::Counted, None));
                    }
                }
            };
            let threads = [spawn(&breaker, record(PROGRAMS[0])), spawn(&breaker, record(PROGRAMS[1]))];
            record(PROGRAMS[2])(&breaker);
            threads.into_iter().for_each(join);
            let snapshot = breaker.snapshot(START).expect("it is configured");
            assert_eq!(snapshot.calls, 4);
            assert!(possible.contains(&snapshot.failed), "{} of the last four", snapshot.failed);
        },
    );
}

#[test]
fn no_record_is_lost_from_a_window_that_holds_all() {
    model(
        "circuit_breaker::no_record_is_lost_from_a_window_that_holds_all",
        Preemptions(Some(2), None).but_plain(1),
        || {
            let each = rounds(2, 6) as u32;
            let breaker = new(&rate(20));
            let record = move |breaker: &CircuitBreaker| {
                for i in 0..each {
                    let token = admit(breaker, START).0.expect("it never opens");
                    let outcome = if i % 2 == 0 { Outcome::Failure } else { Outcome::Success };
                    assert_eq!(settle(breaker, token, outcome, START), (Settlement::Counted, None));
                }
            };
            let threads = [spawn(&breaker, record), spawn(&breaker, record)];
            record(&breaker);
            threads.into_iter().for_each(join);
            let snapshot = breaker.snapshot(START).expect("it is configured");
            assert_eq!((snapshot.calls, snapshot.failed), (3 * each, 3 * each.div_ceil(2)));
        },
    );
}

#[test]
fn a_copy_settled_twice_stays_within_bounds() {
    model("circuit_breaker::a_copy_settled_twice_stays_within_bounds", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1).trials(2));
        let token = admit(&breaker, at(11)).0.expect("a trial is due");
        let again = |breaker: &CircuitBreaker| settle(breaker, token, Outcome::Ignored, at(11)).0;
        let other = spawn(&breaker, move |breaker| settle(breaker, token, Outcome::Ignored, at(11)).0);
        let asked = admit(&breaker, at(11)).0.is_some();
        again(&breaker);
        join(other);
        let snapshot = breaker.snapshot(at(11)).expect("it is configured");
        assert!(asked && snapshot.trials_in_flight <= 1, "misuse frees no more places than there are");
        let more = (0..3).filter(|_| admit(&breaker, at(11)).0.is_some()).count() as u32;
        assert_eq!(snapshot.trials_in_flight + more, 2);
    });
}

#[test]
fn a_change_keeps_what_was_learnt_and_each_decision_is_by_one_configuration() {
    model(
        "circuit_breaker::a_change_keeps_what_was_learnt_and_each_decision_is_by_one_configuration",
        Preemptions(Some(2), None),
        || {
            // Before: opens at 4 failures in a row. After: at 3. Never at 2, never later than at 4.
            let breaker = new(&consecutive(4));
            for _ in 0..2 {
                let token = admit(&breaker, START).0.expect("it is closed");
                settle(&breaker, token, Outcome::Failure, START);
            }
            let token = admit(&breaker, START).0.expect("it is closed");
            let third = spawn(&breaker, move |breaker| settle(breaker, token, Outcome::Failure, START).1);
            assert!(breaker.configure(&consecutive(3)).is_ok());
            let fourth = admit(&breaker, START).0.map(|token| settle(&breaker, token, Outcome::Failure, START));
            let third = join(third);
            let opened = [third, fourth.and_then(|fourth| fourth.1)];
            assert_eq!(count(&opened, State::Open), 1, "three or four failures were enough");
            let figures = opened.iter().flatten().map(|transition| transition.failed).next();
            assert!(matches!(figures, Some(3 | 4)), "{figures:?}: none of the failures is forgotten");
        },
    );
}

#[test]
fn windows_translate_while_records_come_in() {
    model("circuit_breaker::windows_translate_while_records_come_in", Preemptions(Some(2), None), || {
        let breaker = new(&rate(20));
        let fail = |breaker: &CircuitBreaker| {
            let token = admit(breaker, START).0.expect("it never opens");
            assert_eq!(settle(breaker, token, Outcome::Failure, START).0, Settlement::Counted);
        };
        fail(&breaker);
        let recorder = spawn(&breaker, move |breaker| (0..rounds(1, 3)).for_each(|_| fail(breaker)));
        assert!(breaker.configure(&consecutive(100)).is_ok());
        join(recorder);
        let failures = breaker.snapshot(START).map(|snapshot| snapshot.failed);
        assert_eq!(failures, Some(1 + rounds(1, 3) as u32), "in a row, whichever mode counted them");
    });
}

#[test]
fn a_change_of_mode_and_a_change_of_numbers_do_not_undo_each_other() {
    model(
        "circuit_breaker::a_change_of_mode_and_a_change_of_numbers_do_not_undo_each_other",
        Preemptions(Some(2), None),
        || {
            let breaker = new(&consecutive(9));
            let other = spawn(&breaker, |breaker| breaker.set_mode(Mode::Shadow));
            assert!(breaker.configure(&consecutive(1).mode(Mode::Disabled)).is_ok());
            let before = join(other);
            // Shadow came first and was overwritten, or it came last and changed the mode alone.
            match before {
                Ok(Mode::Normal) => assert_eq!(breaker.mode(), Mode::Disabled),
                Ok(Mode::Disabled) => assert_eq!(breaker.mode(), Mode::Shadow),
                other => panic!("{other:?}"),
            }
            assert!(breaker.set_mode(Mode::Normal).is_ok());
            let token = admit(&breaker, START).0.expect("it is closed");
            let (_, opened) = settle(&breaker, token, Outcome::Failure, START);
            assert_eq!(count(&[opened], State::Open), 1, "the threshold is 1, and stays so");
        },
    );
}

/// Two slots are lost, so that the next change but one is written where the present one stands.
fn with_two_slots_lost(breaker: Arc<CircuitBreaker>) -> Arc<CircuitBreaker> {
    for _ in 0..2 {
        // One write: the claim.
        stop_after_writes(1, || breaker.configure(&consecutive(1)));
    }
    breaker
}

/// A change, and another that stops when all its seven words are written, after its claim.
fn change_and_stop_before_publishing(breaker: &CircuitBreaker, mode: Mode) {
    assert!(breaker.configure(&consecutive(1).trials(2)).is_ok());
    stop_after_writes(8, || breaker.configure(&consecutive(1).mode(mode)));
}

#[test]
fn a_mode_that_is_never_published_admits_and_refuses_nobody() {
    for mode in [Mode::Disabled, Mode::ForcedOpen] {
        model(
            "circuit_breaker::a_mode_that_is_never_published_admits_and_refuses_nobody",
            Preemptions(Some(2), None),
            move || {
                let breaker = with_two_slots_lost(opened(&consecutive(1)));
                let asked = spawn(&breaker, |breaker| breaker.try_admit(at(5), 0).verdict.map_err(|no| no.reason));
                change_and_stop_before_publishing(&breaker, mode);
                assert_eq!(join(asked), Err(Reason::Open));
            },
        );
    }
}

#[test]
fn a_mode_that_is_never_published_ignores_no_failure() {
    model("circuit_breaker::a_mode_that_is_never_published_ignores_no_failure", Preemptions(Some(2), None), || {
        let breaker = with_two_slots_lost(new(&consecutive(1)));
        let token = admit(&breaker, START).0.expect("it is closed");
        let changer = spawn(&breaker, |breaker| change_and_stop_before_publishing(breaker, Mode::Disabled));
        assert_eq!(settle(&breaker, token, Outcome::Failure, START).0, Settlement::Counted);
        join(changer);
        assert_eq!(breaker.state(START), State::Open);
    });
}

#[test]
fn forced_open_refuses_and_keeps_what_was_learnt() {
    model("circuit_breaker::forced_open_refuses_and_keeps_what_was_learnt", Preemptions(Some(2), None), || {
        let breaker = new(&consecutive(2));
        let token = admit(&breaker, START).0.expect("it is closed");
        let late = spawn(&breaker, move |breaker| settle(breaker, token, Outcome::Failure, START));
        assert_eq!(breaker.set_mode(Mode::ForcedOpen), Ok(Mode::Normal));
        let refused = breaker.try_admit(START, 0).verdict.unwrap_err();
        assert_eq!(refused.reason, Reason::ForcedOpen);
        assert_eq!(join(late), (Settlement::Counted, None), "a call from before still tells something");
        assert_eq!(breaker.set_mode(Mode::Normal), Ok(Mode::ForcedOpen));
        let snapshot = breaker.snapshot(START).expect("it is configured");
        assert_eq!((snapshot.state, snapshot.failed), (State::Closed, 1));
    });
}

#[test]
fn a_healthy_call_writes_nothing() {
    model("circuit_breaker::a_healthy_call_writes_nothing", Preemptions(Some(2), None), || {
        let breaker = new(&consecutive(5));
        // Anything makes the first word: a success on an empty count leaves it clean.
        let token = admit(&breaker, START).0.expect("it is closed");
        settle(&breaker, token, Outcome::Success, START);
        let healthy = |breaker: &CircuitBreaker| {
            wrote(|| {
                let token = admit(breaker, START).0.expect("it is closed");
                settle(breaker, token, Outcome::Success, START).0
            })
        };
        let other = spawn(&breaker, healthy);
        for (settlement, wrote) in [healthy(&breaker), join(other)] {
            assert_eq!(settlement, Settlement::Counted);
            assert_ne!(wrote, Some(true));
        }
    });
}

#[test]
fn a_refusal_writes_nothing() {
    model("circuit_breaker::a_refusal_writes_nothing", Preemptions(Some(2), None), || {
        let breaker = opened(&consecutive(1));
        let refused = |breaker: &CircuitBreaker| {
            let (verdict, wrote) = wrote(|| breaker.try_admit(at(5), 0).verdict.map_err(|no| no.reason));
            assert_ne!(wrote, Some(true));
            verdict
        };
        let other = spawn(&breaker, refused);
        assert_eq!((refused(&breaker), join(other)), (Err(Reason::Open), Err(Reason::Open)));
    });
}

#[test]
fn a_late_failure_by_the_clean_check_is_stale() {
    // A face takes the upper half of a clean word for a token, and a failure then goes the long way.
    model("circuit_breaker::a_late_failure_by_the_clean_check_is_stale", Preemptions(Some(2), None), || {
        let breaker = new(&consecutive(1));
        let fail = |breaker: &CircuitBreaker| {
            admit(breaker, START).0.map(|token| settle(breaker, token, Outcome::Failure, START).0)
        };
        let other = spawn(&breaker, fail);
        let mut answers = [fail(&breaker), join(other)];
        answers.sort_by_key(|answer| answer.map(|settlement| settlement as u8));
        assert!(
            matches!(answers, [None, Some(Settlement::Counted)] | [Some(Settlement::Counted), Some(Settlement::Stale)]),
            "{answers:?}"
        );
    });
}

#[test]
fn what_was_done_before_a_settlement_is_seen_by_whoever_is_admitted_for_it() {
    model(
        "circuit_breaker::what_was_done_before_a_settlement_is_seen_by_whoever_is_admitted_for_it",
        Preemptions(Some(2), None),
        || {
            let breaker = opened(&consecutive(1));
            let token = admit(&breaker, at(11)).0.expect("a trial is due");
            let mark = Arc::new(Mark::new());
            let repaired = mark.clone();
            let other = spawn(&breaker, move |breaker| {
                if admit(breaker, at(11)).0.is_some() {
                    assert!(repaired.is_set());
                }
            });
            mark.set();
            settle(&breaker, token, Outcome::Success, at(11));
            join(other);
        },
    );
}

#[test]
fn what_was_done_before_a_quiet_settlement_is_seen_by_whoever_sees_it() {
    model(
        "circuit_breaker::what_was_done_before_a_quiet_settlement_is_seen_by_whoever_sees_it",
        Preemptions(Some(2), None),
        || {
            let breaker = new(&consecutive(9));
            let token = admit(&breaker, START).0.expect("it is closed");
            let mark = Arc::new(Mark::new());
            let done = mark.clone();
            let other = spawn(&breaker, move |breaker| {
                if breaker.snapshot(START).is_some_and(|snapshot| snapshot.failed == 1) {
                    assert!(done.is_set());
                }
            });
            mark.set();
            settle(&breaker, token, Outcome::Failure, START);
            join(other);
        },
    );
}

#[test]
fn a_thread_stopped_anywhere_delays_nobody() {
    type Operation = fn(&CircuitBreaker, Token);
    let operations: [(Operation, u64); 5] = [
        (|breaker, _| _ = breaker.try_admit(at(11), 0), 14),
        (|breaker, token| _ = breaker.settle(token, Outcome::Failure, at(11), at(11), 0), 14),
        (|breaker, _| _ = breaker.trip(at(11), None, 0), 14),
        (|breaker, _| _ = breaker.reset(at(11)), 14),
        (|breaker, _| _ = breaker.configure(&consecutive(3)), 36),
    ];
    for (operation, longest) in operations {
        for accesses in (1..=longest).step_by(if cfg!(seawall_loom) { 3 } else { 1 }) {
            model(
                "circuit_breaker::a_thread_stopped_anywhere_delays_nobody",
                Preemptions(Some(1), Some(3)),
                move || {
                    let breaker = opened(&consecutive(1).trials(3));
                    let token = admit(&breaker, at(11)).0.expect("a trial is due");
                    let stopped = spawn(&breaker, move |breaker| {
                        stop_after(accesses, || operation(breaker, token));
                    });
                    // Whatever the other left: an answer at once, and never more than three trials.
                    let admitted = bounded(40, || admit(&breaker, at(11)).0);
                    join(stopped);
                    if let Some(token) = admitted {
                        bounded(40, || settle(&breaker, token, Outcome::Success, at(12)));
                    }
                    assert!(bounded(100, || breaker.configure(&consecutive(2).trials(3))).is_ok());
                    let more =
                        (0..5).filter(|_| admit(&breaker, at(12)).0.is_some_and(|token| token.is_trial())).count();
                    assert!(more <= 3);
                    assert!(bounded(40, || breaker.reset(at(12))).is_some());
                    assert_eq!(breaker.state(at(12)), State::Closed);
                },
            );
        }
    }
}
