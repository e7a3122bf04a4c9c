//! Trying again: when, how often, and when not.

pub mod backoff;
pub mod budget;
mod classify;
mod rules;
pub mod spread;

pub use backoff::{Backoff, BackoffConfig, Growth, Jitter};
pub use budget::{RetryBudget, RetryBudgetConfig};
pub use classify::{Evidence, Failure, Verdict, classify_status};
pub use rules::{Idempotent, OnRetryAfter, Retry, RetryConfig};
pub use spread::{Reconnect, Schedule, ttl};
