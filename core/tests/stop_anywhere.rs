//! A thread that stops at any instruction blocks nobody.
//!
//! `support/single_step.rs` says how this is examined. It steps an optimised build: in a debug
//! build one operation is thousands of instructions that no user runs, so this file is empty there
//! (run it with `cargo test --release --test stop_anywhere`). Elsewhere than on x86-64 and aarch64
//! Linux there is no single stepping to use.
#![cfg(all(not(debug_assertions), target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

#[path = "support/single_step.rs"]
mod single_step;

/// The examination itself, on toys whose verdict is known.
mod the_examination {
    use super::single_step::{Blocked, overhead, stop_always, stop_once_everywhere};
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    const BOUND: usize = 5_000;

    fn count(counter: &AtomicU64) -> u64 {
        let mut seen = counter.load(SeqCst);
        while let Err(now) = counter.compare_exchange(seen, seen + 1, SeqCst, SeqCst) {
            seen = now;
        }
        seen
    }

    struct SpinLocked {
        lock: AtomicU64,
        count: AtomicU64,
    }

    impl SpinLocked {
        fn new() -> Self {
            Self { lock: AtomicU64::new(0), count: AtomicU64::new(0) }
        }

        fn count(&self) -> u64 {
            while self.lock.swap(1, SeqCst) == 1 {}
            let seen = self.count.load(SeqCst);
            self.count.store(seen + 1, SeqCst);
            self.lock.store(0, SeqCst);
            seen
        }
    }

    #[test]
    fn a_lock_free_counter_passes_wherever_it_is_stopped() {
        let mut answers = [0; 3];
        let report = stop_once_everywhere(
            BOUND,
            || AtomicU64::new(0),
            count,
            |counter| [count(counter), count(counter)],
            |stop| {
                assert_eq!(stop.state.load(SeqCst), 3, "stopped after {}", stop.stopped_after);
                let mut all = [stop.victim, stop.others[0], stop.others[1]];
                all.sort_unstable();
                assert_eq!(all, [0, 1, 2]);
                answers[stop.victim as usize] += 1;
            },
        )
        .expect("lock-free");
        assert!(report.stops > overhead());
        assert!(answers[0] > 0 && answers[2] > 0, "stopped before and after its point: {answers:?}");
        assert_eq!(answers[1], 0, "the others ran without a pause");
    }

    #[test]
    fn a_spin_lock_is_found_out() {
        let walk = stop_once_everywhere(BOUND, SpinLocked::new, SpinLocked::count, SpinLocked::count, |_| ());
        assert!(matches!(walk, Err(Blocked { stopped_after: 1.. })), "{walk:?}");
        let walk = stop_always(BOUND, 1_000, SpinLocked::new(), SpinLocked::count, |s, _| s.count(), |_, _, _| ());
        assert!(matches!(walk, Err(Blocked { stopped_after: 1.. })), "{walk:?}");
    }

    #[test]
    fn a_counter_stopped_at_every_instruction_still_ends() {
        let (answer, report) = stop_always(
            BOUND,
            300,
            AtomicU64::new(0),
            count,
            |counter, _| count(counter),
            |_, round, seen| assert_eq!(seen, round as u64),
        )
        .expect("lock-free");
        assert_eq!(answer, report.stops as u64, "it lost every race, then counted last");
    }

    #[test]
    #[should_panic(expected = "did not end normally (exit 77")]
    fn a_victim_that_dies_is_reported() {
        // SAFETY: always allowed.
        let die = |(): &()| unsafe { libc::_exit(77) };
        let _ = stop_once_everywhere::<_, u64, _>(BOUND, || (), |s| die(s), |()| 0_u64, |_| ());
    }
}
