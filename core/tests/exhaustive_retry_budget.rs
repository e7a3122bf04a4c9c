//! Every way through small retry budgets, breadth first, engine and plain model side by side.
//!
//! A node is a state of the engine (its bytes) at an instant; an edge is an operation at one of a few
//! distances in time. Nodes seen before are not walked on from. Both answer every edge alike, or the way there
//! is printed.

mod common;

use std::collections::{HashSet, VecDeque};

use common::S;
use seawall::{Instant, Ratio, RetryBudget, RetryBudgetConfig, place};
use seawall_oracle::budget::{Answer, Engine, Model, Op};

/// Time is kept in units of so many nanoseconds.
const UNIT: u64 = 1 << 24;

type Words = [u64; size_of::<RetryBudget>() / 8];

/// A state's bytes, copied from node to node.
fn with<A>(memory: &mut Words, run: impl FnOnce(&RetryBudget) -> A) -> A {
    let bytes = size_of_val(memory);
    // SAFETY: the memory is exclusively ours while the reference lives, and aligned to 8 bytes.
    let state = unsafe { place::<RetryBudget>(memory.as_mut_ptr(), bytes) };
    run(state.expect("as many words as the state has"))
}

#[derive(Clone)]
struct Node {
    memory: Words,
    model: Model,
    now: u64,
    way: Vec<(Op, u64)>,
}

fn edges(now: u64, other: RetryBudgetConfig) -> Vec<(Op, u64)> {
    let mut edges = Vec::new();
    // The last is when the count of time comes round.
    for at in [now, now + UNIT - 1, now + S, now - S, now + (UNIT << 20)] {
        edges.extend([(Op::Withdraw, at), (Op::Deposit, at), (Op::Balance, at)]);
    }
    edges.extend([Op::Peek, Op::Refund, Op::Reset, Op::Configure(other)].map(|op| (op, now)));
    edges
}

/// What was walked: nodes, refusals, and answers that were a yes.
#[derive(Debug, Default)]
struct Walked {
    nodes: usize,
    refused: usize,
    done: usize,
}

/// Walks up to `depth` operations deep.
fn walk(walked: &mut Walked, config: RetryBudgetConfig, other: RetryBudgetConfig, depth: usize) {
    let now = 100_000 * S;
    let mut memory: Words = [0; _];
    with(&mut memory, |budget| budget.init(&config, Instant::from_nanos(now))).expect("a possible configuration");
    let model = Model::new(&config, now).expect("a possible configuration");
    let start = Node { memory, model, now, way: Vec::new() };
    let mut seen = HashSet::from([(start.memory, now)]);
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for (op, now) in edges(node.now, other) {
            let mut next = node.clone();
            next.now = now;
            next.way.push((op, now));
            let (got, _) = with(&mut next.memory, |budget| Engine(budget).apply(op, now));
            assert_eq!(got, next.model.apply(op, now), "{config:?}\n{:#?}", next.way);
            match got {
                Answer::Refused(_) => {
                    walked.refused += 1;
                    assert_eq!(next.memory, node.memory, "a refusal changes nothing: {:#?}", next.way);
                }
                Answer::Done => walked.done += 1,
                Answer::Balance(_) | Answer::Configured(_) => {}
            }
            if next.way.len() < depth && seen.insert((next.memory, now)) {
                queue.push_back(next);
            }
        }
    }
    walked.nodes += seen.len();
}

#[test]
fn budgets_that_requests_fill() {
    let mut walked = Walked::default();
    for capacity in 1..=3 {
        for ratio in [0, 333_333, 500_000, 1_000_000] {
            let config = RetryBudgetConfig::new().ratio(Ratio::ppm(ratio)).capacity(capacity);
            walk(&mut walked, config, config.capacity(4 - capacity), 5);
        }
    }
    println!("{walked:?}");
    assert!(walked.nodes > 5_000 && walked.refused > 1_000 && walked.done > 10_000, "{walked:?}");
}

#[test]
fn budgets_that_time_fills_too() {
    let mut walked = Walked::default();
    for per_second in [1, 7, 1_000] {
        for capacity in [1, 2] {
            let config = RetryBudgetConfig::new().ratio(Ratio::percent(50)).capacity(capacity);
            let (timed, other) = (config.min_per_second(per_second), config.capacity(3 - capacity));
            walk(&mut walked, timed, other, 5);
            walk(&mut walked, other, timed, 5);
        }
    }
    println!("{walked:?}");
    assert!(walked.nodes > 5_000 && walked.refused > 1_000 && walked.done > 10_000, "{walked:?}");
}
