//! The one compare-and-swap loop.

use std::sync::Arc;
use std::vec::Vec;

use seawall::model_access::{Cell, Mark};

use super::harness::{ALL, Preemptions, bounded, fail_next_exchange, join, model, rounds, spawn, stop_after, wrote};

fn add(cell: &Cell<1>) -> u64 {
    cell.publish(|value, _| (value + 1, value)).expect("it is configured")
}

#[test]
fn no_update_is_lost() {
    model("cell::no_update_is_lost", Preemptions(Some(3), None), || {
        let cell = Arc::new(Cell::new(0, [7]));
        let work = |cell: &Cell<1>| (0..rounds(1, 4)).map(|_| add(cell)).collect::<Vec<_>>();
        let threads = [spawn(&cell, work), spawn(&cell, work)];
        let mut seen = work(&cell);
        seen.extend(threads.into_iter().flat_map(join));
        seen.sort_unstable();
        assert_eq!(seen, (0..3 * rounds(1, 4) as u64).collect::<Vec<_>>(), "each update saw the one before it");
        assert_eq!(cell.read(), Some((seen.len() as u64, [7])));
    });
}

#[test]
fn an_exchange_that_fails_for_no_reason_is_tried_again() {
    model("cell::an_exchange_that_fails_for_no_reason_is_tried_again", ALL, || {
        let cell = Arc::new(Cell::new(0, [7]));
        let other = spawn(&cell, |cell| {
            fail_next_exchange();
            add(cell)
        });
        fail_next_exchange();
        let mut seen = [add(&cell), join(other)];
        seen.sort_unstable();
        assert_eq!(seen, [0, 1]);
    });
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    model("cell::an_update_that_changes_nothing_writes_nothing", ALL, || {
        let cell = Arc::new(Cell::new(5, [7]));
        let reader = spawn(&cell, |cell| wrote(|| cell.publish(|value, _| (value, value))));
        assert_eq!(add(&cell), 5);
        let (seen, wrote) = join(reader);
        assert_ne!(wrote, Some(true));
        assert!(matches!(seen, Some(5 | 6)));
        assert_eq!(cell.read(), Some((6, [7])));
    });
}

#[test]
fn what_was_done_before_an_update_is_seen_by_whoever_sees_the_update() {
    model("cell::what_was_done_before_an_update_is_seen_by_whoever_sees_the_update", ALL, || {
        let shared = Arc::new((Cell::new(0, [7]), Mark::new()));
        let other = spawn(&shared, |(cell, mark)| {
            mark.set();
            add(cell);
        });
        let (cell, mark) = &*shared;
        if add(cell) == 1 {
            assert!(mark.is_set());
        }
        join(other);
    });
}

#[test]
fn what_was_done_before_an_update_is_seen_by_whoever_reads_it() {
    model("cell::what_was_done_before_an_update_is_seen_by_whoever_reads_it", ALL, || {
        let shared = Arc::new((Cell::new(0, [7]), Mark::new()));
        let reader = spawn(&shared, |(cell, mark)| {
            if cell.read() == Some((1, [7])) {
                assert!(mark.is_set());
            }
        });
        let (cell, mark) = &*shared;
        mark.set();
        add(cell);
        join(reader);
    });
}

#[test]
fn a_value_that_came_back_still_hands_over() {
    // Lowest bit on, mark, lowest bit off: the value is back. Whoever goes on from there sees the mark,
    // even when it loaded the value before the round trip.
    model("cell::a_value_that_came_back_still_hands_over", Preemptions(Some(3), None), || {
        let shared = Arc::new((Cell::new(0, [7]), Mark::new()));
        fn flip(cell: &Cell<1>, bit: u64) -> u64 {
            cell.publish(|value, _| (value ^ bit, value)).expect("it is configured")
        }
        let other = spawn(&shared, |(cell, mark)| {
            flip(cell, 1);
            mark.set();
            flip(cell, 1)
        });
        let (cell, mark) = &*shared;
        flip(cell, 2);
        let seen = mark.is_set();
        let before_the_return = join(other) & 2 != 0;
        assert!(before_the_return || seen);
    });
}

#[test]
fn a_thread_stopped_anywhere_delays_nobody() {
    for accesses in 1..=4 {
        model("cell::a_thread_stopped_anywhere_delays_nobody", ALL, move || {
            let cell = Arc::new(Cell::new(0, [7]));
            let stopped = spawn(&cell, move |cell| stop_after(accesses, || add(cell)).is_some());
            // Load, slot, exchange; again for the one exchange that the other may have won.
            let seen = bounded(6, || add(&cell));
            let finished = join(stopped);
            let (value, _) = cell.read().expect("it is configured");
            assert!(seen <= 1 && value > u64::from(finished) && value <= 2);
        });
    }
}
