//! Trying again: when, how often, and when not.

pub mod backoff;
pub mod budget;
pub mod spread;

pub use backoff::{Backoff, BackoffConfig, Growth, Jitter};
pub use budget::{RetryBudget, RetryBudgetConfig};
pub use spread::{Reconnect, Schedule, ttl};
