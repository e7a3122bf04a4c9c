//! The circuit breaker: stop calling what is down, and find out when it is up again.
//!
//! *Closed*, calls pass and their outcomes are judged; *open*, none passes until a stated instant;
//! *half-open*, a few trials pass, and they decide. State, window, trials and deadlines lie in one
//! 64-bit word. A window of more than 20 calls, or of time, takes further words beside it, which hold older
//! calls and decide nothing by themselves.
//!
//! # The word
//! State 2 | configuration slot 2 | generation 18 | clean 1 | payload 41; `breaker/word.rs` has the table.
//!
//! # Algorithm
//! A pure `step` computes the next word; `word::cell` publishes it with one
//! compare-and-swap, and writes nothing when the word stays as it is. The word is the whole state, so
//! every operation takes effect at its compare-and-swap, or at its load. From that follow: at most
//! `trials` trials with a running lease, in every interleaving; exactly one thread sees each
//! transition; a result from before a change of state never counts.
//!
//! Sources: Nygard, *Release It!* (2007); Fowler, *CircuitBreaker* (2014); generations after
//! gobreaker; the option list after resilience4j, Polly, failsafe and Envoy.
//!
//! Longer windows: `breaker/long.rs` has the protocol for up to 1024 calls (a ring of blocks with cumulative
//! counts), `breaker/timed.rs` that for spans of time (a ring of buckets), each on one page: words, writers,
//! where operations take effect, what a stopped thread costs.
//!
//! # Ordering
//! One location decides, so relaxed accesses would keep the breaker itself right. Loads are Acquire
//! and exchanges AcqRel for the configuration slots, and so that what the caller did before settling
//! is visible to whoever is admitted because of it.
//!
//! # A worked example
//! ```
//! use core::time::Duration;
//! use seawall::{CircuitBreaker, CircuitBreakerConfig, Instant, Reason, State, When};
//!
//! let config = CircuitBreakerConfig::consecutive(2).reset_after(Duration::from_secs(30));
//! let breaker = CircuitBreaker::new(&config)?;
//! let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
//!
//! for second in [0, 1] {
//!     breaker.admit(at(second)).unwrap().failure(at(second), 0);
//! }
//! let refused = breaker.admit(at(2)).unwrap_err();
//! assert_eq!(refused.rejection.reason, Reason::Open);
//! assert!(matches!(refused.rejection.when, When::At(when) if when >= at(31)));
//!
//! let trial = breaker.admit(at(32)).unwrap();
//! assert!(trial.is_trial());
//! trial.success(at(32), 0);
//! assert_eq!(breaker.state(at(32)), State::Closed);
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! # Cost
//! Closed and healthy, admission and settlement load the word once each and write nothing. The refusal
//! of an open breaker loads the word three times and one word of its configuration.
//!
//! Instructions on x86-64 (`make bench-instructions`; the loop around it included), and how many times
//! as long recloser 1.4 took in the same run of `make bench` on one thread and on two, both working on
//! one object:
//!
//! | | instructions | recloser's | recloser's time, 1 and 2 threads |
//! |---|---|---|---|
//! | healthy: admission and success | 26 | 110 | 15 and 19 times |
//! | open: refusal with its instant | 65 | 90 and reading the clock | 9 and 9 times |
//! | one call in a hundred fails | 95 | | 2.4 and 2.9 times |
//! | one in eight fails, every outcome is recorded | 284 | | 0.6 and 0.9 times |
//! | a trial taken and given back | 878 | | |
//! | 100 calls, healthy | 26 | | |
//! | 100 calls, one in eight fails, every outcome is recorded | 501 | | |
//! | 10 s in ten buckets, every outcome is recorded | 849 | | |
//!
//! In that run, on a busy machine of 2.1 GHz, the healthy call took 1.4 ns and the refusal 4.9 ns.

mod config;
mod long;
mod operate;
mod permit;
mod room;
mod snapshot;
mod step;
mod timed;
mod token;
mod transition;
mod window;
mod word;

