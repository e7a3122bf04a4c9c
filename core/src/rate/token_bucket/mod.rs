//! The token bucket: an average rate, and a burst after a pause.
//!
//! `capacity` tokens fit; `rate` per `period` flow in; a request takes `cost` of them or is refused.
//! In any span of time T it admits at most `capacity + rate * T`.
//!
//! # The word
//! TAT 58 | moves 4 (refunds and changes of configuration) | configuration slot 2.
//!
//! # Algorithm
//! GCRA (ITU-T I.371): instead of counting tokens, remember the *theoretical arrival time* TAT at
//! which the bucket will be full again. With T the interval between two tokens, a request of cost n at
//! `now` would move TAT to `max(now, TAT) + n T`, and is admitted when that lies at most `capacity * T`
//! after `now`. One word, one compare-and-swap, no refill; a refusal writes nothing, so how often
//! somebody asks changes nothing.
//!
//! # Exactness
//! Time is counted in ticks of 2^-shift ns, the coarsest of which an interval has at least 4096; the
//! interval is rounded up to a tick. So the rate is never above what was configured, and below it by
//! at most 1/4096 (at one token a day by 10^-14, at 10 000 a second by less than 10^-5). Waits round up to the
//! nanosecond. TAT repeats every 2^58 ticks: 9.1 years at up to 244 000 tokens a second, 73 minutes at
//! 10^10 a second. A bucket that was idle for exactly that long may look used once more; it is then
//! full again after at most twice the time to fill and 3 * 2^45 ticks (29.3 h, and 1.6 s), and never
//! admits too much. A clock may go back by 2^46 ticks (19.5 h, and 1.1 s) without anybody gaining from it.
//!
//! # Ordering
//! As every one-word primitive: one location decides; Acquire and AcqRel are for the configuration
//! slots and for what callers hand over.
//!
//! # A worked example
//! ```
//! use core::time::Duration;
//! use seawall::{Instant, Reason, TokenBucket, TokenBucketConfig, When};
//!
//! let bucket = TokenBucket::new(&TokenBucketConfig::per_second(5, 20), Instant::ZERO)?;
//! for _ in 0..20 {
//!     bucket.try_acquire(1, Instant::ZERO).expect("twenty at once");
//! }
//! let refused = bucket.try_acquire(1, Instant::ZERO).unwrap_err();
//! assert_eq!(refused.when, When::At(Instant::from_nanos(200_000_000)));
//! assert_eq!(bucket.try_acquire(21, Instant::ZERO).unwrap_err().reason, Reason::ExceedsCapacity);
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! # Cost
//! An admission is one compare-and-swap; a refusal loads the word twice and two words of configuration.
//!
//! Instructions on x86-64 (`make bench-instructions`; the loop around it included), and the time of
//! governor 0.10 with its fake clock in the same run of `make bench`, as a share of the bucket's:
//!
//! | | instructions | governor's | governor's time |
//! |---|---|---|---|
//! | admission | 64 | 27 | 0.9 to 1.1 times |
//! | the clock goes on with every call | | | 1.0 to 1.2 times |
//! | refusal with its instant | 73 | 28 | 0.4 times |
//! | reserve and cancel | 392 | | |
//!
//! An admission waits for the exchange, whatever is computed beside it. A refusal does not, and there
//! the price of a configuration that can change shows: two words more to read and to check.

mod config;
mod step;

pub use config::{Fill, TokenBucketConfig};

use core::borrow::Borrow;
use core::time::Duration;

use crate::atomic::const_fn;
use crate::config::ConfigError;
use crate::decision::{Layer, Reason, Rejection, When};
use crate::time::{Clock, Clocked, Instant, saturating_nanos};
use crate::word::cell::Cell;
use crate::word::slots::ChangeError;
use crate::word::storage::{Head, Kind, stored};
use config::{Settings, WORDS};
use step::{Answer, Event, SLOT};

/// A token bucket in 88 bytes of plain atomics.
///
/// It needs no allocation and may lie in a `static`, in a C struct or in memory shared between
/// processes. All methods take `&self` and are lock-free.
#[derive(Debug)]
#[repr(C)]
pub struct TokenBucket {
    head: Head,
    cell: Cell<WORDS>,
}

stored!(TokenBucket);

/// A yes, with what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    ahead: u64,
    full: u64,
    interval: u64,
    shift: u32,
}

