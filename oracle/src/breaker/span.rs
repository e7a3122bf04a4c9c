//! A window of time as one would write it on a whiteboard: counts by bucket, the old ones thrown away.

use std::collections::BTreeMap;

use super::model::Counts;

/// Buckets are numbered modulo this.
const REPEATS: u64 = 1 << 36;
/// A bucket's counts are halved when it is full.
const FULL: u64 = (1 << 19) - 1;
/// The stated slack for a clock that went back, in nanoseconds.
const SLACK: u64 = 1 << 36;

/// The calls of a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The width of a bucket in nanoseconds.
    width: u64,
    buckets: u64,
    /// The bucket of the newest call, once there was one.
    current: Option<u64>,
    counts: BTreeMap<u64, Counts>,
}

impl Span {
    pub(super) fn new(width: u64, buckets: usize) -> Self {
        Self { width, buckets: buckets as u64, current: None, counts: BTreeMap::new() }
    }

    /// The same with more or fewer buckets of the same width.
    pub(super) fn with_buckets(self, buckets: usize) -> Self {
        Self { buckets: buckets as u64, ..self }
    }

    /// The bucket that the window ends with at `now`. A clock that is a little behind does not take it back; one
    /// that is far behind is another clock.
    fn last(&self, now: u64) -> u64 {
        let present = now / self.width % REPEATS;
        match self.current {
            Some(current) if age(present, current) <= SLACK / self.width + 1 => current,
            _ => present,
        }
    }

    pub(super) fn record(&mut self, now: u64, failed: bool, slow: bool) {
        let last = self.last(now);
        let moved = self.current.map_or(REPEATS, |current| age(current, last));
        // As many as there may ever be buckets are remembered, should their number grow.
        self.counts.retain(|&bucket, _| moved < REPEATS / 2 && age(bucket, last) < 64);
        self.current = Some(last);
        let counts = self.counts.entry(last).or_default();
        if counts.calls == FULL {
            *counts = Counts { calls: counts.calls / 2, failed: counts.failed / 2, slow: counts.slow / 2 };
        }
        counts.calls += 1;
        counts.failed += u64::from(failed);
        counts.slow += u64::from(slow);
    }

    pub(super) fn counts(&self, now: u64) -> Counts {
        let last = self.last(now);
        let mut sum = Counts::default();
        if self.current.is_some_and(|current| age(current, last) >= REPEATS / 2) {
            // Another clock: none of it says anything about the present.
            return sum;
        }
        for (&bucket, counts) in &self.counts {
            if age(bucket, last) < self.buckets {
                sum.calls += counts.calls;
                sum.failed += counts.failed;
                sum.slow += counts.slow;
            }
        }
        sum
    }
}

/// How many buckets `bucket` lies before `last`.
fn age(bucket: u64, last: u64) -> u64 {
    (last + REPEATS - bucket) % REPEATS
}
