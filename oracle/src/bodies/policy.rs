//! Whole calls on arbitrary configurations, inputs, times and bytes.

use std::time::Duration;

use seawall::policy::{Call, Late, Policy, PolicyConfig, Step, Told};
use seawall::{
    BackoffConfig, CircuitBreakerConfig, Deadline, Evidence, ExpiredTrials, Failure, Idempotent, Instant, OnRetryAfter,
    RetryBudgetConfig, RetryConfig, Timeouts, TimeoutsConfig, TokenBucketConfig,
};

use super::source::{Source, last};
use crate::policy::{Config, Ended, Engine, Model, Op, Parts, Said, Say};

/// So many calls share the parts.
const CALLS: usize = 3;

/// Runs the engine against the model, or on arbitrary bytes. Returns how many operations were run.
///
/// # Panics
/// When the two differ, or a law that holds on any bytes does not.
pub fn policy(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    let mut config = config(&mut source);
    if source.one_in(4) {
        config.timeouts = config.timeouts.connect(Duration::ZERO);
        on_any_bytes(&mut source, &config)
    } else {
        against_the_model(&mut source, &config)
    }
}

/// Everyday numbers, so that calls live long enough for the parts to matter.
fn everyday(source: &mut Source<'_>) -> Config {
    let ms = Duration::from_millis;
    let pick = |source: &mut Source<'_>, from: &[u64]| from[source.below(from.len())];
    let attempt = pick(source, &[0, 0, 250, 1_000]);
    let breaker = CircuitBreakerConfig::consecutive(pick(source, &[1, 2, 3]))
        .trials(pick(source, &[1, 2]))
        .reset_after(ms(pick(source, &[50, 1_000, 30_000])))
        .expired_trials(ExpiredTrials::from_number(pick(source, &[0, 1, 2])));
    let rules = RetryConfig::new()
        .attempts(pick(source, &[2, 3, 5]))
        .idempotent(Idempotent::from_number(pick(source, &[0, 0, 0, 1, 2])))
        .on_retry_after(OnRetryAfter::from_number(pick(source, &[0, 0, 0, 1, 2, 3])));
    let limit = TokenBucketConfig::per_second(pick(source, &[2, 20]), pick(source, &[1, 3]));
    Config {
        policy: PolicyConfig::new()
            .expected(ms(pick(source, &[0, 0, 40])))
            .max_wait(ms(pick(source, &[0, 300, 5_000])))
            .late(Late::from_number(pick(source, &[0, 0, 1]))),
        timeouts: TimeoutsConfig::new()
            .connect(ms(0))
            .attempt(ms(attempt))
            .total(ms(pick(source, &[0, 0, 1_000, 5_000]))),
        retry: Some((rules, BackoffConfig::new().base(ms(pick(source, &[1, 100]))))),
        budget: source.one_in(2).then(|| RetryBudgetConfig::new().capacity(pick(source, &[1, 3]))),
        breaker: (!source.one_in(4)).then_some(breaker),
        rate_limit: source.one_in(2).then_some(limit),
    }
}

fn config(source: &mut Source<'_>) -> Config {
    if !source.one_in(3) {
        return everyday(source);
    }
    // Mostly with what must be stated.
    let all = ["connect", "attempt", "total"];
    let timeouts = if source.one_in(16) { &all[..2] } else { &all };
    let stated: &[&str] = if source.one_in(16) { &[] } else { &["idempotent"] };
    let has = |source: &mut Source<'_>| source.one_in(2);
    Config {
        policy: if source.one_in(3) { source.config(&[]) } else { PolicyConfig::new() },
        timeouts: source.config(timeouts),
        retry: (!source.one_in(8)).then(|| (source.config(stated), source.config(&["base", "cap"]))),
        budget: has(source).then(|| source.config(&["capacity"])),
        breaker: has(source).then(|| source.config(&["failure_threshold"])),
        rate_limit: match source.byte() % 6 {
            0 => Some(source.config(&["rate", "capacity"])),
            1 | 2 => Some(TokenBucketConfig::per_second(5, 2)),
            _ => None,
        },
    }
}

fn against_the_model(source: &mut Source<'_>, config: &Config) -> usize {
    let now = source.tick();
    let at = Instant::from_nanos(now);
    let parts = Parts::new(config, at);
    let policy = parts.as_ref().map_err(Clone::clone).and_then(|parts| parts.policy(config));
    let model = Model::new(config, now, CALLS);
    assert_eq!(policy.is_ok(), model.is_some(), "{config:?}: {policy:?}");
    let (Ok(parts), Ok(policy), Some(mut model)) = (&parts, policy, model) else { return 1 };
    let mut engine = Engine::new(parts, policy, CALLS);
    let mut recent = Vec::new();
    let mut operations = 0;
    let mut known = Known::default();
    while !source.is_empty() {
        let op = op(source, &known);
        let now = tick(source);
        let r = if source.one_in(2) { 0 } else { source.bytes(8) };
        let (got, want) = (engine.apply(&op, now, r), model.apply(&op, now, r));
        recent.push((op, now, r, want.clone()));
        assert_eq!(got, want, "engine and model differ after {operations} operations\n{config:?}\n{}", last(&recent));
        known.learn(&got, source);
        operations += 1;
    }
    operations
}

/// Mostly a little later, or when something is due; sometimes any other time.
fn tick(source: &mut Source<'_>) -> u64 {
    match source.byte() % 64 {
        0 => source.tick(),
        1..=30 => source.now,
        31..=45 => {
            source.now = source.now.saturating_add(source.bytes(1) << 20);
            source.now
        }
        _ => {
            source.now = source.now.max(source.named.min(source.now.saturating_add(100_000_000_000)));
            source.now
        }
    }
}

