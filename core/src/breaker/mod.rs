//! The circuit breaker: stop calling what is down, and find out when it is up again.
//!
//! *Closed*, calls pass and their outcomes are judged; *open*, none passes until a stated instant;
//! *half-open*, a few trials pass, and they decide. State, window, trials and deadlines lie in one
//! 64-bit word.
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
//!
//! In that run, on a busy machine of 2.1 GHz, the healthy call took 1.4 ns and the refusal 4.9 ns.

mod config;
mod permit;
mod snapshot;
mod step;
mod token;
mod transition;
mod word;

pub use config::{CircuitBreakerConfig, ExpiredTrials, Mode};
pub use permit::{ClockedPermit, Permit};
pub use snapshot::Snapshot;
pub use token::Token;
pub use transition::{Cause, Transition};
pub use word::State;

use crate::atomic::{AtomicU64, Ordering, const_fn};
use crate::config::ConfigError;
use crate::decision::{Layer, Outcome, Reason, Rejection, Sentence, Settlement, When};
use crate::time::Instant;
use crate::word::cell::Cell;
use crate::word::slots::ChangeError;
use crate::word::storage::{Head, Kind, stored};
use config::{AdmitSettings, Settings, WORDS};
use step::{Answer, Event, Glance, Step, open_refusal};
use word::{CLEAN_MASK, CLEAN_VALUE, SLOT, TOKEN_MASK};

/// A circuit breaker in 264 bytes of plain atomics.
///
/// It needs no allocation and may lie in a `static`, in a C struct or in memory shared between
/// processes. All methods take `&self` and are lock-free.
#[derive(Debug)]
#[repr(C)]
pub struct CircuitBreaker {
    head: Head,
    cell: Cell<WORDS>,
    /// For people only; see `snapshot::Report`.
    figures: AtomicU64,
    changed: AtomicU64,
}

stored!(CircuitBreaker);

/// What [`CircuitBreaker::try_admit`] answers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[must_use = "an admission must be settled, a refusal obeyed"]
pub struct Admission {
    /// The permit's token, or who refused, why and when.
    pub verdict: Result<Token, Rejection>,
    /// Shadow mode: what it would have said instead of yes.
    pub bypassed: Option<Rejection>,
    /// The change of state that asking made.
    pub transition: Option<Transition>,
}

impl Admission {
    #[inline]
    const fn of(answer: Answer, transition: Option<Transition>) -> Self {
        let (verdict, bypassed) = match answer {
            Answer::Admitted(token) => (Ok(token), None),
            Answer::Bypassed(rejection) => (Ok(Token::bypass(0)), Some(rejection)),
            Answer::Refused(rejection) => (Err(rejection), None),
            Answer::Settled(_) | Answer::Done => (Err(UNCONFIGURED), None),
        };
        Self { verdict, bypassed, transition }
    }
}

/// A refusal, and the change of state that asking made (with `expired_trials` = `open` only).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Who, why, when.
    pub rejection: Rejection,
    /// The change of state that asking made.
    pub transition: Option<Transition>,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.rejection.fmt(f)
    }
}

impl core::error::Error for Refused {}

