//! Spreading out what many clients would do at once: reconnecting, letting cached values expire, and
//! scheduled work. (The fourth, retrying, is [`Backoff`]'s.)
//!
//! A thousand clients that were started together, lost their server together or filled their caches together
//! go on acting together, each time, unless something takes them apart. These three do.

use core::time::Duration;

use super::Backoff;
use crate::config::Ratio;
use crate::random::{between, mix};
use crate::time::{Instant, saturating_nanos};

/// How long a cached value may live: `span` less up to the share `spread`, drawn by `r`; with `r` = 0 all
/// of `span`. Never longer than `span`, since that is what the owner of the data allowed.
///
/// ```
/// use core::time::Duration;
/// use seawall::{Ratio, Random, retry::ttl};
///
/// let hour = Duration::from_secs(3600);
/// let alive = ttl(hour, Ratio::percent(10), Random::seeded(7).next());
/// assert!(alive >= hour * 9 / 10 && alive <= hour);
/// ```
#[must_use]
pub const fn ttl(span: Duration, spread: Ratio, r: u64) -> Duration {
    let span = saturating_nanos(span);
    let least = span - share_of(span, spread);
    Duration::from_nanos(if r == 0 { span } else { between(r, least, span) })
}

/// The share of a span, at most all of it.
const fn share_of(span: u64, share: Ratio) -> u64 {
    let ppm = if share.0 > 1_000_000 { 1_000_000 } else { share.0 };
    (span as u128 * ppm as u128 / 1_000_000) as u64
}

/// Work that recurs: every `period`, at a phase that is this client's own and stays so.
///
/// The phase is drawn from `seed`, which is therefore something lasting: a hash of the host's name, say.
///
/// ```
/// use core::time::Duration;
/// use seawall::{Instant, Ratio, retry::Schedule};
///
/// let hourly = Schedule::new(Duration::from_secs(3600), Ratio::ONE, 42);
/// let first = hourly.next(Instant::ZERO);
/// assert_eq!(hourly.next(first).since(first), Duration::from_secs(3600));
/// assert_eq!(Schedule::new(Duration::from_secs(3600), Ratio::ONE, 42), hourly, "the same seed, the same phase");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Schedule {
    period: u64,
    phase: u64,
}

impl Schedule {
    /// Every `period` (at least a nanosecond), at a phase within the first `spread` of it.
    #[must_use]
    pub const fn new(period: Duration, spread: Ratio, seed: u64) -> Self {
        let period = match saturating_nanos(period) {
            0 => 1,
            nanos => nanos,
        };
        // All phases of one period, each once: the end of the range would be the next period's beginning.
        let last = share_of(period, spread).saturating_sub(1);
        Self { period, phase: between(mix(seed), 0, last) }
    }

    /// The schedule with this phase, as [`phase`](Self::phase) told it, for faces that keep the two themselves.
    #[must_use]
    pub const fn at_phase(period: Duration, phase: Duration) -> Self {
        let Self { period, .. } = Self::new(period, Ratio(0), 0);
        let phase = match saturating_nanos(phase).checked_rem(period) {
            Some(phase) => phase,
            None => 0,
        };
        Self { period, phase }
    }

    /// How long after the beginning of a period its work is due.
    #[must_use]
    pub const fn phase(&self) -> Duration {
        Duration::from_nanos(self.phase)
    }

    /// When it is due next: after `now`, at most a period later. Periods are counted from the clock's zero,
    /// so that restarting changes nothing; [`Instant::MAX`] when the clock ends before that.
    #[must_use]
    pub const fn next(&self, now: Instant) -> Instant {
        let now = now.as_nanos();
        let Some(into) = now.checked_rem(self.period) else { return Instant::MAX };
        let begun = now - into;
        let due = begun.saturating_add(self.phase);
        Instant::from_nanos(if due > now { due } else { due.saturating_add(self.period) })
    }
}

/// A connection that is made again whenever it is lost: a backoff that starts over once a connection
/// has been stable.
///
/// A server that accepts and drops at once keeps the waits growing; a connection that held for
/// `stable_after` is forgiven all before it.
///
/// ```
/// use core::time::Duration;
/// use seawall::{Backoff, BackoffConfig, Instant, Random, retry::Reconnect};
///
/// let random = Random::seeded(7);
/// let backoff = Backoff::new(&BackoffConfig::new())?;
/// let mut link = Reconnect::new(backoff, Duration::from_secs(60));
/// let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
///
/// let wait = link.lost(at(0), random.next()); // or it could not be made at all
/// assert!(wait <= backoff.ceiling(0));
/// link.connected(at(1));
/// assert!(link.lost(at(2), random.next()) <= backoff.ceiling(1), "it did not hold");
/// link.connected(at(3));
/// assert!(link.lost(at(90), random.next()) <= backoff.ceiling(0), "it held for a minute");
/// # Ok::<(), seawall::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Reconnect {
    backoff: Backoff,
    stable_after: u64,
    /// How many times in a row it was lost; at most `u32::MAX`.
    lost: u64,
    previous: u64,
    /// 0 when it is down, else 1 + the instant it came up.
    up_since: u64,
}

impl Reconnect {
    /// A connection that has not been made yet.
    #[must_use]
    pub const fn new(backoff: Backoff, stable_after: Duration) -> Self {
        Self { backoff, stable_after: saturating_nanos(stable_after), lost: 0, previous: 0, up_since: 0 }
    }

    /// How many words [`to_words`](Self::to_words) makes.
    pub const WORDS: usize = Backoff::WORDS + 4;

    /// As plain words, for faces that keep it themselves.
    #[must_use]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        let [a, b, c, d, e, f, g] = self.backoff.to_words();
        [a, b, c, d, e, f, g, self.stable_after, self.lost, self.previous, self.up_since]
    }

    /// From plain words. Any words are some connection.
    #[must_use]
    pub const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [a, b, c, d, e, f, g, stable_after, lost, previous, up_since] = words;
        Self { backoff: Backoff::from_words([a, b, c, d, e, f, g]), stable_after, lost, previous, up_since }
    }

    /// Whether its backoff is one.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.backoff.is_configured()
    }

    /// It was made.
    pub const fn connected(&mut self, now: Instant) {
        self.up_since = now.as_nanos().saturating_add(1);
    }

    /// It was lost, or could not be made: how long to wait before the next try. `r` is randomness; 0 for none.
    #[must_use = "this is how long to wait"]
    pub const fn lost(&mut self, now: Instant, r: u64) -> Duration {
        let up_for = match self.up_since.checked_sub(1) {
            Some(since) => now.as_nanos().saturating_sub(since),
            None => 0,
        };
        if self.up_since != 0 && up_for >= self.stable_after {
            (self.lost, self.previous) = (0, 0);
        }
        let retry = if self.lost > u32::MAX as u64 { u32::MAX } else { self.lost as u32 };
        let wait = self.backoff.delay(retry, Duration::from_nanos(self.previous), r);
        (self.lost, self.previous, self.up_since) = (retry as u64 + 1, saturating_nanos(wait), 0);
        wait
    }
}
