//! Backoff and jitter: how long to wait before trying again.
//!
//! # Algorithm
//! The ceiling e of a wait grows with the number of the retry, counted from 0, up to `cap`; the wait is drawn below it:
//!
//! | growth | e | | jitter | wait |
//! |---|---|---|---|---|
//! | exponential | `min(cap, base * factor^retry)` | | full | U(0, e) |
//! | linear | `min(cap, base * (retry + 1))` | | equal | e/2 + U(0, e/2) |
//! | constant | `base` | | decorrelated | U(base, min(cap, 3 * previous)) |
//! | | | | proportional | U(e (1 - f), min(e (1 + f), cap)) |
//!
//! U draws evenly from a range, both ends included. A draw is never cut down to `cap`, the range is: so
//! at the cap the waits stay spread. Brooker's text draws decorrelated jitter first and cuts it then; that
//! would gather a fleet at the cap.
//!
//! Backoff without jitter keeps clients in step: a thousand that failed together come back together, each time.
//!
//! Source: Brooker, *Exponential Backoff And Jitter* (AWS Architecture Blog, 2015); `tests/brooker.rs`
//! reproduces its figures.
//!
//! # Randomness
//! Each draw takes `r`, 64 random bits. 0 means that there are none: the wait is then e (for decorrelated
//! jitter, the range's upper end), and whoever asked can say so ([`Backoff::is_jittered`]).
//!
//! # A worked example
//! ```
//! use core::time::Duration;
//! use seawall::{Backoff, BackoffConfig, Random};
//!
//! let backoff = Backoff::new(&BackoffConfig::new())?; // full jitter, 100 ms doubling up to 2 s
//! let random = Random::seeded(7);
//! let mut wait = Duration::ZERO;
//! for (retry, ceiling) in [100, 200, 400, 800, 1600, 2000, 2000].into_iter().enumerate() {
//!     wait = backoff.delay(retry as u32, wait, random.next());
//!     assert!(wait <= Duration::from_millis(ceiling));
//! }
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! # Cost
//! In one run of `cargo bench -p seawall-benches --bench backoff`, with randomness of the caller's own on both sides: the
//! next pause took 5.5 ns where backon 1.6 took 15.7. The shared [`Random`](crate::Random) is an atomic
//! addition more, and dearer than the pause itself: 17 ns together. A power of a factor that is no power of two takes
//! one or two multiplications for each binary digit of the retry's number.

mod config;
mod power;

pub use config::{BackoffConfig, Growth, Jitter};

use core::time::Duration;

use crate::config::ConfigError;
use crate::random::between;
use crate::time::saturating_nanos;
use power::Power;

/// How long to wait before trying again: a plain value, 56 bytes, nothing in it changes.
///
/// All bits zero is no configuration; such a one would never wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Backoff {
    base: u64,
    cap: u64,
    growth: u64,
    factor: Power,
    jitter: u64,
    spread: u64,
}

impl Backoff {
    /// The backoff that `config` describes.
    ///
    /// # Errors
    /// Which field is impossible, and what would be possible.
    pub const fn new(config: &BackoffConfig) -> Result<Self, ConfigError> {
        config.build()
    }

    /// The longest wait before retry `retry`, counted from 0 (but for decorrelated jitter, which goes by
    /// the wait before).
    #[must_use]
    #[inline]
    pub const fn ceiling(&self, retry: u32) -> Duration {
        Duration::from_nanos(self.ceiling_nanos(retry))
    }

    #[inline]
    const fn ceiling_nanos(&self, retry: u32) -> u64 {
        let grown = match Growth::from_number(self.growth) {
            Growth::Exponential => {
                return match self.factor.shifted(retry, self.base, self.cap) {
                    Some(grown) => grown,
                    None => self.factor.to(retry).scale(self.base, self.cap),
                };
            }
            Growth::Linear => self.base.saturating_mul(retry as u64 + 1),
            Growth::Constant => self.base,
        };
        if grown > self.cap { self.cap } else { grown }
    }

    /// The wait before retry `retry`, counted from 0. `previous` is the wait before that one, zero at
    /// first; only decorrelated jitter looks at it. `r` is randomness; 0 for none.
    #[must_use]
    #[inline]
    pub const fn delay(&self, retry: u32, previous: Duration, r: u64) -> Duration {
        let jitter = Jitter::from_number(self.jitter);
        let (low, high) = match jitter {
            Jitter::Decorrelated => self.decorrelated(saturating_nanos(previous)),
            _ => {
                let ceiling = self.ceiling_nanos(retry);
                // Proportional jitter's range ends above it.
                if r == 0 { (ceiling, ceiling) } else { self.range(jitter, ceiling) }
            }
        };
        Duration::from_nanos(if r == 0 { high } else { between(r, low, high) })
    }

    const fn decorrelated(&self, previous: u64) -> (u64, u64) {
        let tripled = previous.saturating_mul(3);
        // The first wait: nothing went before, so `base` stands for it.
        let high = if previous < self.base { self.base.saturating_mul(3) } else { tripled };
        (self.base, if high > self.cap { self.cap } else { high })
    }

    const fn range(&self, jitter: Jitter, ceiling: u64) -> (u64, u64) {
        match jitter {
            Jitter::Full => (0, ceiling),
            Jitter::Equal => (ceiling / 2, ceiling),
            Jitter::Proportional => {
                let share = (ceiling as u128 * self.spread as u128 / 1_000_000) as u64;
                let high = ceiling.saturating_add(share);
                (ceiling.saturating_sub(share), if high > self.cap { self.cap } else { high })
            }
            Jitter::Decorrelated | Jitter::None => (ceiling, ceiling),
        }
    }

    /// How many words [`to_words`](Self::to_words) makes.
    pub const WORDS: usize = 7;

    /// As plain words, for faces that keep it themselves. They are not all zero.
    #[must_use]
    pub const fn to_words(&self) -> [u64; Self::WORDS] {
        let [mantissa, exponent] = self.factor.to_words();
        [self.base, self.cap, self.growth, mantissa, exponent, self.jitter, self.spread]
    }

    /// From plain words. Any words are some backoff, whose waits do not exceed its cap.
    #[must_use]
    pub const fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [base, cap, growth, mantissa, exponent, jitter, spread] = words;
        Self { base, cap, growth, factor: Power::from_words([mantissa, exponent]), jitter, spread }
    }

    /// Whether a configuration made it; all bits zero was none.
    #[must_use]
    pub const fn is_configured(&self) -> bool {
        self.base != 0
    }

    /// Whether its waits are drawn, so that it wants randomness.
    #[must_use]
    pub const fn is_jittered(&self) -> bool {
        !matches!(Jitter::from_number(self.jitter), Jitter::None)
    }
}
