//! Count windows longer than one word, among threads.
//!
//! Four ring words: a window of 21 calls reaches into all but the one that is written next, and 32
//! calls come round. After each program the window goes on alone and must agree with a plain queue at
//! every call, so a block that was finished wrongly is found however late it comes to count.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use std::vec;
use std::vec::Vec;

use seawall::{CircuitBreaker, CircuitBreakerConfig, Instant, Outcome, Ratio, Settlement, State, WindowWord};

use super::harness::{Preemptions, bounded, join, model, rounds, spawn, stop_after, wrote};

type Wide = CircuitBreaker<[WindowWord; 4]>;

const NOW: Instant = Instant::from_nanos(1_000_000_000_000);
const WINDOW: usize = 21;
const BLOCK: usize = 8;

/// Opens only when all of the window failed, which the programs see to that it never does.
fn config(window: u64) -> CircuitBreakerConfig {
    CircuitBreakerConfig::new()
        .window(window)
        .minimum_calls(window)
        .failure_rate(Ratio::ONE)
        .reset_after(Duration::from_secs(10))
}

fn record(breaker: &Wide, failed: bool) {
    let token = breaker.try_admit(NOW, 0).verdict.expect("it never opens");
    let outcome = if failed { Outcome::Failure } else { Outcome::Success };
    let settled = breaker.settle(token, outcome, NOW, NOW, 0);
    assert_eq!((settled.settlement, settled.transition), (Settlement::Counted, None));
}

fn counts(breaker: &Wide) -> (usize, usize) {
    let snapshot = breaker.snapshot(NOW).expect("it is configured");
    (snapshot.calls as usize, snapshot.failed as usize)
}

/// A window with its plain counterpart, after so many calls of which every third failed.
fn after(calls: usize) -> (Arc<Wide>, Plain) {
    let breaker = Arc::new(Wide::with_words(&config(WINDOW as u64)).expect("21 calls take four words"));
    let mut plain = Plain(VecDeque::new());
    for call in 0..calls {
        record(&breaker, call % 3 == 0);
        plain.record(call % 3 == 0);
    }
    (breaker, plain)
}

struct Plain(VecDeque<bool>);

impl Plain {
    fn record(&mut self, failed: bool) {
        self.0.push_back(failed);
        if self.0.len() > WINDOW {
            self.0.pop_front();
        }
    }

    fn counts(&self) -> (usize, usize) {
        (self.0.len(), self.0.iter().filter(|failed| **failed).count())
    }

    /// The rest of the program alone: as long as anything that it began with counts.
    fn agrees_until_all_is_new(&mut self, breaker: &Wide) {
        assert_eq!(counts(breaker), self.counts());
        for call in 0..WINDOW + 2 * BLOCK {
            record(breaker, call % 4 == 0);
            self.record(call % 4 == 0);
            assert_eq!(counts(breaker), self.counts(), "{call} calls later");
        }
    }
}

#[test]
fn records_at_the_edge_of_a_block_are_all_counted() {
    // The newest block is full: every thread finds that it has to be finished.
    model("long_window::records_at_the_edge_of_a_block_are_all_counted", Preemptions(Some(2), None), || {
        let (breaker, mut plain) = after(3 * BLOCK);
        let fail = |breaker: &Wide| record(breaker, true);
        let threads = [spawn(&breaker, fail), spawn(&breaker, fail)];
        fail(&breaker);
        threads.into_iter().for_each(join);
        (0..3).for_each(|_| plain.record(true));
        plain.agrees_until_all_is_new(&breaker);
    });
}

#[test]
fn records_across_the_edge_of_a_block_are_all_counted() {
    model("long_window::records_across_the_edge_of_a_block_are_all_counted", Preemptions(Some(2), None), || {
        let (breaker, mut plain) = after(3 * BLOCK - 1);
        let fail = |breaker: &Wide| (0..rounds(2, 5)).for_each(|_| record(breaker, true));
        let other = spawn(&breaker, fail);
        fail(&breaker);
        join(other);
        (0..2 * rounds(2, 5)).for_each(|_| plain.record(true));
        plain.agrees_until_all_is_new(&breaker);
    });
}

#[test]
fn records_of_the_first_blocks_are_all_counted() {
    model("long_window::records_of_the_first_blocks_are_all_counted", Preemptions(Some(2), None), || {
        let (breaker, mut plain) = after(BLOCK);
        let fail = |breaker: &Wide| (0..rounds(1, 9)).for_each(|_| record(breaker, true));
        let threads = [spawn(&breaker, fail), spawn(&breaker, fail)];
        threads.into_iter().for_each(join);
        (0..2 * rounds(1, 9)).for_each(|_| plain.record(true));
        plain.agrees_until_all_is_new(&breaker);
    });
}

#[test]
fn one_that_wakes_a_lap_later_changes_nothing() {
    // One record stands at the edge of a block while the other thread takes the ring once round, until the same
    // ring word holds a block of the next lap.
    const CALLS: usize = 4 * BLOCK + 1;
    model(
        "long_window::one_that_wakes_a_lap_later_changes_nothing",
        Preemptions(Some(1), Some(2)).but_plain(0),
        || {
            let (breaker, plain) = after(3 * BLOCK);
            let late = spawn(&breaker, |breaker: &Wide| record(breaker, true));
            // Never clean, so that every call moves the ring.
            let failing = |call: usize| call % 8 < 2;
            let round = spawn(&breaker, move |breaker: &Wide| {
                (0..CALLS).for_each(|call| record(breaker, failing(call)));
            });
            join(late);
            join(round);
            // It may have come between any two of the others: one of these histories happened.
            let history = |place: usize| {
                let mut plain = Plain(plain.0.clone());
                for call in 0..=CALLS {
                    if call == place {
                        plain.record(true);
                    }
                    if call < CALLS {
                        plain.record(failing(call));
                    }
                }
                plain
            };
            let mut histories: Vec<_> = (0..=CALLS).map(history).collect();
            for call in 0..WINDOW + 2 * BLOCK {
                histories.retain(|plain| plain.counts() == counts(&breaker));
                assert!(
                    !histories.is_empty(),
                    "no order of the calls explains {:?} {call} calls later",
                    counts(&breaker)
                );
                record(&breaker, call % 4 == 0);
                histories.iter_mut().for_each(|plain| plain.record(call % 4 == 0));
            }
        },
    );
}