pub use config::{CircuitBreakerConfig, ExpiredTrials, Mode};
pub use operate::{Admission, Refused, Settled};
pub use permit::{Breaker, ClockedPermit, Permit};
pub use room::{WindowWord, WindowWords, bucket_words, window_words};
pub use snapshot::Snapshot;
pub use token::Token;
pub use transition::{Cause, Transition};
pub use word::State;

use crate::atomic::{AtomicU64, Ordering, const_fn};
use crate::config::ConfigError;
use crate::decision::{Layer, Reason, Rejection, Sentence, When};
use crate::time::Instant;
use crate::word::cell::Cell;
use crate::word::slots::ChangeError;
use crate::word::storage::{Head, Kind, StorageError, Stored};
use config::{Settings, WORDS};
use room::Room;
use step::Event;
use word::{CLEAN_MASK, CLEAN_VALUE, SLOT};

/// A circuit breaker in 264 bytes of plain atomics, and the words of a longer window beside it, if any.
///
/// It needs no allocation and may lie in a `static`, in a C struct or in memory shared between
/// processes. All methods take `&self` and are lock-free.
///
/// `CircuitBreaker` alone judges up to 20 calls. `CircuitBreaker<[WindowWord; N]>` judges as many as
/// [`window_words`] says that `N` words hold, and coerces to `CircuitBreaker<[WindowWord]>`, through
/// which breakers of any window are used alike.
#[derive(Debug)]
#[repr(C)]
pub struct CircuitBreaker<S: ?Sized = [WindowWord; 0]> {
    head: Head,
    cell: Cell<WORDS>,
    /// For people only; see `snapshot::Report`.
    figures: AtomicU64,
    changed: AtomicU64,
    slots: S,
}

// SAFETY: repr(C), 64-bit atomics throughout; any bytes are some breaker (fuzzed).
unsafe impl<const N: usize> Stored for CircuitBreaker<[WindowWord; N]> {
    fn fits(bytes: usize) -> Result<usize, StorageError> {
        let needed = size_of::<Self>();
        if bytes < needed { Err(StorageError::TooSmall { needed, given: bytes }) } else { Ok(needed) }
    }

    fn at(memory: *const u64, _bytes: usize) -> *const Self {
        memory.cast()
    }
}

// SAFETY: repr(C), 64-bit atomics throughout and a slice of them at the end; any bytes are some breaker
// (fuzzed). `at` keeps the address and counts only whole words within `bytes`.
unsafe impl Stored for CircuitBreaker<[WindowWord]> {
    fn fits(bytes: usize) -> Result<usize, StorageError> {
        <CircuitBreaker as Stored>::fits(bytes).map(|_| bytes & !7)
    }

    fn at(memory: *const u64, bytes: usize) -> *const Self {
        // A slice pointer carries the length that the unsized field has.
        let words = (bytes - size_of::<CircuitBreaker>()) / size_of::<WindowWord>();
        core::ptr::slice_from_raw_parts(memory.cast::<WindowWord>(), words) as *const Self
    }
}

/// How a face decides "clean" without calling in: read the 32-bit half of the state's bytes at
/// `offset`; when `half & mask == value` the call is admitted and the half is its token; when the half
/// is still the same afterwards, a success needs no settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanCheck {
    /// Byte offset of the half within the state.
    pub offset: usize,
    /// Which bits count.
    pub mask: u32,
    /// What they must be.
    pub value: u32,
}

impl CircuitBreaker {
    const_fn! {
        /// A closed breaker.
        ///
        /// ```
        /// use seawall::{CircuitBreaker, CircuitBreakerConfig};
        ///
        /// static PAYMENTS: CircuitBreaker = match CircuitBreaker::new(&CircuitBreakerConfig::consecutive(5)) {
        ///     Ok(breaker) => breaker,
        ///     Err(_) => panic!("five is allowed"),
        /// };
        /// ```
        ///
        /// # Errors
        /// Which field is impossible, and what would be possible.
        pub const fn new(config: &CircuitBreakerConfig) -> Result<Self, ConfigError> {
            Self::with_words(config)
        }
    }

