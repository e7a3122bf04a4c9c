//! Stability patterns as one lock-free, allocation-free engine.
//!
//! The engine decides whether a call may go out, whether a request may come in, how long to wait and
//! when to stop trying. It has no clock, no thread, no timer, no I/O, no allocator and no randomness of
//! its own: you tell it what time it is and what happened, and it tells you what to do.
//!
//! # Start here
//! ```
//! use seawall::{CircuitBreaker, CircuitBreakerConfig, Clocked, Instant, StdClock};
//!
//! let breaker = CircuitBreaker::new(&CircuitBreakerConfig::consecutive(5))?;
//! let breaker = Clocked::new(&breaker, StdClock::new());
//!
//! match breaker.admit() {
//!     Ok(permit) => {
//!         let worked = true; // the call
//!         let _ = if worked { permit.success() } else { permit.failure() };
//!     }
//!     Err(refused) => println!("{}", refused.rejection.explain(breaker.now())),
//! }
//! # Ok::<(), seawall::ConfigError>(())
//! ```
//!
//! # What is here
//! | thing | what it does |
//! |---|---|
//! | [`CircuitBreaker`] | stops calling what is down, and finds out when it is up again; [how](breaker) |
//! | [`TokenBucket`] | an average rate, and a burst after a pause; [how](rate::token_bucket) |
//! | [`EventRing`] | the last transitions, for whoever polls |
//!
//! # What holds for all of them
//! Time is an argument ([`Instant`]); so is randomness ([`Random`]). A refusal changes nothing and says
//! who, why and when ([`Rejection`]). State is plain 64-bit atomics: it may lie in a `static`, a box, a
//! C struct, or memory shared between processes ([`place`]). Configuration changes while running. A
//! thread stopped at any instruction blocks nobody. Nothing panics, whatever the clock shows and
//! whatever bytes the state holds.
//!
//! # Features
//! `std` (default): [`StdClock`]. `accept-locking-atomics`: see the text of `atomic.rs`.

#![no_std]
#![deny(clippy::float_arithmetic)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "std", test, seawall_loom, seawall_shuttle))]
extern crate std;

mod atomic;
pub mod breaker;
pub mod config;
pub mod deadline;
mod decision;
mod key;
#[cfg(any(test, seawall_loom, seawall_shuttle))]
#[doc(hidden)]
pub mod model_access;
pub mod policy;
mod random;
pub mod rate;
pub mod retry;
mod time;
pub mod wire;
mod word;

pub use breaker::{
    Admission, Breaker, Cause, CircuitBreaker, CircuitBreakerConfig, CleanCheck, ClockedPermit, ExpiredTrials, Mode,
    Permit, Refused, Settled, Snapshot, State, Token, Transition, WindowWord, WindowWords, bucket_words, window_words,
};
pub use config::{ConfigError, Factor, Ratio};
pub use deadline::{Deadline, Timeouts, TimeoutsConfig};
pub use decision::{Layer, Outcome, Reason, Rejection, SENTENCE, Sentence, Settlement, Span, When};
pub use key::{Secret, hash};
pub use policy::{Call, Finish, Policy, PolicyConfig, Step};
pub use random::Random;
pub use rate::{Fill, Grant, Refund, Reservation, TokenBucket, TokenBucketConfig};
pub use retry::{
    Backoff, BackoffConfig, Evidence, Failure, Growth, Idempotent, Jitter, OnRetryAfter, Retry, RetryBudget,
    RetryBudgetConfig, RetryConfig, Verdict, classify_status,
};
#[cfg(feature = "std")]
pub use time::StdClock;
pub use time::{Clock, Clocked, Instant, ManualClock, SLACK};
pub use word::ring::{EventRing, RingCursor, RingWord};
pub use word::slots::ChangeError;
pub use word::storage::{StorageError, Stored, place};

/// The examples of the README and of the reference run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/backoff.md")]
    struct Backoff;
    #[doc = include_str!("../../docs/circuit_breaker.md")]
    struct CircuitBreaker;
    #[doc = include_str!("../../docs/retry_budget.md")]
    struct RetryBudget;
    #[doc = include_str!("../../docs/retry.md")]
    struct Retry;
    #[doc = include_str!("../../docs/timeouts.md")]
    struct Timeouts;
    #[doc = include_str!("../../docs/policy.md")]
    struct Policy;
    #[doc = include_str!("../../docs/token_bucket.md")]
    struct TokenBucket;
    #[doc = include_str!("../../docs/wire.md")]
    struct Wire;
}

// The models of `loom/` as plain tests, with real threads.
#[cfg(all(test, not(any(seawall_loom, seawall_shuttle))))]
extern crate self as seawall;
#[cfg(all(test, not(any(seawall_loom, seawall_shuttle))))]
#[path = "../loom"]
mod models {
    mod cell;
    mod circuit_breaker;
    mod config_slots;
    mod event_ring;
    mod harness;
    mod long_window;
    mod policy;
    mod retry_budget;
    mod span_window;
    mod storage;
    mod token_bucket;
}