impl Grant {
    /// How many tokens are left.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        match self.full.saturating_sub(self.ahead).checked_div(self.interval) {
            Some(tokens) => tokens,
            None => 0,
        }
    }

    /// How long until the bucket is full again.
    #[must_use]
    pub const fn reset_after(&self) -> Duration {
        Duration::from_nanos(step::nanos(self.ahead, self.shift))
    }
}

/// Tokens that are taken already, good from [`at`](Self::at) on. Cancelling consumes it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation that is neither used nor cancelled has used its tokens up"]
pub struct Reservation(Held);

/// What a reservation remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    cost: u64,
    at: Instant,
    made: Instant,
    before: u64,
    after: u64,
    settings: [u64; WORDS],
}

impl Reservation {
    /// How many words [`to_words`](Self::to_words) makes.
    pub const WORDS: usize = 5 + WORDS;

    /// The instant from which it may be used.
    #[must_use]
    pub const fn at(&self) -> Instant {
        self.0.at
    }

    /// What it took.
    #[must_use]
    pub const fn cost(&self) -> u64 {
        self.0.cost
    }

    /// As plain words, for faces that keep it themselves.
    #[must_use]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        let Held { cost, at, made, before, after, settings: [interval, rest] } = self.0;
        [cost, at.as_nanos(), made.as_nanos(), before, after, interval, rest]
    }

    /// From plain words. Any words are some reservation; one that was never made gives back at most
    /// what it claims to have taken.
    pub const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [cost, at, made, before, after, interval, rest] = words;
        let (at, made) = (Instant::from_nanos(at), Instant::from_nanos(made));
        Self(Held { cost, at, made, before, after, settings: [interval, rest] })
    }
}

/// How much of a reservation was given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Refund {
    /// All of it.
    Full = 1,
    /// Some of it: others have taken tokens since, and part would have flowed over without it.
    Part = 2,
    /// None: others wait for instants that count on it, the bucket was reconfigured, or it would all
    /// have flowed over.
    Nothing = 3,
}

impl TokenBucket {
    const_fn! {
        /// A bucket that starts at `now`, full or empty as configured.
        ///
        /// A full one may be made with [`Instant::ZERO`] in a `static`, whatever the clock shows later.
        ///
        /// # Errors
        /// Which field is impossible, and what would be possible.
        pub const fn new(config: &TokenBucketConfig, now: Instant) -> Result<Self, ConfigError> {
            match config.settings() {
                Ok(settings) => Ok(Self {
                    head: Head::new(Kind::TokenBucket, 0),
                    cell: Cell::new(step::start(&settings, config.starts_empty(), now), settings.pack()),
                }),
                Err(error) => Err(error),
            }
        }
    }

    /// Configures state that lies in memory of the caller's. Nobody else may use it meanwhile: what
    /// they would see is undecided, though never undefined.
    ///
    /// # Errors
    /// Which field is impossible; the memory is untouched then.
    pub fn init(&self, config: &TokenBucketConfig, now: Instant) -> Result<(), ConfigError> {
        let settings = config.settings()?;
        self.cell.init(step::start(&settings, config.starts_empty(), now), settings.pack());
        self.head.set(Kind::TokenBucket, 0);
        Ok(())
    }

