//! The retry budget: retries only while they are few.
//!
//! Every request pays a share of a retry in, every retry takes a whole one out. While the provider
//! answers, the budget is full and nobody notices it. When everything fails, it is empty after
//! `capacity` retries, and from then on the provider gets `1 + ratio` calls per request: 1.1, where three
//! attempts would be three. One budget serves all calls to one provider, hedges included.
//!
//! # The word
//! When it was written 20 | balance 37 | full 1 | changes 4 | configuration slot 2; `budget/step.rs` has the table.
//!
//! # Algorithm
//! A token bucket that is filled by requests instead of by time, in millionths of a retry; one
//! compare-and-swap per deposit and per withdrawal. A full budget's deposit is one load. The first attempt of a request
//! is always sent. Sources: *Site Reliability Engineering* (2016), chapter 21; gRPC's retry throttling
//! (proposal A6); Finagle's `RetryBudget`, of which tower's is a copy that checks and then acts.
//!
//! Budgets multiply: three layers of 10 % each make 1.331. Retry in one layer.
//!
//! # Exactness
//! What comes in by `min_per_second` is counted in units of 2^24 ns (16.8 ms), rounded down. After 4.9 h without
//! a write the count begins anew: less than was due, never more. A clock that goes back by up to 68.7 s brings nothing in twice.
//!
//! # Ordering
//! As every one-word primitive: one location decides; Acquire and AcqRel are for the configuration slots.
//!
//! # A worked example
//! ```
//! use seawall::{Instant, Reason, RetryBudget, RetryBudgetConfig};
//!
//! let now = Instant::ZERO;
//! let budget = RetryBudget::new(&RetryBudgetConfig::new().capacity(2), now)?;
//! budget.withdraw(now).expect("the first retry");
//! budget.withdraw(now).expect("the second");
//! assert_eq!(budget.withdraw(now).unwrap_err().reason, Reason::BudgetEmpty);
//!
//! for _ in 0..10 {
//!     budget.deposit(now); // ten requests pay for one retry
//! }
//! budget.withdraw(now).expect("one more");
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! # Cost
//! In one run of `cargo bench -p seawall-benches --bench retry_budget`, on one thread and on two, beside tower 0.5:
//!
//! | | ns | tower's |
//! |---|---|---|
//! | a full budget's deposit | 0.4 and 0.4 | 54 and 168 |
//! | withdrawal and deposit, both written | 32 and 51 | 118 and 269 |
//!
//! The latter are two compare-and-swaps, and hardly anything else.

mod config;
mod step;

pub use config::RetryBudgetConfig;

use crate::atomic::const_fn;
use crate::config::ConfigError;
use crate::decision::{Layer, Reason, Rejection, When};
use crate::time::Instant;
use crate::word::cell::Cell;
use crate::word::slots::ChangeError;
use crate::word::storage::{Head, Kind, stored};
use config::{Settings, WORDS};
use step::{Answer, Event, SLOT};

/// A retry budget in 56 bytes of plain atomics.
///
/// It needs no allocation and may lie in a `static`, in a C struct or in memory shared between processes.
/// All methods take `&self` and are lock-free.
#[derive(Debug)]
#[repr(C)]
pub struct RetryBudget {
    head: Head,
    cell: Cell<WORDS>,
}

stored!(RetryBudget);

impl RetryBudget {
    const_fn! {
        /// A full budget.
        ///
        /// # Errors
        /// Which field is impossible, and what would be possible.
        pub const fn new(config: &RetryBudgetConfig, now: Instant) -> Result<Self, ConfigError> {
            match config.settings() {
                Ok(settings) => Ok(Self {
                    head: Head::new(Kind::RetryBudget, 0),
                    cell: Cell::new(step::start(&settings, now), settings.pack()),
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
    pub fn init(&self, config: &RetryBudgetConfig, now: Instant) -> Result<(), ConfigError> {
        let settings = config.settings()?;
        self.cell.init(step::start(&settings, now), settings.pack());
        self.head.set(Kind::RetryBudget, 0);
        Ok(())
    }

    /// Whether it has been configured, by this version's layout.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.head.is(Kind::RetryBudget, 0)
    }

    /// Whether it is full, so that a deposit would change nothing, for callers to whom reading the clock is dear. `false`:
    /// undecided, [`deposit`](Self::deposit) decides.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        step::is_full(self.cell.load())
    }

    /// A request pays in: once per request, however many attempts it takes.
    #[inline]
    pub fn deposit(&self, now: Instant) {
        let seen = self.cell.load();
        if !step::is_full(seen) {
            self.publish(seen, Event::Deposit, now);
        }
    }

    /// Pays for a retry.
    ///
    /// # Errors
    /// `BudgetEmpty`: it depends on the requests to come; an estimate is there when `min_per_second` is.
    #[inline]
    pub fn withdraw(&self, now: Instant) -> Result<(), Rejection> {
        match self.publish(self.cell.load(), Event::Withdraw, now) {
            Some(Answer::Done) => Ok(()),
            Some(Answer::Empty(units)) => Err(empty(units, now)),
            None => Err(UNCONFIGURED),
        }
    }

    /// What [`withdraw`](Self::withdraw) would answer, taking nothing.
    ///
    /// # Errors
    /// As [`withdraw`](Self::withdraw).
    pub fn peek(&self, now: Instant) -> Result<(), Rejection> {
        let (word, words) = self.cell.read(SLOT).ok_or(UNCONFIGURED)?;
        match step::step(word, &Settings::unpack(&words), Event::Withdraw, now).1 {
            Answer::Done => Ok(()),
            Answer::Empty(units) => Err(empty(units, now)),
        }
    }

    /// Takes a withdrawal back: the retry it paid for was not sent after all.
    pub fn refund(&self, now: Instant) {
        self.publish(self.cell.load(), Event::Refund, now);
    }

    /// How many retries it could pay for now, in millionths; 0 when it was never configured.
    #[must_use]
    pub fn balance_ppm(&self, now: Instant) -> u64 {
        self.cell.read(SLOT).map_or(0, |(word, words)| step::balance(word, &Settings::unpack(&words), now))
    }

    /// Fills it.
    pub fn reset(&self, now: Instant) {
        self.publish(self.cell.load(), Event::Reset, now);
    }

    /// Changes the configuration while it runs; `config` replaces all of it. What is there stays, as far as it fits.
    ///
    /// # Errors
    /// An impossible configuration, or three other changes stopped half-way; nothing has changed then.
    pub fn configure(&self, config: &RetryBudgetConfig, now: Instant) -> Result<(), ChangeError> {
        let settings = config.settings()?;
        self.cell.change(SLOT, settings.pack(), |word, _, old, new| {
            Some(step::carry_over(word, &Settings::unpack(old), &Settings::unpack(new), now))
        })?;
        Ok(())
    }

    #[inline]
    fn publish(&self, seen: u64, event: Event, now: Instant) -> Option<Answer> {
        self.cell.publish(SLOT, seen, |word, words| step::step(word, &Settings::unpack(words), event, now))
    }
}

const UNCONFIGURED: Rejection = Rejection::new(Layer::RetryBudget, Reason::Unconfigured, When::Never);

fn empty(units: Option<u64>, now: Instant) -> Rejection {
    let estimate = units.map(|units| step::instant(now, units));
    Rejection::new(Layer::RetryBudget, Reason::BudgetEmpty, When::Depends { estimate })
}
