//! Is there an order in which the recorded operations could have happened one at a time?
//!
//! The search of Wing and Gong with Lowe's memory of places already visited: an operation may be
//! taken next if no other operation that is still left had ended before it began; it is taken if
//! the model gives the recorded result; a pair (operations taken, state of the model) that led
//! nowhere once is not tried again. Exponential at worst, so histories stay short (at most 128
//! operations) and tests record many of them.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sequential specification.
pub(crate) trait Model: Clone + Eq + Hash {
    type Operation;
    type Answer: PartialEq;

    fn apply(&mut self, operation: &Self::Operation) -> Self::Answer;
}

/// One recorded operation.
#[derive(Clone, Debug)]
pub(crate) struct Recorded<O, A> {
    pub(crate) thread: usize,
    /// Stamp taken before the operation began.
    pub(crate) began: u64,
    /// Stamp taken after it had ended; `u64::MAX` if it was never seen to end.
    pub(crate) ended: u64,
    pub(crate) operation: O,
    /// `None` if it was never seen to end: it may have happened, with any answer, or not at all.
    pub(crate) answer: Option<A>,
}

/// An order that explains the history (indexes into it), or `None` if there is none.
pub(crate) fn explain<M: Model>(model: &M, history: &[Recorded<M::Operation, M::Answer>]) -> Option<Vec<usize>> {
    assert!(history.len() <= 128, "a history of {} operations is too long to search", history.len());
    let mut order = Vec::with_capacity(history.len());
    let mut dead_ends = HashSet::new();
    search(model, history, 0, &mut order, &mut dead_ends).then_some(order)
}

fn search<M: Model>(
    model: &M,
    history: &[Recorded<M::Operation, M::Answer>],
    taken: u128,
    order: &mut Vec<usize>,
    dead_ends: &mut HashSet<(u128, M)>,
) -> bool {
    let left = || (0..history.len()).filter(move |&i| taken & 1 << i == 0);
    if left().all(|i| history[i].answer.is_none()) {
        return true;
    }
    if dead_ends.contains(&(taken, model.clone())) {
        return false;
    }
    let first_end = left().map(|i| history[i].ended).min().unwrap_or(u64::MAX);
    for i in left().filter(|&i| history[i].began <= first_end) {
        let mut next = model.clone();
        let answer = next.apply(&history[i].operation);
        if history[i].answer.as_ref().is_some_and(|recorded| *recorded != answer) {
            continue;
        }
        order.push(i);
        if search(&next, history, taken | 1 << i, order, dead_ends) {
            return true;
        }
        order.pop();
    }
    dead_ends.insert((taken, model.clone()));
    false
}

/// Do any two operations of the history overlap? One whose operations do not tests nothing.
pub(crate) fn overlaps<O, A>(history: &[Recorded<O, A>]) -> bool {
    history
        .iter()
        .enumerate()
        .any(|(i, a)| history[i + 1..].iter().any(|b| a.thread != b.thread && a.began < b.ended && b.began < a.ended))
}

/// Gives out stamps in an order that every thread agrees on.
#[derive(Default)]
pub(crate) struct Recorder {
    stamp: AtomicU64,
}

impl Recorder {
    /// Runs one operation between two stamps.
    pub(crate) fn record<O, A>(&self, thread: usize, operation: O, run: impl FnOnce(&O) -> A) -> Recorded<O, A> {
        let began = self.stamp.fetch_add(1, Ordering::SeqCst);
        let answer = run(&operation);
        let ended = self.stamp.fetch_add(1, Ordering::SeqCst);
        Recorded { thread, began, ended, operation, answer: Some(answer) }
    }
}
