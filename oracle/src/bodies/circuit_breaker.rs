//! The circuit breaker on arbitrary configurations, operations, times and bytes.

use std::hint::black_box;

use seawall::{
    CircuitBreaker, CircuitBreakerConfig, Instant, Mode, Outcome, Settlement, Token, When, WindowWord, WindowWords,
};

use super::memory::Memory;
use super::source::{Source, last};
use crate::breaker::{Answer, Engine, Model, Op, Step};

/// Runs the engine against the model, or on arbitrary bytes. Returns how many operations were run.
///
/// # Panics
/// When the two differ, or a law that holds on any bytes does not.
pub fn circuit_breaker(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    if source.one_in(4) { on_any_bytes(&mut source) } else { against_the_model(&mut source) }
}

fn against_the_model(source: &mut Source<'_>) -> usize {
    match source.byte() % 4 {
        0 => plain(source),
        1 => with_words::<4>(source),
        2 => with_words::<16>(source),
        _ => with_words::<256>(source),
    }
}

fn plain(source: &mut Source<'_>) -> usize {
    let config: CircuitBreakerConfig = source.config(&[]);
    let (breaker, model) = (CircuitBreaker::new(&config), Model::new(&config));
    assert_eq!(breaker.is_ok(), model.is_some(), "{config:?}: {breaker:?}");
    let (Ok(breaker), Some(model)) = (breaker, model) else { return 1 };
    side_by_side(source, &config, &breaker, model)
}

/// A breaker whose words hold a longer window, used through the form that knows no length.
fn with_words<const N: usize>(source: &mut Source<'_>) -> usize {
    let config: CircuitBreakerConfig = source.config(&[]);
    let breaker = CircuitBreaker::<[WindowWord; N]>::with_words(&config);
    let model = Model::with_words(&config, N as u64);
    assert_eq!(breaker.is_ok(), model.is_some(), "{config:?}: {breaker:?}");
    let (Ok(breaker), Some(model)) = (breaker, model) else { return 1 };
    let breaker: &CircuitBreaker<[WindowWord]> = &breaker;
    side_by_side(source, &config, breaker, model)
}

fn side_by_side<S: WindowWords + ?Sized>(
    source: &mut Source<'_>,
    config: &CircuitBreakerConfig,
    breaker: &CircuitBreaker<S>,
    mut model: Model,
) -> usize {
    let mut recent = Vec::new();
    let mut engine = Engine::new(breaker);
    let mut operations = 0;
    let mut both = |step: Step, model: &mut Model| {
        let (got, want) = (engine.apply(&step), model.apply(&step));
        recent.push((step, want));
        assert_eq!(got, want, "engine and model differ after {operations} operations\n{config:?}\n{}", last(&recent));
        operations += 1;
        got
    };
    while !source.is_empty() {
        if source.one_in(8) {
            run_of_calls(source, &mut model, &mut both);
        } else {
            let step = step(source, model.permits());
            let got = both(step, &mut model);
            remember(source, &got);
        }
    }
    operations
}

/// Up to 64 calls one after another, so that long windows fill.
fn run_of_calls(source: &mut Source<'_>, model: &mut Model, both: &mut impl FnMut(Step, &mut Model) -> Answer) {
    let now = source.tick();
    let calls = source.byte() % 65;
    let failing = source.bytes(8) & source.bytes(8) & source.bytes(8);
    for call in 0..u64::from(calls) {
        let admitted = both(Step { op: Op::Admit, now, r: 0 }, model);
        if let Answer::Admitted { .. } = admitted {
            let outcome = if failing >> call & 1 == 1 { Outcome::Failure } else { Outcome::Success };
            both(Step { op: Op::Settle { permit: model.permits() - 1, outcome }, now, r: 0 }, model);
        }
    }
}