    /// How many words lie behind it, as it was initialised: for faces that hand state around by its address alone,
    /// and go on with as many bytes through [`place`](crate::place).
    #[must_use]
    pub fn words_behind(&self) -> usize {
        Room::of(self.head.length(Kind::CircuitBreaker)).words()
    }

    /// How a face may decide "clean" by itself; the same for breakers of any window.
    #[must_use]
    pub const fn clean_check() -> CleanCheck {
        let word = core::mem::offset_of!(Self, cell);
        CleanCheck {
            // The upper half of a 64-bit word comes second in memory on a little-endian machine.
            offset: if cfg!(target_endian = "little") { word + 4 } else { word },
            mask: (CLEAN_MASK >> 32) as u32,
            value: (CLEAN_VALUE >> 32) as u32,
        }
    }
}

impl<const N: usize> CircuitBreaker<[WindowWord; N]> {
    const_fn! {
        /// A closed breaker with `N` words for its window: [`window_words`] says how many that takes.
        ///
        /// ```
        /// use seawall::{CircuitBreaker, CircuitBreakerConfig, Ratio, WindowWord, window_words};
        ///
        /// const CONFIG: CircuitBreakerConfig =
        ///     CircuitBreakerConfig::new().failure_rate(Ratio::percent(10)).window(100).minimum_calls(50);
        /// static SEARCH: CircuitBreaker<[WindowWord; window_words(100)]> = match CircuitBreaker::with_words(&CONFIG) {
        ///     Ok(breaker) => breaker,
        ///     Err(_) => panic!("its words hold 100 calls"),
        /// };
        /// let any: &CircuitBreaker<[WindowWord]> = &SEARCH;
        /// assert_eq!(any.longest_window(), 121);
        /// ```
        ///
        /// # Errors
        /// Which field is impossible, or has no room, and what would be possible.
        pub const fn with_words(config: &CircuitBreakerConfig) -> Result<Self, ConfigError> {
            match config.settings(Room::of(N)) {
                Ok(settings) => Ok(Self {
                    head: Head::new(Kind::CircuitBreaker, N),
                    cell: Cell::new(step::fresh(&settings), settings.pack()),
                    figures: AtomicU64::new(0),
                    changed: AtomicU64::new(0),
                    slots: room::empty(),
                }),
                Err(error) => Err(error),
            }
        }
    }
}

impl<S: WindowWords + ?Sized> CircuitBreaker<S> {
    /// Configures state that lies in memory of the caller's, closed and with nothing learnt. Nobody
    /// else may use it meanwhile: what they would see is undecided, though never undefined.
    ///
    /// # Errors
    /// Which field is impossible; the memory is untouched then.
    pub fn init(&self, config: &CircuitBreakerConfig) -> Result<(), ConfigError> {
        let settings = config.settings(self.ring().room())?;
        self.cell.init(step::fresh(&settings), settings.pack());
        self.figures.store(0, Ordering::Relaxed);
        self.changed.store(0, Ordering::Relaxed);
        self.head.set(Kind::CircuitBreaker, self.slots.words().len());
        Ok(())
    }