#[test]
fn a_record_stopped_half_way_is_counted_or_not_and_stops_nobody() {
    for at in 0..14 {
        model(
            "long_window::a_record_stopped_half_way_is_counted_or_not_and_stops_nobody",
            Preemptions(Some(1), Some(2)),
            move || {
                let (breaker, mut plain) = after(3 * BLOCK);
                let stopped = spawn(&breaker, move |breaker: &Wide| {
                    stop_after(at, || record(breaker, true));
                });
                bounded(40, || record(&breaker, true));
                join(stopped);
                plain.record(true);
                if counts(&breaker) != plain.counts() {
                    plain.record(true);
                }
                plain.agrees_until_all_is_new(&breaker);
            },
        );
    }
}

#[test]
fn figures_are_those_of_one_instant() {
    model("long_window::figures_are_those_of_one_instant", Preemptions(Some(2), None), || {
        let (breaker, mut plain) = after(3 * BLOCK - 1);
        let writer = spawn(&breaker, |breaker: &Wide| (0..3).for_each(|_| record(breaker, true)));
        let mut possible = vec![plain.counts()];
        for _ in 0..3 {
            plain.record(true);
            possible.push(plain.counts());
        }
        let seen = counts(&breaker);
        assert!(possible.contains(&seen), "{seen:?} is none of {possible:?}");
        join(writer);
    });
}

#[test]
fn a_record_from_before_the_trip_never_counts_in_the_next_window() {
    model(
        "long_window::a_record_from_before_the_trip_never_counts_in_the_next_window",
        Preemptions(Some(2), None),
        || {
            let (breaker, _) = after(3 * BLOCK);
            let late = spawn(&breaker, |breaker: &Wide| {
                let token = breaker.try_admit(NOW, 0).verdict.ok()?;
                Some((token.is_trial(), breaker.settle(token, Outcome::Failure, NOW, NOW, 0).settlement))
            });
            assert!(breaker.reset(NOW).is_some());
            let answer = join(late);
            let (calls, failed) = counts(&breaker);
            assert!(calls <= 1 && calls == failed, "the new window holds at most the late call");
            assert!(matches!(answer, Some((false, Settlement::Counted | Settlement::Stale))));
            let mut plain = Plain(VecDeque::from(vec![true; calls]));
            plain.agrees_until_all_is_new(&breaker);
        },
    );
}

#[test]
fn exactly_one_thread_sees_it_open() {
    model("long_window::exactly_one_thread_sees_it_open", Preemptions(Some(2), None), || {
        let breaker = Arc::new(Wide::with_words(&config(WINDOW as u64)).expect("21 calls take four words"));
        (0..3 * BLOCK - 5).for_each(|_| record(&breaker, true));
        let fail = |breaker: &Wide| {
            let token = breaker.try_admit(NOW, 0).verdict.ok()?;
            breaker.settle(token, Outcome::Failure, NOW, NOW, 0).transition
        };
        let threads = [spawn(&breaker, fail), spawn(&breaker, fail)];
        let mut seen = vec![fail(&breaker)];
        seen.extend(threads.into_iter().map(join));
        let opened: Vec<_> = seen.iter().flatten().collect();
        assert_eq!((opened.len(), opened[0].to, opened[0].failed), (1, State::Open, WINDOW as u32));
    });
}

#[test]
fn a_change_of_length_keeps_the_calls_that_come_in_meanwhile() {
    model("long_window::a_change_of_length_keeps_the_calls_that_come_in_meanwhile", Preemptions(Some(2), None), || {
        let (breaker, mut plain) = after(3 * BLOCK);
        let writer = spawn(&breaker, |breaker: &Wide| record(breaker, true));
        assert!(breaker.configure(&config(25)).is_ok());
        join(writer);
        plain.record(true);
        // Before the change the oldest call makes room; after it nothing has to.
        let kept: usize = plain.0.iter().rev().take(17).filter(|failed| **failed).count();
        let (calls, failed) = counts(&breaker);
        assert!((17..=25).contains(&calls) && failed >= kept, "{failed} of {calls}");
        assert!(breaker.configure(&config(21)).is_ok());
        assert!(breaker.state(NOW) == State::Closed);
    });
}

#[test]
fn a_success_at_a_clean_window_writes_nothing() {
    model("long_window::a_success_at_a_clean_window_writes_nothing", Preemptions(Some(2), None), || {
        let breaker = Arc::new(Wide::with_words(&config(WINDOW as u64)).expect("21 calls take four words"));
        // Granted before the window was clean, so its settlement takes the long way.
        let early = breaker.try_admit(NOW, 0).verdict.expect("it never opens");
        (0..WINDOW).for_each(|_| record(&breaker, false));
        let other = spawn(&breaker, |breaker: &Wide| wrote(|| record(breaker, false)).1);
        let (_, mine) = wrote(|| breaker.settle(early, Outcome::Success, NOW, NOW, 0));
        assert!(mine != Some(true) && join(other) != Some(true), "the healthy path writes");
        assert_eq!(counts(&breaker), (WINDOW, 0));
    });
}
