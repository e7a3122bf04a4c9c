//! What the benches share: the contenders and their work, and the same work on one thread or on two,
//! all on one object.

/// The same `iterations` times over. A loop in place: a closure might stay out of line, and its call
/// would be measured too.
macro_rules! repeat {
    ($iterations:expr, $i:pat => $work:expr) => {{
        let mut sum = 0;
        for $i in 0..$iterations {
            sum ^= $work;
        }
        sum
    }};
}

pub mod breakers;
pub mod buckets;
pub mod policies;
pub mod rules;
pub mod waits;

use std::sync::Barrier;
use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};

/// How many threads work on the one object.
pub const THREADS: [usize; 2] = [1, 2];

/// One thing that is measured, done `iterations` times by each thread. What it returns keeps the
/// compiler from leaving the work out.
pub type Work<S> = fn(&S, u64) -> u64;

/// A scenario: a group of benches in which every contender does the same.
#[allow(missing_debug_implementations, reason = "criterion's groups have none")]
pub struct Scenario<'a> {
    group: BenchmarkGroup<'a, WallTime>,
}

impl<'a> Scenario<'a> {
    /// The scenario with that name, `circuit_breaker/healthy`.
    pub fn new(criterion: &'a mut Criterion, name: &str) -> Self {
        Self { group: criterion.benchmark_group(name) }
    }

    /// Measures `contender` on one thread and on two; each sample begins with what `make` makes.
    pub fn contender<S: Sync>(mut self, contender: &str, make: impl Fn() -> S, work: Work<S>) -> Self {
        for threads in THREADS {
            self.measure(contender, threads, &make, work);
        }
        self
    }

    /// Measures `contender` on one thread only, where two would not do the same.
    pub fn alone<S: Sync>(mut self, contender: &str, make: impl Fn() -> S, work: Work<S>) -> Self {
        self.measure(contender, 1, &make, work);
        self
    }

    fn measure<S: Sync>(&mut self, contender: &str, threads: usize, make: &impl Fn() -> S, work: Work<S>) {
        let name = format!("{contender}/{threads}");
        self.group.bench_function(name, |bench| {
            bench.iter_custom(|iterations| {
                let subject = make();
                if threads == 1 { timed(&subject, iterations, work) } else { together(&subject, iterations, work) }
            });
        });
    }
}

/// How long this thread was on a processor for `iterations` times `work`. A thread that was made to
/// wait for its turn has not been slow: on a shared machine that is what can be compared.
fn timed<S>(subject: &S, iterations: u64, work: Work<S>) -> Duration {
    let begin = ThreadTime::now();
    std::hint::black_box(work(std::hint::black_box(subject), iterations));
    begin.elapsed()
}

/// The same on two threads at once: the mean of both.
fn together<S: Sync>(subject: &S, iterations: u64, work: Work<S>) -> Duration {
    let barrier = Barrier::new(2);
    let run = || {
        barrier.wait();
        timed(subject, iterations, work)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(run);
        let mine = run();
        (mine + other.join().expect("a bench does not panic")) / 2
    })
}