    /// Whether it has been configured, by this version's layout.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.head.is(Kind::CircuitBreaker, self.slots.words().len())
    }

    /// The longest count window that its words hold.
    #[must_use]
    pub fn longest_window(&self) -> u64 {
        self.ring().room().calls()
    }

    /// Opens it by hand: until `until` (at most `max_retry_after` from now), or for the configured period.
    /// The transition, or `None` when it was never configured.
    pub fn trip(&self, now: Instant, until: Option<Instant>, r: u64) -> Option<Transition> {
        self.publish(self.cell.load(), Event::Trip { until, r }, now).1
    }

    /// Half-opens it by hand, whatever it was. `None` when it was half-open already, or never configured.
    pub fn half_open(&self, now: Instant) -> Option<Transition> {
        self.publish(self.cell.load(), Event::HalfOpen, now).1
    }

    /// Closes it by hand and forgets everything learnt; what is in flight becomes stale. `None` when it
    /// was never configured.
    pub fn reset(&self, now: Instant) -> Option<Transition> {
        self.publish(self.cell.load(), Event::Reset, now).1
    }

    /// Changes the configuration while it runs: `config` replaces all of it, and what is not given goes
    /// back to its default; only the mode stays unless it is given. State, window and trials are kept as far as they fit:
    /// a shorter window keeps its newest calls, a longer one all (beyond 20 calls all but up to seven, and a
    /// window that outgrows one word keeps eight), consecutive and rate mode translate into each other,
    /// an open period keeps its end. New thresholds are applied with the next outcome.
    ///
    /// # Errors
    /// An impossible configuration, or three other changes stopped half-way; nothing has changed then.
    pub fn configure(&self, config: &CircuitBreakerConfig) -> Result<(), ChangeError> {
        let ring = self.ring();
        let settings = config.settings(ring.room())?;
        loop {
            let (_, present) = self.cell.read(SLOT).ok_or(ChangeError::Unconfigured)?;
            let following = |old: &Settings| {
                let mode = if config.states_mode() { settings.mode } else { old.mode };
                Settings { mode, ..settings }.outlasting(old)
            };
            let next = following(&Settings::unpack(&present, ring.room()));
            // Declined when another change came between that leads to another configuration.
            let changed = self.cell.change(SLOT, next.pack(), |word, slot, old, _| {
                let old = Settings::unpack(old, ring.room());
                (next == following(&old)).then(|| step::carry_over(word, slot, &old, &next, ring))
            })?;
            if changed {
                return Ok(());
            }
        }
    }

    /// Changes the mode alone; returns the one before.
    ///
    /// # Errors
    /// As [`configure`](Self::configure).
    pub fn set_mode(&self, mode: Mode) -> Result<Mode, ChangeError> {
        let ring = self.ring();
        loop {
            let (_, present) = self.cell.read(SLOT).ok_or(ChangeError::Unconfigured)?;
            let settings = Settings::unpack(&present, ring.room());
            let next = Settings { mode, ..settings };
            // Declined when another change came between; only then is there another round.
            let changed = self.cell.change(SLOT, next.pack(), |word, slot, old, _| {
                (*old == present).then(|| step::carry_over(word, slot, &settings, &next, ring))
            })?;
            if changed {
                return Ok(settings.mode);
            }
        }
    }

    /// The measured state: a breaker whose open period is over reads half-open.
    #[must_use]
    pub fn state(&self, now: Instant) -> State {
        self.snapshot(now).map_or(State::Closed, |snapshot| snapshot.state)
    }

    /// The chosen mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let mode = |words: &_| Settings::unpack(words, self.ring().room()).mode;
        self.cell.read(SLOT).map_or(Mode::Normal, |(_, words)| mode(&words))
    }

    /// All figures at once; `None` when it was never configured.
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> Option<Snapshot> {
        let ring = self.ring();
        self.cell.publish(SLOT, self.cell.load(), |word, words| {
            let report = snapshot::Report {
                figures: self.figures.load(Ordering::Relaxed),
                changed: self.changed.load(Ordering::Relaxed),
            };
            (word, Snapshot::new(word, &Settings::unpack(words, ring.room()), ring, &report, now))
        })
    }

    /// State and figures as a sentence: `open: 11 of the last 20 calls failed; next trial in 17.7 s`.
    #[must_use]
    pub fn explain(&self, now: Instant) -> Sentence {
        self.snapshot(now).map_or_else(|| UNCONFIGURED.explain(now), |snapshot| snapshot.explain(now))
    }
}

const UNCONFIGURED: Rejection = Rejection::new(Layer::CircuitBreaker, Reason::Unconfigured, When::Never);