fn step(source: &mut Source<'_>, permits: usize) -> Step {
    let kind = source.byte();
    let now = source.tick();
    let op = match kind % 32 {
        0..=9 => Op::Admit,
        10..=22 if permits > 0 => {
            // Mostly one of the last: what is old is stale.
            let newest = source.below(if kind >= 224 { permits } else { permits.min(6) });
            Op::Settle { permit: permits - 1 - newest, outcome: outcome(source) }
        }
        23 => Op::Trip { until: source.one_in(2).then(|| instant(source)) },
        24 => Op::HalfOpen,
        25 if kind >= 128 => Op::Reset,
        26 => Op::Configure(source.config(&[])),
        27 => Op::SetMode(Mode::from_number(u64::from(source.byte() % 4))),
        28 => Op::State,
        29..=31 => Op::Snapshot,
        _ => Op::Admit,
    };
    Step { op, now, r: if kind >= 192 { source.bytes(8) } else { 0 } }
}

fn outcome(source: &mut Source<'_>) -> Outcome {
    match source.byte() % 8 {
        0..=2 => Outcome::Success,
        3..=5 => Outcome::Failure,
        6 => Outcome::FailureUntil(Instant::from_nanos(instant(source))),
        _ => Outcome::Ignored,
    }
}

fn instant(source: &mut Source<'_>) -> u64 {
    let now = source.now;
    match source.byte() % 4 {
        0 => source.bytes(8),
        1 => now.saturating_sub(source.span()),
        _ => now.saturating_add(source.span()),
    }
}

fn remember(source: &mut Source<'_>, answer: &Answer) {
    let change = match answer {
        Answer::Refused { no, change } => {
            if let When::At(at) | When::Depends { estimate: Some(at) } = no.when {
                source.named = at.as_nanos();
            }
            *change
        }
        Answer::Settled { change, .. } | Answer::Changed(change) => *change,
        Answer::Figures(figures) => {
            source.named = figures.until.unwrap_or(source.named);
            None
        }
        _ => None,
    };
    if let Some(until) = change.and_then(|change| change.until) {
        source.named = until;
    }
}

const WORDS: usize = size_of::<CircuitBreaker>() / 8;
const SLOT_WORDS: usize = 7;

fn on_any_bytes(source: &mut Source<'_>) -> usize {
    let beside = [0, 1, 4, 16][source.below(4)];
    let mut memory = Memory::arbitrary(source, WORDS + beside, 3, 4, SLOT_WORDS);
    let mut tokens = vec![Token::from_bits(0), Token::from_bits(u32::MAX)];
    let mut operations = 0;
    while !source.is_empty() {
        operations += 1;
        let kind = source.byte();
        let now = Instant::from_nanos(source.tick());
        let before = memory.words();
        let breaker: &CircuitBreaker<[WindowWord]> = memory.state();
        let may_write = match kind % 16 {
            0..=5 => {
                let admission = breaker.try_admit(now, source.bytes(2));
                match admission.verdict {
                    Ok(token) => tokens.push(token),
                    Err(no) => assert!(no.explain(now).len() > 10),
                }
                // A refusal writes nothing, unless it is the one that opened it again.
                admission.verdict.is_ok() || admission.transition.is_some()
            }
            6..=11 => {
                let token = match source.byte() % 8 {
                    0 => Token::from_bits(source.bytes(4) as u32),
                    _ => tokens[source.below(tokens.len())],
                };
                let settled = breaker.settle(token, outcome(source), now, now, source.bytes(2));
                settled.settlement != Settlement::Stale
            }
            12 => breaker.trip(now, (kind > 128).then(|| Instant::from_nanos(source.bytes(8))), 7).is_some(),
            13 => breaker.half_open(now).is_some(),
            14 if kind > 128 => breaker.reset(now).is_some(),
            14 => {
                black_box(breaker.configure(&source.config(&[])).is_ok());
                true
            }
            _ => {
                black_box((breaker.state(now), breaker.mode(), breaker.is_configured()));
                let snapshot = breaker.snapshot(now);
                assert!(snapshot.is_none_or(|s| s.explain(now).len() > 10 && s.failed <= s.calls.max(s.failed)));
                assert!(!breaker.explain(now).is_empty());
                false
            }
        };
        assert!(may_write || memory.words() == before, "wrote without a reason ({kind})");
    }
    operations
}
