//! Many short histories of real threads on a fresh state each, all of them held to the model.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::linearizability::{Model, Recorded, Recorder, explain, overlaps};

/// What was recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) histories: usize,
    /// Histories in which operations of different threads overlapped; the others show nothing.
    pub(crate) overlapping: usize,
}

/// One state that `THREADS` threads meet on.
struct Meeting<S> {
    state: S,
    recorder: Recorder,
    arrived: AtomicUsize,
}

/// Rounds played in one go.
const BATCH: usize = 1_000;

/// Plays until `overlapping` histories had operations that overlapped, and panics at the first history
/// without a sequential explanation, or when `most` histories were not enough.
///
/// `part(round, thread, state, recorder)` is one thread's part of a round.
pub(crate) fn play<S, M>(
    overlapping: usize,
    most: usize,
    threads: usize,
    fresh: impl Fn() -> S,
    model: &M,
    part: impl Fn(usize, usize, &S, &Recorder) -> Vec<Recorded<M::Operation, M::Answer>> + Sync,
) -> Tally
where
    S: Sync + Send,
    M: Model,
    M::Operation: Debug + Send,
    M::Answer: Debug + Send,
{
    // Threads that wait for a processor do not overlap, so tests take turns.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tally = Tally::default();
    while tally.overlapping < overlapping {
        assert!(tally.histories < most, "hardly anything overlapped: {tally:?}");
        for (i, mut history) in batch(tally.histories, threads, &fresh, &part).into_iter().enumerate() {
            history.sort_by_key(|recorded| recorded.began);
            let round = tally.histories + i;
            assert!(explain(model, &history).is_some(), "round {round} has no sequential explanation: {history:#?}");
            tally.overlapping += usize::from(overlaps(&history));
        }
        tally.histories += BATCH;
    }
    tally
}

fn batch<S, O, A>(
    first: usize,
    threads: usize,
    fresh: &impl Fn() -> S,
    part: &(impl Fn(usize, usize, &S, &Recorder) -> Vec<Recorded<O, A>> + Sync),
) -> Vec<Vec<Recorded<O, A>>>
where
    S: Sync + Send,
    O: Send,
    A: Send,
{
    let meetings: Vec<_> = std::iter::repeat_with(|| Meeting {
        state: fresh(),
        recorder: Recorder::default(),
        arrived: AtomicUsize::new(0),
    })
    .take(BATCH)
    .collect();
    let part_of = |thread: usize| {
        let parts = meetings.iter().enumerate().map(|(i, meeting)| {
            meeting.arrived.fetch_add(1, Ordering::SeqCst);
            // All begin at once, or their operations would hardly ever overlap; a thread that waits
            // for a processor gets one.
            while meeting.arrived.load(Ordering::SeqCst) < threads {
                (0..100).for_each(|_| std::hint::spin_loop());
                std::thread::yield_now();
            }
            part(first + i, thread, &meeting.state, &meeting.recorder)
        });
        parts.collect::<Vec<_>>()
    };
    let mut histories: Vec<Vec<_>> = std::iter::repeat_with(Vec::new).take(BATCH).collect();
    std::thread::scope(|scope| {
        let part_of = &part_of;
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || part_of(thread))).collect();
        for thread in running {
            for (history, part) in histories.iter_mut().zip(thread.join().expect("a thread's part")) {
                history.extend(part);
            }
        }
    });
    histories
}
