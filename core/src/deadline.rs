//! Until when: the deadline of a whole request, and the timeouts of one call.
//!
//! A *timeout* bounds how long one thing may take; a *deadline* is the instant by which the whole request
//! must be done, handed from call to call. Every call gets what remains, never a fixed span of its own, and
//! work that cannot be finished in time is not begun.
//!
//! ```
//! use core::time::Duration;
//! use seawall::{Deadline, Instant, Reason};
//!
//! let now = Instant::from_nanos(0);
//! let deadline = Deadline::after(now, Duration::from_millis(300));
//! let later = now.after(Duration::from_millis(250));
//! assert_eq!(deadline.check(later, Duration::from_millis(40)), Ok(Duration::from_millis(50)));
//! let refused = deadline.check(later, Duration::from_millis(80)).unwrap_err();
//! assert_eq!(refused.reason, Reason::WontFinish);
//! ```

use core::time::Duration;

use crate::config::{ConfigError, Invalid, declare};
use crate::decision::{Layer, Reason, Rejection, When};
use crate::time::Instant;

/// The instant by which a whole request must be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Deadline(Instant);

impl Deadline {
    /// There is none.
    pub const NEVER: Self = Self(Instant::MAX);

    /// At that instant; at [`Instant::MAX`], never.
    #[must_use]
    pub const fn at(instant: Instant) -> Self {
        Self(instant)
    }

    /// So long after `now`.
    #[must_use]
    pub const fn after(now: Instant, span: Duration) -> Self {
        Self(now.after(span))
    }

    /// The instant itself.
    #[must_use]
    pub const fn instant(self) -> Instant {
        self.0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_never(self) -> bool {
        self.0.as_nanos() == Instant::MAX.as_nanos()
    }

    /// How much time remains; [`Duration::MAX`] when there is no deadline.
    #[must_use]
    pub const fn remaining(self, now: Instant) -> Duration {
        if self.is_never() { Duration::MAX } else { self.0.since(now) }
    }

    /// The earlier of the two.
    #[must_use]
    pub const fn earlier(self, other: Self) -> Self {
        if other.0.as_nanos() < self.0.as_nanos() { other } else { self }
    }

    /// So much earlier, for what the way back takes. No deadline stays none.
    #[must_use]
    pub const fn shrunk_by(self, margin: Duration) -> Self {
        if self.is_never() {
            return self;
        }
        let margin = crate::time::saturating_nanos(margin);
        Self(Instant::from_nanos(self.0.as_nanos().saturating_sub(margin)))
    }

    /// Whether work that takes about `expected` may begin at `now`: before starting it, not after.
    /// What remains, if so.
    ///
    /// # Errors
    /// `DeadlineExceeded`, or `WontFinish` when less remains than is expected. The same deadline will
    /// never allow it again.
    pub const fn check(self, now: Instant, expected: Duration) -> Result<Duration, Rejection> {
        match self.check_nanos(now, crate::time::saturating_nanos(expected)) {
            Ok(()) => Ok(self.remaining(now)),
            Err(refused) => Err(refused),
        }
    }

    /// As [`check`](Self::check), in nanoseconds: a division less.
    #[inline]
    pub(crate) const fn check_nanos(self, now: Instant, expected: u64) -> Result<(), Rejection> {
        if self.is_never() {
            return Ok(());
        }
        let remaining = self.0.as_nanos().saturating_sub(now.as_nanos());
        let reason = if remaining == 0 {
            Reason::DeadlineExceeded
        } else if remaining < expected {
            Reason::WontFinish
        } else {
            return Ok(());
        };
        Err(Rejection::new(Layer::Deadline, reason, When::Never))
    }
}

const DAY: u64 = 86_400_000_000_000;

declare! {
    /// How long a call may take. Each must be stated, for no timeout at all is what takes services down;
    /// zero states that there is none.
    ///
    /// ```
    /// use core::time::Duration;
    /// use seawall::{Timeouts, TimeoutsConfig};
    ///
    /// let timeouts = Timeouts::new(
    ///     &TimeoutsConfig::new()
    ///         .connect(Duration::from_millis(200))
    ///         .attempt(Duration::from_secs(1))
    ///         .total(Duration::from_secs(3)),
    /// )?;
    /// assert_eq!(timeouts.attempt(), Some(Duration::from_secs(1)));
    /// # Ok::<(), seawall::ConfigError>(())
    /// ```
    pub struct TimeoutsConfig as "timeouts" {
        /// Making the connection; 0: none. Short: a few hundred milliseconds inside a data centre. The transport keeps it.
        connect: span [0, DAY] = none,
        /// One attempt, the connection included; 0: none. Just above what the dependency takes at its 99th percentile.
        attempt: span [0, DAY] = none,
        /// The whole call, with every attempt and every pause between them; 0: none.
        total: span [0, DAY] = none,
    }
}

/// How long a call may take, as a plain value. All bits zero: no timeout at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Timeouts {
    connect: u64,
    attempt: u64,
    total: u64,
}