/// What became of a settlement, and the change of state that it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settled {
    /// Counted, neutral or stale.
    pub settlement: Settlement,
    /// The change of state that it made.
    pub transition: Option<Transition>,
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
            match config.settings() {
                Ok(settings) => Ok(Self {
                    head: Head::new(Kind::CircuitBreaker, 0),
                    cell: Cell::new(step::fresh(&settings), settings.pack()),
                    figures: AtomicU64::new(0),
                    changed: AtomicU64::new(0),
                }),
                Err(error) => Err(error),
            }
        }
    }

    /// Configures state that lies in memory of the caller's, closed and with nothing learnt. Nobody
    /// else may use it meanwhile: what they would see is undecided, though never undefined.
    ///
    /// # Errors
    /// Which field is impossible; the memory is untouched then.
    pub fn init(&self, config: &CircuitBreakerConfig) -> Result<(), ConfigError> {
        let settings = config.settings()?;
        self.cell.init(step::fresh(&settings), settings.pack());
        self.figures.store(0, Ordering::Relaxed);
        self.changed.store(0, Ordering::Relaxed);
        self.head.set(Kind::CircuitBreaker, 0);
        Ok(())
    }

    /// Whether it has been configured, by this version's layout.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.head.is(Kind::CircuitBreaker, 0)
    }

    /// Asks for a permit, without randomness (see [`Permit::acquire`]).
    ///
    /// # Errors
    /// Who refused, why and when to ask again.
    #[inline(always)]
    pub fn admit(&self, now: Instant) -> Result<Permit<&Self>, Refused> {
        Permit::acquire(self, now, 0)
    }

    /// Asks for a token, for callers that keep their permits themselves. `r` is randomness for the
    /// jitter of an open period that may begin here (with `expired_trials` = `open` only); 0 for none.
    #[inline(always)]
    pub fn try_admit(&self, now: Instant, r: u64) -> Admission {
        match self.admit_at_a_glance(now) {
            Some(verdict) => Admission { verdict, bypassed: None, transition: None },
            None => self.admit_in_full(now, r),
        }
    }

    /// What most admissions come to, with nothing written; `None`: undecided, take the full path.
    #[inline(always)]
    fn admit_at_a_glance(&self, now: Instant) -> Option<Result<Token, Rejection>> {
        if let Some(token) = self.admit_clean() {
            return Some(Ok(token));
        }
        match self.glance(now) {
            Glance::Admitted(bits) => Some(Ok(Token::from_bits(bits as u32))),
            Glance::OpenUntil(until) => Some(Err(open_refusal(until))),
            Glance::Unclear => None,
        }
    }

    /// Out of line, so that the clean path stays small where it is inlined.
    #[inline(never)]
    fn glance(&self, now: Instant) -> Glance {
        let glance = |word, head| step::glance(word, AdmitSettings::unpack(head), now);
        self.cell.glance(SLOT, self.cell.load(), glance).unwrap_or(Glance::Unclear)
    }

    /// The rest: trials, the other modes, and a glance that lost a race.
    #[inline(never)]
    fn admit_in_full(&self, now: Instant, r: u64) -> Admission {
        let (answer, transition) = self.publish(self.cell.load(), Event::Admit { r }, now);
        Admission::of(answer, transition)
    }

    /// What [`try_admit`](Self::try_admit) would answer, changing nothing.
    ///
    /// # Errors
    /// Who would refuse, why and when to ask again.
    pub fn peek(&self, now: Instant) -> Result<(), Rejection> {
        let (word, words) = self.cell.read(SLOT).ok_or(UNCONFIGURED)?;
        match step::step(word, &Settings::unpack(&words), Event::Admit { r: 0 }, now).1 {
            Answer::Refused(rejection) => Err(rejection),
            _ => Ok(()),
        }
    }

    /// A clean breaker's token, for callers to whom reading the clock is dear: neither it nor
    /// randomness is needed for that answer. `None`: undecided, [`try_admit`](Self::try_admit) decides.
    #[inline]
    #[must_use]
    pub fn admit_clean(&self) -> Option<Token> {
        let seen = self.cell.load();
        (seen & CLEAN_MASK == CLEAN_VALUE).then(|| Token::call(seen))
    }

    /// Whether a success with this token needs no settlement, since it would change nothing. `false`:
    /// undecided, [`settle`](Self::settle) decides.
    #[inline]
    #[must_use]
    pub fn is_clean_for(&self, token: Token) -> bool {
        let seen = self.cell.load();
        (seen ^ token.word()) & TOKEN_MASK == 0 && seen & CLEAN_MASK == CLEAN_VALUE
    }

    /// Settles a token that [`try_admit`](Self::try_admit) granted at `granted`. `r` is randomness for
    /// the jitter of an open period that may begin here; 0 for none.
    ///
    /// # Ordering
    /// What the caller did before is visible to whoever is admitted because of it.
    #[inline(always)]
    pub fn settle(&self, token: Token, outcome: Outcome, granted: Instant, now: Instant, r: u64) -> Settled {
        if matches!(outcome, Outcome::Success) && self.is_clean_for(token) {
            return Settled { settlement: Settlement::Counted, transition: None };
        }
        let elapsed = now.as_nanos().saturating_sub(granted.as_nanos());
        let quietly = if token.is_trial() { None } else { self.settle_quietly(token, outcome, elapsed, now) };
        match quietly {
            Some(settlement) => Settled { settlement, transition: None },
            None => self.settle_in_full(token, outcome, elapsed, now, r),
        }
    }

    /// A settlement that leaves the state as it is, and therefore needs no more of the configuration
    /// than its first three words. `None`: undecided, take the full path.
    #[inline(never)]
    fn settle_quietly(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant) -> Option<Settlement> {
        let quiet = |word, &[head, rates, slow]: &[u64; 3]| {
            step::settle_quietly(word, &Settings::judging(head, rates, slow), token, outcome, elapsed, now)
        };
        self.cell.publish_from(SLOT, self.cell.load(), quiet)
    }

    /// The rest: settlements that may change the state.
    #[inline(never)]
    fn settle_in_full(&self, token: Token, outcome: Outcome, elapsed: u64, now: Instant, r: u64) -> Settled {
        let (answer, transition) = self.publish(self.cell.load(), Event::Settle { token, outcome, elapsed, r }, now);
        let settlement = match answer {
            Answer::Settled(settlement) => settlement,
            _ => Settlement::Stale,
        };
        Settled { settlement, transition }
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
    /// a shorter window keeps its newest calls, consecutive and rate mode translate into each other,
    /// an open period keeps its end. New thresholds are applied with the next outcome.
    ///
    /// # Errors
    /// An impossible configuration, or three other changes stopped half-way; nothing has changed then.
    pub fn configure(&self, config: &CircuitBreakerConfig) -> Result<(), ChangeError> {
        let settings = config.settings()?;
        loop {
            let (_, present) = self.cell.read(SLOT).ok_or(ChangeError::Unconfigured)?;
            let following = |old: &Settings| {
                let mode = if config.states_mode() { settings.mode } else { old.mode };
                Settings { mode, ..settings }.outlasting(old)
            };
            let next = following(&Settings::unpack(&present));
            // Declined when another change came between that leads to another configuration.
            let changed = self.cell.change(SLOT, next.pack(), |word, slot, old, _| {
                let old = Settings::unpack(old);
                (next == following(&old)).then(|| step::carry_over(word, slot, &old, &next))
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
        loop {
            let (_, present) = self.cell.read(SLOT).ok_or(ChangeError::Unconfigured)?;
            let settings = Settings::unpack(&present);
            let next = Settings { mode, ..settings };
            // Declined when another change came between; only then is there another round.
            let changed = self.cell.change(SLOT, next.pack(), |word, slot, old, _| {
                (*old == present).then(|| step::carry_over(word, slot, &settings, &next))
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
        self.cell.read(SLOT).map_or(Mode::Normal, |(_, words)| Settings::unpack(&words).mode)
    }

    /// All figures at once; `None` when it was never configured.
    #[must_use]
    pub fn snapshot(&self, now: Instant) -> Option<Snapshot> {
        let (word, words) = self.cell.read(SLOT)?;
        let report = snapshot::Report {
            figures: self.figures.load(Ordering::Relaxed),
            changed: self.changed.load(Ordering::Relaxed),
        };
        Some(Snapshot::new(word, &Settings::unpack(&words), &report, now))
    }

    /// State and figures as a sentence: `open: 11 of the last 20 calls failed; next trial in 17.7 s`.
    #[must_use]
    pub fn explain(&self, now: Instant) -> Sentence {
        self.snapshot(now).map_or_else(|| UNCONFIGURED.explain(now), |snapshot| snapshot.explain(now))
    }

    /// How a face may decide "clean" by itself.
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

    /// Publishes one step, and leaves its figures for people when the state changed.
    #[inline]
    fn publish(&self, seen: u64, event: Event, now: Instant) -> (Answer, Option<Transition>) {
        let done = self.cell.publish(SLOT, seen, |word, words| {
            let (next, answer, transition): Step = step::step(word, &Settings::unpack(words), event, now);
            (next, (answer, transition))
        });
        let Some((answer, transition)) = done else {
            return (Answer::Refused(UNCONFIGURED), None);
        };
        if let Some(transition) = &transition {
            let report = snapshot::Report::of(transition);
            self.changed.store(report.changed, Ordering::Relaxed);
            self.figures.store(report.figures, Ordering::Relaxed);
        }
        (answer, transition)
    }
}

const UNCONFIGURED: Rejection = Rejection::new(Layer::CircuitBreaker, Reason::Unconfigured, When::Never);
