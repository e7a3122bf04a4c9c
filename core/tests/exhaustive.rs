//! Every way through small configurations, breadth first, engine and plain model side by side.
//!
//! A node is a state of the engine (its bytes) with the permits that are out; an edge is an operation
//! at one of a few distances in time. Nodes seen before are not walked on from. Both answer every edge
//! alike, or the way there is printed.

mod common;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use common::{S, UNIT};
use seawall::{
    CircuitBreaker, CircuitBreakerConfig, ExpiredTrials, Fill, Instant, Mode, Outcome, Ratio, Token, TokenBucket,
    TokenBucketConfig, place,
};
use seawall_oracle::{breaker, bucket};

/// A state's bytes, copied from node to node.
fn with<T: seawall::Stored, A>(memory: &mut [u64], run: impl FnOnce(&T) -> A) -> A {
    let bytes = size_of_val(memory);
    // SAFETY: the memory is exclusively ours while the reference lives, and aligned to 8 bytes.
    let state = unsafe { place::<T>(memory.as_mut_ptr(), bytes) };
    run(state.expect("as many words as the state has"))
}

mod circuit_breaker {
    use super::*;
    use breaker::{Engine, Model, Op, Step};

    #[derive(Clone)]
    struct Node {
        memory: Vec<u64>,
        model: Model,
        permits: Vec<(Token, u64)>,
        /// Which permits are out.
        out: Vec<usize>,
        now: u64,
        way: Vec<Step>,
    }

    /// The most permits out at once.
    const OUT: usize = 3;
    const PERIOD: u64 = 10 * UNIT;

    fn edges(node: &Node) -> Vec<Step> {
        let outcomes = [Outcome::Success, Outcome::Failure, Outcome::Ignored];
        let mut edges = Vec::new();
        let mut edge = |op, wait: u64| edges.push(Step { op, now: node.now + wait, r: 0 });
        for wait in [0, PERIOD - 1, PERIOD + UNIT] {
            if node.out.len() < OUT {
                edge(Op::Admit, wait);
            }
            edge(Op::Snapshot, wait);
        }
        for &permit in &node.out {
            for outcome in outcomes {
                edge(Op::Settle { permit, outcome }, 0);
            }
            // Long enough to be slow, where that is set.
            edge(Op::Settle { permit, outcome: Outcome::Success }, UNIT);
            edge(Op::Settle { permit, outcome: Outcome::FailureUntil(Instant::from_nanos(node.now + 2 * PERIOD)) }, 0);
        }
        edge(Op::Trip { until: None }, 0);
        edge(Op::HalfOpen, 0);
        edge(Op::Reset, 0);
        edges
    }

    /// What decides how it goes on: the word, and the permits that are out; time only as far as it is
    /// compared with, so a node met again later is a new one.
    fn key(node: &Node) -> (u64, Vec<u32>, u64) {
        let mut out: Vec<u32> = node.out.iter().map(|&permit| node.permits[permit].0.bits()).collect();
        out.sort_unstable();
        (node.memory[1], out, node.now)
    }

    /// Walks up to `depth` operations deep; how many nodes there are.
    fn walk(config: CircuitBreakerConfig, depth: usize) -> usize {
        let mut memory = vec![0; size_of::<CircuitBreaker>() / 8];
        with(&mut memory, |breaker: &CircuitBreaker| breaker.init(&config)).expect("a possible configuration");
        let model = Model::new(&config).expect("a possible configuration");
        let start = Node { memory, model, permits: Vec::new(), out: Vec::new(), now: 7, way: Vec::new() };
        let mut seen = HashSet::from([key(&start)]);
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for step in edges(&node) {
                let mut next = node.clone();
                next.now = step.now;
                next.way.push(step);
                let got = with(&mut next.memory, |breaker: &CircuitBreaker| {
                    let mut engine = Engine::new(breaker);
                    engine.permits = std::mem::take(&mut next.permits);
                    let got = engine.apply(&step);
                    next.permits = engine.permits;
                    got
                });
                assert_eq!(got, next.model.apply(&step), "{config:?}\n{:#?}", next.way);
                match step.op {
                    Op::Admit if next.permits.len() > node.permits.len() => next.out.push(node.permits.len()),
                    Op::Settle { permit, .. } => next.out.retain(|&out| out != permit),
                    _ => {}
                }
                if next.way.len() < depth && seen.insert(key(&next)) {
                    queue.push_back(next);
                }
            }
        }
        seen.len()
    }

    fn base(config: CircuitBreakerConfig) -> CircuitBreakerConfig {
        config.reset_after(Duration::from_nanos(PERIOD)).trial_timeout(Duration::from_nanos(PERIOD))
    }

    #[test]
    fn consecutive_mode() {
        let mut nodes = 0;
        for threshold in 1..=2 {
            for trials in 1..=3 {
                for close in 1..=trials {
                    let config = CircuitBreakerConfig::consecutive(threshold).trials(trials).close_after(close);
                    nodes += walk(base(config), 6);
                }
            }
        }
        println!("{nodes} nodes");
        assert!(nodes > 20_000, "{nodes} nodes");
    }

    #[test]
    fn rate_mode() {
        let mut nodes = 0;
        for window in 2..=4 {
            for percent in [34, 50, 100] {
                let config = CircuitBreakerConfig::new()
                    .window(window)
                    .minimum_calls(window - 1)
                    .failure_rate(Ratio::percent(percent))
                    .trials(2)
                    .close_after(window % 2 + 1)
                    .slow_after(Duration::from_nanos(UNIT - 1))
                    .slow_rate(Ratio::percent(100));
                nodes += walk(base(config), 6);
            }
        }
        println!("{nodes} nodes");
        assert!(nodes > 20_000, "{nodes} nodes");
    }

    #[test]
    fn every_way_to_expire_in_every_mode() {
        let mut nodes = 0;
        for expired in [ExpiredTrials::Again, ExpiredTrials::Open, ExpiredTrials::Close] {
            for mode in [Mode::Normal, Mode::ForcedOpen, Mode::Disabled, Mode::Shadow] {
                let config = CircuitBreakerConfig::consecutive(1)
                    .trials(2)
                    .close_after(1)
                    .reset_factor(seawall::Factor::thousandths(2_000))
                    .expired_trials(expired)
                    .mode(mode);
                nodes += walk(base(config), 6);
            }
        }
        println!("{nodes} nodes");
        assert!(nodes > 10_000, "{nodes} nodes");
    }
}

