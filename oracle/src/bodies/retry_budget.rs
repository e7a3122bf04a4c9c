//! The retry budget on arbitrary configurations, operations, times and bytes.

use std::hint::black_box;

use seawall::{Instant, RetryBudget, RetryBudgetConfig, When};

use super::memory::Memory;
use super::source::{Source, last};
use crate::budget::{Answer, Engine, Model, Op};

/// Runs the engine against the model, or on arbitrary bytes. Returns how many operations were run.
///
/// # Panics
/// When the two differ, or a law that holds on any bytes does not.
pub fn retry_budget(data: &[u8]) -> usize {
    let mut source = Source::new(data);
    if source.one_in(4) { on_any_bytes(&mut source) } else { against_the_model(&mut source) }
}

fn against_the_model(source: &mut Source<'_>) -> usize {
    let config = config(source);
    let now = source.tick();
    let budget = RetryBudget::new(&config, Instant::from_nanos(now));
    let model = Model::new(&config, now);
    assert_eq!(budget.is_ok(), model.is_some(), "{config:?}: {budget:?}");
    let (Ok(budget), Some(mut model)) = (budget, model) else { return 1 };
    let mut recent = Vec::new();
    let mut operations = 0;
    while !source.is_empty() {
        let op = op(source);
        let now = source.tick();
        let (got, want) = (Engine(&budget).apply(op, now).0, model.apply(op, now));
        recent.push((op, now, want));
        assert_eq!(got, want, "engine and model differ after {operations} operations\n{config:?}\n{}", last(&recent));
        if let Answer::Refused(no) = got
            && let When::Depends { estimate: Some(at) } = no.when
        {
            source.named = at.as_nanos();
        }
        operations += 1;
    }
    operations
}

fn config(source: &mut Source<'_>) -> RetryBudgetConfig {
    if source.one_in(2) { source.config(&[]) } else { source.config(&["min_per_second", "capacity"]) }
}

fn op(source: &mut Source<'_>) -> Op {
    match source.byte() % 32 {
        0..=9 => Op::Deposit,
        10..=21 => Op::Withdraw,
        22 | 23 => Op::Peek,
        24..=26 => Op::Refund,
        27 => Op::Reset,
        28 | 29 => Op::Balance,
        _ => Op::Configure(config(source)),
    }
}

const WORDS: usize = size_of::<RetryBudget>() / 8;

fn on_any_bytes(source: &mut Source<'_>) -> usize {
    let mut memory = Memory::arbitrary(source, WORDS, 3, 4, 1);
    let mut operations = 0;
    while !source.is_empty() {
        operations += 1;
        let op = op(source);
        let now = source.tick();
        let before = memory.words();
        let budget: &RetryBudget = memory.state();
        let at = Instant::from_nanos(now);
        let may_write = match op {
            Op::Withdraw => budget.withdraw(at).map_err(|no| no.explain(at)).is_ok(),
            Op::Peek => {
                black_box(budget.peek(at).is_ok());
                false
            }
            Op::Balance => {
                black_box((budget.balance_ppm(at), budget.is_full(), budget.is_configured()));
                false
            }
            Op::Deposit if budget.is_full() => {
                budget.deposit(at);
                false
            }
            Op::Deposit => {
                budget.deposit(at);
                true
            }
            Op::Refund => {
                budget.refund(at);
                true
            }
            Op::Reset => {
                budget.reset(at);
                true
            }
            Op::Configure(config) => {
                black_box(budget.configure(&config, at).is_ok());
                true
            }
        };
        assert!(may_write || memory.words() == before, "wrote without a reason ({op:?})");
    }
    operations
}