    /// Whether it has been configured, by this version's layout.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.head.is(Kind::TokenBucket, 0)
    }

    /// Takes `cost` tokens now, or none. A cost of 0 takes nothing and tells what is there.
    ///
    /// # Errors
    /// `RateLimited` with the exact instant at which it would be admitted, or `ExceedsCapacity`.
    #[inline(always)]
    pub fn try_acquire(&self, cost: u64, now: Instant) -> Result<Grant, Rejection> {
        let take = |word, words: &[u64; WORDS]| Some(step::take(word, &Settings::unpack(words), cost, now));
        match self.cell.publish_from(SLOT, self.cell.load(), take) {
            Some(answer) => answer,
            None => self.try_acquire_again(cost, now),
        }
    }

    /// The rest: a configuration that did not read whole.
    #[cold]
    fn try_acquire_again(&self, cost: u64, now: Instant) -> Result<Grant, Rejection> {
        match self.publish(Event::Take { cost }, now) {
            Answer::Granted(grant) => Ok(grant),
            Answer::Refused(rejection) => Err(rejection),
            _ => Err(UNCONFIGURED),
        }
    }

    /// What [`try_acquire`](Self::try_acquire) would answer, taking nothing.
    ///
    /// # Errors
    /// As [`try_acquire`](Self::try_acquire).
    pub fn peek(&self, cost: u64, now: Instant) -> Result<Grant, Rejection> {
        let (word, words) = self.cell.read(SLOT).ok_or(UNCONFIGURED)?;
        match step::step(word, &Settings::unpack(&words), Event::Take { cost }, now).1 {
            Answer::Granted(grant) => Ok(grant),
            Answer::Refused(rejection) => Err(rejection),
            _ => Err(UNCONFIGURED),
        }
    }

    /// Takes `cost` tokens, running into debt when they are not there yet: the reservation says from
    /// when on it may be used, at most `max_wait` from now. First reserved, first served.
    ///
    /// # Errors
    /// `RateLimited` with the instant at which it would be good, when that is too far off;
    /// `ExceedsCapacity`. Nothing has been taken then.
    pub fn reserve(&self, cost: u64, max_wait: Duration, now: Instant) -> Result<Reservation, Rejection> {
        match self.publish(Event::Reserve { cost, max_wait: saturating_nanos(max_wait) }, now) {
            Answer::Reserved(held) => Ok(Reservation(held)),
            Answer::Refused(rejection) => Err(rejection),
            _ => Err(UNCONFIGURED),
        }
    }

    /// Gives an unused reservation back.
    ///
    /// All of it comes back when nobody has taken anything since. Otherwise it gives back what is
    /// certain not to let more through than the rate allows: the cost less what has flowed in since
    /// it was made, and nothing while somebody waits for an instant that counts on it. How much has
    /// flowed in only `now` says: one that lies behind what others have seen may give back too much,
    /// by at most what flows in during that step.
    pub fn cancel(&self, reservation: Reservation, now: Instant) -> Refund {
        match self.publish(Event::Cancel { held: reservation.0 }, now) {
            Answer::Refunded(refund) => refund,
            _ => Refund::Nothing,
        }
    }

    /// Takes all tokens that are there.
    pub fn drain(&self, now: Instant) {
        self.publish(Event::Drain, now);
    }

    /// Fills the bucket. A reservation made before may still be given back; what it took was taken from the
    /// bucket before, so cancel reservations first.
    pub fn reset(&self, now: Instant) {
        self.publish(Event::Refill, now);
    }

    /// Changes rate and capacity while it runs; `config` replaces all of it. What has flowed in until `now` did so at the old rate;
    /// the tokens that are there stay, as far as they fit; a debt stays a debt. `start` is not looked at.
    ///
    /// # Errors
    /// An impossible configuration, or three other changes stopped half-way; nothing has changed then.
    pub fn configure(&self, config: &TokenBucketConfig, now: Instant) -> Result<(), ChangeError> {
        let settings = config.settings()?;
        self.cell.change(SLOT, settings.pack(), |word, _, old, new| {
            Some(step::carry_over(word, &Settings::unpack(old), &Settings::unpack(new), now))
        })?;
        Ok(())
    }

    #[inline]
    fn publish(&self, event: Event, now: Instant) -> Answer {
        self.cell
            .publish(SLOT, self.cell.load(), |word, words| step::step(word, &Settings::unpack(words), event, now))
            .unwrap_or(Answer::Refused(UNCONFIGURED))
    }
}

const UNCONFIGURED: Rejection = Rejection::new(Layer::RateLimit, Reason::Unconfigured, When::Never);

impl<P: Borrow<TokenBucket>, C: Clock> Clocked<P, C> {
    /// [`TokenBucket::try_acquire`] now.
    ///
    /// # Errors
    /// As there.
    pub fn try_acquire(&self, cost: u64) -> Result<Grant, Rejection> {
        self.inner.borrow().try_acquire(cost, self.now())
    }

    /// [`TokenBucket::reserve`] now.
    ///
    /// # Errors
    /// As there.
    pub fn reserve(&self, cost: u64, max_wait: Duration) -> Result<Reservation, Rejection> {
        self.inner.borrow().reserve(cost, max_wait, self.now())
    }

    /// [`TokenBucket::cancel`] now.
    pub fn cancel(&self, reservation: Reservation) -> Refund {
        self.inner.borrow().cancel(reservation, self.now())
    }
}
