//! The event ring: in order against a queue, and on arbitrary bytes.

use std::collections::VecDeque;

use seawall::{CircuitBreaker, CircuitBreakerConfig, EventRing, Instant, RingCursor, Transition};

use super::memory::Memory;
use super::source::Source;

/// Runs a ring of up to 16 events against a plain queue, or on arbitrary bytes. Returns how many
/// operations were run.
///
/// # Panics
/// When ring and queue differ.
pub fn event_ring(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let words = 2 + 4 * (1 + source.below(16)) + source.below(4);
    if source.one_in(4) { on_any_bytes(&mut source, words) } else { against_a_queue(&mut source, words) }
}

fn transition(source: &mut Source<'_>) -> Transition {
    let config = CircuitBreakerConfig::new().max_retry_after(std::time::Duration::from_secs(source.bytes(2) + 1));
    let breaker = CircuitBreaker::new(&config).expect("a possible configuration");
    let now = Instant::from_nanos(source.tick());
    let until = source.one_in(2).then(|| Instant::from_nanos(source.bytes(8)));
    let tripped = breaker.trip(now, until, source.bytes(8)).expect("it is configured");
    match source.byte() % 4 {
        0 => breaker.half_open(now).expect("it was open"),
        1 => breaker.reset(now).expect("it is configured"),
        _ => tripped,
    }
}

fn against_a_queue(source: &mut Source<'_>, words: usize) -> usize {
    let mut memory = Memory::zeroed(words);
    let ring: &EventRing = memory.state();
    ring.init();
    let capacity = ring.capacity();
    assert_eq!(capacity, (words - 2) / 4);
    let mut kept: VecDeque<(u64, u16, Transition)> = VecDeque::new();
    let mut pushed = 0;
    let mut cursors = [(RingCursor::default(), 0u64, 0u64); 3];
    let mut operations = 0;
    while !source.is_empty() {
        operations += 1;
        let kind = source.byte();
        if kind.is_multiple_of(2) {
            let event = (pushed, source.bytes(2) as u16, transition(source));
            ring.push(event.1, &event.2);
            kept.push_back(event);
            pushed += 1;
            if kept.len() > capacity {
                kept.pop_front();
            }
        } else {
            let (cursor, place, missed) = &mut cursors[usize::from(kind / 2) % 3];
            let oldest = kept.front().map_or(pushed, |event| event.0);
            *missed += oldest.saturating_sub(*place);
            *place = (*place).max(oldest);
            let want = kept.iter().find(|event| event.0 == *place).map(|event| (event.1, event.2));
            *place += u64::from(want.is_some());
            assert_eq!(ring.poll(cursor), want);
            assert_eq!(cursor.missed, *missed);
        }
    }
    operations
}

fn on_any_bytes(source: &mut Source<'_>, words: usize) -> usize {
    let mut memory = Memory::arbitrary(source, words, 0, 0, 0);
    let valid_head = !source.one_in(4);
    let mut operations = 0;
    if valid_head {
        // The head of a ring of this size over bytes that were never events.
        let mut fresh = Memory::zeroed(words);
        fresh.state::<EventRing>().init();
        memory.set_first(fresh.words()[0]);
    }
    let mut cursor = RingCursor::default();
    let ring: &EventRing = memory.state();
    while !source.is_empty() {
        operations += 1;
        if source.one_in(4) {
            ring.push(3, &transition(source));
        } else if let Some((_, transition)) = ring.poll(&mut cursor) {
            assert!(!transition.cause.name().is_empty());
        }
    }
    operations
}
