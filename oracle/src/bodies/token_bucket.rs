//! The token bucket on arbitrary configurations, operations, times and bytes.

use std::hint::black_box;
use std::time::Duration;

use seawall::{Instant, Reservation, TokenBucket, TokenBucketConfig, When};

use super::memory::Memory;
use super::source::{Source, last};
use crate::bucket::{Answer, Engine, Model, Op, Step};

/// Runs the engine against the model, or on arbitrary bytes. Returns how many operations were run.
///
/// # Panics
/// When the two differ, or a law that holds on any bytes does not.
pub fn token_bucket(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    if source.one_in(4) { on_any_bytes(&mut source) } else { against_the_model(&mut source) }
}

fn against_the_model(source: &mut Source<'_>) -> usize {
    let config = config(source);
    let now = source.tick();
    let bucket = TokenBucket::new(&config, Instant::from_nanos(now));
    let model = Model::new(&config, now);
    assert_eq!(bucket.is_ok(), model.is_some(), "{config:?}: {bucket:?}");
    let (Ok(bucket), Some(mut model)) = (bucket, model) else { return 1 };
    let mut recent = Vec::new();
    let mut engine = Engine::new(&bucket);
    let mut operations = 0;
    while !source.is_empty() {
        let step = step(source, model.reservations());
        let (got, want) = (engine.apply(&step), model.apply(&step));
        recent.push((step, want));
        assert_eq!(got, want, "engine and model differ after {operations} operations\n{config:?}\n{}", last(&recent));
        match got {
            Answer::Refused(no) => {
                if let When::At(at) = no.when {
                    source.named = at.as_nanos();
                }
            }
            Answer::Reserved { at } => source.named = at,
            _ => {}
        }
        operations += 1;
    }
    operations
}

fn config(source: &mut Source<'_>) -> TokenBucketConfig {
    if source.one_in(4) {
        return source.config(&["rate", "capacity"]);
    }
    let rate = match source.byte() % 4 {
        0 => source.bytes(1) + 1,
        1 => source.bytes(2) + 1,
        2 => source.bytes(4) % 10_000_000_000 + 1,
        _ => 10_000_000_000,
    };
    let capacity = if source.one_in(4) { source.bytes(4) } else { source.bytes(1) } + 1;
    let config = TokenBucketConfig::per_second(rate, capacity);
    if source.one_in(4) { config.start(seawall::Fill::Empty) } else { config }
}

fn step(source: &mut Source<'_>, reservations: usize) -> Step {
    let kind = source.byte();
    let now = source.tick();
    let op = match kind % 32 {
        0..=11 => Op::Take { cost: cost(source) },
        12..=14 => Op::Peek { cost: cost(source) },
        15..=20 => Op::Reserve { cost: cost(source), max_wait: source.span() },
        21..=26 if reservations > 0 => {
            let newest = source.below(reservations.min(4));
            Op::Cancel { reservation: reservations - 1 - newest }
        }
        27 => Op::Drain,
        28 => Op::Reset,
        29 | 30 => Op::Configure(config(source)),
        _ => Op::Take { cost: 1 },
    };
    Step { op, now }
}

fn cost(source: &mut Source<'_>) -> u64 {
    match source.byte() % 8 {
        0..=3 => 1,
        4 | 5 => source.bytes(1) % 16,
        6 => source.bytes(2),
        _ => source.bytes(8),
    }
}

const WORDS: usize = size_of::<TokenBucket>() / 8;

fn on_any_bytes(source: &mut Source<'_>) -> usize {
    let mut memory = Memory::arbitrary(source, WORDS, 3, 4, 2);
    let mut held = Vec::new();
    let mut operations = 0;
    while !source.is_empty() {
        operations += 1;
        let kind = source.byte();
        let now = Instant::from_nanos(source.tick());
        let before = memory.words();
        let bucket: &TokenBucket = memory.state();
        let may_write = match kind % 16 {
            0..=5 => match bucket.try_acquire(cost(source), now) {
                Ok(grant) => {
                    black_box((grant.remaining(), grant.reset_after()));
                    true
                }
                Err(no) => no.explain(now).is_empty(),
            },
            6 | 7 => {
                black_box(bucket.peek(cost(source), now).is_ok());
                false
            }
            8 | 9 => {
                let reserved = bucket.reserve(cost(source), Duration::from_nanos(source.span()), now);
                let taken = reserved.is_ok();
                held.extend(reserved.ok());
                taken
            }
            10 | 11 => {
                let reservation = match held.pop() {
                    Some(reservation) if kind < 128 => reservation,
                    _ => Reservation::from_words(core::array::from_fn(|_| source.bytes(8))),
                };
                assert_eq!(Reservation::from_words(reservation.to_words()), reservation);
                black_box(bucket.cancel(reservation, now));
                true
            }
            12 => {
                bucket.drain(now);
                true
            }
            13 => {
                bucket.reset(now);
                true
            }
            14 => {
                black_box(bucket.configure(&config(source), now).is_ok());
                true
            }
            _ => {
                black_box(bucket.is_configured());
                false
            }
        };
        assert!(may_write || memory.words() == before, "wrote without a reason ({kind})");
    }
    operations
}
