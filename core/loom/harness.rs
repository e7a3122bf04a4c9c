//! One body, three ways to run it: every interleaving (loom), many random schedules (shuttle), and
//! real threads.

use std::sync::Arc;

#[cfg(seawall_loom)]
use loom::thread;
#[cfg(seawall_shuttle)]
use shuttle::thread;
#[cfg(not(any(seawall_loom, seawall_shuttle)))]
use std::thread;

pub(super) use seawall::model_access::{accesses, fail_next_exchange, stop_after, stop_after_writes, writes};
pub(super) use thread::JoinHandle;

/// How many preemptions loom explores, every day and at length; `None` is all of them. A bound of 2
/// or 3 finds almost all faults that exist; each model states what it can afford.
#[derive(Clone, Copy)]
#[cfg_attr(not(seawall_loom), allow(dead_code, reason = "only loom explores by preemptions"))]
pub(super) struct Preemptions(pub(super) Option<usize>, pub(super) Option<usize>);

impl Preemptions {
    /// A smaller bound for every day in plain mode, where loom also tries the old values of every atomic.
    pub(super) const fn but_plain(self, bound: usize) -> Self {
        if cfg!(seawall_loom_rmw) { self } else { Self(Some(bound), self.1) }
    }
}

/// Small enough for all interleavings.
pub(super) const ALL: Preemptions = Preemptions(None, None);

/// Runs `body` under the model checker of this build and prints how often it ran.
#[cfg(seawall_loom)]
pub(super) fn model(name: &str, preemptions: Preemptions, body: impl Fn() + Send + Sync + 'static) {
    use std::sync::atomic::{AtomicU64, Ordering};
    let executions = Arc::new(AtomicU64::new(0));
    let counted = executions.clone();
    let mut builder = loom::model::Builder::new();
    let long = std::env::var_os("SEAWALL_LOOM_LONG").is_some();
    builder.preemption_bound = if long { preemptions.1 } else { preemptions.0 };
    builder.max_branches = 20_000;
    if long {
        // What has not been explored by then is left to random schedules.
        builder.max_duration = Some(std::time::Duration::from_secs(60));
        builder.checkpoint_interval = 1_000;
    }
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    println!("loom: {name}: {} executions", executions.load(Ordering::Relaxed));
}

/// Runs `body` under random schedules.
#[cfg(seawall_shuttle)]
pub(super) fn model(name: &str, _: Preemptions, body: impl Fn() + Send + Sync + 'static) {
    let schedules = std::env::var("SEAWALL_SHUTTLE").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    shuttle::check_random(body, schedules);
    println!("shuttle: {name}: {schedules} schedules");
}

/// Runs `body` with real threads, as often as that takes no time to speak of.
#[cfg(not(any(seawall_loom, seawall_shuttle)))]
pub(super) fn model(_: &str, _: Preemptions, body: impl Fn() + Send + Sync + 'static) {
    for _ in 0..if cfg!(miri) { 1 } else { 50 } {
        body();
    }
}

/// Whether a thread can be stopped inside an operation; with real threads it is not even begun then
/// (`tests/stop_anywhere.rs` stops those).
pub(super) const STOPS: bool = cfg!(any(seawall_loom, seawall_shuttle));

/// How long programs are: loom can afford `short`, random schedules and real threads `long`.
pub(super) const fn rounds(short: usize, long: usize) -> usize {
    if cfg!(seawall_loom) { short } else { long }
}

/// A thread that works on `shared`.
pub(super) fn spawn<S, T>(shared: &Arc<S>, work: impl FnOnce(&S) -> T + Send + 'static) -> JoinHandle<T>
where
    S: Send + Sync + ?Sized + 'static,
    T: Send + 'static,
{
    let shared = shared.clone();
    thread::spawn(move || work(&shared))
}

/// What a thread answered.
pub(super) fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("a thread of the model panicked")
}

/// Runs `operation` and says whether it wrote; `None` where that cannot be told.
pub(super) fn wrote<T>(operation: impl FnOnce() -> T) -> (T, Option<bool>) {
    let before = writes();
    let answer = operation();
    (answer, writes().zip(before).map(|(after, before)| after != before))
}

/// Runs `operation` and asserts that it took at most `bound` accesses: nobody can make it wait.
pub(super) fn bounded<T>(bound: u64, operation: impl FnOnce() -> T) -> T {
    let before = accesses();
    let answer = operation();
    if let Some((after, before)) = accesses().zip(before) {
        assert!(after - before <= bound, "it took {} accesses, more than {bound}", after - before);
    }
    answer
}