impl TimeoutsConfig {
    /// Checks every field, and that none is longer than what it lies within.
    ///
    /// # Errors
    /// The first that is impossible, with what would be possible.
    pub const fn check(&self) -> Result<(), ConfigError> {
        match self.build() {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    const fn build(&self) -> Result<Timeouts, ConfigError> {
        macro_rules! value {
            ($field:ident) => {
                match self.given(Index::$field) {
                    Some(_) => match self.value(Index::$field, 0, u64::MAX) {
                        Ok(value) => value,
                        Err(error) => return Err(error),
                    },
                    None => {
                        return Err(ConfigError::invalid(&Self::FIELDS[Index::$field as usize], Invalid::Missing));
                    }
                }
            };
        }
        let (connect, attempt, total) = (value!(connect), value!(attempt), value!(total));
        if total != 0 && attempt > total {
            let spec = &Self::FIELDS[Index::attempt as usize];
            return Err(ConfigError::range(spec, attempt, 0, total).because("an attempt lies within the total"));
        }
        let around = if attempt != 0 { attempt } else { total };
        if around != 0 && connect > around {
            let spec = &Self::FIELDS[Index::connect as usize];
            return Err(ConfigError::range(spec, connect, 0, around).because("connecting is part of an attempt"));
        }
        Ok(Timeouts { connect, attempt, total })
    }
}

impl Timeouts {
    /// No timeout at all, stated.
    pub const NONE: Self = Self { connect: 0, attempt: 0, total: 0 };

    /// The timeouts that `config` states.
    ///
    /// # Errors
    /// Which field is impossible or missing, and what would be possible.
    pub const fn new(config: &TimeoutsConfig) -> Result<Self, ConfigError> {
        config.build()
    }

    /// How many words [`to_words`](Self::to_words) makes.
    pub const WORDS: usize = 3;

    /// As plain words, for faces that keep it themselves.
    #[must_use]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        [self.connect, self.attempt, self.total]
    }

    /// From plain words. Any words are some timeouts.
    #[must_use]
    pub const fn from_words([connect, attempt, total]: [u64; Self::WORDS]) -> Self {
        Self { connect, attempt, total }
    }

    /// Making the connection; `None`: no timeout.
    #[must_use]
    pub const fn connect(&self) -> Option<Duration> {
        stated(self.connect)
    }

    /// One attempt; `None`: no timeout.
    #[must_use]
    pub const fn attempt(&self) -> Option<Duration> {
        stated(self.attempt)
    }

    /// The whole call; `None`: no timeout.
    #[must_use]
    pub const fn total(&self) -> Option<Duration> {
        stated(self.total)
    }
}

impl Timeouts {
    /// What an attempt may take by these: the attempt's timeout, or the total where none is stated or
    /// that is shorter; `u64::MAX` for no timeout.
    pub(crate) const fn own_nanos(&self) -> u64 {
        let attempt = if self.attempt == 0 { u64::MAX } else { self.attempt };
        let total = self.total_nanos();
        if total < attempt { total } else { attempt }
    }

    /// The total; `u64::MAX` for no timeout.
    pub(crate) const fn total_nanos(&self) -> u64 {
        if self.total == 0 { u64::MAX } else { self.total }
    }
}

const fn stated(nanos: u64) -> Option<Duration> {
    if nanos == 0 { None } else { Some(Duration::from_nanos(nanos)) }
}
