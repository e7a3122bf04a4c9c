//! Time is an argument.
//!
//! The engine never reads a clock. Every operation takes an [`Instant`]: nanoseconds of one
//! monotonic clock of the caller's choosing, whose zero means nothing. [`Clocked`] joins a
//! primitive to a [`Clock`] for those who would rather not pass it.
//!
//! A clock that goes back is tolerated within each primitive's stated slack ([`SLACK`] for the circuit
//! breaker; the token bucket states its own): nothing is admitted above its bound because of it, and
//! nobody waits longer by more than the size of the step. A larger step back is taken for a different
//! clock (a restarted host, say): running deadlines then count as expired.

use core::time::Duration;

use crate::atomic::{AtomicU64, Ordering, const_fn};
use crate::random::Random;

/// How far a clock may step back at least before a running deadline counts as expired: 2^36 ns, 68.7 s.
/// The exact limit is this and the longest period that is configured, rounded up to a power of two.
pub const SLACK: Duration = Duration::from_nanos(SLACK_NS);
pub(crate) const SLACK_NS: u64 = 1 << 36;

/// A point in time: nanoseconds since an arbitrary zero of one monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Instant(u64);

impl Instant {
    /// The clock's zero.
    pub const ZERO: Self = Self(0);
    /// The last instant there is; sums saturate here, 584 years after zero.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after zero.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since zero.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This instant and `span` more, at most [`Instant::MAX`].
    #[must_use]
    pub const fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(saturating_nanos(span)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A duration as nanoseconds, at most `u64::MAX`.
pub(crate) const fn saturating_nanos(span: Duration) -> u64 {
    let nanos = span.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}

/// A source of instants. It should be monotonic; see the module's text for what happens if not.
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Instant;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Instant {
        (**self).now()
    }
}

/// A clock that stands still until told otherwise: for tests and simulations.
///
/// ```
/// use core::time::Duration;
/// use seawall::{Clock, Instant, ManualClock};
///
/// let clock = ManualClock::at(Instant::ZERO);
/// clock.advance(Duration::from_secs(3));
/// assert_eq!(clock.now(), Instant::from_nanos(3_000_000_000));
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    const_fn! {
        /// A clock that shows `now`.
        #[must_use]
        pub const fn at(now: Instant) -> Self {
            Self(AtomicU64::new(now.0))
        }
    }

    /// Moves the clock forward (wrapping at 584 years, as a test of the far end may want).
    pub fn advance(&self, span: Duration) {
        self.0.fetch_add(saturating_nanos(span), Ordering::Relaxed);
    }

    /// Sets the clock, backwards too.
    pub fn set(&self, now: Instant) {
        self.0.store(now.0, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::Relaxed))
    }
}

/// The standard library's monotonic clock; zero is the clock's own making.
///
/// For use inside one process. State that several processes share needs one zero for all of them:
/// the native faces read the operating system's monotonic clock for that.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct StdClock {
    origin: std::time::Instant,
}

#[cfg(feature = "std")]
impl StdClock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: std::time::Instant::now() }
    }
}

#[cfg(feature = "std")]
impl Default for StdClock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "std")]
impl Clock for StdClock {
    fn now(&self) -> Instant {
        Instant(saturating_nanos(self.origin.elapsed()))
    }
}

/// A primitive joined to the clock and the randomness that its operations want as arguments.
///
/// `P` is the primitive itself, or how it is held: `&CircuitBreaker`, `Arc<TokenBucket>`. Each primitive
/// adds the operations of its hot path, without `now` and `r`; the others are on `inner`.
///
/// ```
/// use seawall::{CircuitBreaker, CircuitBreakerConfig, Clocked, StdClock};
///
/// let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(5))?;
/// let breaker = Clocked::new(breaker, StdClock::new());
/// let permit = breaker.admit().expect("a new breaker is closed");
/// // ... the call ...
/// permit.success();
/// # Ok::<(), seawall::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Clocked<P, C> {
    /// The primitive.
    pub inner: P,
    /// Where its instants come from.
    pub clock: C,
    /// Where its randomness comes from.
    pub random: Random,
}

impl<P, C: Clock> Clocked<P, C> {
    const_fn! {
        /// Joins `inner` to `clock`, without randomness: whatever asks for jitter gets none and
        /// says so in its transition.
        #[must_use]
        pub const fn new(inner: P, clock: C) -> Self {
            Self { inner, clock, random: Random::unseeded() }
        }
    }

    const_fn! {
        /// Joins `inner` to `clock` and `random`.
        #[must_use]
        pub const fn with_random(inner: P, clock: C, random: Random) -> Self {
            Self { inner, clock, random }
        }
    }

    /// The present instant of its clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }
}