mod token_bucket {
    use super::*;
    use bucket::{Answer, Engine, Model, Op, Step};

    #[derive(Clone)]
    struct Node {
        memory: Vec<u64>,
        model: Model,
        reservations: Vec<[u64; seawall::Reservation::WORDS]>,
        held: Vec<usize>,
        now: u64,
        way: Vec<Step>,
    }

    fn edges(
        node: &Node,
        config: TokenBucketConfig,
        other: TokenBucketConfig,
        interval: u64,
        capacity: u64,
    ) -> Vec<Step> {
        let mut edges = Vec::new();
        let mut edge = |op, now: u64| edges.push(Step { op, now });
        let back = node.now - interval;
        for now in [node.now, node.now + interval / 2, node.now + interval, node.now + capacity * interval, back] {
            edge(Op::Take { cost: 1 }, now);
            edge(Op::Peek { cost: 0 }, now);
        }
        for cost in [2, capacity, capacity + 1] {
            edge(Op::Take { cost }, node.now);
        }
        if node.held.len() < 3 {
            edge(Op::Reserve { cost: 1, max_wait: u64::MAX }, node.now);
            edge(Op::Reserve { cost: capacity, max_wait: interval }, node.now);
        }
        for &reservation in &node.held {
            edge(Op::Cancel { reservation }, node.now);
            edge(Op::Cancel { reservation }, node.now + interval);
        }
        edge(Op::Drain, node.now);
        edge(Op::Reset, node.now);
        edge(Op::Configure(config), node.now);
        edge(Op::Configure(other), node.now);
        edges
    }

    fn walk(config: TokenBucketConfig, other: TokenBucketConfig, interval: u64, capacity: u64, depth: usize) -> usize {
        let start = 100 * S;
        let mut memory = vec![0; size_of::<TokenBucket>() / 8];
        with(&mut memory, |bucket: &TokenBucket| bucket.init(&config, Instant::from_nanos(start))).expect("possible");
        let model = Model::new(&config, start).expect("possible");
        let start = Node { memory, model, reservations: Vec::new(), held: Vec::new(), now: start, way: Vec::new() };
        // The word, the current configuration's place in it, and the reservations held.
        let key = |node: &Node| {
            (node.memory[1], node.now, node.held.iter().map(|&i| node.reservations[i]).collect::<Vec<_>>())
        };
        let mut seen = HashSet::from([key(&start)]);
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for step in edges(&node, config, other, interval, capacity) {
                let mut next = node.clone();
                next.now = step.now;
                next.way.push(step);
                let got = with(&mut next.memory, |bucket: &TokenBucket| {
                    let mut engine = Engine::new(bucket);
                    engine.reservations = std::mem::take(&mut next.reservations);
                    let got = engine.apply(&step);
                    next.reservations = engine.reservations;
                    got
                });
                assert_eq!(got, next.model.apply(&step), "{config:?}\n{:#?}", next.way);
                match step.op {
                    Op::Reserve { .. } if matches!(got, Answer::Reserved { .. }) => {
                        next.held.push(node.reservations.len())
                    }
                    Op::Cancel { reservation } => next.held.retain(|&held| held != reservation),
                    _ => {}
                }
                if next.way.len() < depth && seen.insert(key(&next)) {
                    queue.push_back(next);
                }
            }
        }
        seen.len()
    }

    #[test]
    fn small_buckets() {
        let mut nodes = 0;
        for capacity in 1..=3 {
            for start in [Fill::Full, Fill::Empty] {
                let config = TokenBucketConfig::per_second(1, capacity).start(start);
                nodes += walk(config, TokenBucketConfig::per_second(3, 4 - capacity), S, capacity, 5);
            }
        }
        println!("{nodes} nodes");
        assert!(nodes > 5_000, "{nodes} nodes");
    }

    #[test]
    fn fast_buckets() {
        // Intervals that are no whole number of nanoseconds, and configurations whose ticks differ.
        let mut nodes = 0;
        for capacity in 1..=3 {
            let config = TokenBucketConfig::per_second(300_000_000, capacity);
            nodes += walk(config, TokenBucketConfig::per_second(7, 2), 4, capacity, 5);
        }
        println!("{nodes} nodes");
        assert!(nodes > 2_000, "{nodes} nodes");
    }
}