/// What an input may name.
#[derive(Debug, Default)]
struct Known {
    attempt: u32,
    ticket: u64,
}

impl Known {
    fn learn(&mut self, said: &Said, source: &mut Source<'_>) {
        let Said::Steps(steps) = said else { return };
        for step in steps {
            match *step {
                Say::Run { attempt, until, .. } => (self.attempt, source.named) = (attempt, until),
                Say::Wait { until, ticket, .. } => (self.ticket, source.named) = (ticket, until),
                Say::Changed(change) => source.named = change.until.unwrap_or(source.named),
                _ => {}
            }
        }
    }
}

fn op(source: &mut Source<'_>, known: &Known) -> Op {
    let call = source.below(CALLS);
    let near = |source: &mut Source<'_>, value: u64| match source.byte() % 8 {
        0 => value.wrapping_add(1),
        1 => source.bytes(4),
        _ => value,
    };
    match source.byte() % 32 {
        0..=5 => {
            let deadline = match source.byte() % 4 {
                0 => Deadline::at(Instant::from_nanos(source.now.saturating_add(source.span()))),
                1 => Deadline::at(Instant::from_nanos(source.bytes(8))),
                _ => Deadline::NEVER,
            };
            Op::Start { call, deadline }
        }
        6..=18 => Op::Poll { call },
        19..=28 => {
            let attempt = near(source, u64::from(known.attempt)) as u32;
            Op::Finish { call, attempt, result: ended(source) }
        }
        29 => Op::Wake { call, ticket: near(source, known.ticket) },
        30 => Op::Cancel { call },
        _ => Op::Fail,
    }
}

fn ended(source: &mut Source<'_>) -> Ended {
    let byte = source.byte();
    if byte.is_multiple_of(3) {
        return Ended::SUCCESS;
    }
    let told = match source.byte() % 8 {
        0..=4 => Told::Nothing,
        5 | 6 => Told::Wait(Duration::from_nanos(source.span())),
        _ => Told::Stop,
    };
    let any = |source: &mut Source<'_>, count: usize| source.below(count);
    let failure = Failure::ALL[any(source, Failure::ALL.len())];
    let breaker = Evidence::ALL[any(source, Evidence::ALL.len())];
    Ended { failure: Some(failure), retryable: byte % 4 != 1, breaker, told }
}

const WORDS: usize = size_of::<Call>() / 8;

/// Whatever bytes a call is made of, and whoever polls it with whatever policy: it comes to rest, waits for
/// nothing that has passed, and ends for good.
fn on_any_bytes(source: &mut Source<'_>, config: &Config) -> usize {
    let at = Instant::from_nanos(source.tick());
    let Ok(parts) = Parts::new(config, at) else { return 1 };
    let bare = Policy::new(&PolicyConfig::new(), Timeouts::NONE).expect("nothing is impossible in it");
    let policy = parts.policy(config).unwrap_or(bare);
    let mut words = [0; WORDS];
    for word in &mut words {
        *word = if source.one_in(2) { source.bytes(8) } else { source.bytes(1) };
    }
    if !source.one_in(8) {
        words[0] = started_head();
        // A stage that there is, and few attempts so far.
        words[1] = u64::from(source.byte() % 10);
        words[2] &= 0x3_0000_FF00;
    }
    let mut call = call_of(words);
    let mut known = Known::default();
    let mut operations = 0;
    while !source.is_empty() {
        let op = op(source, &known);
        let now = source.tick();
        let r = source.bytes(1);
        match op {
            Op::Start { deadline, .. } => drop(call.start(deadline)),
            Op::Finish { attempt, result, .. } => drop(call.finished(attempt, result.finish())),
            Op::Wake { ticket, .. } => drop(call.woken(ticket)),
            Op::Cancel { .. } => drop(call.cancelled()),
            Op::Poll { .. } | Op::Fail => {
                let policy = if source.one_in(16) { &bare } else { &policy };
                comes_to_rest(&mut call, policy, now, r, &mut known, source);
            }
        }
        operations += 1;
    }
    operations
}

fn comes_to_rest(call: &mut Call, policy: &Policy<'_>, now: u64, r: u64, known: &mut Known, source: &mut Source<'_>) {
    let at = Instant::from_nanos(now);
    for _ in 0..32 {
        let step = call.poll(policy, at, r);
        known.learn(&Said::Steps(vec![step.into()]), source);
        match step {
            Step::Wait { until, .. } => {
                assert!(until > at || until == Instant::MAX, "it waits for what has passed: {step:?} at {now}");
                return;
            }
            Step::Done(ending) => {
                assert_eq!(call.poll(policy, at, r), Step::Done(ending), "an ending stands");
                return;
            }
            _ => {}
        }
    }
    panic!("it does not come to rest: {call:?}");
}

/// A call of these words.
fn call_of(words: [u64; WORDS]) -> Call {
    // SAFETY: a call is 64-bit words throughout (`size_of` says how many), and every bit pattern is a value.
    unsafe { std::mem::transmute::<[u64; WORDS], Call>(words) }
}

/// The first word of a call that was started.
fn started_head() -> u64 {
    let mut call = Call::new();
    call.start(Deadline::NEVER);
    // SAFETY: as in `call_of`, the other way round.
    let words = unsafe { std::mem::transmute::<Call, [u64; WORDS]>(call) };
    words[0]
}
