//! The ring of the last events.

use std::sync::Arc;

use seawall::model_access::{Mark, poll, push};
use seawall::{EventRing, RingCursor};

use super::harness::{ALL, Preemptions, bounded, join, model, rounds, spawn, stop_after};

/// A ring of one event: every push laps it.
fn ring() -> Arc<EventRing> {
    Arc::new(EventRing::<[_; 4]>::new())
}

/// Four words that belong together.
fn event(number: u64) -> [u64; 4] {
    [number; 4]
}

fn number([a, b, c, d]: [u64; 4]) -> u64 {
    assert!(a == b && b == c && c == d, "a torn event: {a} {b} {c} {d}");
    a
}

#[test]
fn an_event_is_whole_or_not_there() {
    model("event_ring::an_event_is_whole_or_not_there", Preemptions(Some(2), Some(3)).but_plain(1), || {
        let ring = ring();
        let pusher =
            |first: u64| move |ring: &EventRing| (0..rounds(1, 5) as u64).for_each(|i| push(ring, event(first + i)));
        let threads = [spawn(&ring, pusher(10)), spawn(&ring, pusher(20))];
        let mut cursor = RingCursor::default();
        for _ in 0..rounds(2, 10) {
            if let Some(event) = poll(&ring, &mut cursor) {
                number(event);
            }
        }
        threads.into_iter().for_each(join);
        // Nobody is under way any more, so the newest is there, whatever overtook what.
        let mut cursor = RingCursor::default();
        let last = number(poll(&ring, &mut cursor).expect("the newest event"));
        assert!(last % 10 == rounds(1, 5) as u64 - 1, "the newest of its thread");
        assert_eq!(cursor.missed, 2 * rounds(1, 5) as u64 - 1);
        assert_eq!(poll(&ring, &mut cursor), None);
    });
}

#[test]
fn one_pusher_s_events_come_in_order() {
    model("event_ring::one_pusher_s_events_come_in_order", Preemptions(Some(3), None), || {
        let ring = ring();
        let pusher = spawn(&ring, |ring: &EventRing| (1..=rounds(2, 8) as u64).for_each(|n| push(ring, event(n))));
        let (mut cursor, mut last, mut seen) = (RingCursor::default(), 0, 0);
        for _ in 0..rounds(2, 8) {
            if let Some(event) = poll(&ring, &mut cursor) {
                assert!(number(event) > last);
                (last, seen) = (event[0], seen + 1);
                assert_eq!(cursor.missed + seen, last, "each was seen or is known to be missed");
            }
        }
        join(pusher);
    });
}

#[test]
fn a_pusher_stopped_anywhere_costs_its_own_event() {
    // Ticket, then load and exchange for each of four words.
    for accesses in 1..=10 {
        model("event_ring::a_pusher_stopped_anywhere_costs_its_own_event", Preemptions(Some(2), None), move || {
            let ring = ring();
            let stopped = spawn(&ring, move |ring: &EventRing| {
                stop_after(accesses, || push(ring, event(9)));
            });
            bounded(20, || push(&ring, event(1)));
            bounded(20, || push(&ring, event(2)));
            let mut cursor = RingCursor::default();
            if let Some(event) = bounded(20, || poll(&ring, &mut cursor)) {
                assert!(matches!(number(event), 1 | 2 | 9));
            }
            join(stopped);
            push(&ring, event(3));
            assert_eq!(bounded(20, || poll(&ring, &mut cursor)).map(number), Some(3));
        });
    }
}

#[test]
fn what_was_done_before_a_push_is_seen_by_whoever_polls_it() {
    model("event_ring::what_was_done_before_a_push_is_seen_by_whoever_polls_it", ALL, || {
        let (ring, mark) = (ring(), Arc::new(Mark::new()));
        let done = mark.clone();
        let pusher = spawn(&ring, move |ring: &EventRing| {
            done.set();
            push(ring, event(1));
        });
        if poll(&ring, &mut RingCursor::default()).is_some() {
            assert!(mark.is_set());
        }
        join(pusher);
    });
}
